"""Of findings that say the same only the canonical one is handed out and listed, whichever the words find."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.block import read_block
from support.desk import AGAINST, FOR, PERSON, Desk
from support.explaining import explain_codex
from upheld.findings.check import check_ledger
from upheld.findings.retrieval import COMPACT, PROMPT, START
from upheld.findings.sections import CONTESTED, HYPOTHESES

if TYPE_CHECKING:
    from collections.abc import Iterator

ABOUT = "is the tokenizer shifted?"


@pytest.fixture
def person(desk: Desk) -> Iterator[Desk]:
    """Someone who may merge; whatever a test did, the ledger is what its events say."""
    yield Desk(desk.cwd, caller=PERSON, ledger=desk.ledger)
    assert check_ledger(desk.ledger).problems == ()


def link(desk: Desk, finding: str, relation: str, to: str) -> None:
    desk.run("link_finding", finding_id=finding, relation=relation, to=to, reason="so it is")


def join(desk: Desk, how: str, duplicate: str, canonical: str) -> None:
    if how == "linked":
        link(desk, duplicate, "duplicate_of", canonical)
    else:
        desk.run("merge_findings", finding_id=duplicate, into=canonical, reason="the same")


def explained(desk: Desk, text: str = ABOUT, trigger: str = PROMPT) -> tuple[list[str], dict[str, str]]:
    """Return the findings that are handed out, and why each candidate was or was not."""
    answer = explain_codex(desk.ledger, desk.findings.place, trigger, text)
    shown = read_block(answer["block"]).items if answer["block"] else []
    return [f"F-{item.finding_id}" for item in shown], {one["finding"]: one["why"] for one in answer["decisions"]}


def listed(desk: Desk, *, words: str | None = None, history: bool = False) -> list[str]:
    found = desk.run("query_findings", words=words, history=history).data["findings"]
    return sorted(one["finding_id"] for one in found)


@pytest.mark.parametrize("how", ["linked", "merged"])
def test_only_the_canonical_one_is_handed_out_where_both_are_found(how: str, person: Desk) -> None:
    duplicate, canonical = person.log("The shift is off by one", tags=["tokenizer"]), person.log(tags=["tokenizer"])

    join(person, how, duplicate, canonical)

    shown, why = explained(person)
    assert shown == [canonical]
    assert why[duplicate] == f"is a duplicate of {canonical}"


@pytest.mark.parametrize("how", ["linked", "merged"])
def test_words_that_only_the_duplicate_has_find_the_canonical_one(how: str, person: Desk) -> None:
    duplicate = person.log("Zygomorphic corollas droop overnight", tags=["botany"])
    canonical = person.log("Flowers hang at night")

    join(person, how, duplicate, canonical)

    for text in ("something about botany", "zygomorphic corollas droop"):
        assert explained(person, text)[0] == [canonical]


def test_a_chain_leads_to_its_end_from_every_link(person: Desk) -> None:
    first, second, third, last = (person.log(f"Say {word}", tags=[word]) for word in ("azure", "blue", "cyan", "teal"))
    link(person, second, "duplicate_of", third)
    link(person, first, "duplicate_of", second)
    link(person, third, "duplicate_of", last)

    for word in ("azure", "blue", "cyan", "teal"):
        assert explained(person, f"is it {word}?")[0] == [last]
    assert listed(person) == [last]


@pytest.mark.parametrize("trigger", [START, COMPACT])
def test_a_constraint_that_is_a_duplicate_is_handed_out_once(trigger: str, person: Desk) -> None:
    duplicate = person.log("Never edit golden files", claim_kind="constraint")
    canonical = person.log("Golden files are not edited", claim_kind="constraint")
    link(person, duplicate, "duplicate_of", canonical)

    assert explained(person, trigger=trigger)[0] == [canonical]


@pytest.mark.parametrize("how", ["linked", "merged"])
def test_queries_leave_duplicates_out_unless_history_is_asked_for(how: str, person: Desk) -> None:
    duplicate, canonical = person.log("The sky looks azure"), person.log()

    join(person, how, duplicate, canonical)

    for words in (None, "sky"):
        assert listed(person, words=words) == [canonical]
        assert listed(person, words=words, history=True) == sorted([duplicate, canonical])
    assert person.get(duplicate)["claim"] == "The sky looks azure"


def test_a_page_is_full_although_duplicates_were_left_out_of_it(person: Desk) -> None:
    originals = [person.log(f"Original {number}") for number in range(3)]
    for number in range(5):
        link(person, person.log(f"Copy {number}"), "duplicate_of", originals[0])

    answer = person.run("query_findings", limit=2).data

    assert [one["finding_id"] for one in answer["findings"]] == [originals[2], originals[1]]
    assert answer["more"] is True
    rest = person.run("query_findings", limit=2, before=originals[1]).data
    assert [one["finding_id"] for one in rest["findings"]] == [originals[0]]
    assert rest["more"] is False


def test_a_relation_that_was_taken_back_leaves_two_findings(person: Desk) -> None:
    one, other = person.log(tags=["tokenizer"]), person.log("It is azure", tags=["tokenizer"])
    link(person, one, "duplicate_of", other)
    given = {"relation": "duplicate_of", "to": other, "reason": "they differ", "remove": True}

    person.run("link_finding", finding_id=one, **given)

    assert sorted(explained(person)[0]) == [one, other]
    assert listed(person) == [one, other]


def contradicted_duplicate(desk: Desk) -> tuple[str, str]:
    """Return a finding that contradicts a duplicate, and the canonical one of that."""
    shown = {"epistemic_state": "supported", "evidence": [FOR]}
    one = desk.log("The shift is off by one", tags=["tokenizer"], **shown)
    duplicate = desk.log("Each position is right", **shown)
    canonical = desk.log("No position is wrong", **shown)
    link(desk, one, "contradicts", duplicate)
    link(desk, duplicate, "duplicate_of", canonical)
    return one, canonical


def test_what_contradicts_a_duplicate_stands_beside_the_canonical_one(person: Desk) -> None:
    one, canonical = contradicted_duplicate(person)

    shown = read_block(explain_codex(person.ledger, person.findings.place, PROMPT, ABOUT)["block"]).items

    assert [(f"F-{item.finding_id}", item.section) for item in shown] == [(one, CONTESTED), (canonical, CONTESTED)]


@pytest.mark.parametrize("fall", ["refute", "withdraw"])
def test_a_canonical_one_that_fell_contradicts_nothing(fall: str, person: Desk) -> None:
    one, canonical = contradicted_duplicate(person)
    more = {"evidence": [AGAINST]} if fall == "refute" else {}

    person.run(f"{fall}_finding", finding_id=canonical, reason="wrong", **more)

    assert explained(person)[0] == [one]


def test_a_finding_does_not_contradict_itself_by_way_of_its_duplicate(person: Desk) -> None:
    one, duplicate = person.log(tags=["tokenizer"]), person.log("The sky is azure")
    link(person, one, "contradicts", duplicate)
    link(person, duplicate, "duplicate_of", one)

    shown = read_block(explain_codex(person.ledger, person.findings.place, PROMPT, ABOUT)["block"]).items

    assert [(f"F-{item.finding_id}", item.section) for item in shown] == [(one, HYPOTHESES)]


@pytest.mark.parametrize("fall", ["withdraw", "archive"])
def test_a_duplicate_of_what_fell_is_said_to_be_one_and_both_stay_away(fall: str, person: Desk) -> None:
    duplicate, canonical = person.log(tags=["tokenizer"]), person.log("It is azure")
    link(person, duplicate, "duplicate_of", canonical)

    person.run(f"{fall}_finding", finding_id=canonical, reason="wrong")

    handed, why = explained(person)
    assert handed == []
    assert why[duplicate] == f"is a duplicate of {canonical}"
