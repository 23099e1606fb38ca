"""The other side of a contradiction: found, judged here, and put beside the first, so that neither is shown alone.

One that can't hold here contradicts nothing here. A refuted finding is a dead end already: it neither contradicts nor
suffers contradiction. A duplicate is never brought along: the canonical finding speaks for it.
"""

from __future__ import annotations

from upheld.findings.store import reading
from upheld.findings.surroundings import judge_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

    from upheld.findings.applicability import Judgement
    from upheld.findings.model import Finding
    from upheld.findings.surroundings import Surroundings


def find_opposed(
    db: apsw.Connection,
    findings: list[Finding],
    judgements: dict[int, Judgement],
    surroundings: Surroundings,
    *,
    now: str,
) -> dict[int, list[Finding]]:
    """Return, by number, the findings that contradict each other here: of those given, and of those that come along.

    Args:
        db: The ledger.
        findings: What would be shown, of one project.
        judgements: Of these; those of the others are added.
        surroundings: Where they are judged.
        now: The time; a muted finding is not brought along.
    """
    pairs = reading.find_contradictions(db, [one.id for one in findings if one.epistemic_state != "refuted"])
    if not pairs:
        return {}
    canonicals = reading.find_canonicals(db, {other for others in pairs.values() for other in others})
    pairs = {number: [canonicals.get(other, other) for other in others] for number, others in pairs.items()}
    missing = sorted({other for others in pairs.values() for other in others} - judgements.keys())
    brought = [
        one
        for one in reading.find_findings(db, findings[0].project_id, missing)
        if one.lifecycle_state == "current" and one.epistemic_state != "refuted"
        if one.retrieval_policy != "never" and not one.is_muted(now)
    ]
    judgements.update(judge_all(db, brought, surroundings))
    here = {one.id: one for one in (*findings, *brought) if judgements[one.id].applicability != "incompatible"}
    opposed: dict[int, list[Finding]] = {}
    for number, others in pairs.items():
        for other in others:
            if number != other and number in here and other in here:
                _add(opposed, number, here[other])
                _add(opposed, other, here[number])
    return opposed


def place_beside(ranked: list[Finding], opposed: dict[int, list[Finding]]) -> list[Finding]:
    """Return the findings in their order, each followed by the other side of its contradictions."""
    placed: dict[int, Finding] = {}
    for finding in ranked:
        for one in (finding, *opposed.get(finding.id, ())):
            placed.setdefault(one.id, one)
    return list(placed.values())


def _add(opposed: dict[int, list[Finding]], number: int, other: Finding) -> None:
    held = opposed.setdefault(number, [])
    if all(one.id != other.id for one in held):
        held.append(other)
