"""Log a newer claim in place of an old finding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from upheld.errors import InvalidArgumentError
from upheld.findings.cleaning import Cleaner
from upheld.findings.drafts import build_draft
from upheld.findings.ledger import as_refusals
from upheld.findings.verbs.log import warn_of_similar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from upheld.findings.arguments import EvidenceInput
    from upheld.findings.model import Scope
    from upheld.findings.service import Answer, Findings
    from upheld.findings.work import Work


@as_refusals()
def supersede_finding(
    findings: Findings,
    *,
    finding_id: int,
    claim: str,
    reason: str,
    claim_kind: str | None = None,
    epistemic_state: str | None = None,
    evidence: tuple[EvidenceInput, ...] | None = None,
    scope: Scope | None = None,
    tags: tuple[str, ...] | None = None,
    aliases: tuple[str, ...] | None = None,
    task: str | None = None,
    retrieval_policy: str | None = None,
    version: int | None = None,
    facts: Mapping[str, str] | None = None,
    idempotency_key: str | None = None,
) -> Answer:
    """Log a new finding in place of an old one: both changes and their relation at once.

    Kind, scope, tags, aliases, task and policy are the old one's unless given. Superseded is not refuted: the
    old claim keeps its epistemic state.

    Raises:
        InvalidArgumentError: The old finding is no longer current.
    """
    _, old = findings.find(finding_id)
    cleaner = Cleaner(findings.place.home)
    draft = build_draft(
        cleaner,
        findings.place,
        claim=claim,
        claim_kind=claim_kind or old.claim_kind,
        epistemic_state=epistemic_state,
        evidence=evidence or (),
        scope=scope if scope is not None else old.scope,
        tags=tags if tags is not None else old.tags,
        aliases=aliases if aliases is not None else old.aliases,
        task=task if task is not None else old.task,
        retrieval_policy=retrieval_policy or old.retrieval_policy,
    )
    draft = findings.limit_policy(draft, granted=old.retrieval_policy == "always")
    draft = findings.anchor(draft, facts, cleaner)
    why = cleaner.text(reason)

    def supersede(work: Work) -> tuple[int, dict[str, Any]]:
        finding = work.get(finding_id, version)
        if finding.lifecycle_state != "current":
            raise InvalidArgumentError(
                "finding_id",
                f"{finding.name} is {finding.lifecycle_state}",
                "Only a current finding can be superseded; supersede the one that took its place.",
            )
        alike = warn_of_similar(work, draft, exclude=(finding.id,))
        new_id = work.add_finding(draft, reason=why)
        work.supersede(finding, new_id, why)
        return new_id, {
            "finding_id": f"F-{new_id}",
            **work.state_of(new_id),
            "supersedes": finding.name,
            **alike,
        }

    key = {"id": finding_id, "version": version, "reason": why, **draft.key()}
    return findings.write(
        "supersede_finding",
        supersede,
        idempotency_key=idempotency_key,
        arguments=key,
        cleaner=cleaner,
        warnings=draft.warnings,
    )
