"""Every pair of states through the real service, every rule about evidence, and the way back from a refutation."""

from __future__ import annotations

import pytest

from support.desk import AGAINST, FOR, Desk
from upheld.errors import EVIDENCE_REQUIRED, INVALID_ARGUMENT, INVALID_STATE_TRANSITION, UpheldError
from upheld.findings.model import CLAIM_KINDS, EPISTEMIC_STATES
from upheld.findings.states import TRANSITIONS

# Written out by hand from the design, and not derived from the table in the code: + where a step is allowed.
MATRIX = """
from \\ to     unassessed provisional supported contested refuted inconclusive not_applicable
unassessed          -          +          +         +        +         +             -
provisional         -          -          +         +        +         +             -
supported           -          +          -         +        +         +             -
contested           -          -          +         -        +         +             -
refuted             -          -          -         +        -         -             -
inconclusive        -          +          +         +        +         -             -
not_applicable      -          -          -         -        -         -             -
"""
_, HEADER, *ROWS = MATRIX.rstrip().split("\n")
COLUMNS = HEADER.split()[3:]
PAIRS = [
    (line.split()[0], to, mark == "+") for line in ROWS for to, mark in zip(COLUMNS, line.split()[1:], strict=True)
]


def test_the_matrix_names_every_pair_once() -> None:
    assert len(PAIRS) == len(EPISTEMIC_STATES) ** 2
    assert {(now, to) for now, to, allowed in PAIRS if allowed} == {
        (now, to) for now, following in TRANSITIONS.items() for to in following
    }


@pytest.mark.parametrize(("now", "to", "allowed"), PAIRS)
def test_only_the_steps_of_the_table_can_be_taken(desk: Desk, now: str, to: str, allowed: bool) -> None:
    kind = "constraint" if now == "not_applicable" else "observation"
    finding = desk.log(claim_kind=kind, epistemic_state=now, evidence=[FOR, AGAINST])
    events = desk.count("finding_events")
    given = {"finding_id": finding, "epistemic_state": to, "reason": "as asked"}
    if allowed:
        answer = desk.run("set_finding_state", **given)
        assert answer.data["epistemic_state"] == to
        assert answer.data["version"] == 2
        assert desk.get(finding)["events"][-1]["changes"] == {"epistemic_state": [now, to]}
        return
    with pytest.raises(UpheldError) as refused:
        desk.run("set_finding_state", **given)
    assert refused.value.code == INVALID_STATE_TRANSITION
    assert f"{finding} is {now} and can't become {to}" in refused.value.message
    assert desk.count("finding_events") == events
    assert desk.get(finding)["version"] == 1


CONTEXT = {**FOR, "role": "context"}
RULES = [
    ("unassessed", [], None),
    ("provisional", [], None),
    ("supported", [], "supports"),
    ("supported", [AGAINST], "supports"),
    ("supported", [CONTEXT], "supports"),
    ("supported", [FOR], None),
    ("refuted", [], "contradicts"),
    ("refuted", [FOR], "contradicts"),
    ("refuted", [AGAINST], None),
    ("contested", [FOR], "contradicts"),
    ("contested", [AGAINST], "supports"),
    ("contested", [FOR, AGAINST], None),
    ("inconclusive", [], "at least one piece of evidence"),
    ("inconclusive", [CONTEXT], None),
]


@pytest.mark.parametrize(
    ("state", "evidence", "missing", "later"),
    # Nothing becomes unassessed, so that row is for creation alone.
    [(*rule, later) for rule in RULES for later in (False, True) if not (later and rule[0] == "unassessed")],
)
def test_a_state_needs_its_evidence(
    desk: Desk, state: str, evidence: list[dict[str, str]], missing: str | None, later: bool
) -> None:
    first = desk.log(evidence=evidence) if later else ""

    def ask() -> None:
        if later:
            desk.run("set_finding_state", finding_id=first, epistemic_state=state, reason="as asked")
        else:
            desk.log(epistemic_state=state, evidence=evidence)

    if missing is None:
        ask()
        return
    events = desk.count("finding_events")
    with pytest.raises(UpheldError, match=missing) as refused:
        ask()
    assert refused.value.code == EVIDENCE_REQUIRED
    assert desk.count("finding_events") == events


def test_evidence_may_come_with_the_state_that_needs_it(desk: Desk) -> None:
    finding = desk.log()
    answer = desk.run(
        "set_finding_state", finding_id=finding, epistemic_state="supported", reason="measured", evidence=[FOR]
    )
    assert answer.data["epistemic_state"] == "supported"


@pytest.mark.parametrize("kind", CLAIM_KINDS)
def test_not_applicable_is_for_claims_that_are_not_true_or_false(desk: Desk, kind: str) -> None:
    may_take_it = kind in {"constraint", "decision", "procedure"}
    if may_take_it:
        assert desk.get(desk.log(claim_kind=kind))["epistemic_state"] == "not_applicable"
        desk.log(claim_kind=kind, epistemic_state="not_applicable")
        return
    assert desk.get(desk.log(claim_kind=kind))["epistemic_state"] == "unassessed"
    with pytest.raises(UpheldError, match=f"a {kind} is one or the other") as refused:
        desk.log(claim_kind=kind, epistemic_state="not_applicable")
    assert refused.value.code == INVALID_ARGUMENT
    assert refused.value.argument == "epistemic_state"


def test_a_refuted_finding_returns_only_by_way_of_contested_with_newer_support(desk: Desk) -> None:
    finding = desk.log(epistemic_state="supported", evidence=[FOR])
    desk.run("refute_finding", finding_id=finding, reason="measured again", evidence=[AGAINST])

    def settle(state: str, **given: object) -> None:
        desk.run("set_finding_state", finding_id=finding, epistemic_state=state, reason="as asked", **given)

    with pytest.raises(UpheldError, match="can't become supported"):
        settle("supported", evidence=[{**FOR, "source_ref": "run-3"}])
    settle("contested")
    with pytest.raises(UpheldError, match="newer than the refutation") as refused:
        settle("supported")
    assert refused.value.code == EVIDENCE_REQUIRED
    desk.run("add_evidence", finding_id=finding, evidence={**AGAINST, "source_ref": "run-4"})
    with pytest.raises(UpheldError, match="newer than the refutation"):
        settle("supported")
    desk.run("add_evidence", finding_id=finding, evidence={**FOR, "source_ref": "run-5"})
    settle("supported")
    assert desk.get(finding)["epistemic_state"] == "supported"


def test_a_finding_logged_as_refuted_does_not_return_on_its_first_support(desk: Desk) -> None:
    finding = desk.log(epistemic_state="refuted", evidence=[FOR, AGAINST])
    desk.run("set_finding_state", finding_id=finding, epistemic_state="contested", reason="look again")
    with pytest.raises(UpheldError, match="newer than the refutation"):
        desk.run("set_finding_state", finding_id=finding, epistemic_state="supported", reason="as before")


def test_evidence_on_the_other_side_flips_nothing_and_warns(desk: Desk) -> None:
    finding = desk.log(epistemic_state="supported", evidence=[FOR])
    answer = desk.run("add_evidence", finding_id=finding, evidence=AGAINST)
    assert answer.data["epistemic_state"] == "supported"
    assert "evidence on the other side" in answer.warnings[0]
    assert desk.get(finding)["in_conflict"] is True
    desk.run("set_finding_state", finding_id=finding, epistemic_state="contested", reason="both sides")
    assert "in_conflict" not in desk.get(finding)


def test_nothing_is_upgraded_because_evidence_arrived(desk: Desk) -> None:
    finding = desk.log()
    assert desk.run("add_evidence", finding_id=finding, evidence=FOR).warnings == ()
    assert desk.get(finding)["epistemic_state"] == "unassessed"


def test_a_refuted_finding_stays_current(desk: Desk) -> None:
    finding = desk.log()
    desk.run("refute_finding", finding_id=finding, reason="no", evidence=[AGAINST])
    assert desk.get(finding)["lifecycle_state"] == "current"


def test_evidence_of_a_refutation_contradicts_unless_it_is_context(desk: Desk) -> None:
    finding = desk.log()
    desk.run("refute_finding", finding_id=finding, reason="no", evidence=[FOR, {**FOR, "role": "context"}])
    assert sorted(link["role"] for link in desk.get(finding)["evidence"]) == ["context", "contradicts"]
