"""Both sides of a contradiction: shown side by side, and what becomes of one whose other side can't be shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.block import Block, read_block
from support.desk import AGAINST, FOR, PERSON, Desk
from support.explaining import explain_codex
from upheld.findings.check import check_ledger
from upheld.findings.retrieval import COMPACT, PROMPT, START
from upheld.findings.sections import CONSTRAINTS, CONTESTED, REVALIDATE, SUPPORTED

if TYPE_CHECKING:
    from collections.abc import Iterator

ABOUT = "is the tokenizer shifted?"


@pytest.fixture(autouse=True)
def whole(desk: Desk) -> Iterator[None]:
    """Whatever a test did, the ledger is what its events say."""
    yield
    assert check_ledger(desk.ledger).problems == ()


def log(desk: Desk, claim: str, *, tags: tuple[str, ...] = ("tokenizer",), **given: Any) -> str:
    return desk.log(claim, tags=list(tags), epistemic_state="supported", evidence=[FOR], **given)


def contradict(desk: Desk, one: str, other: str) -> None:
    given = {"relation": "contradicts", "to": other, "reason": "only one can be true"}
    desk.run("link_finding", finding_id=one, **given)


def opposed(desk: Desk, **given: Any) -> tuple[str, str]:
    """Log two findings that contradict each other: a prompt's words find the first one only."""
    one = log(desk, "The shift is off by one")
    other = log(desk, "Every position is right", tags=(), **given)
    contradict(desk, one, other)
    return one, other


def as_person(desk: Desk) -> Desk:
    return Desk(desk.cwd, caller=PERSON, ledger=desk.ledger)


def block(desk: Desk, text: str = ABOUT, trigger: str = PROMPT) -> Block:
    shown = explain_codex(desk.ledger, desk.findings.place, trigger, text)["block"]
    return read_block(shown) if shown else Block([], [], "")


def sections(desk: Desk, text: str = ABOUT) -> list[tuple[str, str]]:
    return [(f"F-{item.finding_id}", item.section) for item in block(desk, text).items]


def outcomes(desk: Desk, text: str = ABOUT) -> dict[str, str]:
    decisions = explain_codex(desk.ledger, desk.findings.place, PROMPT, text)["decisions"]
    return {one["finding"]: one["outcome"] for one in decisions}


def test_the_other_side_comes_along_and_each_names_the_other(desk: Desk) -> None:
    one, other = opposed(desk)

    first, second = block(desk).items

    assert [(f"F-{item.finding_id}", item.section) for item in (first, second)] == [
        (one, CONTESTED),
        (other, CONTESTED),
    ]
    assert first.lines["Contradicts"].startswith(f"{other} (supported): ")
    assert second.lines["Contradicts"].startswith(f"{one} (supported): ")


def test_it_does_not_matter_which_side_was_linked_or_which_is_found(desk: Desk) -> None:
    one, other = log(desk, "The shift is off by one", tags=()), log(desk, "Every position is right")
    contradict(desk, one, other)

    assert sections(desk) == [(other, CONTESTED), (one, CONTESTED)]


def test_the_other_side_stands_beside_it_and_not_behind_what_ranks_between(desk: Desk) -> None:
    one = log(desk, "It is short")
    between = log(desk, "What stands in between them is longer")
    other = log(desk, "The other side has the longest claim of all of these three")
    contradict(desk, one, other)

    decisions = explain_codex(desk.ledger, desk.findings.place, PROMPT, ABOUT)["decisions"]

    assert [decision["finding"] for decision in decisions] == [one, other, between]
    assert sorted(sections(desk)) == sorted([(one, CONTESTED), (other, CONTESTED), (between, SUPPORTED)])


@pytest.mark.parametrize("trigger", [START, COMPACT])
def test_at_other_triggers_too_both_sides_are_contested(trigger: str, desk: Desk) -> None:
    desk = as_person(desk)
    one, other = opposed(desk)
    desk.run("amend_finding", finding_id=one, retrieval_policy="always", reason="everybody should know")

    shown = block(desk, ABOUT, trigger).items

    assert [(f"F-{item.finding_id}", item.section) for item in shown] == [(one, CONTESTED), (other, CONTESTED)]


@pytest.mark.parametrize(
    "claims", [("unassessed", "supported"), ("provisional", "inconclusive"), ("supported", "contested")]
)
def test_whatever_the_states_neither_side_stands_in_an_affirmative_section(claims: tuple[str, str], desk: Desk) -> None:
    for state in claims:
        desk.log(f"It is {state}", tags=["tokenizer"], epistemic_state=state, evidence=[FOR, AGAINST])
    contradict(desk, "F-1", "F-2")

    assert {section for _, section in sections(desk)} == {CONTESTED}


def test_what_can_not_hold_here_contradicts_nothing_here(desk: Desk) -> None:
    one, _ = opposed(desk, scope={"match": {"os": "plan9"}})

    assert sections(desk) == [(one, SUPPORTED)]


def test_a_side_that_is_to_be_checked_first_contradicts_all_the_same(desk: Desk) -> None:
    one, other = opposed(desk, scope={"match": {"driver.version": "1"}})

    assert sections(desk) == [(one, CONTESTED), (other, CONTESTED)]
    assert "Condition" in block(desk).items[1].lines


def test_a_refuted_side_contradicts_no_longer_and_is_a_dead_end_by_its_own_words_only(desk: Desk) -> None:
    one, other = opposed(desk)
    desk.run("refute_finding", finding_id=other, reason="measured", evidence=[AGAINST])
    assert sections(desk) == [(one, SUPPORTED)]

    desk.run("set_finding_state", finding_id=other, epistemic_state="contested", reason="measured again")

    assert sections(desk) == [(one, CONTESTED), (other, CONTESTED)]


@pytest.mark.parametrize("fall", ["supersede", "withdraw", "archive"])
def test_a_side_that_is_no_longer_current_contradicts_nothing(fall: str, desk: Desk) -> None:
    one, other = opposed(desk)
    given = {"claim": "Most positions are right"} if fall == "supersede" else {}

    as_person(desk).run(f"{fall}_finding", finding_id=other, reason="it fell", **given)

    assert sections(desk) == [(one, SUPPORTED)]


def test_a_side_that_is_muted_does_not_count_until_it_is_unmuted(desk: Desk) -> None:
    one, other = opposed(desk)
    as_person(desk).run("mute_finding", finding_id=other, reason="noise")
    assert sections(desk) == [(one, SUPPORTED)]

    as_person(desk).run("mute_finding", finding_id=other, reason="no noise", off=True)

    assert sections(desk) == [(one, CONTESTED), (other, CONTESTED)]


def test_a_side_of_policy_never_does_not_count(desk: Desk) -> None:
    one, _ = opposed(desk, retrieval_policy="never")

    assert sections(desk) == [(one, SUPPORTED)]


def test_the_contradiction_that_was_taken_back_is_none(desk: Desk) -> None:
    one, other = opposed(desk)
    given = {"relation": "contradicts", "to": other, "reason": "both hold", "remove": True}

    desk.run("link_finding", finding_id=one, **given)

    assert sections(desk) == [(one, SUPPORTED)]


def test_the_three_items_of_a_prompt_count_both_sides(desk: Desk) -> None:
    others = [log(desk, f"Number {number} has a longer claim") for number in range(3)]
    one = log(desk, "It is short")
    beside = log(desk, "The other side has the longest claim of them all", tags=())
    contradict(desk, one, beside)

    shown = block(desk)

    assert [f"F-{item.finding_id}" for item in shown.items if item.section == CONTESTED] == [one, beside]
    assert len(shown.items) == 3
    assert sorted(outcomes(desk).values()) == ["cut", "cut", "kept", "kept", "kept"]
    assert {name for name, outcome in outcomes(desk).items() if outcome == "cut"} <= set(others)


def test_the_side_for_which_there_is_no_place_is_still_named_by_the_one_that_is_shown(desk: Desk) -> None:
    one = log(desk, "It is short")
    beside = [log(desk, f"Other side number {number}", tags=()) for number in range(3)]
    for other in beside:
        contradict(desk, one, other)

    shown = block(desk)

    assert len(shown.items) == 3
    assert {item.section for item in shown.items} == {CONTESTED}
    assert outcomes(desk)[beside[2]] == "cut"
    assert beside[2] in explain_codex(desk.ledger, desk.findings.place, PROMPT, ABOUT)["block"]


def test_only_what_was_superseded_goes_and_what_merely_mentions_it_stays_as_it_was(desk: Desk) -> None:
    decided = {"claim_kind": "decision", "tags": ["storage"]}
    old = desk.log("Use sqlite for storage", **decided)
    mention = desk.log("The importer copes with sqlite for storage dumps", **decided)
    before = desk.get(mention)
    new = str(
        desk.run("supersede_finding", finding_id=old, claim="Use postgres", reason="lunch", tags=["storage"]).data[
            "finding_id"
        ]
    )

    for trigger in (PROMPT, COMPACT):
        shown = {f"F-{item.finding_id}": item for item in block(desk, "which storage do we use?", trigger).items}
        assert set(shown) == {new, mention}
        assert shown[new].lines["Supersedes"] == old
        assert {item.section for item in shown.values()} == {CONSTRAINTS}
    assert desk.get(mention) == before
    assert desk.get(old)["lifecycle_state"] == "superseded"
    assert new in str(desk.get(old)["relations"])


def test_claims_that_share_words_and_no_relation_contradict_nothing(desk: Desk) -> None:
    alice = log(desk, "Alice can be CEO", tags=("CEO",))
    bob = log(desk, "Bob can be CEO", tags=("CEO",))

    assert sorted(sections(desk, "who is CEO?")) == sorted([(alice, SUPPORTED), (bob, SUPPORTED)])
    for one in (alice, bob):
        got = desk.get(one)
        assert (got["lifecycle_state"], got["epistemic_state"], got["version"]) == ("current", "supported", 1)
        assert not got["relations"]


def test_a_lead_without_another_side_stays_a_lead(desk: Desk) -> None:
    one = log(desk, "It held there", scope={"match": {"driver.version": "1"}})

    assert sections(desk) == [(one, REVALIDATE)]
