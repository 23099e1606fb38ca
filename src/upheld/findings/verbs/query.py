"""Find findings of a project and judge them for the caller's context. Reads only."""

from __future__ import annotations

from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any

from upheld.context.globs import Glob, is_literal
from upheld.findings import views
from upheld.findings.ledger import as_refusals
from upheld.findings.search import Found, find_match, search
from upheld.findings.service import NOTHING_HERE, Answer
from upheld.findings.store import reading
from upheld.findings.surroundings import judge_all
from upheld.text.jsontext import dumps
from upheld.text.words import normalise_phrase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import apsw

    from upheld.findings.model import Finding
    from upheld.findings.service import Findings
    from upheld.findings.surroundings import Surroundings

DEFAULT_LIMIT = 20
MAX_BYTES = 16_000
"""Of a page as JSON: fewer findings are on it where they are long, and `more` says so."""
_BATCH = 200


@as_refusals()
def query_findings(
    findings: Findings,
    *,
    words: str | None = None,
    tags: tuple[str, ...] | None = None,
    paths: tuple[str, ...] | None = None,
    states: tuple[str, ...] | None = None,
    kinds: tuple[str, ...] | None = None,
    applicability: tuple[str, ...] | None = None,
    matching: Mapping[str, str] | None = None,
    facts: Mapping[str, str] | None = None,
    history: bool | None = None,
    limit: int | None = None,
    before: int | None = None,
) -> Answer:
    """Find findings of this project and judge them for the caller's context.

    Args:
        findings: Whose.
        words: What to look for, best match first; without words the newest come first.
        tags: Only findings with one of these tags or aliases.
        paths: Only findings about one of these files.
        states: Only these epistemic states.
        kinds: Only these claim kinds.
        applicability: Only these applicabilities.
        matching: Only findings whose scope names these facts with these values.
        facts: Facts declared for this call.
        history: Also superseded, withdrawn, archived and duplicate findings.
        limit: How many at the most, 20 unless given; fewer where they are long, see `MAX_BYTES`.
        before: The last finding of the page before.
    """
    db, project = findings.read()
    if db is None or project is None:
        return Answer({"findings": [], "more": False}, (NOTHING_HERE,))
    surroundings = findings.surroundings(db, facts)
    wanted = limit or DEFAULT_LIMIT
    columns = {"epistemic_state": states or (), "claim_kind": kinds or ()}
    fits = _make_filter(columns, tags or (), paths or (), matching or {}, history=bool(history))
    found = Found()
    with db:  # one moment of the ledger, whoever writes meanwhile
        batches = (
            search(db, project.id, words, fits, found, wanted=wanted + 1, after=before)
            if words
            else _list(db, project.id, columns, fits, history=bool(history), before=before)
        )
        judged = _judge(db, batches, surroundings, wanted + 1, history=bool(history))
        those = (one for one in judged if not applicability or one[1]["applicability"] in applicability)
        page = list(islice(those, wanted + 1))
        if words:
            _say_where(db, page[:wanted], found.pieces)
        fitting = _count_fitting([data for _, data in page[:wanted]])
    warnings = list(surroundings.problems)
    if found.scanned:
        warnings.append(f"The index knew none of these words: found by scanning {found.scanned:,} findings.")
    if found.lost:
        warnings.append("The finding that the page before ended with is no longer found; ask again without `before`.")
    return Answer({"findings": [data for _, data in page[:fitting]], "more": len(page) > fitting}, tuple(warnings))


def _judge(
    db: apsw.Connection,
    batches: Iterator[list[Finding]],
    surroundings: Surroundings,
    size: int,
    *,
    history: bool,
) -> Iterator[tuple[Finding, dict[str, Any]]]:
    """Stream findings with their short forms. Judging costs: no more than `size` are judged ahead."""
    for batch in batches:
        current = batch if history else _without_duplicates(db, batch)
        for start in range(0, len(current), size):
            some = current[start : start + size]
            judgements = judge_all(db, some, surroundings)
            evidence = reading.find_evidence(db, [finding.id for finding in some], newest=1)
            for finding in some:
                yield finding, views.summary(finding, judgements[finding.id], evidence.get(finding.id, []))


def _count_fitting(listed: list[dict[str, Any]]) -> int:
    """Return how many findings of a page fit, at least the first."""
    sizes = accumulate(len(dumps(data).encode()) for data in listed)
    return max(sum(size <= MAX_BYTES for size in sizes), min(len(listed), 1))


def _say_where(db: apsw.Connection, page: list[tuple[Finding, dict[str, Any]]], pieces: list[str]) -> None:
    """Add to each finding of a page where it holds what was looked for, unless its claim shows it."""
    evidence = reading.find_evidence(db, [finding.id for finding, _ in page])
    for finding, data in page:
        if (matched := find_match(finding, evidence.get(finding.id, []), pieces)) is not None:
            data["matched"] = matched


def _list(
    db: apsw.Connection,
    project_id: int,
    columns: dict[str, tuple[str, ...]],
    fits: Callable[[Finding], bool],
    *,
    history: bool,
    before: int | None,
) -> Iterator[list[Finding]]:
    last = before if before is not None else 2**62
    while batch := reading.find_by_states(db, project_id, filters=columns, history=history, before=last, limit=_BATCH):
        yield [finding for finding in batch if fits(finding)]
        last = batch[-1].id


def _without_duplicates(db: apsw.Connection, batch: list[Finding]) -> list[Finding]:
    duplicates = reading.find_canonicals(db, [finding.id for finding in batch])
    return [finding for finding in batch if finding.id not in duplicates]


def _make_filter(
    columns: dict[str, tuple[str, ...]],
    tags: tuple[str, ...],
    paths: tuple[str, ...],
    matching: Mapping[str, str],
    *,
    history: bool,
) -> Callable[[Finding], bool]:
    wanted_tags = {normalise_phrase(tag) for tag in tags}

    def fits(finding: Finding) -> bool:
        held = {normalise_phrase(text) for text in (*finding.tags, *finding.aliases)}
        return (
            (history or finding.lifecycle_state == "current")
            and (not wanted_tags or bool(wanted_tags & held))
            and all(not allowed or getattr(finding, column) in allowed for column, allowed in columns.items())
            and (not paths or any(_reaches(pattern, path) for pattern in finding.scope.paths for path in paths))
            and all(_names(finding, name, value) for name, value in matching.items())
        )

    return fits


def _reaches(pattern: str, path: str) -> bool:
    """Say whether a scope's pattern is about a file: names it, a folder above it, or a glob over it.

    A glob that is asked for reaches what it is itself and what it names.
    """
    path = path.removeprefix("./").rstrip("/")
    if not is_literal(path):
        return path == pattern or (is_literal(pattern) and Glob(path).matches(pattern))
    if is_literal(pattern):
        return path == pattern or path.startswith(pattern.rstrip("/") + "/")
    return Glob(pattern).matches(path)


def _names(finding: Finding, name: str, value: str) -> bool:
    wanted = finding.scope.match.get(name, finding.scope.context.get(name))
    return value in (wanted if isinstance(wanted, tuple) else (wanted,))
