"""Change the epistemic state of a finding, and refute it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from upheld.errors import InvalidArgumentError
from upheld.findings.anchoring import look_again
from upheld.findings.cleaning import Cleaner
from upheld.findings.drafts import look_up_links
from upheld.findings.model import REFUTED, REVALIDATED
from upheld.findings.states import check_transition

if TYPE_CHECKING:
    from upheld.findings.arguments import EvidenceInput
    from upheld.findings.model import KnownContext
    from upheld.findings.service import Answer, Findings
    from upheld.findings.work import Work


def set_finding_state(
    findings: Findings,
    *,
    finding_id: int,
    epistemic_state: str,
    reason: str,
    version: int | None = None,
    evidence: tuple[EvidenceInput, ...] | None = None,
    idempotency_key: str | None = None,
) -> Answer:
    """Change the epistemic state as the transition table allows, with a reason.

    Raises:
        InvalidStateTransitionError: The table has no such step.
        EvidenceRequiredError: The evidence does not allow the state.
        ChangedMeanwhileError: The finding is not at `version` any more.
    """
    return _settle(
        findings,
        "set_finding_state",
        finding_id,
        epistemic_state,
        kind="state_set",
        reason=reason,
        version=version,
        evidence=evidence or (),
        idempotency_key=idempotency_key,
    )


def refute_finding(
    findings: Findings,
    *,
    finding_id: int,
    reason: str,
    evidence: tuple[EvidenceInput, ...] | None = None,
    version: int | None = None,
    idempotency_key: str | None = None,
) -> Answer:
    """Refute a finding: contradicting evidence, state and event at once. It stays current, as a dead end.

    Evidence given here contradicts unless it says `context`.

    Raises:
        EvidenceRequiredError: No contradicting evidence is given and none is there.
        InvalidStateTransitionError: It can't be refuted from its state.
    """
    pieces = tuple(piece if piece.role == "context" else replace(piece, role="contradicts") for piece in evidence or ())
    return _settle(
        findings,
        "refute_finding",
        finding_id,
        "refuted",
        kind="refuted",
        reason=reason,
        version=version,
        evidence=pieces,
        idempotency_key=idempotency_key,
    )


def _settle(
    findings: Findings,
    tool: str,
    finding_id: int,
    state: str,
    *,
    kind: str,
    reason: str,
    version: int | None,
    evidence: tuple[EvidenceInput, ...],
    idempotency_key: str | None,
) -> Answer:
    cleaner = Cleaner(findings.place.home)
    links = look_up_links(cleaner, findings.place, evidence)
    why = cleaner.text(reason)
    known = _look(findings, finding_id, cleaner, state) if links and state in ("supported", "refuted") else None

    def settle(work: Work) -> tuple[int, dict[str, Any]]:
        finding = work.get(finding_id, version)
        check_transition(finding.name, finding.epistemic_state, state)
        work.settle(finding, state, links, kind=kind, reason=why, known=known)
        return finding.id, {"finding_id": finding.name, **work.state_of(finding.id)}

    key = {
        "id": finding_id,
        "state": state,
        "version": version,
        "reason": why,
        "evidence": [link.key() for link in links],
    }
    return findings.write(tool, settle, idempotency_key=idempotency_key, arguments=key, cleaner=cleaner)


def _look(findings: Findings, finding_id: int, cleaner: Cleaner, state: str) -> KnownContext | None:
    """Return today's context: whoever decides on new evidence looked at today's code, and knows the claim by it.

    None where that code can't be read any more; the decision stands all the same.
    """
    db, finding = findings.find(finding_id)
    kind = REFUTED if state == "refuted" else REVALIDATED
    try:
        return look_again(db, findings.surroundings(db, None), finding, cleaner, kind)[0]
    except InvalidArgumentError:
        return None
