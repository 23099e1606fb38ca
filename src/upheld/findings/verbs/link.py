"""Relate two findings of a project, or take a relation back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from upheld.findings.cleaning import Cleaner
from upheld.findings.relations import relate, unrelate

if TYPE_CHECKING:
    from upheld.findings.service import Answer, Findings
    from upheld.findings.work import Work


def link_finding(
    findings: Findings,
    *,
    finding_id: int,
    relation: str,
    to: int,
    reason: str,
    remove: bool | None = None,
    version: int | None = None,
    idempotency_key: str | None = None,
) -> Answer:
    """Relate a finding to another one: `derived_from`, `contradicts`, `duplicate_of` or `related_to`.

    `supersedes` is made by superseding only. No state changes; what is derived from a claim that does not stand, and
    what is contradicted, is shown so from then on.

    Raises:
        RelationCycleError: The relation would lead back to the finding.
        RelatedAlreadyError: They are related so already.
        NotRelatedError: With `remove`: they are not.
        OtherProjectError: The other one is another project's.
    """
    cleaner = Cleaner(findings.place.home)
    why = cleaner.text(reason)

    def link(work: Work) -> tuple[int, dict[str, Any]]:
        finding, other = work.get(finding_id, version), work.get(to, argument="to")
        if remove:
            unrelate(work, finding, relation, other, why)
        else:
            relate(work, finding, relation, other, why)
        data = {"finding_id": finding.name, **work.state_of(finding.id)}
        return finding.id, {**data, "relation": relation, "to": other.name, "removed": bool(remove)}

    key = {"id": finding_id, "relation": relation, "to": to, "remove": bool(remove), "version": version, "reason": why}
    return findings.write("link_finding", link, idempotency_key=idempotency_key, arguments=key, cleaner=cleaner)
