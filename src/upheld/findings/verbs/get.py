"""Return one finding whole. Reads only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from upheld.findings import views
from upheld.findings.ledger import as_refusals
from upheld.findings.service import Answer
from upheld.findings.store import reading
from upheld.findings.surroundings import judge_all
from upheld.text.jsontext import dumps

if TYPE_CHECKING:
    from collections.abc import Mapping

    from upheld.findings.service import Findings

MAX_BYTES = {"evidence": 8_000, "events": 4_000, "relations": 4_000, "conditions": 4_000, "contexts": 2_000}
"""Of these lists as JSON, unless everything is asked for."""

_NEWEST_FIRST = frozenset({"evidence"})


@as_refusals()
def get_finding(
    findings: Findings,
    *,
    finding_id: int,
    facts: Mapping[str, str] | None = None,
    whole: bool | None = None,
) -> Answer:
    """Return one finding whole: states, scope, applicability here, evidence, relations and events.

    Args:
        findings: Whose.
        finding_id: Which.
        facts: Facts declared for this call.
        whole: Everything, however long. Otherwise lists that are longer than `MAX_BYTES` keep what is newest, and
            `left_out` counts the rest.

    Raises:
        UnknownFindingError: There is none.
        OtherProjectError: It is another project's.
    """
    db, finding = findings.find(finding_id)
    surroundings = findings.surroundings(db, facts)
    judgement = judge_all(db, [finding], surroundings)[finding.id]
    evidence = reading.find_evidence(db, [finding.id]).get(finding.id, [])
    data = views.whole(db, finding, judgement, evidence)
    if not whole:
        _shorten(data)
    return Answer(data, tuple(surroundings.problems))


def _shorten(data: dict[str, Any]) -> None:
    """Keep the newest entries of each list that fit, at least one, in their order; count the rest."""
    left_out: dict[str, int] = {}
    for name, most in MAX_BYTES.items():
        newest = data[name] if name in _NEWEST_FIRST else data[name][::-1]
        kept, size = 0, 0
        for one in newest:
            size += len(dumps(one).encode())
            if kept and size > most:
                break
            kept += 1
        if kept < len(newest):
            left_out[name] = len(newest) - kept
            data[name] = newest[:kept] if name in _NEWEST_FIRST else newest[:kept][::-1]
    if left_out:
        data["left_out"] = left_out
