"""The context in which a claim holds when it is written: the facts and the code that its scope names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from upheld.errors import InvalidArgumentError
from upheld.findings.applicability import NOTHING_ELSE
from upheld.findings.model import LOGGED, KnownContext
from upheld.findings.surroundings import find_standing

if TYPE_CHECKING:
    import apsw

    from upheld.findings.cleaning import Cleaner
    from upheld.findings.model import Finding, Scope
    from upheld.findings.surroundings import Surroundings

_SAYS_NOTHING = (
    "scope says nothing, so nobody can tell where this holds: it is shown as a lead, not as a fact. Name conditions or "
    "paths, or say everywhere: true."
)


def anchor_scope(
    surroundings: Surroundings,
    scope: Scope,
    cleaner: Cleaner,
    *,
    kind: str = LOGGED,
    basis: tuple[str, ...] = (),
    sources: dict[int, str] | None = None,
) -> tuple[KnownContext, list[str]]:
    """Return the known context of a scope here and now, and what a caller should know about it.

    Raises:
        InvalidArgumentError: Code under `paths` can't be read, or a quoted piece does not stand there.
    """
    names = sorted(scope.fact_names())
    facts = {name: surroundings.facts((name,))[name].value for name in names}
    anchor: dict[str, str] = {}
    for pattern, content in surroundings.code_of(scope).items():
        if content is None:
            problem = next(p for p in surroundings.problems if p.startswith(f"paths {pattern}: "))
            raise InvalidArgumentError("scope.paths", problem.removeprefix("paths "), "Name fewer or other files.")
        if not content:
            raise InvalidArgumentError(
                "scope.paths",
                f"quotes a piece that does not stand in {pattern}",
                "Quote it exactly as it stands there.",
            )
        anchor[pattern] = content
    plain = [pattern for pattern in scope.paths if pattern not in scope.quotes]
    warnings = list(surroundings.problems)
    warnings += [
        f"scope.paths {pattern} matches no file now; one that appears is a change."
        for pattern in surroundings.empty_patterns(plain)
    ]
    if scope.is_empty:
        warnings.append(_SAYS_NOTHING)
    unknown = [name for name in (*scope.match, *scope.context) if facts.get(name) is None]
    if unknown:
        warnings.append(f"Unknown here: {', '.join(unknown)}. Declare them, or this stays unproven here.")
    kept = {name: None if value is None else cleaner.fact(name, value) for name, value in facts.items()}
    return KnownContext(kept, anchor, kind, basis, sources), warnings


def look_again(
    db: apsw.Connection, surroundings: Surroundings, finding: Finding, cleaner: Cleaner, kind: str
) -> tuple[KnownContext, list[str]]:
    """Return today's context of a finding that was looked at again, and what a caller should know about it.

    Facts, code, sources as they are, and what it is derived from and has fallen: the look settles all of that.

    Raises:
        InvalidArgumentError: Its code can't be read.
    """
    standing = find_standing(db, [finding.id], surroundings).get(finding.id, NOTHING_ELSE)
    # A source that is gone, or can't be read, stays in doubt: nobody saw it.
    sources = {source.evidence_id: source.now for source in standing.sources if source.now}
    return anchor_scope(
        surroundings,
        finding.scope,
        cleaner,
        kind=kind,
        basis=tuple(standing.fallen),
        sources=sources,
    )
