"""Which findings a query in words is about: all words, then any of them; never "nothing" where a scan would find it.

A tag or alias that is the whole query comes first; then what holds all words in its claim, then anywhere; then all
words as beginnings; then any word, the one that is rarest in this project first; then what stands inside words.
Newest first within each step, so the same ledger and words give the same list and no other project can change it.
docs/reference/injection.md is about what is handed out unasked, which is stricter: a query is a question, and whoever
asked reads the answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from upheld.findings.store import reading, searching
from upheld.text.snippet import cut_snippet
from upheld.text.words import fold, normalise_phrase, read_words, spell, spell_query

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import apsw

    from upheld.findings.model import Evidence, Finding

MAX_HITS = 200
"""How many findings are looked for and loaded at a time; a page is much smaller."""

MAX_WORDS = 64
"""Words of a query that are looked for, first ones first."""

MAX_SNIPPET = 120
"""Code points of a snippet."""

_COMMON = 2000
"""A word that more findings of the project hold is looked for as it stands, not as a beginning: that would be slow."""

_SHORT = 6
"""Code points of a query that is as likely a part of a word: what stands inside words is added to what was found."""

_OPERATORS = frozenset({"or", "and", "OR", "AND"})
_NOBODY = 2**62


@dataclass(slots=True)
class Found:
    """What a search gave beside its findings.

    Args:
        pieces: What was looked for, for snippets: the whole text, then its pieces.
        scanned: How many findings were read one by one since the index knew none; 0 for no scan.
        lost: The page before ends with a finding that is not among the hits any more.
    """

    pieces: list[str] = field(default_factory=list)
    scanned: int = 0
    lost: bool = False


def search(
    db: apsw.Connection,
    project_id: int,
    words: str,
    fits: Callable[[Finding], bool],
    found: Found,
    *,
    wanted: int = MAX_HITS,
    after: int | None = None,
) -> Iterator[list[Finding]]:
    """Stream the findings that a text is about in batches, best first, each once.

    Args:
        db: The ledger.
        project_id: Whose.
        words: What to look for.
        fits: Which of them are wanted.
        found: Is told what was done.
        wanted: How many a page takes: so many are looked for and loaded at a time.
        after: Begin behind this finding in the same order: the next page.
    """
    whole = " ".join(words.split())
    pieces = [piece for piece in whole.split() if piece not in _OPERATORS] or whole.split()
    pieces = pieces[:MAX_WORDS]
    found.pieces = [whole, *sorted(pieces, key=len, reverse=True)]
    seen: set[int] = set()
    found.lost = after is not None
    batch = MAX_HITS if after is not None else min(wanted, MAX_HITS)
    # Steps that find little are loaded together.
    pending: list[int] = []
    for ids in _steps(db, project_id, whole, pieces, found=found, batch=batch):
        fresh = [number for number in dict.fromkeys(ids) if number not in seen]
        seen.update(fresh)
        if found.lost:
            if after not in fresh:
                continue
            fresh, found.lost = fresh[fresh.index(after) + 1 :], False
        pending += fresh
        if len(pending) >= batch:
            yield _load(db, project_id, pending, fits)
            pending = []
    if pending:
        yield _load(db, project_id, pending, fits)


def _load(db: apsw.Connection, project_id: int, ids: list[int], fits: Callable[[Finding], bool]) -> list[Finding]:
    by_id = {finding.id: finding for finding in reading.find_findings(db, project_id, ids)}
    return [by_id[number] for number in ids if number in by_id and fits(by_id[number])]


def _steps(
    db: apsw.Connection, project_id: int, whole: str, pieces: list[str], *, found: Found, batch: int
) -> Iterator[list[int]]:
    """Yield ids, better ones first: the name itself, all words, any word, what stands inside words; at last a scan."""
    known = False
    phrase = normalise_phrase(whole)
    if phrase:
        named = [finding_id for _, finding_id in reading.find_phrases(db, project_id, "t", [phrase], _NOBODY)]
        known = bool(named)
        yield from (named[at : at + batch] for at in range(0, len(named), batch))
    for match in _matches(db, project_id, pieces):
        for ids in _pages(lambda before, match=match: _ask(db, project_id, match, before, batch), batch):  # type: ignore[misc]
            known = True
            yield ids
    folded = fold(whole)
    if len(folded) > 2 and (not known or len(folded) <= _SHORT):
        for ids in _pages(
            lambda before: searching.find_pieces(db, project_id, folded, before=before, limit=batch), batch
        ):
            known = True
            yield ids
    if not known:
        scanned = _scan(db, project_id, folded, [fold(piece) for piece in pieces], found)
        yield from (scanned[at : at + batch] for at in range(0, len(scanned), batch))


def _ask(db: apsw.Connection, project_id: int, match: str, before: int, limit: int) -> list[int]:
    return searching.find_texts(db, project_id, match, before=before, limit=limit)


def _pages(ask: Callable[[int], list[int]], batch: int) -> Iterator[list[int]]:
    before = _NOBODY
    while ids := ask(before):
        yield ids
        if len(ids) < batch:
            return
        before = ids[-1]


def _matches(db: apsw.Connection, project_id: int, pieces: list[str]) -> Iterator[str]:
    """Yield expressions of the index, stricter ones first, none twice; each is made when it is needed."""
    phrases = spell_query(" ".join(pieces))
    if not phrases:
        return
    every = " AND ".join(phrases)
    # Where nothing holds all words, no claim does.
    if _ask(db, project_id, every, _NOBODY, 1):
        yield f"claim : ({every})"
        yield every
    done = {every}
    loose = _loosen(db, project_id, pieces)
    for match in (" AND ".join(loose), *loose):
        if match and match not in done:
            done.add(match)
            yield match


def _loosen(db: apsw.Connection, project_id: int, pieces: list[str]) -> list[str]:
    """Return an expression for each word that carries a topic, the rarest in the project first."""
    terms: dict[str, str] = {}
    for word in spell(" ".join(pieces)).split(" "):
        for term in read_words(word).terms:
            terms.setdefault(word, term)
    if not terms:
        return []
    words = list(terms)[:MAX_WORDS]
    counts = reading.get_word_counts(db, project_id, [terms[word] for word in words])
    words.sort(key=lambda word: counts.get(terms[word], 0))
    loose: list[str] = []
    for word in words:
        ways = [f'"{way}"' for way in dict.fromkeys((word, terms[word]))]
        if len(terms[word]) > 2 and counts.get(terms[word], 0) <= _COMMON:
            ways = [f"{way}*" for way in ways]
        loose.append(ways[0] if len(ways) == 1 else "(" + " OR ".join(ways) + ")")
    return loose


def _scan(db: apsw.Connection, project_id: int, whole: str, pieces: list[str], found: Found) -> list[int]:
    """Read every finding of the project: for what stands inside a word and is shorter than three characters."""
    literally: list[int] = []
    partly: list[int] = []
    for finding_id, says in searching.iter_texts(db, project_id):
        found.scanned += 1
        held = fold(says)
        if whole in held:
            literally.append(finding_id)
        elif any(piece in held for piece in pieces):
            partly.append(finding_id)
    return literally + partly


def find_match(finding: Finding, evidence: list[Evidence], pieces: list[str]) -> dict[str, str] | None:
    """Say where a finding holds what was looked for, with a snippet; None where its claim shows it.

    The whole text is looked for everywhere before a piece of it is, so that the best place is named.
    """
    texts = [("claim", finding.claim)]
    texts += [("tags", name) for name in (*finding.tags, *finding.aliases)]
    texts += [("task", finding.task), *(("scope", pattern) for pattern in finding.scope.paths)]
    for link in evidence:
        held = (link.excerpt, link.rationale, link.source_ref, link.locator)
        texts += [(f"evidence {link.name}", text) for text in held if text]
    for piece in pieces:
        for where, text in texts:
            if (snippet := cut_snippet(text, [piece], MAX_SNIPPET)) is not None:
                return None if where == "claim" else {"where": where, "snippet": snippet}
    return None
