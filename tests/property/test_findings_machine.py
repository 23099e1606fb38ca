"""The service as a state machine: whatever is called in whatever order, the rules hold and events explain the state."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule

from support.desk import AGAINST, FOR, PERSON, Desk
from upheld.errors import FINDING_CODES, UpheldError
from upheld.findings.check import check_ledger
from upheld.findings.ledger import Ledger
from upheld.findings.lifecycle import LIFECYCLES
from upheld.findings.model import CLAIM_KINDS, EPISTEMIC_STATES, FOREVER, LINKS, OUTCOMES
from upheld.findings.promotion import PROMOTIONS
from upheld.findings.states import TRANSITIONS
from upheld.storage.places import Places

EVIDENCE = st.lists(st.sampled_from([FOR, AGAINST, {**FOR, "role": "context"}]), max_size=3)
STATES = st.sampled_from(EPISTEMIC_STATES)
KINDS = st.sampled_from(CLAIM_KINDS)
WHO = st.sampled_from((0, 0, 0, 1))
MOSTLY = st.sampled_from((True, True, True, False))
DIRECTED = ("derived_from", "duplicate_of")
STEPS = {"withdraw_finding": "withdrawn", "archive_finding": "archived", "restore_finding": "current"}
DECISIONS = {"propose_rule": "proposed", "approve_rule": "approved", "reject_rule": "rejected", "land_rule": "landed"}
SETTLED = {"evidence", "epistemic_state", "contexts", "in_conflict"}
ALWAYS = {"version", "updated_at", "events"}
"""What every write changes."""
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
        self.desks: list[Desk] = []
        self.people: list[Desk] = []
        for name in ("one", "other"):
            (self.top / name).mkdir()
            self.desks.append(Desk(self.top / name, ledger=ledger))
            self.people.append(Desk(self.top / name, ledger=ledger, caller=PERSON))
        self.ledger = ledger
        self.known: dict[str, dict[str, Any]] = {}
        self.owner: dict[str, int] = {}

    def teardown(self) -> None:
        assert check_ledger(self.ledger).problems == ()
        self.ledger.close()
        shutil.rmtree(self.top)

    def revision(self) -> int:
        return self.desks[0].revision()

    def try_it(self, who: int, name: str, *, person: bool = False, **given: Any) -> str | None:
        """Make a call; a refusal is one of the closed set and leaves every finding as it was."""
        before = self.revision()
        try:
            return str((self.people if person else self.desks)[who].run(name, **given).data["finding_id"])
        except UpheldError as error:
            refusal = error
        assert refusal.code in FINDING_CODES
        assert self.revision() == before
        return None

    def note(self, who: int, finding: str, may: set[str], *, grown: int = 1) -> None:
        """Take down what a finding is now: so many writes later, and nothing changed but what may."""
        now = stored(self.desks[who].get(finding))
        before = self.known[finding]
        changed = {name for name in now.keys() | before.keys() if now.get(name) != before.get(name)}
        assert changed <= (may | ALWAYS if grown else {"relations"} & may)
        assert now["version"] == before["version"] + grown
        assert len(now["events"]) == len(before["events"]) + grown
        assert all(event in now["events"] for event in before["events"])
        was, is_ = before["epistemic_state"], now["epistemic_state"]
        assert was == is_ or is_ in TRANSITIONS[was]
        assert now["evidence"][len(now["evidence"]) - len(before["evidence"]) :] == before["evidence"]
        self.known[finding] = now

    def begin(self, who: int, finding: str) -> None:
        """Take down a new finding."""
        self.known[finding] = stored(self.desks[who].get(finding))
        self.owner[finding] = who
        assert self.known[finding]["version"] == 1

    def whose(self, finding: str, *, own: bool) -> int:
        """Return who calls: the project that has the finding, or the other one."""
        return self.owner[finding] if own else 1 - self.owner[finding]

    @staticmethod
    def choose(name: str, steps: dict[str, str], allowed: tuple[str, ...], *, lawful: bool) -> str:
        """Return that call, or one that the table allows if a lawful one is wanted and there is one."""
        possible = [one for one, to in steps.items() if to in allowed]
        return name if name in possible or not lawful or not possible else possible[0]

    def is_current(self, finding: str) -> bool:
        return bool(self.known[finding]["lifecycle_state"] == "current")

    def holds(self, finding: str) -> bool:
        """Say whether it could become a rule."""
        known = self.known[finding]
        stands = known["epistemic_state"] in {"supported", "not_applicable"} and "in_conflict" not in known
        return stands and self.is_current(finding)

    def related(self, kind: str, *, begins: str = "", ends: str = "") -> set[str]:
        """Return what a finding is related to, from the side that is given."""
        listed = [one for one in self.known[begins or ends]["relations"] if one["kind"] == kind]
        if begins:
            return {one["to"] for one in listed if one["from"] == begins}
        return {one["from"] for one in listed if one["to"] == ends}

    def leads_to(self, kind: str, begins: str, ends: str) -> bool:
        return begins == ends or any(self.leads_to(kind, one, ends) for one in self.related(kind, begins=begins))

    def replacements(self, finding: str) -> list[str]:
        """Return what took its place and stands."""
        taken = self.related("supersedes", ends=finding) | self.related("duplicate_of", begins=finding)
        return [one for one in taken if self.is_current(one) and self.known[one]["epistemic_state"] != "refuted"]

    @rule(target=findings, who=WHO, kind=KINDS, state=st.none() | STATES, evidence=EVIDENCE)
    def log(self, who: int, kind: str, state: str | None, evidence: list[dict[str, str]]) -> Any:
        made = self.try_it(
            who, "log_finding", claim=f"A {kind}", claim_kind=kind, epistemic_state=state, evidence=evidence
        )
        if made is None:
            return multiple()
        self.begin(who, made)
        return made

    @rule(who=WHO, finding=findings, piece=st.sampled_from([FOR, AGAINST]))
    def add(self, who: int, finding: str, piece: dict[str, str]) -> None:
        if self.try_it(who, "add_evidence", finding_id=finding, evidence=piece):
            self.note(who, finding, {"evidence", "in_conflict"})

    @rule(who=WHO, finding=findings, state=STATES, evidence=EVIDENCE, version=st.none() | st.integers(1, 4))
    def settle(self, who: int, finding: str, state: str, evidence: list[dict[str, str]], version: int | None) -> None:
        given: dict[str, Any] = {
            "epistemic_state": state,
            "reason": "as asked",
            "evidence": evidence,
            "version": version,
        }
        if self.try_it(who, "set_finding_state", finding_id=finding, **given):
            assert version in {None, self.known[finding]["version"]}
            self.note(who, finding, SETTLED)
            assert self.known[finding]["epistemic_state"] == state

    @rule(who=WHO, finding=findings, evidence=EVIDENCE)
    def refute(self, who: int, finding: str, evidence: list[dict[str, str]]) -> None:
        if self.try_it(who, "refute_finding", finding_id=finding, reason="no", evidence=evidence):
            self.note(who, finding, SETTLED)
            assert self.known[finding]["epistemic_state"] == "refuted"

    @rule(target=findings, who=WHO, finding=findings, state=st.none() | STATES, evidence=EVIDENCE)
    def supersede(self, who: int, finding: str, state: str | None, evidence: list[dict[str, str]]) -> Any:
        given: dict[str, Any] = {"claim": "Newer", "reason": "better", "epistemic_state": state, "evidence": evidence}
        made = self.try_it(who, "supersede_finding", finding_id=finding, **given)
        if made is None:
            return multiple()
        assert self.is_current(finding)
        self.note(who, finding, {"lifecycle_state", "relations"})
        assert self.known[finding]["lifecycle_state"] == "superseded"
        self.begin(who, made)
        return made

    @rule(own=MOSTLY, finding=findings, to=findings, relation=st.sampled_from(LINKS), remove=st.booleans())
    def link(self, own: bool, finding: str, to: str, relation: str, remove: bool) -> None:
        who = self.whose(finding, own=own)
        if remove and (held := self.related(relation, begins=finding)):
            to = min(held)
        same = {self.owner[finding], self.owner[to]} == {who}
        there = to in self.related(relation, begins=finding)
        there = there or (relation not in DIRECTED and finding in self.related(relation, begins=to))
        circle = finding == to or (relation in DIRECTED and self.leads_to(relation, to, finding))
        given: dict[str, Any] = {"relation": relation, "to": to, "reason": "so it is", "remove": remove}
        versions = {one: self.known[one]["version"] for one in (finding, to)}

        done = self.try_it(who, "link_finding", finding_id=finding, **given)

        assert (done is not None) == (same and (there if remove else not (there or circle)))
        if done:
            grown = {one: self.desks[who].get(one)["version"] - version for one, version in versions.items()}
            assert sorted(grown.values()) == [0, 1]
            for one, by in grown.items():
                self.note(who, one, {"relations"}, grown=by)

    @rule(own=MOSTLY, finding=findings, outcome=st.sampled_from(OUTCOMES), evidence=EVIDENCE)
    def revalidate(self, own: bool, finding: str, outcome: str, evidence: list[dict[str, str]]) -> None:
        who = self.whose(finding, own=own)
        given: dict[str, Any] = {"outcome": outcome, "reason": "looked again", "evidence": evidence}
        done = self.try_it(who, "revalidate_finding", finding_id=finding, **given)
        assert (done is not None) == (self.owner[finding] == who and self.is_current(finding) and bool(evidence))
        if done:
            contexts = len(self.known[finding]["contexts"])
            self.note(who, finding, {"evidence", "contexts", "in_conflict"})
            again = outcome == "held" or (outcome == "failed" and self.known[finding]["epistemic_state"] == "refuted")
            assert len(self.known[finding]["contexts"]) == contexts + again

    @rule(own=MOSTLY, finding=findings, name=st.sampled_from(sorted(DECISIONS)), lawful=MOSTLY)
    def promote(self, own: bool, finding: str, name: str, lawful: bool) -> None:
        who = self.whose(finding, own=own)
        name = self.choose(name, DECISIONS, PROMOTIONS[self.known[finding]["promotion_state"]], lawful=lawful)
        to = DECISIONS[name]
        more = {"propose_rule": {"rule": "Look up"}, "land_rule": {"target": "docs/rules.md"}}.get(name, {})
        allowed = to in PROMOTIONS[self.known[finding]["promotion_state"]]
        needs = to in {"proposed", "approved"}
        done = self.try_it(who, name, person=True, finding_id=finding, reason="agreed", **more)
        assert (done is not None) == (self.owner[finding] == who and allowed and (not needs or self.holds(finding)))
        if done:
            self.note(who, finding, {"promotion_state", "rule", "rule_owner", "doc_links"})
            assert self.known[finding]["promotion_state"] == to

    @rule(own=MOSTLY, finding=findings, tags=st.lists(st.sampled_from(["red", "blue"]), max_size=2, unique=True))
    def amend(self, own: bool, finding: str, tags: list[str]) -> None:
        who = self.whose(finding, own=own)
        changes = tags != self.known[finding]["tags"]
        done = self.try_it(who, "amend_finding", person=True, finding_id=finding, reason="better", tags=tags)
        assert (done is not None) == (self.owner[finding] == who and changes)
        if done:
            self.note(who, finding, {"tags"})
            assert self.known[finding]["tags"] == tags

    @rule(own=MOSTLY, finding=findings, into=findings)
    def merge(self, own: bool, finding: str, into: str) -> None:
        who = self.whose(finding, own=own)
        same = {self.owner[finding], self.owner[into]} == {who}
        current = self.is_current(finding) and self.is_current(into)
        circle = self.leads_to("duplicate_of", into, finding)
        done = self.try_it(who, "merge_findings", person=True, finding_id=finding, into=into, reason="the same")
        assert (done is not None) == (same and current and not circle)
        if done:
            roles = [link["role"] for link in self.known[finding]["evidence"]]
            self.note(who, finding, {"lifecycle_state", "relations"})
            self.note(who, into, {"evidence", "tags", "aliases", "relations", "in_conflict"})
            assert self.known[finding]["lifecycle_state"] == "archived"
            assert set(roles) <= {link["role"] for link in self.known[into]["evidence"]}

    @rule(own=MOSTLY, finding=findings, off=st.booleans())
    def mute(self, own: bool, finding: str, off: bool) -> None:
        who = self.whose(finding, own=own)
        muted = "muted_until" in self.known[finding]
        done = self.try_it(who, "mute_finding", person=True, finding_id=finding, reason="noise", off=off)
        assert (done is not None) == (self.owner[finding] == who and (muted or not off))
        if done:
            self.note(who, finding, {"muted_until"})
            assert self.known[finding].get("muted_until") == (None if off else FOREVER)

    @rule(own=MOSTLY, finding=findings, name=st.sampled_from(sorted(STEPS)), lawful=MOSTLY)
    def move(self, own: bool, finding: str, name: str, lawful: bool) -> None:
        who = self.whose(finding, own=own)
        name = self.choose(name, STEPS, LIFECYCLES[self.known[finding]["lifecycle_state"]], lawful=lawful)
        to = STEPS[name]
        allowed = to in LIFECYCLES[self.known[finding]["lifecycle_state"]]
        replaced = to == "current" and self.replacements(finding)
        done = self.try_it(who, name, person=True, finding_id=finding, reason="as asked")
        assert (done is not None) == (self.owner[finding] == who and allowed and not replaced)
        if done:
            self.note(who, finding, {"lifecycle_state"})
            assert self.known[finding]["lifecycle_state"] == to

    @rule(own=MOSTLY, finding=findings, name=st.sampled_from([*STEPS, "approve_rule", "reject_rule", "mute_finding"]))
    def overstep(self, own: bool, finding: str, name: str) -> None:
        """An agent may do nothing that is for people."""
        who = self.whose(finding, own=own)
        assert self.try_it(who, name, finding_id=finding, reason="why not") is None

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
            shown = desk.run("query_findings", limit=100).data["findings"]
            own = {f for f in self.known if self.owner[f] == who and self.is_current(f)}
            assert {one["finding_id"] for one in shown} == {
                f for f in own if not self.related("duplicate_of", begins=f)
            }
            found = desk.run("query_findings", words="newer observation", history=True).data["findings"]
            assert all(self.owner[one["finding_id"]] == who for one in found)


TestMachine = Machine.TestCase
TestMachine.settings = settings(settings.default, max_examples=15, stateful_step_count=20, deadline=None)
