"""The service as a state machine: whatever is called in whatever order, the rules hold and events explain the state."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule

from support.desk import AGAINST, FOR, Desk
from upheld.errors import FINDING_CODES, UpheldError
from upheld.findings.check import check_ledger
from upheld.findings.ledger import Ledger
from upheld.findings.model import CLAIM_KINDS, EPISTEMIC_STATES
from upheld.findings.states import TRANSITIONS
from upheld.storage.places import Places

EVIDENCE = st.lists(st.sampled_from([FOR, AGAINST, {**FOR, "role": "context"}]), max_size=3)
STATES = st.sampled_from(EPISTEMIC_STATES)
KINDS = st.sampled_from(CLAIM_KINDS)
WHO = st.integers(0, 1)
NEEDS = {"supported": {"supports"}, "refuted": {"contradicts"}, "contested": {"supports", "contradicts"}}


def stored(finding: dict[str, Any]) -> dict[str, Any]:
    """Return what is kept of a finding, without what is computed or is another one's."""
    computed = ("applicability", "because", "conditions")
    kept = {name: value for name, value in finding.items() if name not in computed}
    kept["relations"] = [{k: v for k, v in relation.items() if k != "other"} for relation in finding["relations"]]
    return kept


class Machine(RuleBasedStateMachine):
    """Two projects in one ledger, and beside them what the rules say must be there."""

    findings = Bundle("findings")

    def __init__(self) -> None:
        super().__init__()
        self.top = Path(tempfile.mkdtemp(prefix="upheld-machine-"))
        ledger = Ledger(Places(f"{self.top}/data", f"{self.top}/state", f"{self.top}/cache"))
        self.desks = []
        for name in ("one", "other"):
            (self.top / name).mkdir()
            self.desks.append(Desk(self.top / name, ledger=ledger))
        self.ledger = ledger
        self.known: dict[str, dict[str, Any]] = {}
        self.owner: dict[str, int] = {}

    def teardown(self) -> None:
        assert check_ledger(self.ledger).problems == ()
        self.ledger.close()
        shutil.rmtree(self.top)

    def try_it(self, who: int, name: str, **given: Any) -> str | None:
        """Make a call; a refusal is one of the closed set and leaves every finding as it was."""
        db = self.ledger.read()
        before = None if db is None else db.execute("select revision from ledger").get
        try:
            return str(self.desks[who].run(name, **given).data["finding_id"])
        except UpheldError as error:
            refusal = error
        assert refusal.code in FINDING_CODES
        db = self.ledger.read()
        after = None if db is None else db.execute("select revision from ledger").get
        assert (after or 0) == (before or 0)
        return None

    def note(self, who: int, finding: str, *, grown: int = 1) -> None:
        now = stored(self.desks[who].get(finding))
        before = self.known.get(finding)
        if before is None:
            assert now["version"] == 1
        else:
            assert now["version"] == before["version"] + grown
            was, is_ = before["epistemic_state"], now["epistemic_state"]
            assert was == is_ or is_ in TRANSITIONS[was]
            assert now["evidence"][len(now["evidence"]) - len(before["evidence"]) :] == before["evidence"]
        self.known[finding] = now
        self.owner[finding] = who

    @rule(target=findings, who=WHO, kind=KINDS, state=st.none() | STATES, evidence=EVIDENCE)
    def log(self, who: int, kind: str, state: str | None, evidence: list[dict[str, str]]) -> Any:
        made = self.try_it(
            who, "log_finding", claim=f"A {kind}", claim_kind=kind, epistemic_state=state, evidence=evidence
        )
        if made is None:
            return multiple()
        self.note(who, made)
        return made

    @rule(who=WHO, finding=findings, piece=st.sampled_from([FOR, AGAINST]))
    def add(self, who: int, finding: str, piece: dict[str, str]) -> None:
        if self.try_it(who, "add_evidence", finding_id=finding, evidence=piece):
            self.note(who, finding)

    @rule(who=WHO, finding=findings, state=STATES, evidence=EVIDENCE, version=st.none() | st.integers(1, 4))
    def settle(self, who: int, finding: str, state: str, evidence: list[dict[str, str]], version: int | None) -> None:
        given = {"epistemic_state": state, "reason": "as asked", "evidence": evidence, "version": version}
        if self.try_it(who, "set_finding_state", finding_id=finding, **given):
            assert version in {None, self.known[finding]["version"]}
            self.note(who, finding)
            assert self.known[finding]["epistemic_state"] == state

    @rule(who=WHO, finding=findings, evidence=EVIDENCE)
    def refute(self, who: int, finding: str, evidence: list[dict[str, str]]) -> None:
        if self.try_it(who, "refute_finding", finding_id=finding, reason="no", evidence=evidence):
            self.note(who, finding)
            assert self.known[finding]["epistemic_state"] == "refuted"

    @rule(target=findings, who=WHO, finding=findings, state=st.none() | STATES, evidence=EVIDENCE)
    def supersede(self, who: int, finding: str, state: str | None, evidence: list[dict[str, str]]) -> Any:
        given = {"claim": "Newer", "reason": "better", "epistemic_state": state, "evidence": evidence}
        made = self.try_it(who, "supersede_finding", finding_id=finding, **given)
        if made is None:
            return multiple()
        assert self.known[finding]["lifecycle_state"] == "current"
        self.note(who, finding)
        assert self.known[finding]["lifecycle_state"] == "superseded"
        self.note(who, made)
        return made

    @rule(finding=consumes(findings))
    def leave_alone(self, finding: str) -> None:
        """Some findings are never touched again."""

    @invariant()
    def nothing_but_what_was_called_has_changed(self) -> None:
        for finding, before in self.known.items():
            assert stored(self.desks[self.owner[finding]].get(finding)) == before

    @invariant()
    def every_state_has_its_evidence(self) -> None:
        for finding in self.known.values():
            roles = {link["role"] for link in finding["evidence"]}
            state, kind = finding["epistemic_state"], finding["claim_kind"]
            assert NEEDS.get(state, set()) <= roles
            assert state != "inconclusive" or roles
            assert state != "not_applicable" or kind in {"constraint", "decision", "procedure"}

    @invariant()
    def no_query_returns_another_projects_row(self) -> None:
        for who, desk in enumerate(self.desks):
            listed = desk.run("query_findings", history=True, limit=100).data["findings"]
            assert {one["finding_id"] for one in listed} == {f for f, owner in self.owner.items() if owner == who}
            found = desk.run("query_findings", words="newer observation", history=True).data["findings"]
            assert all(self.owner[one["finding_id"]] == who for one in found)


TestMachine = Machine.TestCase
TestMachine.settings = settings(settings.default, max_examples=15, stateful_step_count=20, deadline=None)
