"""What a person set counts for the hook, and `explain` says beforehand what the hook will hand out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.codex.talk import Talk, held, ids
from support.desk import FOR, Desk, make_repository
from support.explaining import explain_codex
from upheld import Upheld
from upheld.findings.ledger import Ledger
from upheld.findings.store import settings as store
from upheld.storage.places import Places

if TYPE_CHECKING:
    from typing import Any

ABOUT = "Why does the tokenizer shift the loss spike?"
HOST_LIMIT = 9900


@pytest.fixture
def places(own_home: Path) -> Places:
    return Places(f"{own_home}/data", f"{own_home}/state", f"{own_home}/cache")


@pytest.fixture
def desk(tmp_path: Path, places: Places) -> Desk:
    return Desk(make_repository(tmp_path / "repository"), ledger=Ledger(places))


@pytest.fixture
def talk(desk: Desk, places: Places) -> Talk:
    return Talk(desk.cwd, places)


@pytest.fixture
def person(desk: Desk) -> Upheld:
    return Upheld(str(desk.cwd), ledger=desk.ledger)


def log_many(desk: Desk, count: int, **given: Any) -> None:
    for number in range(1, count + 1):
        desk.log(f"The tokenizer is not what shifts loss number {number}", **{"tags": ["tokenizer"], **given})


# Settings


@pytest.mark.parametrize("items", [0, 1, 3, 7])
def test_a_prompt_gets_as_many_items_as_were_set(items: int, desk: Desk, talk: Talk, person: Upheld) -> None:
    log_many(desk, 8)
    person.set_setting("prompt-bytes", 4000)
    person.set_setting("prompt-items", items)
    assert len(ids(talk.prompt(ABOUT))) == items
    assert talk.last.reason == ("" if items else "no_room")


@pytest.mark.parametrize("size", [300, 900, 2500])
def test_a_prompt_keeps_the_size_that_was_set(size: int, desk: Desk, talk: Talk, person: Upheld) -> None:
    log_many(desk, 10, evidence=[FOR])
    person.set_setting("prompt-items", 10)
    person.set_setting("prompt-bytes", size)
    text = talk.prompt(ABOUT)
    assert size // 3 < len(text.encode()) <= size


@pytest.mark.parametrize(
    ("given", "most"),
    [
        ({}, HOST_LIMIT - 1500),
        ({"prompt-bytes": 4000}, HOST_LIMIT - 4000),
        ({"prompt-bytes": 4000, "start-bytes": 8000}, HOST_LIMIT - 4000),
        ({"start-bytes": 2000}, 2000),
    ],
)
def test_a_start_leaves_the_room_of_its_prompt_whatever_was_set(
    given: dict[str, int], most: int, desk: Desk, talk: Talk, person: Upheld
) -> None:
    log_many(desk, 60, claim_kind="constraint", epistemic_state="not_applicable")
    for name, value in given.items():
        person.set_setting(name, value)
    assert most - 500 < len(talk.start().encode()) <= most


def test_a_block_holds_as_many_items_of_policy_always_as_were_set(talk: Talk, person: Upheld) -> None:
    for number in range(4):
        person.log_finding(
            claim=f"Rule {number}", claim_kind="decision", scope={"everywhere": True}, retrieval_policy="always"
        )
    assert len(ids(talk.start())) == 4
    person.set_setting("always-items", 2)
    assert len(ids(talk.start())) == 2


def test_the_language_is_that_of_the_project_not_of_another(desk: Desk, talk: Talk, person: Upheld) -> None:
    log_many(desk, 1)
    assert held(talk.start()).language == "en"
    person.set_setting("language", "zh")
    block = held(talk.prompt(ABOUT))
    assert (block.language, block.items[0].claim) == ("zh", "The tokenizer is not what shifts loss number 1")
    other = Desk(make_repository(desk.cwd.parent / "other"), ledger=desk.ledger)
    log_many(other, 1)
    assert held(Talk(other.cwd, talk.places).prompt(ABOUT)).language == "en"


# Pausing


def test_a_pause_is_silence_with_a_reason_and_afterwards_everything_is_as_before(
    desk: Desk, talk: Talk, person: Upheld
) -> None:
    log_many(desk, 1)
    person.pause("2h")
    assert [talk.start(), talk.prompt(ABOUT), talk.ask("SubagentStart", agent_id="a")] == ["", "", ""]
    assert (talk.last.reason, talk.last.failed) == ("paused", False)
    last = person.status()["last_injection"]
    assert (last["reason"], last["bytes"], last["items"]) == ("paused", 0, [])
    person.pause(None)
    assert ids(talk.prompt(ABOUT)) == [1]


def test_a_pause_that_is_over_is_none(desk: Desk, talk: Talk, person: Upheld) -> None:
    log_many(desk, 1)
    person.pause("1m")
    assert talk.prompt(ABOUT) == ""
    with desk.ledger.write(person.caller) as write:
        store.put_setting(write.db, 1, "paused-until", "2024-01-01T00:00:00.000Z", write.now)
    assert ids(talk.prompt(ABOUT)) == [1]


def test_what_a_clear_took_away_during_a_pause_is_not_believed_to_stand_there(
    desk: Desk, talk: Talk, person: Upheld
) -> None:
    log_many(desk, 1)
    assert ids(talk.prompt(ABOUT)) == [1]
    assert talk.prompt(ABOUT) == ""
    person.pause("forever")
    assert talk.start("clear") == ""
    person.pause(None)
    assert ids(talk.prompt(ABOUT)) == [1]


def test_a_compaction_during_a_pause_is_made_up_for_by_the_first_prompt_after_it(
    desk: Desk, talk: Talk, person: Upheld
) -> None:
    log_many(desk, 1)
    assert ids(talk.prompt(ABOUT)) == [1]
    person.pause("forever")
    assert talk.compact() == ""
    assert talk.prompt("something else entirely") == ""
    person.pause(None)
    assert ids(talk.prompt("something else entirely")) == [1]
    assert talk.prompt("something else entirely") == ""


# Explaining


def explained(desk: Desk, trigger: str, text: str = "", session: str = "session-1") -> dict[str, Any]:
    return explain_codex(desk.ledger, desk.findings.place, trigger, text, session)


def test_explain_says_beforehand_what_the_hook_then_hands_out(desk: Desk, talk: Talk, person: Upheld) -> None:
    desk.log("Never edit the golden files", claim_kind="constraint")
    desk.log("Only in another conversation", claim_kind="constraint", scope={"match": {"session": "codex:other"}})
    log_many(desk, 5)
    person.set_setting("prompt-items", 2)
    person.set_setting("language", "zh", everywhere=True)

    before = explained(desk, "start")
    assert talk.start() == before["block"] != ""
    before = explained(desk, "prompt", ABOUT)
    assert talk.prompt(ABOUT) == before["block"] != ""
    for _ in range(2):
        # Twice: what was handed out before the first compaction is the past of the second as well, through the first.
        before = explained(desk, "compact")
        assert talk.compact() == before["block"] != ""
    assert explained(desk, "resume")["block"] == talk.start("resume") == ""
    desk.run("set_finding_state", finding_id="F-3", epistemic_state="provisional", reason="looked again")
    before = explained(desk, "resume")
    assert talk.start("resume") == before["block"] != ""
    person.pause("2h")
    assert (explained(desk, "prompt", ABOUT)["reason"], talk.prompt(ABOUT)) == ("paused", "")


def test_explain_judges_a_conversation_that_is_yet_to_begin_as_the_hook_will(desk: Desk, talk: Talk) -> None:
    desk.log("Only in that one", claim_kind="constraint", scope={"match": {"session": "codex:other"}})
    before = explained(desk, "start", session="")
    assert before["decisions"][0]["applicability"] == "incompatible"
    assert talk.start() == before["block"]


def test_a_damaged_database_of_conversations_stops_neither_the_hook_nor_explain(desk: Desk, talk: Talk) -> None:
    log_many(desk, 1)
    assert ids(talk.prompt(ABOUT)) == [1]
    for suffix in ("-wal", "-shm"):
        Path(talk.places.conversations + suffix).unlink(missing_ok=True)
    Path(talk.places.conversations).write_bytes(b"no database at all" * 1000)
    before = explained(desk, "prompt", ABOUT)
    (problem,) = before["problems"]
    assert problem.startswith("the database of conversations can't be used: it is no SQLite database.")
    assert talk.ask("UserPromptSubmit", prompt=ABOUT, noted=False) == before["block"] != ""
    assert os.path.getsize(talk.places.conversations) == 18_000
