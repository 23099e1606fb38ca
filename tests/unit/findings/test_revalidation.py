"""What a revalidation widens, and what it leaves as it was."""

from __future__ import annotations

from typing import Any

import pytest

from support.desk import FOR, Desk, git
from upheld.errors import UpheldError

LOOKED = {"source_kind": "test_run", "source_ref": "run-2"}


def held(desk: Desk, finding: str, **facts: str) -> None:
    given: dict[str, Any] = {"outcome": "held", "reason": "seen again", "evidence": [LOOKED], "facts": facts}
    desk.run("revalidate_finding", finding_id=finding, **given)


def applicability(desk: Desk, finding: str, **facts: str) -> str:
    # A new desk: one reads its facts once.
    data = Desk(desk.cwd, ledger=desk.ledger).run("get_finding", finding_id=finding, facts=facts).data
    return str(data["applicability"])


def test_what_was_seen_under_another_value_holds_there_and_still_where_it_was_logged(desk: Desk) -> None:
    finding = desk.log(scope={"match": {"driver.version": "1"}}, facts={"driver.version": "1"})
    assert applicability(desk, finding, **{"driver.version": "2"}) == "needs_revalidation"

    held(desk, finding, **{"driver.version": "2"})

    seen = {version: applicability(desk, finding, **{"driver.version": version}) for version in "123"}
    assert seen == {"1": "applicable", "2": "applicable", "3": "needs_revalidation"}


def test_what_was_seen_on_one_backend_is_not_carried_over_to_another(desk: Desk) -> None:
    finding = desk.log(scope={"match": {"backend": ["cuda", "rocm"], "driver.version": "1"}})

    held(desk, finding, **{"backend": "cuda", "driver.version": "2"})

    assert applicability(desk, finding, **{"backend": "cuda", "driver.version": "2"}) == "applicable"
    assert applicability(desk, finding, **{"backend": "rocm", "driver.version": "1"}) == "applicable"
    assert applicability(desk, finding, **{"backend": "rocm", "driver.version": "2"}) == "needs_revalidation"


def test_a_seen_value_joins_others_only_through_one_condition_that_holds_for_both(desk: Desk) -> None:
    finding = desk.log(scope={"match": {"host": ["node-*", "login"], "driver.version": "1"}})

    held(desk, finding, **{"host": "node-7", "driver.version": "2"})

    assert applicability(desk, finding, **{"host": "node-9", "driver.version": "2"}) == "applicable"
    assert applicability(desk, finding, **{"host": "login", "driver.version": "2"}) == "needs_revalidation"


def test_the_code_of_one_context_and_the_facts_of_another_vouch_for_nothing(repository_desk: Desk) -> None:
    desk, code = repository_desk, repository_desk.cwd / "engine.py"
    first = code.read_text()
    scope = {"paths": ["engine.py"], "match": {"driver.version": "1"}}
    finding = desk.log(scope=scope, facts={"driver.version": "1"})

    code.write_text("speed = 4\n")
    held(Desk(desk.cwd, ledger=desk.ledger), finding, **{"driver.version": "2"})

    assert applicability(desk, finding, **{"driver.version": "2"}) == "applicable"
    assert applicability(desk, finding, **{"driver.version": "1"}) == "needs_revalidation"
    code.write_text(first)
    assert applicability(desk, finding, **{"driver.version": "1"}) == "applicable"
    assert applicability(desk, finding, **{"driver.version": "2"}) == "needs_revalidation"


def test_a_changed_source_is_settled_by_a_look_and_a_vanished_one_is_not(repository_desk: Desk) -> None:
    desk = repository_desk
    source = desk.cwd / "run.log"
    source.write_text("seven\n")
    git(desk.cwd, "add", "run.log")
    evidence = [{**FOR, "source_kind": "file", "source_ref": "run.log"}]
    finding = desk.log(epistemic_state="supported", evidence=evidence, scope={"everywhere": True})
    source.write_text("eight\n")
    assert applicability(desk, finding) == "needs_revalidation"
    held(Desk(desk.cwd, ledger=desk.ledger), finding)
    assert applicability(desk, finding) == "applicable"

    source.unlink()
    held(Desk(desk.cwd, ledger=desk.ledger), finding)
    assert applicability(desk, finding) == "needs_revalidation"


def test_a_fallen_basis_is_settled_for_what_had_fallen_by_then(desk: Desk) -> None:
    ground, other, finding = desk.log("The ground"), desk.log("Another ground"), desk.log("What rests on it")
    for one in (ground, other):
        desk.run("link_finding", finding_id=finding, relation="derived_from", to=one, reason="it does")
    against = {**LOOKED, "role": "contradicts"}
    desk.run("refute_finding", finding_id=ground, reason="it is not so", evidence=[against])
    assert applicability(desk, finding) == "needs_revalidation"

    held(desk, finding)

    assert applicability(desk, finding) == "applicable"
    desk.run("refute_finding", finding_id=other, reason="nor is this", evidence=[against])
    assert applicability(desk, finding) == "needs_revalidation"


@pytest.mark.parametrize(("outcome", "role"), [("failed", "contradicts"), ("inconclusive", "context")])
def test_a_look_that_did_not_hold_adds_its_evidence_and_nothing_else(outcome: str, role: str, desk: Desk) -> None:
    scope = {"match": {"driver.version": "1"}}
    finding = desk.log(epistemic_state="supported", evidence=[FOR], scope=scope, facts={"driver.version": "1"})

    given: dict[str, Any] = {"outcome": outcome, "reason": "looked", "facts": {"driver.version": "2"}}
    desk.run("revalidate_finding", finding_id=finding, evidence=[LOOKED], **given)

    data = desk.get(finding)
    assert data["epistemic_state"] == "supported"
    assert [link["role"] for link in data["evidence"]] == [role, "supports"]
    assert applicability(desk, finding, **{"driver.version": "2"}) == "needs_revalidation"


def test_a_revalidation_without_a_look_or_of_what_is_closed_is_refused(desk: Desk) -> None:
    finding = desk.log()
    with pytest.raises(UpheldError, match="evidence of the new look"):
        desk.run("revalidate_finding", finding_id=finding, outcome="held", reason="it will")
    desk.run("supersede_finding", finding_id=finding, claim="The sky is grey", reason="clouds")
    with pytest.raises(UpheldError, match="superseded"):
        held(desk, finding)
