"""How one finding is written into a model's context: its section, its lines, its size.

State fields are never cut and text from the ledger is always quoted by `text.quote`, so no item can
leave its lines or its section.
"""

from __future__ import annotations

from upheld.findings.model import is_in_conflict
from upheld.text.quote import quote, quote_always, shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from upheld.findings.applicability import Condition, Judgement
    from upheld.findings.model import Evidence, Finding

SUPPORTED = "Supported by evidence"
DEAD_ENDS = "Dead ends"
CONTESTED = "Contested"
REVALIDATE = "Needs revalidation before use"
HYPOTHESES = "Working hypotheses"
CONSTRAINTS = "Constraints, decisions and procedures"
SECTIONS = (SUPPORTED, DEAD_ENDS, CONTESTED, REVALIDATE, HYPOTHESES, CONSTRAINTS)
"""In the order in which they stand in a block."""

MAX_EXCERPT = 160


class Item:
    """One finding ready to be shown.

    Args:
        finding: The finding.
        judgement: Its applicability here.
        evidence: Its newest evidence of each role.
    """

    __slots__ = ("evidence", "finding", "full", "judgement", "section", "short")

    def __init__(self, finding: Finding, judgement: Judgement, evidence: list[Evidence]) -> None:
        self.finding = finding
        self.judgement = judgement
        self.evidence = evidence
        self.section = choose_section(finding, judgement, evidence)
        required, optional = _lines(self)
        self.short = "\n".join(required)
        self.full = "\n".join(required + optional)


def choose_section(finding: Finding, judgement: Judgement, evidence: list[Evidence]) -> str:
    """Return the section: the first rule that fits. Incompatible findings have none and are not asked about."""
    if finding.epistemic_state == "contested" or is_in_conflict(finding, evidence):
        return CONTESTED
    if judgement.applicability in ("needs_revalidation", "unknown"):
        return REVALIDATE
    return {"refuted": DEAD_ENDS, "not_applicable": CONSTRAINTS, "supported": SUPPORTED}.get(
        finding.epistemic_state, HYPOTHESES
    )


def describe_change(condition: Condition) -> str:
    """Say in a few words what differs or is unknown, for a person and a model alike."""
    if condition.part == "paths":
        path = quote(condition.key.removeprefix("paths:"))
        return f"{path} changed" if condition.outcome == "mismatch" else f"{path} could not be compared"
    if condition.key == "scope":
        return "the scope says nothing"
    key, wanted = quote(condition.key), quote(condition.wanted)
    if condition.found is None:
        return f"{key} is unknown here, wanted {wanted}"
    return f"{key} is {quote(condition.found)} here, wanted {wanted}"


def describe_scope(finding: Finding) -> str:
    """Return the scope on one line."""
    scope = finding.scope

    def conditions(prefix: str, entries: object) -> list[str]:
        pairs = entries.items() if isinstance(entries, dict) else ()
        return [
            f"{prefix}{quote(name)} {' or '.join(map(quote, value)) if isinstance(value, tuple) else quote(value)}"
            for name, value in pairs
        ]

    parts = conditions("", scope.match) + conditions("context ", scope.context)
    if scope.paths:
        parts.append("code " + ", ".join(map(quote, scope.paths)))
    if scope.everywhere:
        parts.append("everywhere in this project")
    return "; ".join(parts) or "not given"


def describe_evidence(evidence: Evidence) -> str:
    """Return one piece of evidence on one line: source, and what it says, quoted and bounded."""
    where = f"{evidence.source_kind} {quote(shorten(evidence.source_ref, MAX_EXCERPT))}"
    if evidence.locator:
        where += f" at {quote(shorten(evidence.locator, 60))}"
    notes = []
    if evidence.source_kind == "user_statement" and evidence.actor != "user":
        notes.append("reported")
    if evidence.resolution == "not_found":
        notes.append("not found")
    if notes:
        where += f" ({', '.join(notes)})"
    said = evidence.rationale or evidence.excerpt
    return f"{where}: {quote_always(shorten(said, MAX_EXCERPT))}" if said else where


def _lines(item: Item) -> tuple[list[str], list[str]]:
    finding, judgement = item.finding, item.judgement
    states = [finding.name, finding.epistemic_state, judgement.applicability]
    if finding.lifecycle_state != "current":
        states.append(finding.lifecycle_state)
    label = "Path" if item.section == DEAD_ENDS else "Claim"
    lines = [f"- [{' | '.join(states)}]", f"  {label}: {quote(finding.claim)}"]
    if item.section == REVALIDATE:
        lines.append("  Check first: " + "; ".join(map(describe_change, judgement.deciding)))
    elif judgement.applicability in ("conditional", "needs_revalidation", "unknown"):
        lines.append("  Condition: " + "; ".join(map(describe_change, judgement.deciding)))
    if item.section == CONTESTED:
        lines += _evidence_lines("For", "supports", item) + _evidence_lines("Against", "contradicts", item)
    elif finding.epistemic_state == "refuted":
        lines += _evidence_lines("Refuted by", "contradicts", item)
    else:
        lines += _evidence_lines("Evidence", "supports", item)
    lines.append(f"  {'Holds for' if item.section == DEAD_ENDS else 'Scope'}: {describe_scope(finding)}")
    return lines, [f"  Details: get_finding {finding.name}"]


def _evidence_lines(label: str, role: str, item: Item) -> list[str]:
    links = [link for link in item.evidence if link.role == role]
    if not links:
        return []
    return [f"  {label}: {describe_evidence(links[0])}"]
