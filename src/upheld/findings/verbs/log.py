"""Log a claim with its evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from upheld.findings.cleaning import Cleaner
from upheld.findings.drafts import build_draft
from upheld.findings.ledger import as_refusals
from upheld.findings.model import EMPTY_SCOPE
from upheld.findings.similar import describe, find_similar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from upheld.findings.arguments import EvidenceInput
    from upheld.findings.drafts import Draft
    from upheld.findings.model import Scope
    from upheld.findings.service import Answer, Findings
    from upheld.findings.work import Work


@as_refusals()
def log_finding(
    findings: Findings,
    *,
    claim: str,
    claim_kind: str,
    epistemic_state: str | None = None,
    evidence: tuple[EvidenceInput, ...] | None = None,
    scope: Scope | None = None,
    tags: tuple[str, ...] | None = None,
    aliases: tuple[str, ...] | None = None,
    task: str | None = None,
    retrieval_policy: str | None = None,
    facts: Mapping[str, str] | None = None,
    idempotency_key: str | None = None,
) -> Answer:
    """Log a claim with its evidence; what it looks like is named in warnings and in `looks_like`.

    It starts `unassessed` unless another state is asked for that its evidence allows; a constraint,
    decision or procedure starts `not_applicable`.

    Raises:
        EvidenceRequiredError: The state needs evidence that is not given.
        InvalidArgumentError: See its message.
    """
    cleaner = Cleaner(findings.place.home)
    draft = build_draft(
        cleaner,
        findings.place,
        claim=claim,
        claim_kind=claim_kind,
        epistemic_state=epistemic_state,
        evidence=evidence or (),
        scope=scope or EMPTY_SCOPE,
        tags=tags or (),
        aliases=aliases or (),
        task=task or "",
        retrieval_policy=retrieval_policy or "relevant",
    )
    draft = findings.anchor(findings.limit_policy(draft, granted=False), facts, cleaner)

    def log(work: Work) -> tuple[int, dict[str, Any]]:
        alike = warn_of_similar(work, draft)
        finding_id = work.add_finding(draft, reason="logged")
        return finding_id, {"finding_id": f"F-{finding_id}", **work.state_of(finding_id), **alike}

    return findings.write(
        "log_finding",
        log,
        idempotency_key=idempotency_key,
        arguments=draft.key(),
        cleaner=cleaner,
        warnings=draft.warnings,
    )


def warn_of_similar(work: Work, draft: Draft, *, exclude: tuple[int, ...] = ()) -> dict[str, list[str]]:
    """Warn of at most three findings that a draft looks like, and return their names for the answer."""
    similar = find_similar(
        work.db,
        work.project.id,
        draft.claim,
        tags=draft.tags,
        aliases=draft.aliases,
        scope=draft.scope,
        exclude=exclude,
    )
    for finding, why in similar:
        work.warn(describe(finding, why))
    return {"looks_like": [finding.name for finding, _ in similar]} if similar else {}
