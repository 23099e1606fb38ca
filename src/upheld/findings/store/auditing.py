"""Read the ledger whole, for `check`: streams and rows as they are, without a rule. Writes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import apsw

from upheld.context.store import find_all
from upheld.storage import database
from upheld.text import jsontext

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def find_file_problems(db: apsw.Connection, limit: int) -> list[str]:
    """Return what SQLite's own check says of the file, nothing when it is whole."""
    said = [str(row[0]) for row in db.execute(f"pragma integrity_check({limit})")]
    return [] if said == ["ok"] else said


def iter_broken_references(db: apsw.Connection) -> Iterator[tuple[str, int, str]]:
    """Stream rows that refer to a row which is not there: table, row number, table referred to."""
    for table, row, parent, _ in db.execute("pragma foreign_key_check"):
        yield str(table), int(row or 0), str(parent)


def find_schema_changes(db: apsw.Connection) -> list[str]:
    """Return the tables, indexes and triggers that are not as a fresh ledger has them."""
    fresh = apsw.Connection(":memory:")
    try:
        database.migrate(fresh, database.LEDGER)
        wanted, found = _schema(fresh), _schema(db)
    finally:
        fresh.close()
    return sorted(
        f"{kind} {name}"
        for kind, name in wanted.keys() | found.keys()
        if wanted.get(key := (kind, name)) != found.get(key)
    )


def _schema(db: apsw.Connection) -> dict[tuple[str, str], str]:
    # SQLite makes its own tables as it needs them: sqlite_stat1 when it has counted.
    rows = db.execute("select type, name, sql from sqlite_schema where name not like 'sqlite\\_%' escape '\\'")
    return {(kind, name): sql for kind, name, sql in rows}


def iter_events_by_finding(db: apsw.Connection) -> Iterable[tuple[Any, ...]]:
    """Stream every event, those of one finding together: finding id, seq, kind, actor, host, session, at, text."""
    return db.execute(
        """select e.finding_id, e.seq, e.kind, e.actor, e.host, e.session, e.at, t.text
           from finding_events e left join event_texts t on t.seq = e.seq order by e.finding_id, e.seq"""
    )


def is_purged_after(db: apsw.Connection, finding_id: int, seq: int) -> bool:
    """Say whether a later event of a finding says that its words were purged."""
    return bool(
        db.execute(
            "select exists (select 1 from finding_events where finding_id = ? and kind = 'purged' and seq > ?)",
            (finding_id, seq),
        ).get
    )


def find_unlogged_findings(db: apsw.Connection, limit: int) -> list[int]:
    """Return findings without any event."""
    rows = db.execute(
        "select id from findings f where not exists (select 1 from finding_events e where e.finding_id = f.id) limit ?",
        (limit,),
    )
    return [row[0] for row in rows]


def find_unlinked_evidence(db: apsw.Connection, limit: int) -> list[int]:
    """Return evidence that no finding has."""
    rows = db.execute(
        """select id from evidence e
           where not exists (select 1 from finding_evidence l where l.evidence_id = e.id) limit ?""",
        (limit,),
    )
    return [row[0] for row in rows]


def find_double_uids(db: apsw.Connection, limit: int) -> list[str]:
    """Return uids that two findings, or two pieces of evidence, have."""
    rows = db.execute(
        """select uid from (select uid from findings union all select uid from evidence)
           group by uid having count(*) > 1 limit ?""",
        (limit,),
    )
    return [str(row[0]) for row in rows]


def find_project_uids(db: apsw.Connection) -> dict[int, str]:
    """Return the uid of each project by its number."""
    return {project.id: project.uid for project in find_all(db)}


_FINDING = (
    "uid", "project_id", "claim", "claim_kind", "epistemic_state", "lifecycle_state", "retrieval_policy", "scope",
    "tags", "aliases", "task", "promotion_state", "version", "decided_event", "created_at", "updated_at", "actor",
    "host", "session", "muted_until",
)  # fmt: skip
_LINK = ("evidence_id", "role", "method", "rationale", "event")
_SOURCE = (
    "uid", "source_kind", "source_ref", "locator", "revision", "excerpt", "content_hash", "resolution", "observed_at",
    "actor",
)  # fmt: skip


def find_row(db: apsw.Connection, finding_id: int) -> dict[str, Any] | None:
    """Return the row of a finding by column, its JSON read; None if there is none."""
    row = db.execute(f"select {', '.join(_FINDING)} from findings where id = ?", (finding_id,)).get
    if row is None:
        return None
    values = dict(zip(_FINDING, row, strict=True))
    return values | {name: jsontext.loads(values[name]) for name in ("scope", "tags", "aliases")}


def find_links(db: apsw.Connection, finding_id: int) -> list[dict[str, Any]]:
    """Return the evidence links of a finding in the order in which they were made."""
    rows = db.execute(
        f"select {', '.join(_LINK)} from finding_evidence where finding_id = ? order by id", (finding_id,)
    )
    return [dict(zip(_LINK, row, strict=True)) for row in rows]


def find_source(db: apsw.Connection, evidence_id: int) -> tuple[int, dict[str, Any]] | None:
    """Return (project, columns) of a piece of evidence, None if there is none."""
    row = db.execute(f"select project_id, {', '.join(_SOURCE)} from evidence where id = ?", (evidence_id,)).get
    return None if row is None else (row[0], dict(zip(_SOURCE, row[1:], strict=True)))


def find_contexts(db: apsw.Connection, finding_id: int) -> list[dict[str, Any]]:
    """Return the contexts in which a finding is known to hold, oldest first."""
    names = ("facts", "anchor", "basis", "sources")
    rows = db.execute(
        f"select kind, {', '.join(names)} from finding_contexts where finding_id = ? order by id", (finding_id,)
    )
    return [
        {"kind": kind} | {name: jsontext.loads(text) for name, text in zip(names, texts, strict=True)}
        for kind, *texts in rows
    ]


def find_rule(db: apsw.Connection, finding_id: int) -> dict[str, Any] | None:
    """Return the rule that a finding is proposed to become, None if there is none."""
    row = db.execute("select rule, owner from rules where finding_id = ?", (finding_id,)).get
    return None if row is None else {"rule": row[0], "owner": row[1]}


def find_doc_links(db: apsw.Connection, finding_id: int) -> list[dict[str, Any]]:
    """Return where the rule of a finding landed, oldest first."""
    rows = db.execute("select target, locator, event from doc_links where finding_id = ? order by id", (finding_id,))
    return [{"target": row[0], "locator": row[1], "event": row[2]} for row in rows]


def find_own_relations(db: apsw.Connection, finding_id: int) -> set[tuple[str, int, int]]:
    """Return (kind, from, to) of the relations that an event of this finding made: the closed one logs a successor."""
    rows = db.execute(
        """select kind, from_id, to_id from finding_relations where to_id = :id and kind = 'supersedes'
           union all
           select kind, from_id, to_id from finding_relations where from_id = :id and kind <> 'supersedes'""",
        {"id": finding_id},
    )
    return {(row[0], row[1], row[2]) for row in rows}


def find_words(db: apsw.Connection, finding_id: int) -> set[tuple[int, str, str]]:
    """Return (project, part, word) under which a finding is indexed."""
    rows = db.execute("select project_id, part, word from finding_words where finding_id = ?", (finding_id,))
    return {(row[0], row[1], row[2]) for row in rows}


def find_wrong_counts(db: apsw.Connection, limit: int) -> list[str]:
    """Return words whose number of findings in a project is not what the index holds; "" counts findings."""
    rows = db.execute(
        """select word from project_words p where p.findings <> case p.word
             when '' then (select count(*) from findings f where f.project_id = p.project_id)
             else (select count(*) from finding_words w
                   where w.project_id = p.project_id and w.part = 'c' and w.word = p.word) end
           union all
           select distinct word from finding_words w where part = 'c' and not exists
             (select 1 from project_words p where p.project_id = w.project_id and p.word = w.word)
           limit ?""",
        (limit,),
    )
    return [str(row[0]) for row in rows]


def count_rows(db: apsw.Connection) -> dict[str, int]:
    """Return how many events, findings and pieces of evidence there are."""
    events, findings, evidence = db.execute(
        """select (select count(*) from finding_events), (select count(*) from findings),
             (select count(*) from evidence)"""
    ).get
    return {"events": events, "findings": findings, "evidence": evidence}
