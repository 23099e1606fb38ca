"""Which findings a text is about: at most 200, out of indexes on words, tags, aliases and paths.

A word weighs what its rarity *in this project* makes it weigh, as an integer, so nothing another
project holds can change a result and no float decides a tie. A tag or alias standing in the text as a
phrase, or a named path, outweighs any scattered words. A finding that shares fewer than three things
with a text is not about it unless one of them is an identifier, a tag or a path: better nothing than a wrong
hint. docs/decisions/0007-selection.md has the measurements.
"""

from __future__ import annotations

import math
from unicodedata import normalize

from upheld.findings.store import reading
from upheld.text.words import iter_phrases, read_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

    from upheld.text.words import Words

RULES = "1"
"""The version of the rules of this module; kept with every explanation."""

MAX_CANDIDATES = 200

PHRASE_WEIGHT = 1000
PATH_WEIGHT = 800
TELLING_WEIGHT = 100
"""Added once for a word that can only be an identifier: it alone makes a finding relevant."""

_POSTINGS = 2000
"""Rows of the word index that one text may read: what bounds the time at any size of ledger."""
_POSTINGS_OF_WORD = 500
_COMMON_SHARE = 8
_COMMON_FLOOR = 24
"""A word in more than an eighth of the findings (and more than a few) says nothing in this project."""

_MIN_THINGS = 3

_OPERATORS = frozenset({"or", "and"})


class Candidate:
    """A finding that a text may be about, with the parts of its score.

    Args:
        finding_id: Which.
        relevance: The score: phrases and paths first, then the sum of word weights.
        words: The matched words with their weights, rarest first.
        phrases: Tags and aliases that stand in the text.
        paths: Paths of its scope that the text names.
        things: How many different things the words say; the parts of an identifier say one.
        telling: One of the words can only be an identifier.
    """

    __slots__ = ("finding_id", "paths", "phrases", "relevance", "telling", "things", "words")

    def __init__(
        self,
        finding_id: int,
        *,
        relevance: int,
        words: list[tuple[str, int]],
        phrases: list[str],
        paths: list[str],
        things: int,
        telling: bool,
    ) -> None:
        self.finding_id = finding_id
        self.relevance = relevance
        self.words = words
        self.phrases = phrases
        self.paths = paths
        self.things = things
        self.telling = telling

    @property
    def is_relevant(self) -> bool:
        """Say whether it shares enough with the text to be about the same thing."""
        return bool(self.phrases or self.paths or self.telling) or self.things >= _MIN_THINGS


def weigh(findings: int, holding: int) -> int:
    """Return the weight of a word that `holding` of a project's findings have: 8 per halving, at least 1."""
    return max(1, math.floor(8 * math.log2((findings + 1) / max(1, holding))))


def is_common(findings: int, holding: int) -> bool:
    """Say whether a word is too common in this project to tell findings apart."""
    return holding > _COMMON_FLOOR and holding * _COMMON_SHARE > findings


def find_candidates(db: apsw.Connection, project_id: int, text: str) -> list[Candidate]:
    """Return what a text may be about, best first, at most `MAX_CANDIDATES`.

    The same ledger and text give the same list: rarer words are read first, newest findings first, and
    ties go to the newer finding.
    """
    words = read_words(text)
    phrases: dict[int, list[str]] = {}
    for phrase, finding_id in reading.find_phrases(db, project_id, "t", iter_phrases(words.tokens), _POSTINGS):
        phrases.setdefault(finding_id, []).append(phrase)
    paths: dict[int, list[str]] = {}
    forms = list(dict.fromkeys(form for path in words.paths for form in _forms(path)))
    for path, finding_id in reading.find_phrases(db, project_id, "p", forms, _POSTINGS) if forms else ():
        paths.setdefault(finding_id, []).append(path)
    read, scores, masks = _read_postings(db, project_id, words)
    telling = sum(1 << place for place, (word, _) in enumerate(read) if word in words.telling)
    for finding_id, mask in masks.items():
        scores[finding_id] += TELLING_WEIGHT * bool(mask & telling)
    for weight, held in ((PHRASE_WEIGHT, phrases), (PATH_WEIGHT, paths)):
        for finding_id, named in held.items():
            scores[finding_id] = scores.get(finding_id, 0) + weight * len(named)
    ranked = sorted(scores, key=lambda finding_id: (-scores[finding_id], -finding_id))[:MAX_CANDIDATES]
    candidates = []
    for finding_id in ranked:
        mask = masks.get(finding_id, 0)
        matched = [one for place, one in enumerate(read) if mask >> place & 1]
        candidates.append(
            Candidate(
                finding_id,
                relevance=scores[finding_id],
                words=matched,
                phrases=phrases.get(finding_id, []),
                paths=paths.get(finding_id, []),
                things=len({words.whole_of.get(word, word) for word, _ in matched}),
                telling=bool(mask & telling),
            )
        )
    return candidates


def _read_postings(
    db: apsw.Connection, project_id: int, words: Words
) -> tuple[list[tuple[str, int]], dict[int, int], dict[int, int]]:
    """Return the words that were looked up with their weights, and by finding the sum and which (as bits)."""
    counts = reading.get_word_counts(db, project_id, words.terms)
    findings = counts.pop("", 0)
    read: list[tuple[str, int]] = []
    scores: dict[int, int] = {}
    masks: dict[int, int] = {}
    left = _POSTINGS
    for word, holding in sorted(counts.items(), key=lambda entry: (entry[1], entry[0])):
        if left <= 0 or is_common(findings, holding):
            break
        weight, bit = weigh(findings, holding), 1 << len(read)
        read.append((word, weight))
        postings = reading.find_postings(db, project_id, "c", word, min(left, _POSTINGS_OF_WORD))
        left -= len(postings)
        for finding_id in postings:
            scores[finding_id] = scores.get(finding_id, 0) + weight
            masks[finding_id] = masks.get(finding_id, 0) | bit
    return read, scores, masks


def _forms(path: str) -> list[str]:
    """Return what a scope may hold for a path that a text names: itself, below a prefix, or a glob over it."""
    forms = [path]
    at = path.find("/")
    ending = path.rpartition(".")[1:]
    while at >= 0:
        if "/" in path[at + 1 :] or at == 0:
            forms.append(path[at + 1 :])
        folder = path[:at]
        forms += [f"{folder}/**", f"{folder}/**/*{''.join(ending)}"]
        last = at
        at = path.find("/", at + 1)
        if at < 0:
            forms += [f"{path[:last]}/*", f"{path[:last]}/*{''.join(ending)}"]
    return forms


def find_by_text(db: apsw.Connection, project_id: int, text: str, *, whole_only: bool) -> list[int]:
    """Return the findings that hold a text literally in claim, tags or aliases: a scan of the project.

    For queries only: what stands inside a word, a single Chinese character or nothing but common words is not in
    the index, and a query must not deny what is there. Those that hold the whole text come first, then, unless
    `whole_only`, those that hold any of its words (`OR` between them is read as that); newest first, at most
    `MAX_CANDIDATES`.
    """
    whole = " ".join(_fold(text).split())
    pieces = [piece for piece in whole.split() if piece not in _OPERATORS]
    if not pieces:
        return []
    literally: list[int] = []
    partly: list[int] = []
    for finding_id, claim, tags, aliases in reading.iter_texts(db, project_id):
        held = _fold(f"{claim}\n{tags}\n{aliases}")
        if whole in held:
            literally.append(finding_id)
        elif not whole_only and any(piece in held for piece in pieces):
            partly.append(finding_id)
        if len(literally) >= MAX_CANDIDATES:
            break
    return (literally + partly)[:MAX_CANDIDATES]


def _fold(text: str) -> str:
    return normalize("NFKC", text).lower()
