"""Merge two findings that say the same: one stays, with the evidence of both. For people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from upheld.errors import InvalidArgumentError
from upheld.findings.cleaning import Cleaner
from upheld.findings.refusals import NotCurrentError
from upheld.findings.relations import RelationCycleError
from upheld.findings.store import reading

if TYPE_CHECKING:
    from upheld.findings.service import Answer, Findings
    from upheld.findings.work import Work


def merge_findings(
    findings: Findings, *, finding_id: int, into: int, reason: str, version: int | None = None
) -> Answer:
    """Merge a finding into another one: it is archived as a duplicate, its evidence, tags and aliases join the other's.

    The other keeps its claim, scope and epistemic state: evidence that arrives changes no state.

    Raises:
        InvalidArgumentError: Both are the same.
        NotCurrentError: One of them is no longer current.
        OtherProjectError: One of them is another project's.
        RelationCycleError: The one that is to stay is a duplicate of the other.
    """
    if finding_id == into:
        raise InvalidArgumentError("into", f"is F-{into} itself", "Name the finding that stays.")
    cleaner = Cleaner(findings.place.home)
    why = cleaner.text(reason)

    def merge(work: Work) -> tuple[int, dict[str, Any]]:
        finding, kept = work.get(finding_id, version), work.get(into, argument="into")
        for one in (finding, kept):
            if one.lifecycle_state != "current":
                raise NotCurrentError(one.name, one.lifecycle_state, "merged")
        if reading.leads_to(work.db, kept.id, "duplicate_of", finding.id):
            raise RelationCycleError(finding.name, "duplicate_of", kept.name, "into")
        work.merge(finding, kept, why)
        return kept.id, {"finding_id": kept.name, **work.state_of(kept.id), "merged": finding.name}

    return findings.write("merge_findings", merge, arguments={}, cleaner=cleaner)
