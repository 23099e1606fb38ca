"""The context in which a claim holds when it is written: the facts and the code that its scope names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from upheld.errors import InvalidArgumentError
from upheld.findings.model import LOGGED, KnownContext

if TYPE_CHECKING:
    from upheld.findings.cleaning import Cleaner
    from upheld.findings.model import Scope
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
