"""Replace secrets and private paths before anything is written, and say how many of which kind.

The one way in for text that is going to be stored: claims, reasons, excerpts, tags, scope. What a secret
looks like is said in `rules`, `assignment` and `home`. No secret ever enters a message: only the rules'
names and counts do.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from upheld.errors import INVALID_ARGUMENT, InvalidArgumentError, UpheldError
from upheld.redaction import assignment
from upheld.redaction import home as homes
from upheld.redaction.placeholder import has_digit, is_placeholder
from upheld.redaction.rules import PRIVATE_KEY, RULES, Rule

_MOST_PASSES = 8
_DEEPEST = 200
_INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00ad"
_STRIP_INVISIBLE = dict.fromkeys(map(ord, _INVISIBLE))
_SHORTEST_KEY_RUN = 16
_NEVER_PLACEHOLDERS = frozenset({"password-hash", "kerberos"})  # these begin with `$` as a shell variable does
_LONG_RUN = re.compile(r"[A-Za-z0-9_+/=.%\\-]{18,}+")
_BY_PREFIX = [(rule.hints[0], rank, rule) for rank, rule in enumerate(RULES) if not rule.folded]
_BY_SHAPE = [(rule.hints, rank, rule) for rank, rule in enumerate(RULES) if rule.folded]


class Redacted(NamedTuple):
    """A text that may be stored.

    Args:
        text: The text, each secret replaced by `[redacted:RULE]` and each home directory by `~`.
        counts: How many were replaced, by rule, in the rules' alphabetical order.
    """

    text: str
    counts: dict[str, int]


class RedactedValue(NamedTuple):
    """The same for a JSON value: see `Redacted`."""

    value: object
    counts: dict[str, int]


class StrictModeError(UpheldError):
    """Strict mode refuses what would otherwise have been redacted; names rules and counts only."""

    def __init__(self, argument: str, counts: Mapping[str, int]) -> None:
        found = ", ".join(f"{name} ({count})" for name, count in counts.items())
        super().__init__(
            f"{argument} holds what strict mode does not store: {found}. Leave it out or write a placeholder "
            "instead. Nothing was written.",
            code=INVALID_ARGUMENT,
            argument=argument,
        )
        self.counts = dict(counts)


class _Span(NamedTuple):
    start: int
    end: int
    rank: int
    name: str


def redact(text: str, *, home: str = "", strict: bool = False, argument: str = "text") -> Redacted:
    """Return `text` without secrets and home directories.

    Args:
        text: Any text, lone surrogates and control characters included.
        home: The current home directory, replaced wherever it stands.
        strict: Refuse instead of replacing.
        argument: The public name of what is checked, for the refusal.

    Raises:
        StrictModeError: `strict` is set and something was found.
    """
    counts: dict[str, int] = {}
    # A replaced secret can uncover its neighbour, so look until nothing is left; the limit bounds hostile input.
    for _ in range(_MOST_PASSES):
        spans = _merge(_find(text, home))
        if not spans:
            break
        text = _replace(text, spans)
        for span in spans:
            counts[span.name] = counts.get(span.name, 0) + 1
    return Redacted(text, _checked(counts, strict=strict, argument=argument))


def redact_value(value: object, *, home: str = "", strict: bool = False, argument: str = "value") -> RedactedValue:
    """Return a JSON value without secrets, keys included; see `redact` for the arguments.

    A string under a secret-like key is judged with that key, as in `"password": "..."`.

    Raises:
        StrictModeError: `strict` is set and something was found.
        InvalidArgumentError: The value is nested too deeply to be walked.
    """
    counts: dict[str, int] = {}
    clean = _walk(value, home, counts, argument, 0)
    return RedactedValue(clean, _checked(counts, strict=strict, argument=argument))


def _checked(counts: dict[str, int], *, strict: bool, argument: str) -> dict[str, int]:
    ordered = dict(sorted(counts.items()))
    if strict and ordered:
        raise StrictModeError(argument, ordered)
    return ordered


def _walk(value: object, home: str, counts: dict[str, int], argument: str, depth: int) -> object:
    if depth > _DEEPEST:
        raise InvalidArgumentError(
            argument, f"is nested deeper than {_DEEPEST} levels", "Flatten it, or store a summary."
        )
    if isinstance(value, str):
        return _text(value, home, counts)
    if isinstance(value, Mapping):
        return _walk_mapping(value, home, counts, argument, depth)
    if isinstance(value, (list, tuple)):
        items = [_walk(item, home, counts, argument, depth + 1) for item in value]
        return tuple(items) if isinstance(value, tuple) else items
    return value


def _walk_mapping(
    value: Mapping[object, object], home: str, counts: dict[str, int], argument: str, depth: int
) -> dict[object, object]:
    clean: dict[object, object] = {}
    for key, item in value.items():
        name: object = _text(key, home, counts) if isinstance(key, str) else key
        if name != key:
            name = _unused(str(name), clean)
        if isinstance(key, str) and isinstance(item, str) and _told_by_key(key, item):
            counts[assignment.NAME] = counts.get(assignment.NAME, 0) + 1
            clean[name] = f"[redacted:{assignment.NAME}]"
        else:
            clean[name] = _walk(item, home, counts, argument, depth + 1)
    return clean


def _text(text: str, home: str, counts: dict[str, int]) -> str:
    redacted = redact(text, home=home)
    for name, count in redacted.counts.items():
        counts[name] = counts.get(name, 0) + count
    return redacted.text


def _unused(name: str, taken: Mapping[object, object]) -> str:
    candidate, number = name, 2
    while candidate in taken:
        candidate, number = f"{name}#{number}", number + 1
    return candidate


def _told_by_key(key: str, value: str) -> bool:
    family = assignment.family_of(key)
    return family is not None and assignment.is_secret(value, family, sure=True, labelled=True)


def _find(text: str, home: str) -> Iterator[_Span]:
    yield from _find_visible(text, home)
    if any(mark in text for mark in _INVISIBLE):
        places = [place for place, character in enumerate(text) if character not in _INVISIBLE]
        for span in _find_visible(text.translate(_STRIP_INVISIBLE), home):
            yield span._replace(start=places[span.start], end=places[span.end - 1] + 1)


def _find_visible(text: str, home: str) -> Iterator[_Span]:
    lowered = _lowered(text)
    # A token is one long run: its prefix need only be looked for in those, a small part of most texts.
    runs = " ".join(_LONG_RUN.findall(text))
    for hint, rank, rule in _BY_PREFIX:
        if hint in runs:
            yield from _apply(rule, rank, text)
    for hints, rank, rule in _BY_SHAPE:
        if any(hint in lowered for hint in hints):
            yield from _apply(rule, rank, text)
    for start, end in assignment.find_assigned(text, lowered):
        yield _Span(start, end, len(RULES), assignment.NAME)
    for start, end in homes.find_homes(text, home):
        yield _Span(start, end, len(RULES) + 1, homes.NAME)


def _lowered(text: str) -> str:
    lowered = text.lower()
    # A few letters grow when lowered; positions must stay those of the text.
    return lowered if len(lowered) == len(text) else "".join(c.lower() if c.isascii() else c for c in text)


def _apply(rule: Rule, rank: int, text: str) -> Iterator[_Span]:
    group = "secret" if "secret" in rule.pattern.groupindex else 0
    for match in rule.pattern.finditer(text):
        if _counts_as(rule, match[0], match[group]):
            yield _Span(match.start(group), match.end(group), rank, rule.name)


def _counts_as(rule: Rule, matched: str, secret: str) -> bool:
    if rule.name == PRIVATE_KEY:
        return _has_key_material(matched)
    if rule.name in _NEVER_PLACEHOLDERS:
        return True
    return not is_placeholder(secret) and (not rule.needs_digit or has_digit(secret))


def _has_key_material(block: str) -> bool:
    run = 0
    for character in block:
        run = run + 1 if character.isascii() and (character.isalnum() or character in "+/=") else 0
        if run >= _SHORTEST_KEY_RUN:
            return True
    return False


def _merge(spans: Iterator[_Span]) -> list[_Span]:
    """Return disjoint spans in order; overlapping ones become one, named after the surest rule."""
    merged: list[_Span] = []
    for span in sorted(spans):
        if merged and span.start < merged[-1].end:
            last = merged[-1]
            surest = min(last, span, key=lambda each: each.rank)
            merged[-1] = _Span(last.start, max(last.end, span.end), surest.rank, surest.name)
        else:
            merged.append(span)
    return merged


def _replace(text: str, spans: list[_Span]) -> str:
    parts: list[str] = []
    position = 0
    for span in spans:
        parts.append(text[position : span.start])
        parts.append(homes.REPLACEMENT if span.name == homes.NAME else f"[redacted:{span.name}]")
        position = span.end
    parts.append(text[position:])
    return "".join(parts)
