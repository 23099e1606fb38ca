"""What exports, imports and purges read and write of the ledger beside what every change does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from upheld.text import jsontext

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import apsw


def count_findings(db: apsw.Connection, project_id: int) -> tuple[int, int]:
    """Return how many findings a project has with their content, and how many were purged."""
    kept, purged = db.execute(
        "select count(*) filter (where claim <> ''), count(*) filter (where claim = '') from findings "
        "where project_id = ?",
        (project_id,),
    ).get
    return int(kept), int(purged)


def iter_numbers(db: apsw.Connection, project_id: int) -> Iterator[int]:
    """Stream the numbers of a project's findings that were not purged, oldest first."""
    for row in db.execute("select id from findings where project_id = ? and claim <> '' order by id", (project_id,)):
        yield row[0]


def get_uid(db: apsw.Connection, number: int) -> str:
    """Return the uid of a finding."""
    return str(db.execute("select uid from findings where id = ?", (number,)).get)


def get_evidence_uid(db: apsw.Connection, number: int) -> str:
    """Return the uid of a piece of evidence; its number as text where it is gone."""
    return str(db.execute("select coalesce((select uid from evidence where id = :id), :id)", {"id": number}).get)


def find_by_uid(db: apsw.Connection, uid: str) -> tuple[int, int] | None:
    """Return (number, project) of the finding with a uid, None if there is none."""
    row = db.execute("select id, project_id from findings where uid = ?", (uid,)).get
    return None if row is None else (row[0], row[1])


def plan_numbers(db: apsw.Connection, uids: Iterable[str]) -> str | None:
    """Note, in a table of this connection alone, which numbers the findings that are not here will get, in order.

    Return the first uid that comes twice, None where each comes once.
    """
    drop_plan(db)
    db.execute("create temp table coming (uid text primary key, number integer not null) without rowid")
    number = int(db.execute("select coalesce((select seq from sqlite_sequence where name = 'findings'), 0)").get)
    for uid in uids:
        if find_by_uid(db, uid) is None:
            number += 1
            db.execute("insert or ignore into coming values (?, ?)", (uid, number))
            if not db.changes():
                return uid
    return None


def find_planned(db: apsw.Connection, uid: str) -> int | None:
    """Return the number that a finding has or will get, None if it neither is here nor comes."""
    found: int | None = db.execute(
        "select coalesce((select id from findings where uid = :uid), (select number from coming where uid = :uid))",
        {"uid": uid},
    ).get
    return found


def is_planned(db: apsw.Connection, uid: str) -> bool:
    """Say whether a finding came with this import."""
    return bool(db.execute("select exists (select 1 from coming where uid = ?)", (uid,)).get)


def drop_plan(db: apsw.Connection) -> None:
    """Forget the numbers that were noted."""
    db.execute("drop table if exists temp.coming")


def find_evidence_by_uid(db: apsw.Connection, uid: str) -> tuple[int, int] | None:
    """Return (number, project) of the evidence with a uid, None if there is none."""
    row = db.execute("select id, project_id from evidence where uid = ?", (uid,)).get
    return None if row is None else (row[0], row[1])


def find_citing(db: apsw.Connection, number: int) -> list[int]:
    """Return the findings that rest on, contradict, duplicate, go with or gave way to a finding, by number."""
    rows = db.execute(
        """select from_id from finding_relations where to_id = :id and kind <> 'supersedes'
           union select to_id from finding_relations
             where from_id = :id and kind in ('contradicts', 'related_to', 'supersedes')
           order by 1""",
        {"id": number},
    )
    return [row[0] for row in rows]


def find_kept(db: apsw.Connection, number: int) -> list[int]:
    """Return the findings that a finding is a duplicate of: those may hold what it said."""
    rows = db.execute(
        "select to_id from finding_relations where from_id = ? and kind = 'duplicate_of' order by to_id", (number,)
    )
    return [row[0] for row in rows]


def find_shared_evidence(db: apsw.Connection, number: int) -> list[int]:
    """Return the evidence of a finding that other findings have too."""
    rows = db.execute(
        """select evidence_id from finding_evidence l where finding_id = :id and exists
             (select 1 from finding_evidence o where o.evidence_id = l.evidence_id and o.finding_id <> :id)
           order by evidence_id""",
        {"id": number},
    )
    return [row[0] for row in rows]


def erase(db: apsw.Connection, number: int) -> None:
    """Delete everything that a finding says, but for its relations and the rows of its events."""
    alone = [
        row[0]
        for row in db.execute(
            """select evidence_id from finding_evidence l where finding_id = :id and not exists
                 (select 1 from finding_evidence o where o.evidence_id = l.evidence_id and o.finding_id <> :id)""",
            {"id": number},
        )
    ]
    for table, column in (
        ("finding_evidence", "finding_id"),
        ("finding_contexts", "finding_id"),
        ("rules", "finding_id"),
        ("doc_links", "finding_id"),
        ("idempotency_keys", "finding_id"),
    ):
        db.execute(f"delete from {table} where {column} = ?", (number,))
    db.execute("delete from evidence where id in (select value from json_each(?))", (jsontext.dumps(alone),))
    db.execute("delete from event_texts where seq in (select seq from finding_events where finding_id = ?)", (number,))
    db.execute(
        """update findings set claim = '', tags = '[]', aliases = '[]', scope = '{}', task = '', host = '',
             session = '', lifecycle_state = 'withdrawn', promotion_state = 'none', muted_until = '',
             retrieval_policy = 'never'
           where id = ?""",
        (number,),
    )
