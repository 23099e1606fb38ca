"""Which lifecycle and promotion state may follow which, who may set it, and what merging does to both findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.desk import AGAINST, FOR, PERSON, Desk
from upheld.errors import UpheldError
from upheld.findings.check import check_ledger
from upheld.findings.lifecycle import LIFECYCLES
from upheld.findings.promotion import PROMOTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

VERBS = {"withdrawn": "withdraw_finding", "archived": "archive_finding", "current": "restore_finding"}
RULES = {"proposed": "propose_rule", "approved": "approve_rule", "rejected": "reject_rule", "landed": "land_rule"}
REACHED = {
    "none": (),
    "proposed": ("proposed",),
    "approved": ("proposed", "approved"),
    "rejected": ("proposed", "rejected"),
    "landed": ("proposed", "approved", "landed"),
}


@pytest.fixture
def person(desk: Desk) -> Iterator[Desk]:
    """Someone who may do all; whatever a test did, the ledger is what its events say."""
    yield Desk(desk.cwd, caller=PERSON, ledger=desk.ledger)
    assert check_ledger(desk.ledger).problems == ()


def promote(desk: Desk, finding: str, state: str) -> None:
    more = {"proposed": {"rule": "Look up"}, "landed": {"target": "AGENTS.md"}}.get(state, {})
    desk.run(RULES[state], finding_id=finding, reason="agreed", **more)


def supported(desk: Desk, claim: str = "The sky is blue", **more: Any) -> str:
    return desk.log(claim, epistemic_state="supported", evidence=[FOR], **more)


@pytest.mark.parametrize("to", VERBS)
@pytest.mark.parametrize("now", ["current", "withdrawn", "archived"])
def test_only_the_steps_of_the_lifecycle_table_can_be_taken(now: str, to: str, person: Desk) -> None:
    finding = person.log()
    if now != "current":
        person.run(VERBS[now], finding_id=finding, reason="begin")

    if to in LIFECYCLES[now]:
        person.run(VERBS[to], finding_id=finding, reason="go on")
        assert person.get(finding)["lifecycle_state"] == to
    else:
        with pytest.raises(UpheldError) as refused:
            person.run(VERBS[to], finding_id=finding, reason="go on")
        assert refused.value.code == "INVALID_STATE_TRANSITION"
        assert person.get(finding)["lifecycle_state"] == now


def test_a_superseded_finding_returns_only_once_its_successor_fell(person: Desk) -> None:
    old = person.log()
    new = str(
        person.run("supersede_finding", finding_id=old, claim="The sky is grey", reason="rain").data["finding_id"]
    )
    with pytest.raises(UpheldError, match=new):
        person.run("restore_finding", finding_id=old, reason="sun")

    person.run("withdraw_finding", finding_id=new, reason="sun")
    person.run("restore_finding", finding_id=old, reason="sun")

    assert person.get(old)["lifecycle_state"] == "current"


@pytest.mark.parametrize("to", RULES)
@pytest.mark.parametrize("now", REACHED)
def test_only_the_steps_of_the_promotion_table_can_be_taken(now: str, to: str, person: Desk) -> None:
    finding = supported(person)
    for state in REACHED[now]:
        promote(person, finding, state)

    if to in PROMOTIONS[now]:
        promote(person, finding, to)
        assert person.get(finding)["promotion_state"] == to
    else:
        with pytest.raises(UpheldError) as refused:
            promote(person, finding, to)
        assert refused.value.code == "INVALID_STATE_TRANSITION"
        assert person.get(finding)["promotion_state"] == now


def test_an_agent_proposes_rules_and_decides_none(desk: Desk) -> None:
    finding = supported(desk)
    promote(desk, finding, "proposed")

    for state in ("approved", "rejected", "landed"):
        with pytest.raises(UpheldError, match="people"):
            promote(desk, finding, state)
    assert desk.get(finding)["promotion_state"] == "proposed"


@pytest.mark.parametrize("problem", ["unassessed", "conflict", "contested", "refuted", "superseded"])
def test_what_does_not_hold_becomes_no_rule(problem: str, person: Desk) -> None:
    finding = person.log() if problem == "unassessed" else supported(person)
    if problem in ("conflict", "contested"):
        person.run("add_evidence", finding_id=finding, evidence=AGAINST)
    if problem == "contested":
        person.run("set_finding_state", finding_id=finding, epistemic_state="contested", reason="both")
    if problem == "refuted":
        person.run("refute_finding", finding_id=finding, reason="rain", evidence=[AGAINST])
    if problem == "superseded":
        person.run("supersede_finding", finding_id=finding, claim="The sky is grey", reason="rain")

    with pytest.raises(UpheldError) as refused:
        promote(person, finding, "proposed")

    assert refused.value.code == "EVIDENCE_REQUIRED"


def test_merging_keeps_one_with_the_evidence_and_tags_of_both(person: Desk) -> None:
    gone = person.log("Heaven looks azure", tags=["colour"], evidence=[FOR])
    kept = person.log(tags=["weather"])

    person.run("merge_findings", finding_id=gone, into=kept, reason="the same")

    assert person.get(gone)["lifecycle_state"] == "archived"
    got = person.get(kept)
    assert set(got["tags"]) == {"weather", "colour"}
    assert len(got["evidence"]) == 1


def test_merging_into_what_is_a_duplicate_of_it_makes_no_circle(person: Desk) -> None:
    gone, kept = person.log(), person.log("The sky is azure")
    person.run("link_finding", finding_id=kept, relation="duplicate_of", to=gone, reason="the same")
    before = person.revision()

    with pytest.raises(UpheldError) as refused:
        person.run("merge_findings", finding_id=gone, into=kept, reason="the same")

    assert (refused.value.code, refused.value.argument) == ("RELATION_CYCLE", "into")
    assert f"{kept} is duplicate_of {gone} already" in str(refused.value)
    assert person.revision() == before


@pytest.mark.parametrize("name", ["merge_findings", "amend_finding", "mute_finding", "withdraw_finding"])
def test_what_is_for_people_is_refused_to_agents(name: str, desk: Desk) -> None:
    finding, other, before = desk.log(), desk.log("The sea is deep"), desk.revision()
    more = {"merge_findings": {"into": other}, "amend_finding": {"claim": "The sky is red"}}.get(name, {})

    with pytest.raises(UpheldError, match="people"):
        desk.run(name, finding_id=finding, reason="why not", **more)

    assert desk.revision() == before


def test_what_an_agent_called_a_duplicate_can_be_merged(desk: Desk, person: Desk) -> None:
    gone, kept = desk.log(evidence=[FOR]), desk.log("The sky is azure")
    desk.run("link_finding", finding_id=gone, relation="duplicate_of", to=kept, reason="the same")

    person.run("merge_findings", finding_id=gone, into=kept, reason="the same")

    assert person.get(gone)["lifecycle_state"] == "archived"
    assert len(person.get(kept)["evidence"]) == 1
    assert person.count("finding_relations") == 1


def test_what_was_merged_and_brought_back_can_be_merged_again(person: Desk) -> None:
    gone, kept = person.log(evidence=[FOR]), person.log("The sky is azure")
    person.run("merge_findings", finding_id=gone, into=kept, reason="the same")
    person.run("withdraw_finding", finding_id=kept, reason="wrong")
    person.run("restore_finding", finding_id=gone, reason="that one was right")
    person.run("restore_finding", finding_id=kept, reason="this one too")

    person.run("merge_findings", finding_id=gone, into=kept, reason="the same after all")

    assert person.get(gone)["lifecycle_state"] == "archived"
    assert len(person.get(kept)["evidence"]) == 1
