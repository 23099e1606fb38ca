"""Find findings of a project and judge them for the caller's context. Reads only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from upheld.findings import views
from upheld.findings.ledger import as_refusals
from upheld.findings.service import NOTHING_HERE, Answer
from upheld.findings.store import reading
from upheld.findings.surroundings import judge_all

if TYPE_CHECKING:
    from collections.abc import Mapping

    from upheld.findings.service import Findings

DEFAULT_LIMIT = 20


@as_refusals()
def query_findings(
    findings: Findings,
    *,
    words: str | None = None,
    tags: tuple[str, ...] | None = None,
    states: tuple[str, ...] | None = None,
    kinds: tuple[str, ...] | None = None,
    applicability: tuple[str, ...] | None = None,
    facts: Mapping[str, str] | None = None,
    history: bool | None = None,
    limit: int | None = None,
    before: int | None = None,
) -> Answer:
    """Find findings of this project and judge them for the caller's context.

    Args:
        findings: Whose.
        words: What to look for, best match first; without words the newest come first.
        tags: Only findings with one of these tags or aliases.
        states: Only these epistemic states.
        kinds: Only these claim kinds.
        applicability: Only these applicabilities.
        facts: Facts declared for this call.
        history: Also superseded, withdrawn and archived findings.
        limit: How many at the most, 20 unless given.
        before: Only findings older than this one: the next page of a list without words.
    """
    db, project = findings.read()
    if db is None or project is None:
        return Answer({"findings": [], "more": False}, (NOTHING_HERE,))
    surroundings = findings.surroundings(db, facts)
    wanted = limit or DEFAULT_LIMIT
    listed: list[dict[str, Any]] = []
    for batch in views.search(
        db,
        project.id,
        words=words,
        tags=tags or (),
        filters={"epistemic_state": states or (), "claim_kind": kinds or ()},
        history=bool(history),
        before=before,
    ):
        judgements = judge_all(db, batch, surroundings)
        evidence = reading.find_evidence(db, [finding.id for finding in batch], newest=1)
        listed += [
            views.summary(finding, judgements[finding.id], evidence.get(finding.id, []))
            for finding in batch
            if not applicability or judgements[finding.id].applicability in applicability
        ]
        if len(listed) > wanted:
            break
    return Answer({"findings": listed[:wanted], "more": len(listed) > wanted}, tuple(surroundings.problems))
