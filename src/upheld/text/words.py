"""Words for search, in any language, without `re`: the same function for what is stored and what is asked.

A text becomes *tokens* (runs of letters and digits, in order and without case: what phrases are made of, so
that `TypeScript` is one and never the tag `type`) and *terms* (what the word index holds): each token, the
parts of identifiers (`snake_case`, `camelCase`), and for Chinese, Japanese and Korean every pair of
neighbouring characters, since those scripts put no space between words. A term that can only be an
identifier or an id is *telling*: one of them says more than two common words. `GitHub` is none, `readEvent` is.

All of it is lower case after NFKC, so full-width and half-width forms meet. No stemming beyond the
English plural; no dictionary.
"""

from __future__ import annotations

from unicodedata import normalize

MAX_TEXT = 20_000
"""Code points of a text that are looked at: enough for any claim, a bound for a pasted log."""

MAX_TERMS = 600
"""Distinct terms of a text that are kept, first ones first."""

MAX_PHRASE_TOKENS = 5
"""The longest tag or alias, in tokens, that is looked for as a phrase in a prompt."""

MAX_PHRASES = 8000
"""Phrases of a text that are looked for, first ones first: a bound for a pasted page of Chinese."""

MAX_CJK_PHRASE = 8
"""The longest Chinese, Japanese or Korean tag or alias, in characters, that is looked for inside a run."""

# Function words and the words that prompts to a coding agent are made of. They carry no topic, and a small
# project has too few findings to learn that from.
_STOP = frozenset(
    """a about above after again all also am an and any anything are as ask at be because been before being below
    between both but by can check could did do does doing done down during each else even ever every everything few
    find for from further get getting give go goes going good got had has have having he help her here him his how i
    if in into is it its just keep know let like look looking made make makes making many may me might more most much
    must my need new no not nothing now of off ok okay on once one only or other our out over own please put really
    right run running said same say see she should show so some something still such sure take tell than thank thanks
    that the their them then there these they thing think this those through to too tried try trying under until up
    us use used using very want was way we well were what when where which while who why will with work working would
    yes yet you your explain write add change update code file files line lines""".split()
) | frozenset("的了是在我有和就不人都一上也很到说要去你会着没看好自己这那什么怎么为吗呢吧把被从与或及请")

_CJK_RANGES = (
    (0x3040, 0x30FF),  # kana
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xAC00, 0xD7AF),  # hangul
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)


class Words:
    """What a text holds for search.

    Args:
        tokens: In order, lower case: what phrases are made of. A CJK run is one token.
        terms: Distinct, in order of appearance: what the word index holds.
        telling: Those terms that can only be identifiers, paths or the like.
        whole_of: The parts of identifiers, each with the identifier: together they say one thing.
        paths: Tokens that look like file names or paths, as written, lower case.
    """

    __slots__ = ("paths", "telling", "terms", "tokens", "whole_of")

    def __init__(
        self,
        tokens: list[str],
        terms: tuple[str, ...],
        *,
        telling: frozenset[str],
        whole_of: dict[str, str],
        paths: tuple[str, ...],
    ) -> None:
        self.tokens = tokens
        self.terms = terms
        self.telling = telling
        self.whole_of = whole_of
        self.paths = paths


def read_words(text: str) -> Words:
    """Return the words of a text. Never fails; looks at the first `MAX_TEXT` code points."""
    text = normalize("NFKC", text[:MAX_TEXT])
    tokens: list[str] = []
    terms: dict[str, None] = {}
    telling: set[str] = set()
    whole_of: dict[str, str] = {}
    for word in _runs(text):
        lower = word.lower()
        if is_cjk(lower[0]):
            tokens.append(lower)
            _add_pairs(lower, terms)
            continue
        parts = _parts(word)
        tokens.extend(piece for piece in lower.split("_") if piece)
        if len(parts) > 1:
            joined = lower.strip("_")
            terms[joined] = None
            whole_of.update((_singular(part), joined) for part in parts)
            if len(parts) > 2 or "_" in joined or word[0].islower():
                telling.add(joined)
        elif _is_id(lower):
            telling.add(_singular(lower))
        for part in parts:
            one = _singular(part)
            if len(part) > 1 and part not in _STOP and one not in _STOP:
                terms[one] = None
        if len(terms) >= MAX_TERMS:
            break
    return Words(tokens, tuple(terms)[:MAX_TERMS], telling=frozenset(telling), whole_of=whole_of, paths=_paths(text))


def read_term(word: str) -> str:
    """Return what the word index holds for one word as `spell` gives it; "" for a word that carries no topic."""
    if is_cjk(word[:1] or " "):
        return next(iter(read_words(word).terms), "")
    one = _singular(word)
    return one if len(word) > 1 and word not in _STOP and one not in _STOP else ""


def fold(text: str) -> str:
    """Return a text without case and width of characters, for looking at it literally."""
    return normalize("NFKC", text).lower()


def spell(text: str) -> str:
    """Return a text as words with spaces between, for the full-text index: what is stored and what is asked alike.

    Identifiers stand whole and then in their parts (`readEvent` is `readevent read event`); what a dot, a slash or an
    underscore separates is separate words, so that their order makes phrases. A run of CJK is its pairs of neighbours
    and then its last character: any two characters are a word, any one begins a word.
    """
    words: list[str] = []
    for run in _runs(normalize("NFKC", text)):
        lower = run.lower()
        if is_cjk(lower[0]):
            words += [lower[at : at + 2] for at in range(len(lower) - 1)]
            words.append(lower[-1])
            continue
        for piece, part in zip(lower.split("_"), run.split("_"), strict=True):
            if piece:
                words.append(piece)
                parts = _parts(part)
                words += parts if len(parts) > 1 else ()
    return " ".join(words)


def spell_query(text: str) -> list[str]:
    """Return what a text looks for in the full-text index: an expression for each piece between spaces.

    Each is the phrase that `spell` makes of the piece, so that a literal piece of a text that begins and ends where
    words do is found; what is written in one case is found in any. The last CJK character of a piece may go on.
    """
    found: dict[str, None] = {}
    for piece in normalize("NFKC", text[:MAX_TEXT]).split():
        if piece.isascii() and piece.isalnum() and piece.islower():
            found[f'"{piece}"'] = None
            continue
        ways = dict.fromkeys(phrase for phrase in (_phrase(piece), _phrase(piece.lower())) if phrase)
        if ways:
            found[next(iter(ways)) if len(ways) == 1 else "(" + " OR ".join(ways) + ")"] = None
    return list(found)


def _phrase(piece: str) -> str:
    words = spell(piece).split(" ")
    if len(words) > 1 and is_cjk(words[-1][0]) and len(words[-2]) == 2 and is_cjk(words[-2][0]):
        words.pop()  # the run may go on where the text does
    goes_on = "*" if len(words[-1]) == 1 and is_cjk(words[-1]) else ""
    return f'"{" ".join(words)}"{goes_on}' if words[0] else ""


def normalise_phrase(text: str) -> str:
    """Return the form in which a tag or alias is stored: its tokens with one space between."""
    runs = (run.lower() for run in _runs(normalize("NFKC", text[:MAX_TEXT])))
    tokens = (token for run in runs for token in ((run,) if is_cjk(run[0]) else run.split("_")) if token)
    return " ".join(map(_singular, tokens))


def iter_phrases(tokens: list[str]) -> list[str]:
    """Return every phrase of a text that could be a tag or alias, distinct, in order of appearance."""
    found: dict[str, None] = {}
    tokens = [_singular(token) for token in tokens]
    for start, token in enumerate(tokens):
        if len(found) >= MAX_PHRASES:
            break
        phrase = token
        found[phrase] = None
        for following in tokens[start + 1 : start + MAX_PHRASE_TOKENS]:
            phrase = phrase + " " + following
            found[phrase] = None
        if is_cjk(token[0]):
            for at in range(min(len(token), MAX_PHRASES // MAX_CJK_PHRASE)):
                for end in range(at + 2, min(len(token), at + MAX_CJK_PHRASE) + 1):
                    found[token[at:end]] = None
    return list(found)


def is_cjk(character: str) -> bool:
    """Say whether a character belongs to a script that is written without spaces."""
    code = ord(character)
    return code >= 0x3040 and any(low <= code <= high for low, high in _CJK_RANGES)


def _runs(text: str) -> list[str]:
    """Split into runs of letters, digits and underscores; a run is all CJK or has none."""
    runs: list[str] = []
    start = -1
    cjk = False
    for at, character in enumerate(text):
        if character.isalnum() or character == "_":
            now = is_cjk(character)
            if start < 0:
                start, cjk = at, now
            elif now != cjk:
                runs.append(text[start:at])
                start, cjk = at, now
        elif start >= 0:
            runs.append(text[start:at])
            start = -1
    if start >= 0:
        runs.append(text[start:])
    return [run for run in runs if run.strip("_")]


def _parts(word: str) -> list[str]:
    """Return the lower-case parts of an identifier: at underscores and where the case rises."""
    parts: list[str] = []
    for piece in word.split("_"):
        start = 0
        for at in range(1, len(piece)):
            rises = piece[at].isupper() and (
                piece[at - 1].islower() or (at + 1 < len(piece) and piece[at + 1].islower() and piece[at - 1].isupper())
            )
            if rises:
                parts.append(piece[start:at].lower())
                start = at
        if piece[start:]:
            parts.append(piece[start:].lower())
    return parts


def _is_id(lower: str) -> bool:
    """Say whether letters and digits meet in one word as they do in ids: `0862527a`, not `k8s` or `sha256`."""
    digits = sum(c.isdigit() for c in lower)
    return len(lower) >= 7 and 2 <= digits < len(lower)


def _singular(word: str) -> str:
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is", "as", "os")):
        return word[:-1]
    return word


def _add_pairs(run: str, terms: dict[str, None]) -> None:
    if len(run) == 1:
        if run not in _STOP:
            terms[run] = None
        return
    for at in range(len(run) - 1):
        pair = run[at : at + 2]
        if pair[0] not in _STOP and pair[1] not in _STOP:
            terms[pair] = None


def _paths(text: str) -> tuple[str, ...]:
    """Return pieces between spaces and quotes that look like a file name or a path."""
    found: dict[str, None] = {}
    for mark in "`'\"()[]{}<>,;，。：；（）":
        text = text.replace(mark, " ")
    for piece in text.split():
        path = piece.rstrip(".:!?*").lstrip(":!?*").lower()
        while path.startswith("./"):
            path = path[2:]
        head, dot, ending = path.rpartition(".")
        named = bool(dot and head and 0 < len(ending) <= 5 and ending.isalnum() and not ending.isdigit())
        if "://" not in path and (named or "/" in path.strip("/")) and any(c.isalpha() for c in path):
            base, colon, number = path.partition(":")
            path = base if colon and number[:1].isdigit() else path
            found[path] = None
            start = 0
            while start < len(path) and is_cjk(path[start]):
                start += 1
            if 0 < start < len(path):
                # Chinese text stands before a path without a space.
                found[path[start:]] = None
    return tuple(found)
