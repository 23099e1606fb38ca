"""Return one finding whole. Reads only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from upheld.findings import views
from upheld.findings.ledger import as_refusals
from upheld.findings.service import Answer
from upheld.findings.store import reading
from upheld.findings.surroundings import judge_all

if TYPE_CHECKING:
    from collections.abc import Mapping

    from upheld.findings.service import Findings


@as_refusals()
def get_finding(findings: Findings, *, finding_id: int, facts: Mapping[str, str] | None = None) -> Answer:
    """Return one finding whole: states, scope, applicability here, evidence, relations and events.

    Raises:
        UnknownFindingError: There is none.
        OtherProjectError: It is another project's.
    """
    db, finding = findings.find(finding_id)
    surroundings = findings.surroundings(db, facts)
    judgement = judge_all(db, [finding], surroundings)[finding.id]
    evidence = reading.find_evidence(db, [finding.id]).get(finding.id, [])
    return Answer(views.whole(db, finding, judgement, evidence), tuple(surroundings.problems))
