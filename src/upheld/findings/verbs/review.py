"""What waits for somebody: findings to assess, to settle or to check again; and, for CI, what has drifted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from upheld.findings import views
from upheld.findings.contradictions import find_opposed
from upheld.findings.ledger import as_refusals
from upheld.findings.model import is_in_conflict
from upheld.findings.sections import describe_change
from upheld.findings.service import NOTHING_HERE, Answer
from upheld.findings.store import reading
from upheld.findings.surroundings import judge_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import apsw

    from upheld.findings.applicability import Condition, Judgement
    from upheld.findings.model import Evidence, Finding
    from upheld.findings.service import Findings
    from upheld.findings.surroundings import Surroundings

    Progress = Callable[[str, int, int], None]

_BATCH = 200
_NEWEST = 2**62
MAX_LISTED = 100
GROUNDS = {"paths": "code", "quote": "code", "source": "evidence", "basis": "basis"}
"""What a claim rests on, by the part of a condition, and what it is called when it has drifted."""


@as_refusals()
def review_findings(
    findings: Findings,
    *,
    facts: Mapping[str, str] | None = None,
    limit: int | None = None,
    progress: Progress | None = None,
) -> Answer:
    """Return the current findings that wait: contested, in need of revalidation, unassessed, proposed as rules.

    Each stands under the first of these that fits.

    Args:
        findings: Whose.
        facts: Facts declared for this call.
        limit: How many of each kind are listed at the most, 20 unless given; all are counted.
        progress: Told how many were looked at and how many there are.
    """
    db, project = findings.read()
    if db is None or project is None:
        return Answer({"waiting": {}, "counts": {}}, (NOTHING_HERE,))
    surroundings = findings.surroundings(db, facts)
    wanted = limit or 20
    waiting: dict[str, list[dict[str, Any]]] = {name: [] for name in _REASONS}
    counts = dict.fromkeys(_REASONS, 0)
    now = findings.ledger.now()
    for finding, judgement, evidence, opposed in _judge_each(db, project.id, surroundings, now, progress):
        for name, waits in _REASONS.items():
            if waits(finding, judgement, evidence, opposed):
                counts[name] += 1
                if len(waiting[name]) < wanted:
                    waiting[name].append(_as_waiting(finding, judgement, evidence, opposed))
                break
    return Answer({"waiting": waiting, "counts": counts}, tuple(surroundings.problems))


_REASONS: dict[str, Callable[[Finding, Judgement, list[Evidence], list[Finding]], bool]] = {
    "contested": lambda one, _, evidence, opposed: (
        one.epistemic_state == "contested" or bool(opposed) or is_in_conflict(one, evidence)
    ),
    "needs_revalidation": lambda _, judgement, __, ___: judgement.applicability == "needs_revalidation",
    "unassessed": lambda one, _, __, ___: one.epistemic_state == "unassessed",
    "proposed_rules": lambda one, _, __, ___: one.promotion_state == "proposed",
}


def _as_waiting(
    finding: Finding, judgement: Judgement, evidence: list[Evidence], opposed: list[Finding]
) -> dict[str, Any]:
    data = views.summary(finding, judgement, evidence)
    if opposed:
        data["contradicts"] = [one.name for one in opposed]
    return data


@as_refusals()
def find_drift(
    findings: Findings, *, facts: Mapping[str, str] | None = None, progress: Progress | None = None
) -> Answer:
    """Return the current findings whose code, evidence or basis changed since they were last known to hold.

    A rule that landed and whose finding does not stand any more is drift too: the document says what nobody holds.

    Args:
        findings: Whose.
        facts: Facts declared for this call.
        progress: Told how many were looked at and how many there are.
    """
    db, project = findings.read()
    if db is None or project is None:
        return Answer({"drifted": [], "more": 0, "looked_at": 0}, (NOTHING_HERE,))
    surroundings = findings.surroundings(db, facts)
    drifted: list[dict[str, Any]] = []
    more = looked_at = 0
    for finding, judgement, _, _ in _judge_each(db, project.id, surroundings, findings.ledger.now(), progress):
        looked_at += 1
        grounds = [one for one in judgement.conditions if one.part in GROUNDS and one.outcome != "match"]
        if not grounds or finding.epistemic_state == "refuted":
            continue
        if len(drifted) < MAX_LISTED:
            drifted.append(_as_drift(finding, grounds))
        else:
            more += 1
    for finding in reading.find_fallen_rules(db, project.id):
        landed = [target for target, _, _ in reading.find_doc_links(db, finding.id)]
        state = finding.lifecycle_state if finding.lifecycle_state != "current" else finding.epistemic_state
        drifted.append(
            {
                "finding_id": finding.name,
                "claim": finding.claim,
                "epistemic_state": finding.epistemic_state,
                "drift": ["rule"],
                "because": [f"its rule landed in {', '.join(landed)}, and it is {state}"],
            }
        )
    return Answer({"drifted": drifted, "more": more, "looked_at": looked_at}, tuple(surroundings.problems))


def _as_drift(finding: Finding, grounds: list[Condition]) -> dict[str, Any]:
    return {
        "finding_id": finding.name,
        "claim": finding.claim,
        "epistemic_state": finding.epistemic_state,
        "drift": sorted({GROUNDS[one.part] for one in grounds}),
        "because": [describe_change(one) for one in grounds],
    }


def _judge_each(
    db: apsw.Connection, project_id: int, surroundings: Surroundings, now: str, progress: Progress | None
) -> Iterator[tuple[Finding, Judgement, list[Evidence], list[Finding]]]:
    """Yield every current finding of a project, newest first: judgement, newest evidence, and what it contradicts."""
    total = reading.count_findings(db, project_id)["current"]
    last, done = _NEWEST, 0
    while batch := reading.find_by_states(db, project_id, filters={}, history=False, before=last, limit=_BATCH):
        judgements = judge_all(db, batch, surroundings)
        evidence = reading.find_evidence(db, [finding.id for finding in batch], newest=1)
        here = [finding for finding in batch if judgements[finding.id].applicability != "incompatible"]
        opposed = find_opposed(db, here, dict(judgements), surroundings, now=now)
        for finding in batch:
            yield finding, judgements[finding.id], evidence.get(finding.id, []), opposed.get(finding.id, [])
        last = batch[-1].id
        done += len(batch)
        if progress is not None:
            progress("findings", done, total)
