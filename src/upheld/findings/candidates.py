"""Which findings a text is about: at most 200, out of indexes on words, tags, aliases and paths.

A word weighs what its rarity *in this project* makes it weigh, as an integer, so nothing another
project holds can change a result and no float decides a tie. A tag or alias standing in the text as a
phrase, or a named path, outweighs any scattered words. A finding that shares only one common word
with a text is not about it: better nothing than a wrong hint.
"""

from __future__ import annotations

import math
from unicodedata import normalize

from upheld.findings.store import reading
from upheld.text.words import iter_phrases, read_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

RULES = "1"
"""The version of the rules of this module; kept with every explanation."""

MAX_CANDIDATES = 200

PHRASE_WEIGHT = 1000
PATH_WEIGHT = 800
TELLING_WEIGHT = 100
"""Added once for a word that can only be an identifier: it alone makes a finding relevant."""

_POSTINGS = 4000
"""Rows of the word index that one text may read: what bounds the time at any size of ledger."""
_POSTINGS_OF_WORD = 1000
_COMMON_SHARE = 8
_COMMON_FLOOR = 24
"""A word in more than an eighth of the findings (and more than a few) says nothing in this project."""

_MIN_WORDS = 2

_OPERATORS = frozenset({"or", "and"})


class Candidate:
    """A finding that a text may be about, with the parts of its score.

    Args:
        finding_id: Which.
        words: The matched words with their weights, heaviest first.
        phrases: Tags and aliases that stand in the text.
        paths: Paths of its scope that the text names.
    """

    __slots__ = ("finding_id", "paths", "phrases", "telling", "words")

    def __init__(self, finding_id: int) -> None:
        self.finding_id = finding_id
        self.words: list[tuple[str, int]] = []
        self.phrases: list[str] = []
        self.paths: list[str] = []
        self.telling = False

    @property
    def relevance(self) -> int:
        """Return the score: phrases and paths first, then the sum of word weights."""
        return (
            PHRASE_WEIGHT * len(self.phrases)
            + PATH_WEIGHT * len(self.paths)
            + TELLING_WEIGHT * self.telling
            + sum(weight for _, weight in self.words)
        )

    @property
    def is_relevant(self) -> bool:
        """Say whether it shares enough with the text to be about the same thing."""
        return bool(self.phrases or self.paths or self.telling) or len(self.words) >= _MIN_WORDS


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
    found: dict[int, Candidate] = {}

    def candidate(finding_id: int) -> Candidate:
        if finding_id not in found:
            found[finding_id] = Candidate(finding_id)
        return found[finding_id]

    for phrase, finding_id in reading.find_phrases(db, project_id, "t", iter_phrases(words.tokens), _POSTINGS):
        candidate(finding_id).phrases.append(phrase)
    if words.paths:
        for path, finding_id in reading.find_phrases(db, project_id, "p", words.paths, _POSTINGS):
            candidate(finding_id).paths.append(path)
    counts = reading.get_word_counts(db, project_id, words.terms)
    findings = counts.pop("", 0)
    left = _POSTINGS
    for word, holding in sorted(counts.items(), key=lambda entry: (entry[1], entry[0])):
        if left <= 0 or is_common(findings, holding):
            break
        weight = weigh(findings, holding)
        postings = reading.find_postings(db, project_id, "c", word, min(left, _POSTINGS_OF_WORD))
        left -= len(postings)
        for finding_id in postings:
            one = candidate(finding_id)
            one.words.append((word, weight))
            one.telling = one.telling or word in words.telling
    ranked = sorted(found.values(), key=lambda one: (-one.relevance, -one.finding_id))
    return ranked[:MAX_CANDIDATES]


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
    for finding_id, *texts in reading.iter_texts(db, project_id):
        held = _fold("\n".join(texts))
        if whole in held:
            literally.append(finding_id)
        elif not whole_only and any(piece in held for piece in pieces):
            partly.append(finding_id)
        if len(literally) >= MAX_CANDIDATES:
            break
    return (literally + partly)[:MAX_CANDIDATES]


def _fold(text: str) -> str:
    return normalize("NFKC", text).lower()
