"""How one finding is written into a model's context: its section, its lines, its size.

State fields are never cut and text from the ledger is always quoted by `text.quote`, so no item can
leave its lines or its section.
"""

from __future__ import annotations

from upheld.context.versions import check_range, is_range
from upheld.findings.applicability import NOT_KNOWN_THEN
from upheld.findings.labels import ENGLISH
from upheld.findings.model import is_in_conflict
from upheld.text.quote import quote, quote_always, quote_word, shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from upheld.findings.applicability import Condition, Judgement
    from upheld.findings.labels import Labels
    from upheld.findings.model import Evidence, Finding

SUPPORTED = "Supported by evidence"
DEAD_ENDS = "Dead ends"
CONTESTED = "Contested"
REVALIDATE = "Needs revalidation before use"
HYPOTHESES = "Working hypotheses"
CONSTRAINTS = "Constraints, decisions and procedures"
SECTIONS = (SUPPORTED, DEAD_ENDS, CONTESTED, REVALIDATE, HYPOTHESES, CONSTRAINTS)
"""In the order in which they stand in a block. Their names are keys; `labels` has their headings."""

MAX_EXCERPT = 160
MAX_VALUE = 80
"""Code points of a fact, a path or a locator that are shown: lists and values are bounded, so every line is."""
_MAX_LISTED = 4


class Item:
    """One finding ready to be shown.

    Args:
        finding: The finding.
        judgement: Its applicability here.
        evidence: Its newest evidence of each role.
        opposed: The findings that it contradicts and that hold here too: both are contested.
        superseded: The numbers of those whose place it took.
        labels: The language it is written in.

    It has three forms: `full`, `short` without the last line, and `brief` for one that would fill a block alone.
    """

    __slots__ = (
        "brief",
        "evidence",
        "finding",
        "full",
        "judgement",
        "labels",
        "opposed",
        "section",
        "short",
        "superseded",
    )

    def __init__(
        self,
        finding: Finding,
        judgement: Judgement,
        evidence: list[Evidence],
        *,
        opposed: Sequence[Finding] = (),
        superseded: Sequence[int] = (),
        labels: Labels = ENGLISH,
    ) -> None:
        self.finding = finding
        self.judgement = judgement
        self.evidence = evidence
        self.opposed = opposed
        self.superseded = superseded
        self.labels = labels
        self.section = CONTESTED if opposed else choose_section(finding, judgement, evidence)
        head, rest, details = _head(self), _rest(self), f"  {labels.details}: get_finding {finding.name}"
        claim = f"  {labels.path if self.section == DEAD_ENDS else labels.claim}: "
        self.short = "\n".join([head, claim + quote(finding.claim), *rest])
        self.full = f"{self.short}\n{details}"
        self.brief = "\n".join([head, claim + quote(shorten(finding.claim, MAX_VALUE)), *rest[:1], details])


def choose_section(finding: Finding, judgement: Judgement, evidence: list[Evidence]) -> str:
    """Return the section: the first rule that fits. Incompatible findings have none and are not asked about."""
    if finding.epistemic_state == "contested" or is_in_conflict(finding, evidence):
        return CONTESTED
    if judgement.applicability in ("needs_revalidation", "unknown"):
        return REVALIDATE
    return {"refuted": DEAD_ENDS, "not_applicable": CONSTRAINTS, "supported": SUPPORTED}.get(
        finding.epistemic_state, HYPOTHESES
    )


def describe_changes(conditions: list[Condition], labels: Labels = ENGLISH) -> str:
    """Say on one bounded line what differs or is unknown."""
    return "; ".join(_bounded([describe_change(condition, labels) for condition in conditions], labels))


def describe_change(condition: Condition, labels: Labels = ENGLISH) -> str:
    """Say in a few words what differs or is unknown, for a person and a model alike."""
    if condition.part in ("paths", "quote", "source", "basis"):
        return _describe_ground(condition, labels)
    if condition.key == "scope":
        return labels.scope_is_empty
    key = _value(condition.key)
    if condition.wanted == NOT_KNOWN_THEN:
        return labels.unknown_then.format(key=key)
    wanted = quote_wanted(condition.key, condition.wanted)
    if condition.found is None:
        return labels.unknown_here.format(key=key, wanted=wanted)
    return labels.differs.format(key=key, found=_value(condition.found), wanted=wanted)


def _describe_ground(condition: Condition, labels: Labels) -> str:
    """Say what became of the code, a source or a finding that a claim rests on."""
    kind, _, name = condition.key.partition(":")
    shown = _value(name)
    if kind == "basis":
        return labels.derived.format(name=shown, state=condition.found)
    what = {"source": labels.source, "quote": labels.piece}.get(condition.part, "{name}").format(name=shown)
    if condition.outcome == "unknown":
        return labels.not_compared.format(what=what)
    return (labels.gone if condition.found == "" else labels.changed).format(what=what)


def describe_scope(finding: Finding, labels: Labels = ENGLISH) -> str:
    """Return the scope on one line."""
    scope = finding.scope

    def conditions(prefix: str, entries: Mapping[str, str | tuple[str, ...]]) -> list[str]:
        listed = [
            f"{prefix}{_value(name)} "
            + labels.or_.join(
                _bounded(
                    [quote_wanted(name, one) for one in (wanted if isinstance(wanted, tuple) else (wanted,))], labels
                )
            )
            for name, wanted in entries.items()
        ]
        return _bounded(listed, labels)

    parts = conditions("", scope.match) + conditions(labels.context, scope.context)
    if scope.paths:
        named = [_value(path) + (labels.quoted_piece if path in scope.quotes else "") for path in scope.paths]
        parts.append(labels.code + ", ".join(_bounded(named, labels)))
    if scope.everywhere:
        parts.append(labels.everywhere)
    return "; ".join(parts) or labels.not_given


def describe_evidence(evidence: Evidence, labels: Labels = ENGLISH) -> str:
    """Return one piece of evidence on one line: source, and what it says, quoted and bounded."""
    where = f"{evidence.source_kind} {quote_word(shorten(evidence.source_ref, MAX_EXCERPT))}"
    if evidence.locator:
        where = labels.located.format(where=where, locator=_value(evidence.locator))
    notes = []
    if evidence.source_kind == "user_statement" and evidence.actor != "user":
        notes.append(labels.reported)
    if evidence.resolution == "not_found":
        notes.append(labels.not_found)
    if notes:
        where += f" ({', '.join(notes)})"
    said = evidence.rationale or evidence.excerpt
    return f"{where}: {quote_always(shorten(said, MAX_EXCERPT))}" if said else where


def _head(item: Item) -> str:
    finding = item.finding
    states = [finding.name, finding.epistemic_state, item.judgement.applicability]
    if finding.lifecycle_state != "current":
        states.append(finding.lifecycle_state)
    return f"- [{' | '.join(states)}]"


def _rest(item: Item) -> list[str]:
    """Return the lines after the claim: first what restricts it, then evidence and scope."""
    finding, judgement, labels = item.finding, item.judgement, item.labels
    lines = []
    if item.section == REVALIDATE:
        lines.append(f"  {labels.check_first}: {describe_changes(judgement.deciding, labels)}")
    elif judgement.applicability in ("conditional", "needs_revalidation", "unknown"):
        lines.append(f"  {labels.condition}: {describe_changes(judgement.deciding, labels)}")
    if item.section == CONTESTED:
        lines += _evidence_lines(labels.evidence_for, "supports", item)
        lines += _evidence_lines(labels.against, "contradicts", item)
    elif finding.epistemic_state == "refuted":
        lines += _evidence_lines(labels.refuted_by, "contradicts", item)
    else:
        lines += _evidence_lines(labels.evidence, "supports", item)
    lines += [
        f"  {labels.contradicts}: {other.name} ({other.epistemic_state}): {quote(shorten(other.claim, MAX_EXCERPT))}"
        for other in item.opposed[:_MAX_LISTED]
    ]
    if item.superseded:
        named = ", ".join(_bounded([f"F-{number}" for number in item.superseded], labels))
        lines.append(f"  {labels.supersedes}: {named}")
    where = labels.holds_for if item.section == DEAD_ENDS else labels.scope
    lines.append(f"  {where}: {describe_scope(finding, labels)}")
    return lines


def _evidence_lines(label: str, role: str, item: Item) -> list[str]:
    links = [link for link in item.evidence if link.role == role]
    if not links:
        return []
    return [f"  {label}: {describe_evidence(links[0], item.labels)}"]


def quote_wanted(name: str, text: str) -> str:
    """Return the wanted value of a fact; a range of versions stands as it is, unless it could read as markup."""
    # `===` takes any text, and a `<` before anything but a version opens a tag.
    plain = text.isprintable() and " " not in text and "===" not in text and len(text) <= MAX_VALUE
    tagless = all(part[:1] in tuple("=0123456789") for part in text.split("<")[1:])
    is_plain_range = name.startswith("dep.") and is_range(text) and not check_range(text)
    return text if plain and tagless and is_plain_range else _value(text)


def _value(text: str) -> str:
    return quote_word(shorten(text, MAX_VALUE))


def _bounded(parts: list[str], labels: Labels) -> list[str]:
    """Return the first few of them and how many more there are."""
    more = len(parts) - _MAX_LISTED
    return parts if more <= 0 else [*parts[:_MAX_LISTED], labels.more.format(count=more)]
