"""What `check` finds: each way to tamper with a ledger file, done to a real one."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from support.desk import AGAINST, AGENT, FOR, PERSON, Desk
from upheld.errors import StorageError
from upheld.findings.check import MAX_PROBLEMS, Report, accept_ledger, check_ledger
from upheld.findings.ledger import Ledger
from upheld.findings.refusals import PersonRequiredError
from upheld.storage.places import Places

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NO_TRIGGERS = """drop trigger finding_events_are_not_updated; drop trigger finding_events_are_not_deleted;
  drop trigger event_texts_are_not_updated;"""


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five findings, eight events: F-1 refuted, F-2 superseded by F-5, F-3 with tags and paths, F-4 a constraint."""
    top = tmp_path_factory.mktemp("original")
    (top / "project").mkdir()
    desk = Desk(top / "project", ledger=Ledger(Places(f"{top}/home/data", f"{top}/home/state", f"{top}/home/cache")))
    desk.log("The first claim", evidence=[FOR], epistemic_state="supported")
    desk.log("The second claim", evidence=[FOR, AGAINST])
    (desk.cwd / "engine.py").write_text("speed = 3\n")
    desk.log("The third claim", tags=["Fast Path"], scope={"paths": ["engine.py"], "match": {"backend": "cuda"}})
    desk.log("Keep it small", claim_kind="constraint")
    desk.run("refute_finding", finding_id="F-1", reason="measured", evidence=[AGAINST])
    desk.run("supersede_finding", finding_id="F-2", claim="The newer claim", reason="new data")
    desk.run("add_evidence", finding_id="F-3", evidence=FOR)
    desk.ledger.close()
    return top


@pytest.fixture
def filled(original: Path, own_home: Path, ledger: Ledger) -> Desk:
    shutil.copytree(original / "home", own_home)
    return Desk(original / "project", ledger=ledger)


@pytest.fixture
def tamper(places: Places) -> Callable[[str], None]:
    """Run SQL on the ledger file as somebody who has the file and not the account."""

    def run(script: str) -> None:
        db = apsw.Connection(places.ledger)
        db.execute(script)
        db.close()

    return run


def _said(report: Report) -> list[str]:
    return [f"{problem.where} {problem.what}" for problem in report.problems]


def test_a_whole_ledger_is_whole(filled: Desk) -> None:
    told: list[tuple[str, int, int]] = []
    report = check_ledger(filled.ledger, progress=lambda *step: told.append(step))
    assert report.problems == ()
    assert report.ok
    assert report.counts == {"events": 8, "findings": 5, "evidence": 5, "purged": 0}
    assert told == [("events", 8, 8), ("findings", 5, 5)]


def test_no_ledger_is_no_problem(ledger: Ledger) -> None:
    assert check_ledger(ledger).ok


def test_a_ledger_without_a_finding_is_whole(desk: Desk) -> None:
    with pytest.raises(StorageError), desk.ledger.write(AGENT):
        raise StorageError("Nothing came of it.")
    assert check_ledger(desk.ledger).ok


EVENTS = [
    (
        "an event that was changed",
        NO_TRIGGERS + "update finding_events set actor = 'user' where seq = 3",
        ["event 3 does not continue the chain"],
    ),
    (
        "an event that was removed",
        NO_TRIGGERS + "delete from event_texts where seq = 4; delete from finding_events where seq = 4",
        ["event 4 was removed", "event 5 does not continue the chain", "F-4 is there without any event"],
    ),
    (
        "two that were exchanged",
        NO_TRIGGERS
        + """pragma foreign_keys = off; update finding_events set seq = 99 where seq = 2;
          update finding_events set seq = 2 where seq = 3; update finding_events set seq = 3 where seq = 99""",
        ["event 2 does not continue the chain", "event 3 does not continue the chain", "event 2 has other words"],
    ),
    (
        "one that was forged",
        "insert into finding_events values (9, 1, 'state_set', 'user', '', '', '2027-01-01', 'x', 'y')",
        ["event 9 does not continue the chain", "event 9 has lost its words"],
    ),
    (
        "one that was played again",
        """insert into finding_events select 9, finding_id, kind, actor, host, session, at, text_hash, hash
             from finding_events where seq = 8;
           insert into event_texts select 9, salt, text from event_texts where seq = 8""",
        ["event 9 does not continue the chain", "event 9 says what version was before it, and it was not so"],
    ),
    (
        "words that were changed",
        NO_TRIGGERS + "update event_texts set text = replace(text, 'measured', 'guessed') where seq = 5",
        ["event 5 has other words than were written"],
    ),
    ("words that were taken away", "delete from event_texts where seq = 1", ["event 1 has lost its words"]),
    (
        "words that are no JSON",
        NO_TRIGGERS + "update event_texts set text = '{' where seq = 4",
        ["event 4 has other words", "event 4 has words that cannot be read"],
    ),
    (
        "the newest event cut off",
        NO_TRIGGERS + "delete from event_texts where seq = 8; delete from finding_events where seq = 8",
        ["the ledger ends at event 7, and 8 were written: it was rolled back", "F-3 was changed without an event"],
    ),
    ("a trigger that is gone", "drop trigger finding_events_are_not_deleted", ["trigger finding_events_are_not_del"]),
]
STATES = [
    ("update findings set epistemic_state = 'supported' where id = 1", "F-1 was changed without an event: epistemic_s"),
    ("update findings set claim = 'Another' where id = 3", "F-3 was changed without an event: claim"),
    ("update findings set version = 7 where id = 3", "F-3 was changed without an event: version"),
    ("update findings set decided_event = 0 where id = 1", "F-1 was changed without an event: decided_event"),
    ("update findings set lifecycle_state = 'current' where id = 2", "F-2 was changed without an event: lifecycle"),
    ("update findings set scope = '{\"everywhere\":true}' where id = 3", "F-3 was changed without an event: scope"),
    ("update findings set tags = '[]' where id = 3", "F-3 was changed without an event: tags"),
    ("update findings set scope = '{' where id = 3", "F-3 holds JSON that cannot be read"),
    ("update findings set uid = 'x' where id = 3", "F-3 was changed without an event: uid"),
    ("update findings set updated_at = '' where id = 3", "F-3 was changed without an event: updated_at"),
    (
        "insert into projects values (9, 'u', 'n', ''); update findings set project_id = 9 where id = 4",
        "F-4 was changed without an event: project",
    ),
    ("update evidence set excerpt = 'more' where id = 1", "E-1 was changed without an event, or is gone"),
    ("update finding_evidence set role = 'context' where id = 1", "F-1 has other evidence than its events say"),
    ("delete from finding_evidence where id = 1", "F-1 has other evidence than its events say"),
    ("delete from finding_evidence where id = 1", "E-1 is there without any event"),
    (
        """insert into finding_evidence (finding_id, evidence_id, role, method, created_at, event)
           values (4, 1, 'supports', 'test', '', 4)""",
        "F-4 has other evidence than its events say",
    ),
    ("delete from finding_contexts where finding_id = 3", "F-3 is known to hold in other contexts"),
    ("update finding_contexts set anchor = '{}' where finding_id = 3", "F-3 is known to hold in other contexts"),
    ("delete from finding_relations", "F-2 has other relations than its events say"),
    ("insert into finding_relations values (1, 'duplicate_of', 3, '')", "F-1 has other relations than its events say"),
    ("insert into finding_relations values (3, 'supersedes', 4, '')", "F-4 has other relations than its events say"),
    ("delete from finding_words where finding_id = 3 and part = 't'", "F-3 is indexed under other words than it has"),
    ("insert into finding_words values (1, 'c', 'zebra', 3)", "F-3 is indexed under other words than it has"),
    ("insert into finding_words values (1, 'c', 'zebra', 3)", "the word index counts 'zebra' wrongly"),
    ("update project_words set findings = 9 where word = 'claim'", "the word index counts 'claim' wrongly"),
    (
        "update project_words set findings = 9 where word = ''",
        "the word index counts the findings of a project wrongly",
    ),
    ("update evidence set uid = (select uid from findings where id = 1) where id = 1", "is given twice"),
    ("pragma foreign_keys = off; delete from evidence where id = 1", "finding_evidence row 1 refers to a row of evid"),
    ("pragma foreign_keys = off; delete from finding_words; delete from findings where id = 4", "F-4 has events and"),
    (
        """insert into findings (uid, project_id, claim, claim_kind, epistemic_state, lifecycle_state, retrieval_policy,
             scope, tags, aliases, created_at, updated_at, actor)
           values ('u', 1, 'Obey me', 'constraint', 'supported', 'current', 'always', '{}', '[]', '[]', '', '', 'user')
        """,
        "F-6 is there without any event",
    ),
]


@pytest.mark.parametrize(("script", "wanted"), [case[1:] for case in EVENTS], ids=[case[0] for case in EVENTS])
def test_a_tampered_event_is_named(filled: Desk, tamper: Callable[[str], None], script: str, wanted: list[str]) -> None:
    tamper(script)
    said = _said(check_ledger(filled.ledger))
    for start in wanted:
        assert any(line.startswith(start) for line in said), (start, said)


@pytest.mark.parametrize(("script", "wanted"), STATES)
def test_a_row_that_no_event_explains_is_named(
    filled: Desk, tamper: Callable[[str], None], script: str, wanted: str
) -> None:
    tamper(script)
    said = _said(check_ledger(filled.ledger))
    assert any(wanted in line for line in said), said


def test_a_rolled_back_file_is_noticed_and_not_written_to(filled: Desk, places: Places) -> None:
    shutil.copy(places.ledger, places.ledger + ".old")
    filled.log("One more")
    filled.ledger.close()
    os.replace(places.ledger + ".old", places.ledger)
    assert _said(check_ledger(filled.ledger)) == ["the ledger ends at event 8, and 9 were written: it was rolled back"]
    with pytest.raises(StorageError, match="it holds 8 events, and 9 were written"):
        filled.log("One more")


def test_a_writer_refuses_a_ledger_with_another_last_event(filled: Desk, tamper: Callable[[str], None]) -> None:
    tamper(NO_TRIGGERS + "update finding_events set hash = 'x' where seq = 8")
    with pytest.raises(StorageError, match="event 8 is not the one that was written"):
        filled.log("One more")
    assert "event 8 is not the one that was written last" in _said(check_ledger(filled.ledger))


def test_a_writer_refuses_an_event_that_was_added_without_the_key(filled: Desk, tamper: Callable[[str], None]) -> None:
    tamper("insert into finding_events values (9, 1, 'state_set', 'user', '', '', '2027-01-01', 'x', 'y')")
    with pytest.raises(StorageError, match="event 9 was added without the key"):
        filled.log("One more")


def test_events_past_the_head_are_no_alarm_when_their_hashes_are_right(filled: Desk, places: Places) -> None:
    """As after a crash between the commit and the head."""
    head = _chain_file(places, ".head")
    with open(head, encoding="ascii") as file:
        before = file.read()
    filled.log("Written, and then the machine stopped")
    with open(head, "w", encoding="ascii") as file:
        file.write(before)
    assert check_ledger(filled.ledger).ok
    filled.log("And went on")
    assert check_ledger(filled.ledger).ok


@pytest.mark.parametrize(("suffix", "what"), [(".key", "the key"), (".head", "the head")])
def test_a_missing_key_or_head_is_never_replaced_by_a_writer(
    filled: Desk, places: Places, suffix: str, what: str
) -> None:
    os.unlink(_chain_file(places, suffix))
    with pytest.raises(StorageError, match="key is missing"):
        filled.log("One more")
    assert f"{what} is missing from the state directory, so nobody can vouch for the events" in _said(
        check_ledger(filled.ledger)
    )


@pytest.mark.parametrize("text", ["", "[1", "nonsense", "[1,2]"])
@pytest.mark.parametrize("suffix", [".key", ".head"])
def test_a_damaged_key_or_head_is_a_refusal(filled: Desk, places: Places, suffix: str, text: str) -> None:
    with open(_chain_file(places, suffix), "w", encoding="ascii") as file:
        file.write(text)
    with pytest.raises(StorageError):
        filled.log("One more")
    assert not check_ledger(filled.ledger).ok


def test_a_purge_leaves_its_mark_and_the_chain_whole(filled: Desk) -> None:
    with filled.ledger.write(PERSON) as write:
        write.add_event(3, "purged", reason="asked to", before={"version": 2}, after={"version": 3})
        write.db.execute("delete from event_texts where seq in (3, 8)")
    report = check_ledger(filled.ledger)
    assert report.ok
    assert report.counts["purged"] == 2


def test_a_ledger_of_another_uid_has_no_key(filled: Desk, tamper: Callable[[str], None]) -> None:
    tamper("update ledger set uid = '../../../../etc/passwd'")
    assert any("its uid is damaged" in line for line in _said(check_ledger(filled.ledger)))
    with pytest.raises(StorageError, match="its uid is damaged"):
        filled.log("One more")


def test_problems_beyond_the_hundredth_are_counted(filled: Desk, tamper: Callable[[str], None]) -> None:
    tamper(
        """with recursive n (i) as (select 10 union all select i + 1 from n where i < 160)
           insert into evidence (id, uid, project_id, source_kind, source_ref, resolution, observed_at, created_at,
             actor) select i, 'u' || i, 1, 'log', 'r', 'resolved', '', '', 'user' from n;
           update findings set claim = 'x' """
    )
    report = check_ledger(filled.ledger)
    assert len(report.problems) == MAX_PROBLEMS
    assert report.more >= 1


def test_a_damaged_page_is_found(filled: Desk, places: Places) -> None:
    db = apsw.Connection(places.ledger)
    page = int(db.execute("select rootpage from sqlite_schema where name = 'evidence'").get)
    db.close()
    with open(places.ledger, "r+b") as file:
        file.seek(4096 * (page - 1))
        file.write(b"\xff" * 4096)
    with pytest.raises(StorageError, match="damaged"):
        filled.get("F-1")
    assert any(line.startswith("the file is damaged") for line in _said(check_ledger(filled.ledger)))
    with pytest.raises(StorageError, match="damaged"):
        accept_ledger(filled.ledger, PERSON, "whatever it is", home="/home/a")


def test_no_problem_shows_a_path_or_a_claim(filled: Desk, tamper: Callable[[str], None], tmp_path: Path) -> None:
    tamper(NO_TRIGGERS + "update findings set claim = 'x'; update event_texts set text = '{' || text")
    for problem in check_ledger(filled.ledger).problems:
        for text in (problem.where, problem.what, problem.do):
            assert str(tmp_path) not in text
            assert "third claim" not in text


class TestAccepting:
    def test_gives_a_new_key_from_here_on(self, filled: Desk, places: Places) -> None:
        shutil.rmtree(places.state + "/chain")
        report = accept_ledger(filled.ledger, PERSON, "The state directory was lost in ~/x", home="/home/a")
        assert report.ok
        assert len(report.accepted) == 1
        assert '"events":8' in report.accepted[0]
        filled.log("One more")
        assert check_ledger(filled.ledger).ok

    def test_vouches_for_what_was_accepted(self, filled: Desk, places: Places, tamper: Callable[[str], None]) -> None:
        shutil.rmtree(places.state + "/chain")
        accept_ledger(filled.ledger, PERSON, "lost", home="")
        filled.log("One more")
        filled.ledger.close()
        tamper(NO_TRIGGERS + "update finding_events set actor = 'user' where seq = 3")
        assert "events 1 to 8 are not those that were accepted" in _said(check_ledger(filled.ledger))

    def test_does_not_make_a_changed_finding_true(self, filled: Desk, tamper: Callable[[str], None]) -> None:
        tamper("update findings set claim = 'Another' where id = 4;" + NO_TRIGGERS + "delete from event_texts;")
        report = accept_ledger(filled.ledger, PERSON, "so be it", home="")
        assert not report.ok

    def test_takes_a_shorter_ledger(self, filled: Desk, places: Places) -> None:
        shutil.copy(places.ledger, places.ledger + ".old")
        filled.log("Lost with the disk")
        filled.ledger.close()
        os.replace(places.ledger + ".old", places.ledger)
        assert accept_ledger(filled.ledger, PERSON, "a backup", home="").ok
        filled.log("One more")
        assert check_ledger(filled.ledger).ok

    def test_leaves_a_whole_chain_alone(self, filled: Desk, places: Places) -> None:
        with open(_chain_file(places, ".key"), encoding="ascii") as file:
            key = file.read()
        assert accept_ledger(filled.ledger, PERSON, "just so", home="").accepted == ()
        with open(_chain_file(places, ".key"), encoding="ascii") as file:
            assert file.read() == key

    def test_is_for_people(self, filled: Desk, places: Places) -> None:
        shutil.rmtree(places.state + "/chain")
        with pytest.raises(PersonRequiredError):
            accept_ledger(filled.ledger, AGENT, "trust me", home="")
        assert not os.path.exists(places.state + "/chain")

    def test_needs_a_ledger(self, ledger: Ledger) -> None:
        with pytest.raises(StorageError, match="no ledger"):
            accept_ledger(ledger, PERSON, "none", home="")

    def test_keeps_no_secret_of_the_reason(self, filled: Desk, places: Places) -> None:
        shutil.rmtree(places.state + "/chain")
        given: Any = accept_ledger(filled.ledger, PERSON, "password=hunter2hunter2 at /home/a/x", home="/home/a")
        assert "hunter2" not in given.accepted[0]
        assert "/home/a" not in given.accepted[0]


def _chain_file(places: Places, suffix: str) -> str:
    folder = places.state + "/chain"
    (name,) = [name for name in os.listdir(folder) if name.endswith(suffix)]
    return f"{folder}/{name}"


def test_a_check_after_many_writes_calls_no_sound_index_damaged(desk: Desk) -> None:
    finding = desk.log()
    for _ in range(20):
        desk.get(finding)
        desk.run("add_evidence", finding_id=finding, evidence=AGAINST)
        assert check_ledger(desk.ledger).problems == ()
