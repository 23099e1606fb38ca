"""The full-text index beside the tables: what it holds, what it forgets, and how one sees that it is wrong."""

from __future__ import annotations

import random

import apsw
import pytest

from support.desk import AGAINST, FOR, PERSON, Desk
from upheld.findings.store import searching
from upheld.storage import database
from upheld.storage.database import Transaction

TABLES = ("finding_texts", "finding_pieces")


def _words(db: apsw.Connection, table: str) -> list[tuple[object, ...]]:
    """Every word of the index with the rows, columns and places where it stands."""
    db.execute(f"create virtual table if not exists temp.seen_{table} using fts5vocab(main, {table}, instance)")
    return sorted(tuple(row) for row in db.execute(f"select * from temp.seen_{table}"))


def test_after_any_writes_the_index_is_the_one_that_would_be_built_anew(desk: Desk) -> None:
    draw = random.Random(5)  # noqa: S311 - which writes
    texts = ["the probe hangs", "用户身份 锁", "readEvent(self._loop)", "src/a_b/c.py:12: E501", "", "ＦＵＬＬ café"]
    ids = [desk.log(f"Claim {n} {draw.choice(texts)}", tags=[draw.choice("abc")]) for n in range(6)]
    person = Desk(desk.cwd, caller=PERSON, ledger=desk.ledger)
    for number in range(30):
        one = draw.choice(ids)
        match draw.randrange(3):
            case 0:
                piece = {**draw.choice([FOR, AGAINST]), "excerpt": draw.choice(texts), "rationale": f"Why {number}"}
                desk.run("add_evidence", finding_id=one, evidence=piece)
            case 1:
                person.run("amend_finding", finding_id=one, claim=f"Now {draw.choice(texts)} {number}", reason="Dim")
            case _:
                person.run("amend_finding", finding_id=one, tags=[f"tag{number}"], reason="Another name")
    db = database.open_for_writing(desk.ledger.places.ledger, database.LEDGER)
    kept = [_words(db, table) for table in TABLES]
    assert searching.find_text_problems(db, 10) == []
    with Transaction(db):
        for table in TABLES:
            db.execute(f"delete from {table}")
        for one in reversed(ids):
            searching.refresh_text(db, int(one.removeprefix("F-")))
    assert [_words(db, table) for table in TABLES] == kept
    db.close()


def test_what_is_forgotten_leaves_no_bytes(desk: Desk) -> None:
    for number in range(40):
        desk.log(f"Filler {number} stands here")
    one = desk.log("Xyzzyplugh stands here", evidence=[{**FOR, "rationale": "Because of Quuxwaldo."}])
    for number in range(40):
        desk.log(f"More filler {number} stands here")
    desk.ledger.close()
    db = database.open_for_writing(desk.ledger.places.ledger, database.LEDGER)
    with Transaction(db):
        searching.forget_text(db, int(one.removeprefix("F-")))
    held = {word for table in TABLES for word, *_ in _words(db, table)}
    assert not {"xyzzyplugh", "quuxwaldo", "xyz", "yzz", "uxw"} & held
    assert {"filler", "fil"} <= held
    raw = b"".join(row[0] for table in TABLES for row in db.execute(f"select block from {table}_data"))
    # Words are stored as what differs from the word before: `xyzzyplugh` has no neighbour that takes much of it away.
    assert b"yzzyplugh" not in raw
    db.execute("pragma wal_checkpoint(truncate)").get  # noqa: B018 - reading the answer is what runs it
    # Other tables still say it; free pages belong to none.
    others = {row[0] for row in db.execute("select pageno from dbstat where name not like 'finding_texts%'")}
    db.close()
    with open(desk.ledger.places.ledger, "rb") as file:
        whole = file.read()
    size = int.from_bytes(whole[16:18])
    looked_at = [page for page in range(1, len(whole) // size + 1) if page not in others]
    assert looked_at
    assert [page for page in looked_at if b"yzzyplugh" in whole[(page - 1) * size : page * size]] == []


@pytest.mark.parametrize("table", TABLES)
def test_a_row_that_is_missing_or_of_no_finding_is_named(desk: Desk, table: str) -> None:
    for number in range(3):
        desk.log(f"Claim {number}")
    db = database.open_for_writing(desk.ledger.places.ledger, database.LEDGER)
    column = "claim" if table == "finding_texts" else "says"
    db.execute(f"delete from {table} where rowid = 2; insert into {table} (rowid, {column}) values (77, 'ghost')")
    db.close()
    reader = apsw.Connection(desk.ledger.places.ledger, flags=apsw.SQLITE_OPEN_READONLY)
    assert searching.find_text_problems(reader, 10) == ["F-2", "F-77"]
    assert len(searching.find_text_problems(reader, 1)) == 1
    reader.close()


def test_an_index_that_is_damaged_is_named(desk: Desk) -> None:
    for number in range(50):
        desk.log(f"Claim {number}")
    db = database.open_for_writing(desk.ledger.places.ledger, database.LEDGER)
    db.execute("update finding_texts_data set block = zeroblob(length(block)) where id > 100")
    db.close()
    reader = apsw.Connection(desk.ledger.places.ledger, flags=apsw.SQLITE_OPEN_READONLY)
    assert "finding_texts" in searching.find_text_problems(reader, 10)
    reader.close()
