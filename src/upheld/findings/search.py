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
from upheld.text.words import fold, normalise_phrase, read_term, spell, spell_query

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

_FEW = 100
"""Words that so few findings of the project hold together are ranked from one statement, in place of one a step."""

_MANY = 200
"""So many rows of that statement mean that evidence or beginnings hold the words oftener: steps are quicker then."""

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
        while len(pending) >= batch:
            yield _load(db, project_id, pending[:batch], fits)
            pending = pending[batch:]
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
    if phrase and (named := reading.find_postings(db, project_id, "t", phrase, _NOBODY)):
        known = True
        yield named
    for ids in _worded(db, project_id, pieces, batch):
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


def _worded(db: apsw.Connection, project_id: int, pieces: list[str], batch: int) -> Iterator[list[int]]:
    """Yield what words find: all in the claim, all anywhere, all as beginnings, then each, the rarest first."""
    strict = spell_query(" ".join(pieces))
    if not strict:
        return
    loose = _loosen(db, project_id, pieces)
    held, few = 0, 0
    while few < len(loose) and (held := held + loose[few].count) <= _FEW:
        few += 1
    steps = _rank(db, project_id, strict, loose, few) if few else None
    every = " AND ".join(strict)
    left = [word.match for word in loose[few:]]
    if steps is not None:
        yield from steps
    else:
        left = [
            f"claim : ({every})",
            every,
            " AND ".join(word.match for word in loose),
            *(word.match for word in loose),
        ]
    for match in dict.fromkeys(left):
        if match:
            yield from _pages(lambda before, match=match: _ask(db, project_id, match, before, batch), batch)  # type: ignore[misc]


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of a query that carries a topic.

    Args:
        match: The expression that finds it, as a beginning unless it is common.
        strict: The expression that finds it as it stands.
        count: How many findings of the project hold it in claim or names.
    """

    match: str
    strict: str
    count: int


def _loosen(db: apsw.Connection, project_id: int, pieces: list[str]) -> list[_Word]:
    """Return each word that carries a topic, the rarest in the project first."""
    terms: dict[str, str] = {}
    for word in _spell_out(pieces):
        if word not in terms and (term := read_term(word)):
            terms[word] = term
    if not terms:
        return []
    words = list(terms)[:MAX_WORDS]
    counts = reading.get_word_counts(db, project_id, [terms[word] for word in words])
    words.sort(key=lambda word: counts.get(terms[word], 0))
    loose: list[_Word] = []
    for word in words:
        term, count = terms[word], counts.get(terms[word], 0)
        if len(term) > 2 and count <= _COMMON:
            match = f'"{term}"*'  # what the word begins, its term begins too
        else:
            match = f'"{word}"' if word == term else f'("{word}" OR "{term}")'
        loose.append(_Word(match, f'"{word}"', count))
    return loose


def _spell_out(pieces: list[str]) -> list[str]:
    if all(piece.isascii() and piece.isalnum() and piece.islower() for piece in pieces):
        return pieces  # as most queries are
    return spell(" ".join(pieces)).split(" ")


def _rank(
    db: apsw.Connection, project_id: int, strict: list[str], loose: list[_Word], few: int
) -> list[list[int]] | None:
    """Return what the first `few` words find, step by step, from one statement or two; None where that is too much.

    Whatever holds all words holds one of these, so the steps for all words are whole as well.
    """
    parts = [[word.match] for word in loose[:few]]
    if few < len(loose):
        parts.append([word.match for word in loose])
    places = _number(parts)
    singly, begun = places[:few], places[-len(loose) :]
    if one := len(loose) == 1:
        parts.append(strict)
    rows = searching.find_marked(db, project_id, _either(parts), limit=_MANY)
    every = [finding_id for finding_id, marks in rows if _holds(marks, begun)]
    exact: list[tuple[int, bytes]] = []
    pieces = _number(parts)[-len(strict) :] if one else _number([strict])
    if one:
        exact = [row for row in rows if _holds(row[1], pieces)]
    elif len(every) > 1 or not {word.strict for word in loose}.issuperset(strict):
        # How words stand decides between two; and pieces of several words stand where not each word of them may.
        exact = searching.find_marked(db, project_id, _either([strict]), limit=_MANY)
    if _MANY in (len(rows), len(exact)):
        return None
    steps = [
        [finding_id for finding_id, marks in exact if _holds(marks, pieces, searching.IN_CLAIM)],
        [finding_id for finding_id, _ in exact],
        every,
        *([finding_id for finding_id, marks in rows if any(marks[place])] for place in singly),
    ]
    return [step for step in steps if step]


def _either(parts: list[list[str]]) -> str:
    return " OR ".join("(" + " AND ".join(part) + ")" for part in parts)


def _number(parts: list[list[str]]) -> list[slice]:
    """Return which phrases of an expression each of its pieces is, as the index counts them."""
    places: list[slice] = []
    end = 0
    for part in parts:
        for piece in part:
            begin, end = end, end + piece.count('"') // 2
            places.append(slice(begin, end))
    return places


def _holds(marks: bytes, pieces: list[slice], least: int = 1) -> bool:
    """Say whether a finding holds each piece in one of its ways."""
    for piece in pieces:  # noqa: SIM110 - some hundred times a query, where `all` over a generator costs thrice as much
        if max(marks[piece]) < least:
            return False
    return True


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
