"""Add evidence to a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from upheld.findings.cleaning import Cleaner
from upheld.findings.drafts import look_up_links

if TYPE_CHECKING:
    from upheld.findings.arguments import EvidenceInput
    from upheld.findings.service import Answer, Findings
    from upheld.findings.work import Work


def add_evidence(
    findings: Findings, *, finding_id: int, evidence: EvidenceInput, idempotency_key: str | None = None
) -> Answer:
    """Add evidence to a finding. No state changes by itself; a conflict that arises is a warning."""
    cleaner = Cleaner(findings.place.home)
    links = look_up_links(cleaner, findings.place, (evidence,))

    def add(work: Work) -> tuple[int, dict[str, Any]]:
        finding = work.get(finding_id)
        work.add_links(finding, links, kind="evidence_added", reason="evidence added")
        return finding.id, {"finding_id": finding.name, **work.state_of(finding.id)}

    key = {"id": finding_id, "evidence": [link.key() for link in links]}
    return findings.write("add_evidence", add, idempotency_key=idempotency_key, arguments=key, cleaner=cleaner)
