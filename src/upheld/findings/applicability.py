"""Whether a claim can be used here and now: computed from its scope and the facts, never stored.

Every condition is `match`, `mismatch` or `unknown` with the values compared. A missing fact is unknown,
and unknown is never a match.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from upheld.findings.model import KnownContext, Scope

ORDER = {"applicable": 0, "conditional": 1, "needs_revalidation": 2, "unknown": 3, "incompatible": 4}
"""The rank of each applicability, best first."""

NOT_KNOWN_THEN = "unknown when written"

_COMMIT_LIKE = ("git.commit", "git.branch")
"""What a code anchor stands in for: with `paths`, another commit id alone changes nothing."""


class Condition:
    """One comparison.

    Args:
        key: The fact's name, or `paths:<pattern>`.
        part: `match`, `context`, `revalidate_on` or `paths`.
        outcome: `match`, `mismatch` or `unknown`.
        wanted: What the scope or the anchor says.
        found: What is here; None when unknown.
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


def is_version_like(name: str) -> bool:
    """Say whether a change of this fact asks for a new check unless the writer says otherwise."""
    return name in _COMMIT_LIKE or name == "python" or name.startswith("dep.") or name.endswith(".version")


def judge(
    scope: Scope,
    facts: Mapping[str, str | None],
    known: KnownContext,
    code: Mapping[str, str | None],
) -> Judgement:
    """Judge a scope in one task context, against one context the claim is known to hold in.

    Args:
        scope: Where the claim is meant to hold.
        facts: What is known here; None or absent: unknown.
        known: The facts and the code's content where it was last known to hold.
        code: Pattern to content digest now; None: it could not be read.

    Returns:
        The applicability by the first rule that fits, in the order of the design's section 5.3.
    """
    conditions: list[Condition] = []
    revalidate = scope.revalidate_on
    asked = {name for name in (*scope.match, *scope.context) if is_version_like(name)}
    if revalidate is not None:
        asked = set(revalidate)
    anchored = bool(scope.paths)
    for part, entries in (("match", scope.match), ("context", scope.context)):
        for name, wanted in entries.items():
            if anchored and name in _COMMIT_LIKE:
                continue
            conditions.append(_compare(name, part, wanted, facts.get(name)))
    for name in revalidate or ():
        if name in scope.match or name in scope.context or name == "paths" or (anchored and name in _COMMIT_LIKE):
            continue
        before = known.facts.get(name)
        if before is None:
            conditions.append(Condition(name, "revalidate_on", "unknown", NOT_KNOWN_THEN, facts.get(name)))
        else:
            conditions.append(_compare(name, "revalidate_on", before, facts.get(name)))
    conditions += [_compare_code(pattern, known.anchor.get(pattern), code.get(pattern)) for pattern in scope.paths]

    unmet = [c for c in conditions if c.outcome != "match"]
    for applicability, deciding in (
        (
            "incompatible",
            [c for c in unmet if c.part == "match" and c.outcome == "mismatch" and c.key not in asked],
        ),
        ("needs_revalidation", [c for c in unmet if c.part in ("paths", "revalidate_on") or c.key in asked]),
        ("unknown", [c for c in unmet if c.part == "match"]),
        ("conditional", [c for c in unmet if c.part == "context"]),
    ):
        if deciding:
            return Judgement(applicability, conditions, deciding)
    if scope.is_empty:
        said = Condition("scope", "match", "unknown", "says nothing", None)
        return Judgement("unknown", [said], [said])
    return Judgement("applicable", conditions, [])


def judge_best(
    scope: Scope,
    facts: Mapping[str, str | None],
    known: list[KnownContext],
    code: Mapping[str, str | None],
) -> Judgement:
    """Judge against every context the claim is known to hold in: it is as applicable as the best of them."""
    judgements = [judge(scope, facts, one, code) for one in known]
    return min(judgements, key=lambda judgement: ORDER[judgement.applicability])


def _compare(name: str, part: str, wanted: str | tuple[str, ...], found: str | None) -> Condition:
    choices = wanted if isinstance(wanted, tuple) else (wanted,)
    shown = " or ".join(choices)
    if found is None:
        return Condition(name, part, "unknown", shown, None)
    found = found.strip()
    same = any(
        _same_commit(choice.strip(), found) if name == "git.commit" else matches(choice.strip(), found)
        for choice in choices
    )
    return Condition(name, part, "match" if same else "mismatch", shown, found)


def _compare_code(pattern: str, before: str | None, now: str | None) -> Condition:
    key = "paths:" + pattern
    if before is None or now is None:
        return Condition(key, "paths", "unknown", before or "never read", now)
    return Condition(key, "paths", "match" if before == now else "mismatch", before, now)


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
