"""The full-text index over everything that findings say: kept by whoever writes, asked by queries.

It holds words and their places, no text. Its rows are of all projects, so every question joins the project, and
nothing is ranked by what the index counts: another project's words can't change an order.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from upheld.text.words import fold, spell

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

_TABLES = ("finding_texts", "finding_pieces")

IN_CLAIM = 2
"""The mark of a phrase that a finding's claim holds; 1 where it stands elsewhere, 0 where nowhere."""


def refresh_text(db: apsw.Connection, finding_id: int) -> None:
    """Index what a finding says now, in place of what it said before."""
    _take_out(db, finding_id)
    texts = db.execute("select claim, names, evidence from finding_says where id = ?", (finding_id,)).get
    db.execute(
        "insert into finding_texts (rowid, claim, names, evidence) values (?, ?, ?, ?)",
        (finding_id, *(spell(text) for text in texts)),
    )
    db.execute("insert into finding_pieces (rowid, says) values (?, ?)", (finding_id, fold("\n".join(texts))))


def forget_text(db: apsw.Connection, finding_id: int) -> None:
    """Take a finding out of the index for good: its bytes are gone with the next checkpoint.

    A delete alone only marks a row of an index without content; the words go when the index is written anew. That
    takes seconds for 100,000 findings, which is right for a purge and for nothing else.
    """
    # Pages that become free are emptied; the writer's connection keeps that, which costs other writes little.
    db.execute("pragma secure_delete = on").get  # noqa: B018 - reading the answer is what runs it
    _take_out(db, finding_id)
    for table in _TABLES:
        db.execute(f"insert into {table} ({table}) values ('optimize')")


def _take_out(db: apsw.Connection, finding_id: int) -> None:
    for table in _TABLES:
        db.execute(f"delete from {table} where rowid = ?", (finding_id,))


def find_texts(db: apsw.Connection, project_id: int, match: str, *, before: int, limit: int) -> list[int]:
    """Return the findings of a project that match an expression of the index, newest first.

    Args:
        db: The ledger.
        project_id: Whose.
        match: In FTS5's language; words from outside stand in it as quoted phrases.
        before: Only ids below this one.
        limit: How many at the most.
    """
    rows = db.execute(
        """select t.rowid from finding_texts t cross join findings f on f.id = t.rowid
           where t.finding_texts match ? and t.rowid < ? and f.project_id = ? order by t.rowid desc limit ?""",
        (match, before, project_id, limit),
    )
    return [row[0] for row in rows]


def find_marked(db: apsw.Connection, project_id: int, match: str, *, limit: int) -> list[tuple[int, bytes]]:
    """Return the findings of a project that match an expression, newest first, each with what of it they hold.

    Args:
        db: The ledger.
        project_id: Whose.
        match: As in `find_texts`.
        limit: How many at the most.

    Returns:
        Pairs of id and marks: one byte for each phrase of the expression, in its order, see `IN_CLAIM`. A phrase is
        marked surely where all that it is ANDed with matches too.
    """
    db.register_fts5_function("held", _mark)
    rows = db.execute(
        """select t.rowid, held(t.finding_texts) from finding_texts t cross join findings f on f.id = t.rowid
           where t.finding_texts match ? and f.project_id = ? order by t.rowid desc limit ?""",
        (match, project_id, limit),
    )
    return [(row[0], row[1]) for row in rows]


def _mark(row: apsw.FTS5ExtensionApi, *_: apsw.SQLiteValue) -> bytes:
    held = [row.phrase_columns(number) for number in range(row.phrase_count)]
    return bytes([0 if not columns else 1 if columns[0] else IN_CLAIM for columns in held])


def find_pieces(db: apsw.Connection, project_id: int, piece: str, *, before: int, limit: int) -> list[int]:
    """Return the findings of a project that hold a piece of at least three characters anywhere, newest first.

    Args:
        db: The ledger.
        project_id: Whose.
        piece: As `text.words.fold` returns it.
        before: Only ids below this one.
        limit: How many at the most.
    """
    threes = dict.fromkeys(piece[at : at + 3] for at in range(len(piece) - 2))
    match = " AND ".join('"' + three.replace('"', '""') + '"' for three in threes)
    rows = db.execute(
        """select p.rowid, f.claim || char(10) || f.names || char(10) || f.evidence
           from finding_pieces p cross join finding_says f on f.id = p.rowid
           where p.finding_pieces match ? and p.rowid < ? and f.project_id = ? order by p.rowid desc""",
        (match, before, project_id),
    )
    # The index knows which threes are there, and not in which order: so nothing is cut before it was looked at.
    return list(islice((row[0] for row in rows if piece in fold(row[1])), limit))


def iter_texts(db: apsw.Connection, project_id: int) -> Iterator[tuple[int, str]]:
    """Stream id and everything that a project's findings say, newest first: for a scan."""
    rows = db.execute(
        """select id, claim || char(10) || names || char(10) || evidence from finding_says
           where project_id = ? order by id desc""",
        (project_id,),
    )
    for row in rows:
        yield row[0], row[1]


def find_text_problems(db: apsw.Connection, limit: int) -> list[str]:
    """Return what is wrong with the index: `F-<n>` for a row that is missing or of no finding, or a table by name.

    Reads only. Whether a table is sound in itself is SQLite's own check; it keeps no text to compare with.
    """
    found = [table for table in _TABLES if db.execute(f"pragma integrity_check({table})").get != "ok"]
    numbers: dict[int, None] = {}
    for table in _TABLES:
        rows = db.execute(
            f"""select f.id from findings f where not exists (select 1 from {table}_docsize d where d.id = f.id)
                  and f.claim <> '' union all
                select d.id from {table}_docsize d where not exists (select 1 from findings f where f.id = d.id)
                limit ?""",
            (limit,),
        )
        numbers.update((row[0], None) for row in rows)
    return [*found, *(f"F-{number}" for number in sorted(numbers))][:limit]
