"""Whether a claim can be used here and now: computed from its scope and the facts, never stored.

Every condition is `match`, `mismatch` or `unknown` with the values compared. A missing fact is unknown,
and unknown is never a match.
"""

from __future__ import annotations

from upheld.context.versions import in_range, is_range
from upheld.findings.model import LOGGED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from upheld.findings.model import KnownContext, Scope

ORDER = {"applicable": 0, "conditional": 1, "needs_revalidation": 2, "unknown": 3, "incompatible": 4}
"""The rank of each applicability, best first."""

NOT_KNOWN_THEN = "unknown when written"

_COMMIT_LIKE = ("git.commit", "git.branch")
"""What a code anchor stands in for: with `paths`, another commit id alone changes nothing."""


class Condition:
    """One comparison.

    Args:
        key: The fact's name, `paths:<pattern>`, `source:<reference>` or `basis:F-<n>`.
        part: `match`, `context`, `revalidate_on`, `paths`, `quote`, `source` or `basis`.
        outcome: `match`, `mismatch` or `unknown`.
        wanted: What the scope, the anchor or the record says.
        found: What is here; None when unknown, "" when gone.
    """

    __slots__ = ("found", "key", "outcome", "part", "wanted")

    def __init__(self, key: str, part: str, outcome: str, wanted: str, found: str | None) -> None:
        self.key = key
        self.part = part
        self.outcome = outcome
        self.wanted = wanted
        self.found = found

    def as_data(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "key": self.key,
            "part": self.part,
            "outcome": self.outcome,
            "wanted": self.wanted,
            "found": self.found,
        }


class Judgement:
    """The applicability of one finding here, with every condition and the ones that decided it."""

    __slots__ = ("applicability", "conditions", "deciding")

    def __init__(self, applicability: str, conditions: list[Condition], deciding: list[Condition]) -> None:
        self.applicability = applicability
        self.conditions = conditions
        self.deciding = deciding


class Source:
    """A supporting source that can be looked at: what was recorded of it, and what is there now.

    Args:
        evidence_id: Which piece of evidence.
        ref: The path or commit.
        recorded: Its content when it was recorded.
        now: Its content now, "" when it is gone, None when it could not be read.
        quoted: The excerpt that was taken from it still stands in it.
    """

    __slots__ = ("evidence_id", "now", "quoted", "recorded", "ref")

    def __init__(self, evidence_id: int, ref: str, recorded: str, now: str | None, *, quoted: bool) -> None:
        self.evidence_id = evidence_id
        self.ref = ref
        self.recorded = recorded
        self.now = now
        self.quoted = quoted


class Standing:
    """What applicability rests on besides facts and code, for one finding.

    Args:
        sources: Its supporting sources that can be looked at.
        fallen: What it is derived from and is refuted, superseded or withdrawn, as `F-<n> <state>`.
    """

    __slots__ = ("fallen", "sources")

    def __init__(self, sources: Sequence[Source] = (), fallen: Sequence[str] = ()) -> None:
        self.sources = sources
        self.fallen = fallen


NOTHING_ELSE = Standing()

_CHECK_FIRST = ("paths", "quote", "source", "basis", "revalidate_on")
"""The parts in which whatever does not match asks for a new check."""


def is_version_like(name: str) -> bool:
    """Say whether a change of this fact asks for a new check unless the writer says otherwise."""
    return name in _COMMIT_LIKE or name == "python" or name.startswith("dep.") or name.endswith(".version")


def judge(
    scope: Scope,
    facts: Mapping[str, str | None],
    known: KnownContext,
    code: Mapping[str, str | None],
    standing: Standing = NOTHING_ELSE,
) -> Judgement:
    """Judge a scope in one task context, against one context the claim is known to hold in.

    Args:
        scope: Where the claim is meant to hold.
        facts: What is known here; None or absent: unknown.
        known: The facts and the code's content where it was last known to hold.
        code: Pattern to content digest now, for a quoted piece the piece itself; "" where the piece is gone; None: it
            could not be read.
        standing: Its sources, and what it is derived from.

    Returns:
        The applicability by the first rule that fits, in the order of the design's section 5.3.
    """
    asked = _ask_for(scope)
    conditions = [
        *_compare_facts(scope, facts, known),
        *_compare_code(scope, known, code),
        *_compare_standing(standing, known),
    ]
    unmet = [c for c in conditions if c.outcome != "match"]
    for applicability, deciding in (
        (
            "incompatible",
            [c for c in unmet if c.part == "match" and c.outcome == "mismatch" and c.key not in asked],
        ),
        ("needs_revalidation", [c for c in unmet if c.part in _CHECK_FIRST or c.key in asked]),
        ("unknown", [c for c in unmet if c.part == "match"]),
        ("conditional", [c for c in unmet if c.part == "context"]),
    ):
        if deciding:
            return Judgement(applicability, conditions, deciding)
    if scope.is_empty:
        said = Condition("scope", "match", "unknown", "says nothing", None)
        return Judgement("unknown", [said], [said])
    return Judgement("applicable", conditions, [])


def _ask_for(scope: Scope) -> set[str]:
    """Return the facts whose change asks for a new check: those that the writer named, else the version-like ones."""
    if scope.revalidate_on is not None:
        return set(scope.revalidate_on)
    return {name for name in (*scope.match, *scope.context) if is_version_like(name)}


def _compare_facts(scope: Scope, facts: Mapping[str, str | None], known: KnownContext) -> list[Condition]:
    anchored = bool(scope.paths)
    conditions = [
        _compare(name, part, wanted, facts.get(name), _learned(known, name))
        for part, entries in (("match", scope.match), ("context", scope.context))
        for name, wanted in entries.items()
        if not (anchored and name in _COMMIT_LIKE)
    ]
    for name in scope.revalidate_on or ():
        if name in scope.match or name in scope.context or name == "paths" or (anchored and name in _COMMIT_LIKE):
            continue
        before = known.facts.get(name)
        if before is None:
            conditions.append(Condition(name, "revalidate_on", "unknown", NOT_KNOWN_THEN, facts.get(name)))
        else:
            conditions.append(_compare(name, "revalidate_on", before, facts.get(name)))
    return conditions


def _compare_code(scope: Scope, known: KnownContext, code: Mapping[str, str | None]) -> list[Condition]:
    return [
        _compare_content(
            "paths:" + pattern,
            "quote" if pattern in scope.quotes else "paths",
            known.anchor.get(pattern),
            code.get(pattern),
        )
        for pattern in scope.paths
    ]


def _compare_standing(standing: Standing, known: KnownContext) -> list[Condition]:
    conditions = []
    for source in standing.sources:
        recorded = known.sources.get(source.evidence_id, source.recorded)
        condition = _compare_content("source:" + source.ref, "source", recorded, source.now)
        if source.quoted:
            condition.outcome = "match"
        conditions.append(condition)
    for fallen in standing.fallen:
        name, _, state = fallen.partition(" ")
        outcome = "match" if fallen in known.basis else "mismatch"
        conditions.append(Condition("basis:" + name, "basis", outcome, "stands", state))
    return conditions


def judge_best(
    scope: Scope,
    facts: Mapping[str, str | None],
    known: list[KnownContext],
    code: Mapping[str, str | None],
    standing: Standing = NOTHING_ELSE,
) -> Judgement:
    """Judge against every context the claim is known to hold in: it is as applicable as the best of them.

    Of several that are equally good the newest speaks.
    """
    judgements = [judge(scope, facts, one, code, standing) for one in reversed(known)]
    return min(judgements, key=lambda judgement: ORDER[judgement.applicability])


def _learned(known: KnownContext, name: str) -> str | None:
    """Return the value under which a revalidation saw the claim hold, None where nobody looked."""
    return None if known.kind == LOGGED else known.facts.get(name)


def _compare(
    name: str, part: str, wanted: str | tuple[str, ...], found: str | None, learned: str | None = None
) -> Condition:
    """Compare a fact with what is wanted, or, in a context that a revalidation added, with what it was there.

    What was learned under one value says nothing about another that the scope names: only one condition of the scope
    that holds for both joins them. So a claim seen to hold on one backend and one version is not carried over to a
    third combination.
    """
    choices = wanted if isinstance(wanted, tuple) else (wanted,)
    shown = " or ".join(choices) if learned is None else learned
    if found is None:
        return Condition(name, part, "unknown", shown, None)
    found = found.strip()
    if learned is None:
        same = any(meets(name, choice.strip(), found) for choice in choices)
    else:
        same = found == learned or any(
            meets(name, choice.strip(), found) and meets(name, choice.strip(), learned) for choice in choices
        )
    return Condition(name, part, "match" if same else "mismatch", shown, found)


def _compare_content(key: str, part: str, before: str | None, now: str | None) -> Condition:
    if before is None or now is None:
        return Condition(key, part, "unknown", before or "never read", now)
    return Condition(key, part, "match" if before == now else "mismatch", before, now)


def meets(name: str, wanted: str, found: str) -> bool:
    """Say whether the value of a fact is the wanted one: a commit, a version in a range, else a text or a glob."""
    if name == "git.commit":
        return _same_commit(wanted, found)
    if name.startswith("dep.") and is_range(wanted):
        return in_range(wanted, found) is True
    return matches(wanted, found)


def _same_commit(wanted: str, found: str) -> bool:
    """Compare commit ids; people and agents write them short, at least seven digits."""
    return len(wanted) >= 7 and found.lower().startswith(wanted.lower())


def matches(pattern: str, text: str) -> bool:
    """Compare a value with a glob in which `*` and `?` do not cross a slash; backtracks to the last star only."""
    at = text_at = 0
    star = -1
    marked = 0
    while text_at < len(text):
        if at < len(pattern) and pattern[at] == "*":
            star, marked = at, text_at
            at += 1
        elif at < len(pattern) and (pattern[at] == text[text_at] or (pattern[at] == "?" and text[text_at] != "/")):
            at += 1
            text_at += 1
        elif star >= 0 and text[marked] != "/":
            marked += 1
            at, text_at = star + 1, marked
        else:
            return False
    return all(character == "*" for character in pattern[at:])
