"""Rules: a finding that holds is proposed as one, a person approves or rejects it, and says where it landed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from upheld.findings.cleaning import Cleaner
from upheld.findings.ledger import as_refusals
from upheld.findings.promotion import check_promotion, check_proposable
from upheld.findings.store import reading
from upheld.findings.surroundings import judge_all

if TYPE_CHECKING:
    from upheld.findings.model import Finding
    from upheld.findings.service import Answer, Findings
    from upheld.findings.work import Work


def propose_rule(
    findings: Findings,
    *,
    finding_id: int,
    rule: str,
    reason: str,
    owner: str | None = None,
    version: int | None = None,
    idempotency_key: str | None = None,
) -> Answer:
    """Propose that a finding becomes a rule. A person decides; no file is edited.

    Raises:
        NotProposableError: It is not current, supported or without truth value, and free of conflict.
        InvalidPromotionError: It is proposed, approved or landed already.
    """
    cleaner = Cleaner(findings.place.home)
    text, why = cleaner.text(rule), cleaner.text(reason)
    given = {"rule": text, "owner": owner or ""}

    def propose(work: Work) -> tuple[int, dict[str, Any]]:
        finding = work.get(finding_id, version)
        check_promotion(finding.name, finding.promotion_state, "proposed")
        check_proposable(finding, work.evidence_of(finding))
        return finding.id, _promote(work, finding, "proposed", why, rule=given)

    key = {"id": finding_id, "version": version, "reason": why, **given}
    return findings.write("propose_rule", propose, idempotency_key=idempotency_key, arguments=key, cleaner=cleaner)


def approve_rule(findings: Findings, *, finding_id: int, reason: str, version: int | None = None) -> Answer:
    """Approve a proposed rule.

    Raises:
        InvalidPromotionError: It is not proposed.
        NotProposableError: The finding does not hold any more.
    """
    return _decide(findings, finding_id, "approved", reason, version)


def reject_rule(findings: Findings, *, finding_id: int, reason: str, version: int | None = None) -> Answer:
    """Reject a proposed or approved rule; it may be proposed again.

    Raises:
        InvalidPromotionError: It is neither.
    """
    return _decide(findings, finding_id, "rejected", reason, version)


def land_rule(
    findings: Findings,
    *,
    finding_id: int,
    target: str,
    reason: str,
    locator: str | None = None,
    version: int | None = None,
) -> Answer:
    """Record where an approved rule landed: a document link. No file is edited.

    Raises:
        InvalidPromotionError: It is not approved.
    """
    cleaner = Cleaner(findings.place.home)
    link = {"target": cleaner.text(target), "locator": cleaner.text(locator or "")}
    return _decide(findings, finding_id, "landed", reason, version, cleaner=cleaner, doc_links=[link])


@as_refusals()
def list_rules(findings: Findings, *, promotion: tuple[str, ...] | None = None) -> Answer:
    """Return the findings that are proposed, approved, rejected or landed as rules, newest first."""
    from upheld.findings.service import NOTHING_HERE, Answer

    db, project = findings.read()
    if db is None or project is None:
        return Answer({"rules": []}, (NOTHING_HERE,))
    rules = reading.find_rules(db, project.id, promotion or ())
    held = {finding.id: finding for finding in reading.find_findings(db, project.id, [rule[0] for rule in rules])}
    judgements = judge_all(db, list(held.values()), findings.surroundings(db, None))
    listed = [
        {
            "finding_id": held[number].name,
            "promotion_state": held[number].promotion_state,
            "rule": text,
            "owner": owner,
            "claim": held[number].claim,
            "epistemic_state": held[number].epistemic_state,
            "lifecycle_state": held[number].lifecycle_state,
            "applicability": judgements[number].applicability,
            "version": held[number].version,
        }
        for number, text, owner in rules
    ]
    return Answer({"rules": listed})


def _decide(
    findings: Findings,
    finding_id: int,
    state: str,
    reason: str,
    version: int | None,
    *,
    cleaner: Cleaner | None = None,
    **more: Any,
) -> Answer:
    cleaner = cleaner or Cleaner(findings.place.home)
    why = cleaner.text(reason)

    def decide(work: Work) -> tuple[int, dict[str, Any]]:
        finding = work.get(finding_id, version)
        check_promotion(finding.name, finding.promotion_state, state)
        if state == "approved":
            check_proposable(finding, work.evidence_of(finding))
        return finding.id, _promote(work, finding, state, why, **more)

    return findings.write(f"{state}_rule", decide, arguments={}, cleaner=cleaner)


def _promote(work: Work, finding: Finding, state: str, reason: str, **more: Any) -> dict[str, Any]:
    work.promote(finding, state, reason, **more)
    return {"finding_id": finding.name, **work.state_of(finding.id), "promotion_state": state}
