"""Which findings a query in words is about: all words, then any of them; never "nothing" where a scan would find it.

Newest first within each step, so the same ledger and words give the same list and no other project can change it. A
tag or alias that is the whole query comes first. docs/reference/injection.md is about what is handed out unasked,
which is stricter: a query is a question, and whoever asked reads the answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from upheld.findings.store import reading, searching
from upheld.text.words import fold, normalise_phrase, read_words, spell_query

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import apsw

    from upheld.findings.model import Finding

MAX_HITS = 200
"""How many findings one step may bring; a page is much smaller."""

_BATCH = 200
_OPERATORS = frozenset({"or", "and", "OR", "AND"})
_NOBODY = 2**62


@dataclass(slots=True)
class Found:
    """What a search gave beside its findings.

    Args:
        pieces: What was looked for, for snippets: the whole text, then its pieces.
        scanned: How many findings were read one by one since the index knew none; 0 for no scan.
    """

    pieces: list[str] = field(default_factory=list)
    scanned: int = 0


def search(
    db: apsw.Connection,
    project_id: int,
    words: str,
    fits: Callable[[Finding], bool],
    found: Found,
    *,
    after: int | None = None,
) -> Iterator[list[Finding]]:
    """Stream the findings that a text is about in batches, best first, each once.

    Args:
        db: The ledger.
        project_id: Whose.
        words: What to look for.
        fits: Which of them are wanted.
        found: Is told what was done.
        after: Begin behind this finding in the same order: the next page.
    """
    whole = " ".join(words.split())
    pieces = [piece for piece in whole.split() if piece not in _OPERATORS]
    found.pieces = [whole, *sorted(pieces, key=len, reverse=True)]
    seen: set[int] = set()
    skipping = after is not None
    for ids in _steps(db, project_id, whole, pieces, found):
        fresh = [number for number in ids if number not in seen]
        seen.update(fresh)
        if skipping and after in fresh:
            fresh, skipping = fresh[fresh.index(after) + 1 :], False
        elif skipping:
            continue
        by_id = {finding.id: finding for finding in reading.find_findings(db, project_id, fresh)}
        yield [by_id[number] for number in fresh if number in by_id and fits(by_id[number])]


def _steps(db: apsw.Connection, project_id: int, whole: str, pieces: list[str], found: Found) -> Iterator[list[int]]:
    """Yield ids, better ones first: the name itself, all words, any word, what stands inside words; at last a scan."""
    known = False
    phrase = normalise_phrase(whole)
    if phrase:
        named = [finding_id for _, finding_id in reading.find_phrases(db, project_id, "t", [phrase], MAX_HITS)]
        known = bool(named)
        yield named
    phrases = spell_query(" ".join(pieces))
    matches = [" AND ".join(phrases)] if phrases else []
    if len(phrases) > 1:
        telling = spell_query(" ".join(read_words(" ".join(pieces)).terms)) or phrases
        matches.append(" OR ".join(telling))
    for match in matches:
        before = _NOBODY
        while ids := searching.find_texts(db, project_id, match, before=before, limit=_BATCH):
            known = True
            before = ids[-1]
            yield ids
            if len(ids) < _BATCH:
                break
    folded = fold(whole)
    if len(folded) > 2:
        inside = searching.find_pieces(db, project_id, folded, limit=MAX_HITS)
        known = known or bool(inside)
        yield inside
    if not known:
        yield _scan(db, project_id, folded, [fold(piece) for piece in pieces], found)


def _scan(db: apsw.Connection, project_id: int, whole: str, pieces: list[str], found: Found) -> list[int]:
    """Read every finding of the project: what stands inside a word and is shorter than three characters."""
    literally: list[int] = []
    partly: list[int] = []
    for finding_id, says in searching.iter_texts(db, project_id):
        found.scanned += 1
        held = fold(says)
        if whole in held:
            literally.append(finding_id)
        elif any(piece in held for piece in pieces):
            partly.append(finding_id)
        if len(literally) >= MAX_HITS:
            break
    return (literally + partly)[:MAX_HITS]
