"""Which findings may be related, how a relation is taken back, and what falls with a basis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.desk import AGAINST, FOR, PERSON, Desk, make_repository
from upheld.errors import UpheldError
from upheld.findings.check import check_ledger

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LINKS = ("derived_from", "contradicts", "duplicate_of", "related_to")
LOOKED = {"source_kind": "test_run", "source_ref": "run-3"}


@pytest.fixture(autouse=True)
def whole(desk: Desk) -> Iterator[None]:
    """Whatever a test did, the ledger is what its events say."""
    yield
    assert check_ledger(desk.ledger).problems == ()


def link(desk: Desk, finding: str, relation: str, to: str, **more: Any) -> dict[str, Any]:
    return desk.run("link_finding", finding_id=finding, relation=relation, to=to, reason="so it is", **more).data


def fresh(desk: Desk, finding: str) -> dict[str, Any]:
    return Desk(desk.cwd, ledger=desk.ledger).get(finding)


def person(desk: Desk) -> Desk:
    return Desk(desk.cwd, caller=PERSON, ledger=desk.ledger)


@pytest.mark.parametrize("relation", LINKS)
def test_a_relation_is_there_once_and_can_be_taken_back(relation: str, desk: Desk) -> None:
    first, second = desk.log(), desk.log("The sea is deep")
    assert link(desk, first, relation, second)["version"] == 2

    with pytest.raises(UpheldError, match="already"):
        link(desk, first, relation, second)
    link(desk, first, relation, second, remove=True)

    assert desk.count("finding_relations") == 0
    with pytest.raises(UpheldError, match="not"):
        link(desk, first, relation, second, remove=True)


@pytest.mark.parametrize("relation", LINKS)
def test_nothing_is_related_to_itself(relation: str, desk: Desk) -> None:
    finding, before = desk.log(), desk.revision()

    with pytest.raises(UpheldError) as refused:
        link(desk, finding, relation, finding)

    assert (refused.value.code, refused.value.argument) == ("RELATION_CYCLE", "to")
    assert desk.revision() == before


@pytest.mark.parametrize("relation", ["derived_from", "duplicate_of"])
def test_a_circle_is_refused_directly_and_through_others(relation: str, desk: Desk) -> None:
    first, second, third = (desk.log(f"The sky is blue on day {day}") for day in "123")
    link(desk, first, relation, second)
    link(desk, second, relation, third)

    for begins in (second, third):
        with pytest.raises(UpheldError) as refused:
            link(desk, begins, relation, first)
        assert refused.value.code == "RELATION_CYCLE"


@pytest.mark.parametrize("relation", ["contradicts", "related_to"])
def test_what_says_the_same_from_either_side_is_held_and_taken_back_from_either(relation: str, desk: Desk) -> None:
    first, second = desk.log(), desk.log("The sea is deep")
    link(desk, first, relation, second)

    with pytest.raises(UpheldError, match="already"):
        link(desk, second, relation, first)
    link(desk, second, relation, first, remove=True)

    assert desk.count("finding_relations") == 0
    assert desk.get(first)["version"] == 3


def test_superseding_is_not_made_by_linking(desk: Desk) -> None:
    first, second = desk.log(), desk.log("The sea is deep")

    with pytest.raises(UpheldError) as refused:
        link(desk, first, "supersedes", second)

    assert refused.value.argument == "relation"


def test_another_projects_finding_is_refused_by_the_argument_that_names_it(desk: Desk, tmp_path: Path) -> None:
    here = desk.log()
    there = Desk(make_repository(tmp_path / "elsewhere"), ledger=desk.ledger).log("A secret of the other project")

    with pytest.raises(UpheldError) as refused:
        link(desk, here, "related_to", there)

    assert (refused.value.code, refused.value.argument) == ("PROJECT_SCOPE_MISMATCH", "to")
    assert "secret" not in str(refused.value)


def test_a_version_that_is_not_the_present_one_is_refused_and_a_key_writes_once(desk: Desk) -> None:
    first, second = desk.log(), desk.log("The sea is deep")
    with pytest.raises(UpheldError) as refused:
        link(desk, first, "related_to", second, version=7)
    assert refused.value.code == "CONCURRENT_MODIFICATION"

    link(desk, first, "related_to", second, idempotency_key="k")
    before = desk.revision()
    link(desk, first, "related_to", second, idempotency_key="k")

    assert desk.revision() == before


@pytest.mark.parametrize("fall", ["refute", "supersede", "withdraw"])
def test_what_rests_on_something_that_fell_is_to_be_checked_again_through_two_steps(fall: str, desk: Desk) -> None:
    basis, middle, top = (desk.log(f"The sky is blue on day {day}", evidence=[FOR]) for day in "123")
    link(desk, middle, "derived_from", basis)
    link(desk, top, "derived_from", middle)
    assert fresh(desk, top)["applicability"] == "applicable"

    if fall == "refute":
        desk.run("refute_finding", finding_id=basis, reason="it rained", evidence=[AGAINST])
    elif fall == "supersede":
        desk.run("supersede_finding", finding_id=basis, claim="The sky is grey", reason="it rained")
    else:
        person(desk).run("withdraw_finding", finding_id=basis, reason="wrong day")

    for finding in (middle, top):
        got = fresh(desk, finding)
        assert got["applicability"] == "needs_revalidation"
        assert basis in str(got)


def test_what_rests_on_something_archived_stands(desk: Desk) -> None:
    basis, top = desk.log(), desk.log("The sea is blue")
    link(desk, top, "derived_from", basis)

    person(desk).run("archive_finding", finding_id=basis, reason="done")

    assert fresh(desk, top)["applicability"] == "applicable"


def test_a_later_fall_of_another_basis_opens_again_what_a_look_had_settled(desk: Desk) -> None:
    one, two, top = desk.log(), desk.log("Water is clear"), desk.log("The sea is blue")
    link(desk, top, "derived_from", one)
    link(desk, top, "derived_from", two)
    desk.run("refute_finding", finding_id=one, reason="it rained", evidence=[AGAINST])
    desk.run("revalidate_finding", finding_id=top, outcome="held", reason="seen", evidence=[LOOKED])
    assert fresh(desk, top)["applicability"] == "applicable"

    desk.run("refute_finding", finding_id=two, reason="mud", evidence=[AGAINST])

    assert fresh(desk, top)["applicability"] == "needs_revalidation"
