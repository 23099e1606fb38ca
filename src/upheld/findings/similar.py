"""Which findings a new claim looks like: the same said again, or what it is the newer version of. At most three.

Two claims look alike if the words they share weigh at least `SHARE` percent of what the two weigh (their geometric
mean). A word weighs what its rarity in this project makes it weigh, so the names that every finding of a project
holds say little; words meet by their first letters, so that `collaborated` and `collaboration` do. Words alone
decide: a paraphrase without common words is not seen, and whether two claims agree is for the one who logs to say.

Not here: what a prompt is about (`candidates.py`), and the calls that show the warnings (`verbs/`).
docs/decisions/0013-conflict-warnings.md has the measurements.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from upheld.findings.applicability import meets
from upheld.findings.candidates import read_postings, weigh
from upheld.findings.store import reading
from upheld.findings.store.claim_words import find_claim_words
from upheld.text import quote
from upheld.text.words import normalise_phrase, read_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from upheld.findings.model import Finding, Scope

MAX_SIMILAR = 3
SHARE = 36
"""Percent of the mean weight of two claims that must be shared."""

_MIN_THINGS = 2
_STEM = 6
_KNOWN = 8
"""Added to every weight: a name that all findings hold still says something where a claim does not hold it."""
_LOOKED_AT = 12
"""Current findings whose claims are compared, those that share the rarest words first."""
_LOADED = 200
"""Findings that are read at the most to get so many: old versions are indexed as well."""
_PHRASES = 200
_POSTINGS = 600
"""Rows of the word index that one claim may read: few, since this runs in every log."""
_SHOWN = 160


class Why(NamedTuple):
    """What makes a finding look like a new claim.

    Args:
        share: The weight of what is shared, in percent of the mean weight of the two claims.
        shared: The shared words, tags and aliases, heaviest first.
        same: The claims are the same but for case and spaces.
    """

    share: int
    shared: tuple[str, ...]
    same: bool


def find_similar(
    db: apsw.Connection,
    project_id: int,
    claim: str,
    *,
    tags: Iterable[str] = (),
    aliases: Iterable[str] = (),
    scope: Scope | None = None,
    exclude: Iterable[int] = (),
) -> list[tuple[Finding, Why]]:
    """Return the current findings of a project that a claim looks like, most alike first, at most `MAX_SIMILAR`.

    The same ledger and claim give the same list; ties go to the newer finding. Findings of policy `never`, and those
    whose scope cannot hold where this one does, are left out.

    Args:
        db: The ledger.
        project_id: Whose findings.
        claim: The new claim.
        tags: Its tags.
        aliases: Its aliases.
        scope: Where it holds; None for anywhere.
        exclude: Findings that are not to be named: the new one itself if it is stored, what it supersedes.
    """
    words = read_words(claim)
    counts = reading.get_word_counts(db, project_id, words.terms)
    _, scores, _ = read_postings(db, project_id, counts, _POSTINGS)
    phrases = _find_phrases(db, project_id, (*tags, *aliases))
    for finding_id, held in phrases.items():
        scores[finding_id] = scores.get(finding_id, 0) + sum(held.values())
    left_out = frozenset(exclude)
    ranked = sorted(scores.keys() - left_out, key=lambda finding_id: (-scores[finding_id], -finding_id))
    findings = _load(db, project_id, ranked[:_LOADED], scope)
    terms = find_claim_words(db, [finding.id for finding in findings])
    counts.update(reading.get_word_counts(db, project_id, {term for one in terms.values() for term in one}))
    ours = _weigh_stems(words.terms, counts)
    found = []
    for finding in findings:
        why = _compare(ours, _weigh_stems(terms.get(finding.id, ()), counts), phrases.get(finding.id, {}))
        if _fold(finding.claim) == _fold(claim):
            why = why._replace(share=100, same=True)
        if why.same or (why.share >= SHARE and len(why.shared) >= _MIN_THINGS):
            found.append((finding, why))
    found.sort(key=lambda one: (-one[1].same, -one[1].share, -one[0].id))
    return found[:MAX_SIMILAR]


def describe(finding: Finding, why: Why) -> str:
    """Return the warning for one finding, a sentence or two for whoever logs."""
    claim = quote.quote_always(quote.shorten(finding.claim, _SHOWN))
    if finding.epistemic_state == "refuted":
        alike = "makes the same claim as" if why.same else "looks like"
        return f"This {alike} the dead end {finding.name} (refuted): {claim}. get_finding says what refuted it."
    if why.same:
        return (
            f"{finding.name} ({finding.epistemic_state}) makes the same claim: {claim}. "
            "Add your evidence there with add_evidence, or merge the two."
        )
    return (
        f"Looks like {finding.name} ({finding.epistemic_state}): {claim}. If it is its newer version, "
        "supersede_finding; if the same, add_evidence there."
    )


def can_both_hold(one: Scope, other: Scope) -> bool:
    """Say whether there may be a place where two scopes match: no fact that both fix to different values."""
    return all(
        any(_may_meet(name, a, b) for a in _choices(wanted) for b in _choices(other.match[name]))
        for name, wanted in one.match.items()
        if name in other.match
    )


def _may_meet(name: str, one: str, other: str) -> bool:
    """Compare what two scopes want of a fact; two patterns or ranges may always meet."""
    if _is_open(one) and _is_open(other):
        return True
    return meets(name, one, other) or meets(name, other, one)


def _is_open(wanted: str) -> bool:
    return any(character in wanted for character in "*?<>=~^,|")


def _choices(wanted: str | tuple[str, ...]) -> tuple[str, ...]:
    return tuple(choice.strip() for choice in (wanted if isinstance(wanted, tuple) else (wanted,)))


def _find_phrases(db: apsw.Connection, project_id: int, named: Iterable[str]) -> dict[int, dict[str, int]]:
    """Return by finding the tags and aliases that it shares with the new claim, with their weights."""
    phrases = sorted({phrase for name in named if (phrase := normalise_phrase(name))})
    if not phrases:
        return {}
    findings = reading.get_word_counts(db, project_id, ()).get("", 0)
    found: dict[int, dict[str, int]] = {}
    for phrase in phrases:
        holding = reading.find_postings(db, project_id, "t", phrase, _PHRASES)
        if len(holding) == _PHRASES:
            # A tag of so many findings says nothing about two of them.
            continue
        for finding_id in holding:
            found.setdefault(finding_id, {})[phrase] = _KNOWN + weigh(findings, len(holding))
    return found


def _load(db: apsw.Connection, project_id: int, ids: list[int], scope: Scope | None) -> list[Finding]:
    """Return the first `_LOOKED_AT` that may be named, best first."""
    kept: list[Finding] = []
    for start in range(0, len(ids), _LOOKED_AT):
        wanted = ids[start : start + _LOOKED_AT]
        loaded = {finding.id: finding for finding in reading.find_findings(db, project_id, wanted)}
        kept += [
            finding
            for finding_id in wanted
            if (finding := loaded.get(finding_id)) is not None
            and finding.lifecycle_state == "current"
            and finding.retrieval_policy != "never"
            and (scope is None or can_both_hold(scope, finding.scope))
        ]
        if len(kept) >= _LOOKED_AT:
            break
    return kept[:_LOOKED_AT]


def _weigh_stems(terms: Iterable[str], counts: dict[str, int]) -> dict[str, int]:
    """Return the stems of a claim with their weights; of two words with one stem the commoner one speaks."""
    findings = counts.get("", 0)
    stems: dict[str, int] = {}
    for term in terms:
        stem = term[:_STEM] if term.isalpha() else term
        weight = _KNOWN + weigh(findings, counts.get(term, 0))
        stems[stem] = min(weight, stems.get(stem, weight))
    return stems


def _compare(ours: dict[str, int], theirs: dict[str, int], phrases: dict[str, int]) -> Why:
    """Return what two claims share; a word that one of them writes in a commoner form weighs what that one does."""
    both = {stem: min(weight, theirs[stem]) for stem, weight in ours.items() if stem in theirs}
    named = sum(phrases.values())
    # What both are tagged with counts as a word of both.
    mean = math.isqrt((sum(ours.values()) + named) * (sum(theirs.values()) + named))
    shared = {**both, **phrases}
    share = (sum(both.values()) + named) * 100 // max(1, mean)
    return Why(min(100, share), tuple(sorted(shared, key=lambda word: (-shared[word], word))), same=False)


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())
