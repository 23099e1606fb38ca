from typing import Any

import pytest

from support.block import read_block
from support.desk import AGAINST, FOR, Desk
from support.explaining import explain_codex
from upheld.context.projects import find_project
from upheld.findings.candidates import RULES
from upheld.findings.injection import Budget
from upheld.findings.ledger import Caller
from upheld.findings.retrieval import (
    COMPACT,
    MAX_ALWAYS,
    PROMPT,
    RESUME,
    START,
    TRIGGERS,
    Request,
    Selection,
    select,
)
from upheld.findings.store.shown import Shown
from upheld.findings.surroundings import Surroundings

ABOUT = "is the tokenizer shifted?"
PERSON = Caller("user")


def explained(desk: Desk, trigger: str, text: str = "", *, session: str = "") -> dict[str, Any]:
    return explain_codex(desk.ledger, desk.findings.place, trigger, text, session)


def outcomes(desk: Desk, trigger: str, text: str = "") -> dict[str, tuple[str, str]]:
    return {one["finding"]: (one["outcome"], one["why"]) for one in explained(desk, trigger, text)["decisions"]}


def chosen(desk: Desk, trigger: str, text: str = "", **given: Any) -> Selection:
    place = desk.findings.place
    db = desk.ledger.read()
    assert db is not None
    project = find_project(db, place.marks, root_commits=tuple)
    assert project is not None
    surroundings = Surroundings(db, place.marks, declared={}, environ=place.environ, host={})
    parts: dict[str, Any] = {
        "trigger": trigger,
        "text": text,
        "task": "",
        "budget": Budget(9000, "utf8"),
        "shown": [],
        "logged": [],
        "touched": [],
        "now": "2026-12-01T00:00:00.000Z",
    }
    return select(db, project.id, Request(**{**parts, **given}), surroundings)


def ids(selection: Selection) -> list[int]:
    return [shown.finding_id for shown in read_block(selection.text).items] if selection.text else []


def log(desk: Desk, claim: str = "About something", **given: Any) -> str:
    return desk.log(claim, **{"tags": ["tokenizer"], **given})


def allow_always(desk: Desk) -> None:
    """Do what only a person may."""
    desk.findings.caller = PERSON


# Every candidate carries what became of it, and why


def test_before_the_first_finding_there_is_nothing_to_explain(desk: Desk) -> None:
    for trigger in TRIGGERS:
        assert explained(desk, trigger, ABOUT)["reason"] == "no_ledger"


@pytest.mark.parametrize("trigger", TRIGGERS)
def test_an_explanation_has_whole_scores_and_the_version_of_the_rules(trigger: str, desk: Desk) -> None:
    log(desk)
    log(desk, "Never edit golden files", claim_kind="constraint", tags=[])
    log(desk, scope={"match": {"os": "plan9"}})
    answer = explained(desk, trigger, ABOUT)
    assert answer["rules"] == RULES
    assert answer["bytes"] == len(answer["block"].encode()) <= answer["limit"]
    assert answer["not_candidates"] + len(answer["decisions"]) == 3
    for decision in answer["decisions"]:
        assert decision["outcome"] in ("kept", "cut", "dropped")
        assert decision["why"]
        assert isinstance(decision.get("relevance", 0), int)
        assert all(isinstance(weight, int) for weight in decision.get("words", {}).values())
    order = [decision["outcome"] for decision in answer["decisions"]]
    assert order == sorted(order, key=("kept", "cut", "dropped").index)


def test_each_filter_says_what_it_dropped(desk: Desk) -> None:
    log(desk, "Held")
    log(desk, "Elsewhere", scope={"match": {"os": "plan9"}})
    log(desk, "By id only", retrieval_policy="never")
    log(desk, "In queries only", retrieval_policy="on_demand")
    old = log(desk, "Old")
    desk.run("supersede_finding", finding_id=old, claim="New about cats", reason="better")
    log(desk, "the shifted one", tags=[])
    found = outcomes(desk, PROMPT, ABOUT)
    assert found["F-1"] == ("kept", "matches tag or alias tokenizer")
    assert found["F-2"][0] == "dropped"
    assert found["F-2"][1].startswith("incompatible: os is ")
    assert found["F-3"] == ("dropped", "retrieval policy never: only by id")
    assert found["F-4"] == ("dropped", "retrieval policy on_demand: only in queries")
    assert found["F-5"] == ("dropped", "is superseded")
    assert found["F-7"] == ("dropped", "shares too little with the prompt")


def test_what_stands_already_is_named_as_such(desk: Desk) -> None:
    log(desk)
    standing = [Shown(1, "unassessed", "current", "applicable")]
    selection = chosen(desk, PROMPT, ABOUT, shown=standing)
    assert selection.text == ""
    assert selection.reason == "all_dropped"
    assert [decision.why for decision in selection.decisions] == ["already stands in this context"]


def test_more_than_three_at_a_prompt_are_cut(desk: Desk) -> None:
    for number in range(5):
        log(desk, f"Claim {number}")
    selection = chosen(desk, PROMPT, ABOUT)
    assert [decision.outcome for decision in selection.decisions] == ["kept"] * 3 + ["cut"] * 2
    assert selection.decisions[-1].why == "a prompt gets at most 3 items"
    assert selection.items() == [[5, "kept"], [4, "kept"], [3, "kept"], [2, "cut"], [1, "cut"]]


def test_what_finds_no_room_is_cut_and_named(desk: Desk) -> None:
    for number in range(9):
        desk.log(f"Rule {number} about golden files", claim_kind="constraint")
    selection = chosen(desk, START, budget=Budget(800, "utf8"))
    cut = [decision for decision in selection.decisions if decision.outcome == "cut"]
    assert cut
    assert {decision.why for decision in cut} == {"no room in the budget"}
    assert f"{len(cut)} more: query_findings (next: F-{cut[0].finding_id}" in selection.text
    assert chosen(desk, START, budget=Budget(10, "utf8")).reason == "no_room"


def test_items_of_policy_always_are_capped(desk: Desk) -> None:
    allow_always(desk)
    for number in range(MAX_ALWAYS + 2):
        desk.log(f"Rule {number}", retrieval_policy="always")
    selection = chosen(desk, START)
    assert len(ids(selection)) == MAX_ALWAYS
    assert [decision.why for decision in selection.decisions[MAX_ALWAYS:]] == ["at most 20 items of policy always"] * 2
    assert selection.decisions[0].why == "retrieval policy always"


# Rank


def test_the_rank_is_applicability_policy_relevance_state_kind_brevity_and_age(desk: Desk) -> None:
    allow_always(desk)
    log(desk, "The oldest of two alike")
    log(desk, "The newest of two alike")
    log(desk, "Short")
    log(desk, "Never a constraint to forget", claim_kind="constraint")
    log(desk, "It is supported by evidence", evidence=[FOR], epistemic_state="supported")
    dead = log(desk, "A dead end that was measured")
    desk.run("refute_finding", finding_id=dead, reason="measured", evidence=[AGAINST])
    log(desk, "Two names stand in the text", tags=["tokenizer", "shifted"])
    log(desk, "Whatever the text is", retrieval_policy="always")
    log(desk, "Only perhaps", scope={"match": {"colour": "red"}}, retrieval_policy="always")
    log(desk, "Under a condition", scope={"context": {"colour": "red"}}, retrieval_policy="always")
    selection = chosen(desk, COMPACT, ABOUT)
    ranked = [decision.finding_id for decision in selection.decisions]
    assert ranked == [8, 7, 5, 6, 4, 3, 2, 1, 10, 9]


# Compaction


def test_a_compaction_says_why_each_came_back(desk: Desk) -> None:
    desk.log("Handed out")
    desk.log("Fetched")
    desk.log("Logged", retrieval_policy="on_demand")
    old = desk.log("Replaced")
    desk.run("supersede_finding", finding_id=old, claim="The new one", reason="better")
    desk.log("Never edit golden files", claim_kind="constraint")
    desk.log("Belongs to the task", task="parser")
    desk.log("Found by name", tags=["tokenizer"])
    shown = [Shown(number, "unassessed", "current", "applicable") for number in (1, 4)]
    selection = chosen(desk, COMPACT, ABOUT, shown=shown, logged=[3], touched=[2], task="parser")
    assert {decision.finding_id: decision.why for decision in selection.decisions} == {
        1: "this context had been handed it",
        2: "this conversation logged, cited or fetched it",
        3: "this conversation logged, cited or fetched it",
        4: "is superseded",
        5: "took the place of a finding handed out before",
        6: "a constraint in scope",
        7: "belongs to the declared task",
        8: "matches tag or alias tokenizer",
    }


def test_a_chain_of_supersessions_is_followed_to_its_end(desk: Desk) -> None:
    first = desk.log("One")
    second = desk.run("supersede_finding", finding_id=first, claim="Two", reason="b").data["finding_id"]
    desk.run("supersede_finding", finding_id=second, claim="Three", reason="c")
    assert ids(chosen(desk, COMPACT, shown=[Shown(1, "unassessed", "current", "applicable")])) == [3]


# Corrections


@pytest.mark.parametrize("trigger", [PROMPT, RESUME])
def test_what_returned_is_corrected_too(trigger: str, desk: Desk) -> None:
    desk.log("Here it is")
    was_away = [Shown(1, "unassessed", "archived", "applicable")]
    selection = chosen(desk, trigger, "nothing", shown=was_away)
    assert read_block(selection.text).corrections == ["F-1, shown above as archived: now unassessed."]
    assert [one.as_row() for one in selection.shown] == [(1, "unassessed", "current", "applicable")]


def test_a_change_of_state_and_applicability_is_one_line(desk: Desk) -> None:
    desk.log("Here it is")
    shown = [Shown(1, "supported", "current", "conditional")]
    selection = chosen(desk, PROMPT, "nothing", shown=shown)
    assert read_block(selection.text).corrections == [
        "F-1, shown above as supported and conditional: now unassessed, now applicable."
    ]


def test_a_start_corrects_nothing(desk: Desk) -> None:
    desk.log("Here it is")
    assert read_block(chosen(desk, START, shown=[Shown(1, "supported", "current", "unknown")]).text).corrections == []


def test_the_same_request_gives_the_same_bytes(desk: Desk) -> None:
    for number in range(9):
        log(desk, f"Claim {number}")
    assert len({chosen(desk, COMPACT, ABOUT, touched=[3, 1]).text for _ in range(5)}) == 1
