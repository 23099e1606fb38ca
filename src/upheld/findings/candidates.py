"""Which findings a text is about: at most 200, out of indexes on words, tags, aliases and paths.

A word weighs what its rarity *in this project* makes it weigh, as an integer, so nothing another
project holds can change a result and no float decides a tie. A tag or alias standing in the text as a
phrase, or a named path, outweighs any scattered words. A word that the project does not know and that is
one slip of the fingers from a word of its tags and aliases is read as that one. A finding that shares fewer than
three things with a text is not about it unless one of them is an identifier, a tag or a path: better nothing than
a wrong hint. docs/decisions/0007-selection.md has the measurements.
"""

from __future__ import annotations

import math

from upheld.findings.store import reading
from upheld.findings.store.spellings import find_spelled
from upheld.text.words import is_cjk, iter_phrases, normalise_phrase, read_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    import apsw

    from upheld.text.words import Words

RULES = "2"
"""The version of the rules of this module; kept with every explanation."""

MAX_CANDIDATES = 200

PHRASE_WEIGHT = 1000
PATH_WEIGHT = 800
SLIP_WEIGHT = 700
"""For a tag or alias that stands in the text with a typing error: below one that is written right."""
TELLING_WEIGHT = 100
"""Added once for a word that can only be an identifier: it alone makes a finding relevant."""

_POSTINGS = 2000
"""Rows of the word index that one text may read: what bounds the time at any size of ledger."""
_POSTINGS_OF_WORD = 500
_COMMON_SHARE = 8
_COMMON_FLOOR = 24
"""A word in more than an eighth of the findings (and more than a few) says nothing in this project."""

_MIN_THINGS = 3

_MAX_SLIPS = 40
"""Unknown words of one text that are looked at for a typing error, first ones first."""
_SPELLINGS = 500
_MIN_SLIP = 4
_MIN_REPLACED = 6
"""One letter for another makes too many short words into others: `stage`, `state`, `stale`."""
_INFLECTED = "drsyn"
"""A last letter more or less that makes another form of a word and no slip: `release`, `released`."""


class Candidate:
    """A finding that a text may be about, with the parts of its score.

    Args:
        finding_id: Which.
        relevance: The score: phrases and paths first, then the sum of word weights.
        words: The matched words with their weights, rarest first.
        phrases: Tags and aliases that stand in the text, one with a typing error as `loss spike (written loss spke)`.
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
    counts = reading.get_word_counts(db, project_id, words.terms)
    phrases: dict[int, list[str]] = {}
    standing = iter_phrases(words.tokens)
    for phrase, finding_id in reading.find_phrases(db, project_id, "t", standing, _POSTINGS):
        phrases.setdefault(finding_id, []).append(phrase)
    slips: dict[int, list[str]] = {}
    meant = _find_meant(db, project_id, words, counts, standing)
    for phrase, finding_id in reading.find_phrases(db, project_id, "t", meant, _POSTINGS) if meant else ():
        slips.setdefault(finding_id, []).append(f"{phrase} (written {meant[phrase]})")
    paths: dict[int, list[str]] = {}
    forms = list(dict.fromkeys(form for path in words.paths for form in _forms(path)))
    for path, finding_id in reading.find_phrases(db, project_id, "p", forms, _POSTINGS) if forms else ():
        paths.setdefault(finding_id, []).append(path)
    read, scores, masks = read_postings(db, project_id, counts)
    telling = sum(1 << place for place, (word, _) in enumerate(read) if word in words.telling)
    for finding_id, mask in masks.items():
        scores[finding_id] += TELLING_WEIGHT * bool(mask & telling)
    for weight, held in ((PHRASE_WEIGHT, phrases), (SLIP_WEIGHT, slips), (PATH_WEIGHT, paths)):
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
                phrases=phrases.get(finding_id, []) + slips.get(finding_id, []),
                paths=paths.get(finding_id, []),
                things=len({words.whole_of.get(word, word) for word, _ in matched}),
                telling=bool(mask & telling),
            )
        )
    return candidates


def read_postings(
    db: apsw.Connection, project_id: int, counts: Mapping[str, int], most: int = _POSTINGS
) -> tuple[list[tuple[str, int]], dict[int, int], dict[int, int]]:
    """Return the words that were looked up with their weights, and by finding the sum and which (as bits).

    Args:
        db: The ledger.
        project_id: Whose.
        counts: What `reading.get_word_counts` says of the words of a text.
        most: Rows of the index that are read at the most.
    """
    findings = counts.get("", 0)
    read: list[tuple[str, int]] = []
    scores: dict[int, int] = {}
    masks: dict[int, int] = {}
    left = most
    for word, holding in sorted(counts.items(), key=lambda entry: (entry[1], entry[0])):
        if not word:
            continue
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


def _find_meant(
    db: apsw.Connection, project_id: int, words: Words, counts: Mapping[str, int], standing: list[str]
) -> dict[str, str]:
    """Return the phrases that a text holds once its typing errors are put right, each with what is written."""
    terms = frozenset(words.terms)
    unknown: dict[str, str] = {}
    for token in words.tokens:
        if len(token) < _MIN_SLIP or token in counts or not token.isalpha() or is_cjk(token[0]) or token in unknown:
            continue
        word = token if token in terms else normalise_phrase(token)
        # What is not among the terms is a stop word or a part of something longer.
        if word in terms and word not in counts:
            unknown[token] = word
        if len(unknown) >= _MAX_SLIPS:
            break
    if not unknown:
        return {}
    sharing: dict[str, list[str]] = {}
    for word in unknown.values():
        for form in dict.fromkeys((word, *(word[:at] + word[at + 1 :] for at in range(len(word))))):
            sharing.setdefault(form, []).append(word)
    near: dict[str, list[tuple[int, str]]] = {}
    known: set[str] = set()
    for form, word, held in find_spelled(db, project_id, sharing, _SPELLINGS):
        for written in sharing[form]:
            if word == written:
                known.add(written)
            elif is_slip(written, word):
                near.setdefault(written, []).append((-held, word))
    right = {token: min(near[word])[1] for token, word in unknown.items() if word in near and word not in known}
    if not right:
        return {}
    corrected = [right.get(token, token) for token in words.tokens]
    held_already = frozenset(standing)
    wrong = {word: token for token, word in right.items()}
    return {
        phrase: " ".join(wrong.get(word, word) for word in phrase.split())
        for phrase in iter_phrases(corrected)
        if phrase not in held_already
    }


def is_slip(written: str, meant: str) -> bool:
    """Say whether one slip makes one word into the other: a letter left out, doubled, replaced, or two swapped.

    The first letter is right in nearly all typing errors, and words that differ there are mostly other words; the last
    one is where a word is inflected. The shorter of the two has at least four letters, words in which a letter is
    replaced six.
    """
    if written == meant or written[:1] != meant[:1] or min(len(written), len(meant)) < _MIN_SLIP:
        return False
    start = 0
    while start < min(len(written), len(meant)) and written[start] == meant[start]:
        start += 1
    if len(written) == len(meant):
        if written[start + 1 :] == meant[start + 1 :]:
            return len(written) >= _MIN_REPLACED and start + 1 < len(written)
        swapped = meant[start + 1 : start + 2] + meant[start]
        return written[start : start + 2] == swapped and written[start + 2 :] == meant[start + 2 :]
    longer, shorter = (written, meant) if len(written) > len(meant) else (meant, written)
    if longer[start + 1 :] != shorter[start:]:
        return False
    return start < len(shorter) or longer[-1] not in _INFLECTED


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
