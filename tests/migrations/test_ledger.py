"""Every stored ledger of an earlier schema opens, is upgraded and verifies; a blank one becomes a fresh one.

`ledger-1/` was written by the first release's code, with its key and head, so that its chain can be followed.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import apsw
import pytest

from upheld.findings.check import check_ledger
from upheld.findings.ledger import Ledger
from upheld.findings.search import Found, search
from upheld.findings.store.auditing import find_schema_changes
from upheld.findings.store.searching import find_text_problems
from upheld.storage import database
from upheld.storage.places import find_places

STORED = sorted(Path(__file__).parent.glob("ledger-*"))


def _restore(stored: Path) -> Ledger:
    places = find_places(os.environ)
    for part, folder in (("data", places.data), ("state", places.state)):
        shutil.copytree(stored / part, folder)
    os.chmod(places.ledger, 0o600)
    for top, _, names in os.walk(places.state):
        for name in names:
            os.chmod(f"{top}/{name}", 0o600)
    return Ledger(places)


def test_there_is_a_stored_ledger_of_every_schema() -> None:
    assert [folder.name for folder in STORED] == [f"ledger-{n}" for n in range(1, database.VERSIONS["ledger"] + 1)]


@pytest.mark.parametrize("stored", STORED, ids=lambda folder: str(folder.name))
def test_a_stored_ledger_opens_and_verifies(stored: Path) -> None:
    ledger = _restore(stored)
    database.open_for_writing(ledger.places.ledger, database.LEDGER).close()
    report = check_ledger(ledger)
    assert report.problems == ()
    assert report.counts["findings"] == 3
    db = ledger.read()
    assert db is not None
    states = db.execute("select epistemic_state, lifecycle_state from findings order by id").fetchall()
    assert states == [("refuted", "current"), ("supported", "superseded"), ("unassessed", "current")]
    ledger.close()


def test_what_an_earlier_ledger_holds_is_found_by_its_words_after_the_upgrade() -> None:
    ledger = _restore(STORED[0])
    db = database.open_for_writing(ledger.places.ledger, database.LEDGER)
    rows: list[Any] = db.execute(
        """select f.id, f.project_id, f.claim, e.source_ref from findings f
           join finding_evidence l on l.finding_id = f.id join evidence e on e.id = l.evidence_id"""
    ).fetchall()
    assert rows
    for finding_id, project_id, claim, source_ref in rows:
        for text in (claim, source_ref):
            batches = search(db, project_id, text, lambda _: True, Found())
            assert finding_id in {finding.id for batch in batches for finding in batch}
    assert find_text_problems(db, 10) == []
    db.close()


@pytest.mark.parametrize("kind", [database.LEDGER, database.CONVERSATIONS])
def test_a_blank_file_becomes_a_fresh_database(tmp_path: Path, kind: str) -> None:
    folder = tmp_path.resolve() / "data"
    folder.mkdir(mode=0o700)
    (folder / "it.db").touch(mode=0o600)
    db = database.open_for_writing(str(folder / "it.db"), kind)
    fresh = apsw.Connection(":memory:")
    database.migrate(fresh, kind)
    wanted = fresh.execute("select type, name, sql from sqlite_schema order by name").fetchall()
    assert db.execute("select type, name, sql from sqlite_schema order by name").fetchall() == wanted
    assert db.execute("pragma user_version").get == database.VERSIONS[kind]
    if kind == database.LEDGER:
        assert find_schema_changes(db) == []
    db.close()


def test_a_migration_that_is_stopped_leaves_the_version_before(tmp_path: Path) -> None:
    db = apsw.Connection(str(tmp_path / "it.db"))
    database.migrate(db, database.LEDGER, stop_before=1)
    assert db.execute("pragma user_version").get == 0
    db.execute("create table projects (x)")
    with pytest.raises(apsw.SQLError):
        database.migrate(db, database.LEDGER)
    assert db.execute("select count(*) from sqlite_schema").get == 1
    assert db.execute("pragma user_version").get == 0
    db.close()
