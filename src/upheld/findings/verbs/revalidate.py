"""Record that a claim was looked at again under today's facts: it held, failed, or nobody can tell."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from upheld.errors import EVIDENCE_REQUIRED, UpheldError
from upheld.findings.anchoring import look_again
from upheld.findings.cleaning import Cleaner
from upheld.findings.drafts import look_up_links
from upheld.findings.ledger import as_refusals
from upheld.findings.model import REFUTED, REVALIDATED
from upheld.findings.refusals import NotCurrentError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from upheld.findings.arguments import EvidenceInput
    from upheld.findings.model import KnownContext
    from upheld.findings.service import Answer, Findings
    from upheld.findings.work import Work

_ROLES = {"held": "supports", "failed": "contradicts", "inconclusive": "context"}


class LookedAtNothingError(UpheldError):
    """A revalidation without anything that was looked at."""

    def __init__(self) -> None:
        super().__init__(
            "A revalidation needs evidence of the new look: what was run or read today. Give it in evidence. "
            "Nothing was written.",
            code=EVIDENCE_REQUIRED,
            argument="evidence",
        )


@as_refusals()
def revalidate_finding(
    findings: Findings,
    *,
    finding_id: int,
    outcome: str,
    reason: str,
    evidence: tuple[EvidenceInput, ...] | None = None,
    facts: Mapping[str, str] | None = None,
    version: int | None = None,
    idempotency_key: str | None = None,
) -> Answer:
    """Record what a new look at a claim gave, with its evidence, under today's facts and code.

    `held` adds today's context to those the claim is known to hold in, and settles what it is derived from and how
    its sources changed until now. `failed` adds contradicting evidence, `inconclusive` context. No state changes by
    itself: what failed is refuted or superseded by whoever decides it.

    Raises:
        LookedAtNothingError: There is no evidence.
        NotCurrentError: The finding is no longer current.
        InvalidArgumentError: The code that its scope names can't be read.
    """
    if not evidence:
        raise LookedAtNothingError
    cleaner = Cleaner(findings.place.home)
    role = _ROLES[outcome]
    links = look_up_links(
        cleaner,
        findings.place,
        tuple(piece if piece.role == "context" else replace(piece, role=role) for piece in evidence),
    )
    why = cleaner.text(reason)
    db, seen = findings.find(finding_id)
    surroundings = findings.surroundings(db, facts)
    known: KnownContext | None = None
    warnings: list[str] = []
    if outcome == "held" or (outcome == "failed" and seen.epistemic_state == "refuted"):
        # What fails again on today's code is the dead end that was known, and holds here.
        kind = REVALIDATED if outcome == "held" else REFUTED
        known, warnings = look_again(db, surroundings, seen, cleaner, kind)

    def revalidate(work: Work) -> tuple[int, dict[str, Any]]:
        # What was looked at is the finding as it was read: one that changed since is looked at again.
        finding = work.get(finding_id, seen.version if version is None else version)
        if finding.lifecycle_state != "current":
            raise NotCurrentError(finding.name, finding.lifecycle_state, "revalidated")
        work.revalidate(finding, outcome, links, known, why)
        return finding.id, {"finding_id": finding.name, **work.state_of(finding.id), "outcome": outcome}

    key = {
        "id": finding_id,
        "outcome": outcome,
        "version": version,
        "reason": why,
        "evidence": [link.key() for link in links],
    }
    return findings.write(
        "revalidate_finding",
        revalidate,
        idempotency_key=idempotency_key,
        arguments=key,
        cleaner=cleaner,
        warnings=tuple(warnings),
    )
