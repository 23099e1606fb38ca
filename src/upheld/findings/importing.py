"""Read findings from an export into the project here: all of it or nothing.

The file is read three times: whether it is whole and every line says what it must, then the findings, then how they are
related. Numbers are given anew, uids stay. Each finding comes under an event of its own that keeps its history as data,
so that nothing in the file passes for an event of this ledger. What the ledger has already under the same uid is left
as it is here.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from upheld.context import store
from upheld.errors import InvalidArgumentError
from upheld.findings import model
from upheld.findings.cleaning import Cleaner
from upheld.findings.exported import check_finding, check_header, draft_of, is_digest, piece_of
from upheld.findings.exporting import FORMAT, VERSION
from upheld.findings.ledger import as_refusals
from upheld.findings.model import KnownContext
from upheld.findings.refusals import PersonRequiredError
from upheld.findings.store import transferring
from upheld.findings.work import Imported, Work
from upheld.text import jsontext

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import apsw

    from upheld.findings.service import Findings

    Progress = Callable[[str, int, int], None]

MAX_LINE = 32 * 1024 * 1024


class BadImportError(InvalidArgumentError):
    """A file that is no whole export that we can read."""

    def __init__(self, problem: str, right: str = "Export it again with `upheld export`.") -> None:
        super().__init__("file", problem, right)


class OtherFileProjectError(InvalidArgumentError):
    """An export of a project that shares no mark with the one here."""

    def __init__(self, name: str) -> None:
        super().__init__(
            "file",
            f"holds the project {name!r}, which shares no remote and no root commit with the one here",
            "Import it in a clone of that project, or say --into-this-project.",
        )


class DifferentFindingError(InvalidArgumentError):
    """A finding of the file that this ledger has, in another project."""

    def __init__(self, line: int, uid: str) -> None:
        super().__init__(
            "file", f"line {line} holds the finding {uid}, which another project of this ledger has", "Import it there."
        )


@dataclass(frozen=True, slots=True)
class Header:
    """What the first line says."""

    findings: int
    project: dict[str, Any]


def import_findings(
    findings: Findings, file: BinaryIO, *, into_this_project: bool = False, progress: Progress | None = None
) -> dict[str, Any]:
    """Import an export into the project here and return how many findings came and how many were there.

    Args:
        findings: Where to, and who.
        file: The export, which is read several times from its start.
        into_this_project: Even if the file is of a project that shares no mark with the one here.
        progress: Told a step, how many lines of it are done and how many there are.

    Raises:
        PersonRequiredError: An agent asks.
        BadImportError: The file is cut, changed, of another kind, or of a newer version; nothing was written.
        OtherFileProjectError: It is another project's.
    """
    if findings.caller.actor != "user":
        raise PersonRequiredError("`upheld import`")
    header = _check_file(file, progress)
    cleaner = Cleaner(findings.place.home)
    known = came = 0
    with as_refusals(), findings.ledger.write(findings.caller) as write:
        project = findings.project_of(write)
        if not into_this_project and not _is_same(write.db, header.project, project):
            raise OtherFileProjectError(str(header.project["name"]))
        work = Work(write, project)
        twice = transferring.plan_numbers(write.db, (data["finding"]["uid"] for _, data in _iter_lines(file)))
        if twice is not None:
            raise BadImportError(f"holds the finding {twice} in two lines")
        for number, data in _iter_lines(file):
            if _bring(work, number, data, cleaner):
                came += 1
            else:
                known += 1
            if progress is not None:
                progress("findings", came + known, header.findings)
        for done, (_, data) in enumerate(_iter_lines(file), 1):
            if transferring.is_planned(write.db, data["finding"]["uid"]):
                _relate(work, data)
            if progress is not None:
                progress("relations", done, header.findings)
        transferring.drop_plan(write.db)
        warnings = [*cleaner.warnings(), *write.warnings]
    return {"imported": came, "known": known, "warnings": warnings}


# Looking at the file


def _check_file(file: BinaryIO, progress: Progress | None) -> Header:
    digest = hashlib.blake2b(digest_size=32)
    header: Header | None = None
    count, last = 0, b""
    file.seek(0)
    for line in iter(lambda: file.readline(MAX_LINE + 1), b""):
        if len(line) > MAX_LINE:
            raise BadImportError(f"has more than {MAX_LINE >> 20} MB in line {count + 1}")
        if last:
            header = _check_line(count, last, header)
            digest.update(last)
            if progress is not None and header is not None and count > 1:
                progress("lines", count - 1, header.findings)
        last = line
        count += 1
    if header is None or not last.endswith(b"\n"):
        raise BadImportError("is empty or cut" if count < 2 else "is cut: its last line is missing")
    footer = _read(count, last)
    if "digest" not in footer:
        raise BadImportError("is cut: its last line is missing")
    if footer.get("lines") != count - 1 or header.findings != count - 2 or footer["digest"] != digest.hexdigest():
        raise BadImportError("was changed, or lines of it are missing")
    return header


def _check_line(number: int, line: bytes, header: Header | None) -> Header:
    data = _read(number, line)
    if header is None:
        return _read_header(data)
    try:
        check_finding(data)
    except InvalidArgumentError as error:
        raise BadImportError(
            f"line {number}: {error.message.removesuffix(' Nothing was written.').rstrip('.')}"
        ) from None
    except (KeyError, TypeError, ValueError, AttributeError):
        raise BadImportError(f"line {number} is not what a finding looks like in an export") from None
    return header


def _read(number: int, line: bytes) -> dict[str, Any]:
    try:
        data = jsontext.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        raise BadImportError(f"line {number} is no JSON") from None
    if not isinstance(data, dict):
        raise BadImportError(f"line {number} is no JSON object")
    return data


def _read_header(data: Mapping[str, Any]) -> Header:
    if data.get("format") != FORMAT:
        raise BadImportError("is no export of findings")
    version = data.get("version")
    if type(version) is not int or version < 1:
        raise BadImportError("has a first line that says too little")
    if version > VERSION:
        problem = f"has format version {version}, this Upheld reads {VERSION}"
        raise BadImportError(problem, "Upgrade Upheld to import it.")
    try:
        return Header(data["findings"], check_header(data))
    except (KeyError, TypeError, ValueError):
        raise BadImportError("has a first line that says too little") from None


# Bringing it in


def _iter_lines(file: BinaryIO) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number, finding) of a file that was checked."""
    file.seek(0)
    lines = enumerate(iter(lambda: file.readline(MAX_LINE + 1), b""), 1)
    next(lines)
    for number, line in lines:
        data = _read(number, line)
        if "finding" in data:
            yield number, data


def _is_same(db: apsw.Connection, given: Mapping[str, Any], project: store.Project) -> bool:
    if given["uid"] == project.uid:
        return True
    marks = {(mark.kind, mark.value) for mark in store.find_marks(db, project.id)}
    theirs = {(kind, value) for kind in ("remote", "root_commit") for value in given[f"{kind}s"]}
    return bool(marks & theirs)


def _bring(work: Work, number: int, data: dict[str, Any], cleaner: Cleaner) -> bool:
    """Store one finding; False if the project has it already."""
    finding = data["finding"]
    there = transferring.find_by_uid(work.db, finding["uid"])
    if there is not None:
        if there[1] != work.project.id:
            raise DifferentFindingError(number, finding["uid"])
        return False
    draft = draft_of(finding)
    contexts = [
        KnownContext(
            _clean_facts(context["facts"], cleaner),
            _clean_contents(context["anchor"], cleaner),
            context["kind"],
            # What was settled about a finding that does not come along is nobody's business here.
            tuple(
                f"F-{planned} {state}"
                for uid, state in context["basis"]
                if (planned := transferring.find_planned(work.db, uid)) is not None
            ),
        )
        for context in data["contexts"]
    ]
    links = [(cleaner.evidence(piece_of(link)), _clean_link(link, cleaner)) for link in data["evidence"]]
    rule = data["rule"]
    work.bring(
        Imported(
            uid=finding["uid"],
            claim=cleaner.text(draft["claim"]),
            claim_kind=draft["claim_kind"],
            epistemic_state=finding["epistemic_state"],
            lifecycle_state=finding["lifecycle_state"],
            retrieval_policy=draft["retrieval_policy"] or "relevant",
            scope=cleaner.scope(draft["scope"] or model.EMPTY_SCOPE),
            tags=cleaner.texts(draft["tags"]),
            aliases=cleaner.texts(draft["aliases"]),
            task=cleaner.text(draft["task"] or ""),
            promotion_state=finding["promotion_state"],
            muted_until=finding["muted_until"],
            created_at=finding["created_at"],
            actor=finding["actor"],
            host=cleaner.text(finding["host"]),
            decided=bool(data["decided"]),
            links=links,
            contexts=contexts,
            context_sources=[_clean_contents(context["sources"], cleaner) for context in data["contexts"]],
            rule=None if rule is None else {"rule": cleaner.text(rule["rule"]), "owner": rule["owner"]},
            doc_links=[
                {name: cleaner.text(link[name]) for name in ("target", "locator")} for link in data["doc_links"]
            ],
            history=[_clean_event(event, cleaner) for event in data["history"]],
        )
    )
    return True


def _clean_facts(facts: dict[str, str | None], cleaner: Cleaner) -> dict[str, str | None]:
    return {cleaner.text(name): None if value is None else cleaner.fact(name, value) for name, value in facts.items()}


def _clean_contents(contents: dict[str, str], cleaner: Cleaner) -> dict[str, str]:
    """Clean what stands for the content of code and sources: a digest, a commit, or the quoted piece itself."""
    return {name: text if is_digest(text) else cleaner.text(text) for name, text in contents.items()}


def _clean_link(link: dict[str, Any], cleaner: Cleaner) -> dict[str, Any]:
    source = link["source"]
    cleaned = _clean_contents({name: source[name] for name in ("observed_at", "content_hash")}, cleaner)
    return {**link, "source": {**source, **cleaned}}


def _clean_event(event: dict[str, Any], cleaner: Cleaner) -> dict[str, Any]:
    text = jsontext.dumps_canonical(event)
    cleaned = cleaner.text(text)
    try:
        return dict(jsontext.loads(cleaned))
    except (ValueError, TypeError):
        # A secret that reached over the marks of the notation: what is left says when and what, not why.
        return {name: event[name] for name in ("seq", "kind", "actor", "host", "at") if name in event}


def _relate(work: Work, data: dict[str, Any]) -> None:
    number = transferring.find_by_uid(work.db, data["finding"]["uid"])
    relations = []
    for kind, a, b in data["relations"]:
        ends = (transferring.find_by_uid(work.db, a), transferring.find_by_uid(work.db, b))
        if all(end is not None and end[1] == work.project.id for end in ends):
            relations.append((kind, ends[0][0], ends[1][0]))  # type: ignore[index]  # none is None here
    if number is not None and relations:
        work.bring_relations(work.get(number[0]), relations)
