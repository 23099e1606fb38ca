"""Write a project's findings as JSON lines: everything but numbers, sessions and places of this machine.

The first line says what follows, each further line is one finding, the last one counts and digests the lines before it.
Findings and evidence are named by their uids, which mean the same in every ledger. One finding is in memory at a time.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from upheld.context import store
from upheld.findings.ledger import as_refusals
from upheld.findings.refusals import NothingToExportError
from upheld.findings.store import auditing, reading, transferring
from upheld.text import jsontext

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import apsw

    from upheld.findings.service import Findings

    Progress = Callable[[str, int, int], None]

FORMAT = "upheld-findings"
VERSION = 1
_COLUMNS = (
    "uid", "claim", "claim_kind", "epistemic_state", "lifecycle_state", "retrieval_policy", "scope", "tags", "aliases",
    "task", "promotion_state", "muted_until", "created_at", "actor", "host",
)  # fmt: skip


@as_refusals()
def export_findings(
    findings: Findings, write: Callable[[bytes], object], *, progress: Progress | None = None
) -> dict[str, int]:
    """Write the findings of the project here and return how many, and how many purged ones were left out.

    Args:
        findings: Whose.
        write: Takes the bytes of one line at a time, its newline included.
        progress: Told how many are written and how many there are.

    Raises:
        NothingToExportError: The ledger knows nothing of this project.
    """
    db, project = findings.read()
    if db is None or project is None:
        raise NothingToExportError
    db.execute("begin")  # one moment of the ledger, whoever writes meanwhile
    try:
        total, purged = transferring.count_findings(db, project.id)
        digest = hashlib.blake2b(digest_size=32)
        lines = 0
        for line in _lines(db, project, total, findings.ledger.now()):
            digest.update(line)
            write(line)
            lines += 1
            if progress is not None and lines > 1:
                progress("findings", lines - 1, total)
        write(_line({"lines": lines, "digest": digest.hexdigest()}))
    finally:
        db.execute("rollback")
    return {"findings": total, "purged": purged}


def _lines(db: apsw.Connection, project: store.Project, total: int, now: str) -> Iterator[bytes]:
    marks = store.find_marks(db, project.id)
    yield _line(
        {
            "format": FORMAT,
            "version": VERSION,
            "exported_at": now,
            "findings": total,
            "project": {
                "uid": project.uid,
                "name": project.name,
                "remotes": [mark.value for mark in marks if mark.kind == "remote"],
                "root_commits": [mark.value for mark in marks if mark.kind == "root_commit"],
            },
        }
    )
    for number in transferring.iter_numbers(db, project.id):
        yield _line(_as_data(db, number))


def _line(data: dict[str, Any]) -> bytes:
    return (jsontext.dumps_canonical(data) + "\n").encode("utf-8", "surrogatepass")


def _as_data(db: apsw.Connection, number: int) -> dict[str, Any]:
    row = auditing.find_row(db, number)
    assert row is not None  # noqa: S101 - for the type checker: its number was just read
    decided = row["decided_event"]
    data: dict[str, Any] = {
        "number": number,
        "finding": {name: row[name] for name in _COLUMNS},
        "decided": decided > 0,
        "evidence": [_evidence(db, link, decided) for link in auditing.find_links(db, number)],
        "contexts": [_context(db, context) for context in auditing.find_contexts(db, number)],
        "relations": sorted(
            [kind, transferring.get_uid(db, a), transferring.get_uid(db, b)]
            for kind, a, b in auditing.find_own_relations(db, number)
        ),
        "rule": auditing.find_rule(db, number),
        "doc_links": [
            {"target": link["target"], "locator": link["locator"]} for link in auditing.find_doc_links(db, number)
        ],
        "history": read_history(db, number),
    }
    return data


def _evidence(db: apsw.Connection, link: dict[str, Any], decided: int) -> dict[str, Any]:
    found = auditing.find_source(db, link["evidence_id"])
    assert found is not None  # noqa: S101 - for the type checker: foreign keys are on
    kept = {name: link[name] for name in ("role", "method", "rationale")}
    # What came after the decision about the state is a conflict that nobody settled, there as here.
    return {**kept, "source": found[1], "after_decision": link["event"] > decided > 0}


def _context(db: apsw.Connection, context: dict[str, Any]) -> dict[str, Any]:
    """Return a known context whose findings and evidence are named by uid."""
    basis = []
    for fallen in context["basis"]:
        name, _, state = fallen.partition(" ")
        basis.append([transferring.get_uid(db, int(name.removeprefix("F-"))), state])
    sources = {transferring.get_evidence_uid(db, int(number)): digest for number, digest in context["sources"].items()}
    return {**context, "basis": basis, "sources": sources}


def read_history(db: apsw.Connection, number: int) -> list[dict[str, Any]]:
    """Return the events of a finding as plain data, those that an import brought along before its own."""
    history: list[dict[str, Any]] = []
    for event in reading.iter_events(db, number):
        seq, _, kind, actor, host, _, at, _, _, _, text = event
        data: dict[str, Any] = {"seq": seq, "kind": kind, "actor": actor, "host": host, "at": at}
        words = None if text is None else jsontext.loads(str(text))
        if words is not None:
            history += [{**one, "imported": True} for one in words["after"].get("history", ())]
            after = {name: value for name, value in words["after"].items() if name not in ("history", "known")}
            data |= {"reason": words["reason"], "before": words["before"], "after": after}
        history.append(data)
    return history
