"""Two processes that write the same finding at once: one wins, the other is told, and a retry writes nothing twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from support.desk import AGAINST, FOR, Desk, make_repository
from upheld.findings.check import check_ledger
from upheld.findings.ledger import Ledger
from upheld.storage.places import find_places

if TYPE_CHECKING:
    from collections.abc import Iterator

CALLER = Path(__file__).parents[1] / "support" / "caller.py"
ROUNDS = 15
LOOKED = {"source_kind": "test_run", "source_ref": "run-9"}
STALE = {"error": "CONCURRENT_MODIFICATION"}


class Pair:
    """Two processes at one ledger, and a desk beside them."""

    def __init__(self, desk: Desk, stack: ExitStack) -> None:
        self.desk = desk
        self._processes = []
        for name in ("one", "two"):
            command = [sys.executable, str(CALLER), str(desk.cwd), name]
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            stack.enter_context(process)
            stack.callback(process.kill)
            self._processes.append(process)
        for process in self._processes:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"

    def call(self, *calls: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
        """Tell each process its call, both before either is asked for its answer."""
        for process, call in zip(self._processes, calls, strict=True):
            assert process.stdin is not None
            process.stdin.write(json.dumps(call).encode() + b"\n")
            process.stdin.flush()
        answers = []
        for process in self._processes:
            assert process.stdout is not None
            answers.append(json.loads(process.stdout.readline()))
        return answers


@pytest.fixture
def desk(own_home: Path, tmp_path: Path) -> Iterator[Desk]:  # noqa: ARG001 - moves UPHELD_HOME
    ledger = Ledger(find_places(os.environ))
    desk = Desk(make_repository(tmp_path / "repository"), ledger=ledger)
    desk.log("The first finding, so that there is a ledger")
    yield desk
    assert check_ledger(ledger).problems == ()
    ledger.close()


@pytest.fixture
def pair(desk: Desk) -> Iterator[Pair]:
    with ExitStack() as stack:
        yield Pair(desk, stack)


def test_of_two_writes_with_the_same_version_exactly_one_wins(desk: Desk, pair: Pair) -> None:
    for _ in range(ROUNDS):
        finding = desk.log(evidence=[FOR, AGAINST])
        given = {"finding_id": finding, "reason": "mine", "version": 1}
        states = ("supported", "inconclusive")

        answers = pair.call(*(("set_finding_state", {**given, "epistemic_state": state}) for state in states))

        assert sorted("error" in answer for answer in answers) == [False, True]
        assert STALE in answers
        got = desk.get(finding)
        winner = next(answer["data"] for answer in answers if "data" in answer)
        assert (got["version"], got["epistemic_state"]) == (2, winner["epistemic_state"])


def test_of_two_that_supersede_the_same_version_one_leaves_no_trace(desk: Desk, pair: Pair) -> None:
    for number in range(ROUNDS):
        finding = desk.log(f"Old {number}")
        before = desk.count("findings")
        given = {"finding_id": finding, "reason": "better", "version": 1}

        answers = pair.call(*(("supersede_finding", {**given, "claim": f"New {number} {who}"}) for who in "ab"))

        assert STALE in answers
        assert sorted("error" in answer for answer in answers) == [False, True]
        assert desk.count("findings") == before + 1


def test_the_same_key_at_once_writes_once_and_both_get_the_same_answer(desk: Desk, pair: Pair) -> None:
    for number in range(ROUNDS):
        before, findings = desk.revision(), desk.count("findings")
        call = (
            "log_finding",
            {
                "claim": f"Claim {number}",
                "claim_kind": "observation",
                "scope": {"everywhere": True},
                "evidence": [FOR],
                "idempotency_key": f"key-{number}",
            },
        )

        one, other = pair.call(call, call)

        assert one["data"]["finding_id"] == other["data"]["finding_id"]
        assert one == other
        assert (desk.revision(), desk.count("findings")) == (before + 1, findings + 1)


def test_the_same_key_with_other_arguments_at_once_is_refused_to_one(desk: Desk, pair: Pair) -> None:
    for number in range(ROUNDS):
        findings = desk.count("findings")
        given = {"claim_kind": "observation", "scope": {"everywhere": True}, "idempotency_key": f"key-{number}"}

        answers = pair.call(*(("log_finding", {**given, "claim": f"Claim {number} {who}"}) for who in "ab"))

        assert sorted("error" in answer for answer in answers) == [False, True]
        assert {"error": "INVALID_ARGUMENT"} in answers
        assert desk.count("findings") == findings + 1


def test_evidence_that_two_add_at_once_is_all_there(desk: Desk, pair: Pair) -> None:
    finding = desk.log()

    for number in range(ROUNDS):
        pieces = ({**FOR, "source_ref": f"run-{number}-{who}"} for who in "ab")
        answers = pair.call(*(("add_evidence", {"finding_id": finding, "evidence": piece}) for piece in pieces))
        assert not any("error" in answer for answer in answers)

    got = desk.get(finding)
    assert len({link["source_ref"] for link in got["evidence"]}) == 2 * ROUNDS
    assert got["version"] == 1 + 2 * ROUNDS


def test_a_look_that_held_races_a_refutation_and_nothing_is_half_done(desk: Desk, pair: Pair) -> None:
    for number in range(ROUNDS):
        finding = desk.log(f"Claim {number}", epistemic_state="supported", evidence=[FOR])
        look = {"finding_id": finding, "outcome": "held", "reason": "seen", "evidence": [LOOKED]}
        refutation = {"finding_id": finding, "reason": "measured", "evidence": [AGAINST]}

        held, refuted = pair.call(("revalidate_finding", look), ("refute_finding", refutation))

        # A refutation asks for no version, so it is never refused; a look counts only for the finding as it was read.
        assert refuted["data"]["epistemic_state"] == "refuted"
        assert "data" in held or held == STALE
        got = desk.get(finding)
        assert got["epistemic_state"] == "refuted"
        assert got["version"] == (3 if "data" in held else 2)
        assert sum(link["role"] == "contradicts" for link in got["evidence"]) == 1
        assert sum(link["source_ref"] == "run-9" for link in got["evidence"]) == ("data" in held)


def test_of_two_that_link_the_other_way_round_at_once_none_makes_a_circle(desk: Desk, pair: Pair) -> None:
    for number in range(ROUNDS):
        first, second = desk.log(f"First {number}"), desk.log(f"Second {number}")
        given = {"relation": "derived_from", "reason": "it rests on it"}

        answers = pair.call(
            ("link_finding", {**given, "finding_id": first, "to": second}),
            ("link_finding", {**given, "finding_id": second, "to": first}),
        )

        assert sorted("error" in answer for answer in answers) == [False, True]
        assert {"error": "RELATION_CYCLE"} in answers
