import apsw
import pytest

from upheld.findings.store import shown
from upheld.findings.store.shown import Conversation, LogRow, Shown
from upheld.storage import database

NOW = "2026-11-30T12:00:00Z"
ROOT = Conversation("codex", "s1")
CHILD = Conversation("codex", "s1", "child")


@pytest.fixture
def db() -> apsw.Connection:
    db = apsw.Connection(":memory:")
    database.migrate(db, database.CONVERSATIONS)
    return db


def a_row(project: str = "p", reason: str = "") -> LogRow:
    return LogRow(project_uid=project, host="codex", trigger="prompted", bytes_=9, items=[[1, "kept"]], reason=reason)


def test_the_newest_generation_is_that_of_this_very_context(db: apsw.Connection) -> None:
    assert shown.find_generation(db, ROOT) is None
    shown.begin_generation(db, ROOT, "started", NOW)
    newest = shown.begin_generation(db, ROOT, "compact", NOW)
    shown.begin_generation(db, CHILD, "subagent_started", NOW)
    found = shown.find_generation(db, ROOT)
    assert found is not None
    assert (found.id, found.trigger, found.answered) == (newest, "compact", False)
    shown.mark_answered(db, newest)
    again = shown.find_generation(db, ROOT)
    assert again is not None
    assert again.answered


def test_a_finding_stands_in_its_last_form(db: apsw.Connection) -> None:
    generation = shown.begin_generation(db, ROOT, "started", NOW)
    shown.keep_shown(db, generation, [Shown(1, "supported", "current", "applicable")])
    shown.keep_shown(db, generation, [Shown(1, "refuted", "current", "applicable")])
    assert [one.as_row() for one in shown.find_shown(db, generation)] == [(1, "refuted", "current", "applicable")]


def test_what_was_handed_before_is_found_through_empty_compactions_but_not_beyond_a_beginning(
    db: apsw.Connection,
) -> None:
    held = shown.begin_generation(db, ROOT, "started", NOW)
    shown.keep_shown(db, held, [Shown(1, "supported", "current", "applicable")])
    shown.begin_generation(db, ROOT, "compact", NOW)
    last = shown.begin_generation(db, ROOT, "compact", NOW)
    assert [one.finding_id for one in shown.find_handed(db, ROOT, last)] == [1]
    assert shown.find_handed(db, CHILD, last) == []
    shown.begin_generation(db, ROOT, "cleared", NOW)
    last = shown.begin_generation(db, ROOT, "compact", NOW)
    assert shown.find_handed(db, ROOT, last) == []


def test_what_a_conversation_fetched_is_remembered_newest_first_and_bounded(
    db: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown.touch(db, ROOT, [1, 2], "2026-11-30T12:00:00Z")
    shown.touch(db, ROOT, [3], "2026-11-30T12:00:01Z")
    shown.touch(db, Conversation("codex", "other"), [9], "2026-11-30T12:00:02Z")
    assert shown.find_touched(db, ROOT) == [3, 2, 1]
    monkeypatch.setattr(shown, "MAX_TOUCHED", 1)
    shown.touch(db, ROOT, [4], "2026-11-30T12:00:03Z")
    assert shown.find_touched(db, ROOT) == [4]


def test_old_generations_and_log_rows_go(db: apsw.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown, "MAX_GENERATIONS", 2)
    monkeypatch.setattr(shown, "MAX_LOG_ROWS", 2)
    for number in range(5):
        generation = shown.begin_generation(db, ROOT, "started", NOW)
        shown.keep_shown(db, generation, [Shown(number, "supported", "current", "applicable")])
        shown.log_injection(db, a_row(), NOW)
    assert [db.execute(f"select count(*) from {table}").get for table in ("generations", "shown", "injections")] == [
        2
    ] * 3


def test_the_injection_log_counts_by_trigger_and_project(db: apsw.Connection) -> None:
    assert shown.find_last_injection(db, "p") is None
    shown.log_injection(db, a_row(), NOW)
    shown.log_injection(db, a_row(reason="nothing_matched"), NOW)
    shown.log_injection(db, a_row("other"), NOW)
    assert shown.count_injections(db, "p") == {"prompted": {"injected": 1, "empty": 1}}
    last = shown.find_last_injection(db, "p")
    assert last is not None
    assert (last.items, last.reason, last.bytes) == ([[1, "kept"]], "nothing_matched", 9)
