"""Correct how a finding is written or found: a typing error, tags, scope. For people; an event like all else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from upheld.errors import InvalidArgumentError
from upheld.findings.anchoring import anchor_scope
from upheld.findings.cleaning import Cleaner
from upheld.findings.ledger import as_refusals

if TYPE_CHECKING:
    from collections.abc import Mapping

    from upheld.findings.model import KnownContext, Scope
    from upheld.findings.service import Answer, Findings
    from upheld.findings.work import Work


@as_refusals()
def amend_finding(
    findings: Findings,
    *,
    finding_id: int,
    reason: str,
    claim: str | None = None,
    scope: Scope | None = None,
    tags: tuple[str, ...] | None = None,
    aliases: tuple[str, ...] | None = None,
    task: str | None = None,
    retrieval_policy: str | None = None,
    facts: Mapping[str, str] | None = None,
    version: int | None = None,
) -> Answer:
    """Change how a finding is written or found. What it claims anew is another finding: supersede it.

    A new scope is anchored in today's facts and code, which joins the contexts the claim is known to hold in.

    Raises:
        InvalidArgumentError: Nothing is given that would change it.
    """
    _, seen = findings.find(finding_id)
    cleaner = Cleaner(findings.place.home)
    given: dict[str, Any] = {
        "claim": None if claim is None else cleaner.text(claim),
        "scope": None if scope is None else cleaner.scope(scope),
        "tags": None if tags is None else cleaner.texts(tags),
        "aliases": None if aliases is None else cleaner.texts(aliases),
        "task": None if task is None else cleaner.text(task),
        "retrieval_policy": retrieval_policy,
    }
    columns = {name: value for name, value in given.items() if value is not None and value != getattr(seen, name)}
    if not columns:
        raise InvalidArgumentError(
            "finding_id", f"is {seen.name}, which says all that already", "Give what is to change."
        )
    why = cleaner.text(reason)
    known: KnownContext | None = None
    warnings: list[str] = []
    if "scope" in columns:
        surroundings = findings.surroundings(findings.ledger.read(), facts)
        known, warnings = anchor_scope(surroundings, columns["scope"], cleaner)

    def amend(work: Work) -> tuple[int, dict[str, Any]]:
        finding = work.get(finding_id, seen.version if version is None else version)
        work.amend(finding, columns, known, why)
        return finding.id, {"finding_id": finding.name, **work.state_of(finding.id), "changed": sorted(columns)}

    return findings.write("amend_finding", amend, arguments={}, cleaner=cleaner, warnings=tuple(warnings))
