"""Muting: handed to no model until a time or until it is unmuted, and still found by whoever asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.block import read_block
from support.desk import PERSON, Desk, ticking
from support.explaining import explain_codex
from upheld.errors import UpheldError
from upheld.findings.check import check_ledger
from upheld.findings.ledger import Ledger
from upheld.findings.model import FOREVER
from upheld.findings.retrieval import COMPACT, PROMPT, RESUME, START

if TYPE_CHECKING:
    from collections.abc import Iterator

    from upheld.storage.places import Places

ABOUT = "is the tokenizer shifted?"
PAST = "2001-01-01T00:00:00.000Z"


@pytest.fixture
def person(desk: Desk) -> Iterator[Desk]:
    """Someone who may mute; whatever a test did, the ledger is what its events say."""
    yield Desk(desk.cwd, caller=PERSON, ledger=desk.ledger)
    assert check_ledger(desk.ledger).problems == ()


def log(desk: Desk) -> str:
    """Log what every trigger hands out: always, about the prompt's words."""
    return desk.log("The shift is off by one", tags=["tokenizer"], retrieval_policy="always")


def mute(desk: Desk, finding: str, **given: Any) -> dict[str, Any]:
    return desk.run("mute_finding", finding_id=finding, reason="noise", **given).data


def explained(desk: Desk, trigger: str) -> dict[str, Any]:
    return explain_codex(desk.ledger, desk.findings.place, trigger, ABOUT)


def handed(desk: Desk, trigger: str = PROMPT) -> list[str]:
    block = explained(desk, trigger)["block"]
    return [f"F-{item.finding_id}" for item in read_block(block).items] if block else []


@pytest.mark.parametrize("trigger", [START, PROMPT, COMPACT, RESUME])
def test_what_is_muted_is_handed_out_at_no_trigger(trigger: str, person: Desk) -> None:
    finding = log(person)
    assert handed(person, trigger) == [finding]

    mute(person, finding)

    assert handed(person, trigger) == []
    assert [one["why"] for one in explained(person, trigger)["decisions"]] == ["is muted"]
    mute(person, finding, off=True)
    assert handed(person, trigger) == [finding]


def test_explain_says_until_when_it_is_muted(person: Desk) -> None:
    finding = log(person)

    until = mute(person, finding, until="2h")["muted_until"]

    assert [one["why"] for one in explained(person, PROMPT)["decisions"]] == [f"is muted until {until}"]


def test_a_time_that_passed_mutes_no_longer(places: Places, desk: Desk) -> None:
    ledger = Ledger(places, clock=ticking(1_700_000_000.0))
    person = Desk(desk.cwd, caller=PERSON, ledger=ledger)
    finding = log(person)
    mute(person, finding, until="1h")
    assert handed(person) == []

    later = Ledger(places, clock=ticking(1_700_000_000.0 + 3_700))

    assert handed(Desk(desk.cwd, caller=PERSON, ledger=later)) == [finding]
    later.close()
    ledger.close()


@pytest.mark.parametrize("words", [None, "shift"])
def test_queries_and_ids_still_find_it(words: str | None, person: Desk) -> None:
    finding = log(person)

    mute(person, finding)

    found = person.run("query_findings", words=words).data["findings"]
    assert [one["finding_id"] for one in found] == [finding]
    assert person.get(finding)["muted_until"] == FOREVER


def test_it_can_be_muted_anew_for_another_time(person: Desk) -> None:
    finding = log(person)
    mute(person, finding)

    until = mute(person, finding, until="2h")["muted_until"]

    assert person.get(finding)["muted_until"] == until != FOREVER


def test_muting_and_unmuting_are_events_with_their_reason(person: Desk) -> None:
    finding = log(person)
    mute(person, finding)
    mute(person, finding, off=True)

    events = person.get(finding)["events"]

    assert {("muted", "noise"), ("unmuted", "noise")} <= {(event["kind"], event["reason"]) for event in events}
    assert person.get(finding)["version"] == 3


@pytest.mark.parametrize("muted_before", [False, True])
def test_unmuting_what_is_not_muted_is_refused_and_writes_nothing(muted_before: bool, person: Desk) -> None:
    finding = log(person)
    if muted_before:
        mute(person, finding)
        mute(person, finding, off=True)
    before = person.revision()

    with pytest.raises(UpheldError, match="is not muted") as refused:
        mute(person, finding, off=True)

    assert (refused.value.code, refused.value.argument) == ("INVALID_ARGUMENT", "finding_id")
    assert person.revision() == before


def test_what_is_muted_until_a_time_that_passed_is_not_muted(places: Places, desk: Desk) -> None:
    ledger = Ledger(places, clock=ticking(1_700_000_000.0))
    finding = log(Desk(desk.cwd, caller=PERSON, ledger=ledger))
    mute(Desk(desk.cwd, caller=PERSON, ledger=ledger), finding, until="1h")
    ledger.close()
    later = Ledger(places, clock=ticking(1_700_000_000.0 + 3_700))

    with pytest.raises(UpheldError, match="is not muted"):
        mute(Desk(desk.cwd, caller=PERSON, ledger=later), finding, off=True)

    later.close()


@pytest.mark.parametrize("until", ["soon", "", "0h", PAST, "9999w"])
def test_a_time_that_is_none_or_past_is_refused_and_writes_nothing(until: str, person: Desk) -> None:
    finding = log(person)
    before = person.revision()

    with pytest.raises(UpheldError) as refused:
        mute(person, finding, until=until)

    assert (refused.value.code, refused.value.argument) == ("INVALID_ARGUMENT", "until")
    assert person.revision() == before
