"""Cut the piece of a text that a search found, from the text itself: whole characters as a reader sees them.

A character with its accents, an emoji with its skin or its joiners, is one *cluster* and never cut in two.
"""

from __future__ import annotations

from unicodedata import category, normalize

_BEFORE = 30
_MAX_CLUSTER = 16
"""Code points of one cluster that are kept together: more is no writing but an attack on the bound."""

_JOINER = "\u200d"


def cut_snippet(text: str, pieces: list[str], length: int) -> str | None:
    """Return the part of a text around the first of the pieces that it holds, None if it holds none.

    Args:
        text: Where to look; case and width of characters do not matter.
        pieces: What to look for, most wanted first.
        length: The most code points of the text that are returned; `...` says that there is more.
    """
    folded, places = _fold(text)
    for piece in pieces:
        wanted = _fold(piece)[0]
        at = folded.find(wanted) if wanted else -1
        if at >= 0:
            return _cut(text, places[at], length)
    return None


def _cut(text: str, at: int, length: int) -> str:
    start = max(0, min(at - min(_BEFORE, length // 4), len(text) - length))
    end = min(len(text), start + length)
    # Inwards, so that the bound holds; but not past the match, nor for ever.
    while start < at and _continues(text, start):
        start += 1
    for shorter in range(end, max(end - _MAX_CLUSTER, start), -1):
        if not _continues(text, shorter):
            end = shorter
            break
    return ("..." if start else "") + text[start:end] + ("..." if end < len(text) else "")


def _continues(text: str, at: int) -> bool:
    """Say whether the code point at a place belongs to the cluster of the one before it."""
    if not 0 < at < len(text):
        return False
    code = ord(text[at])
    if category(text[at])[0] == "M" or text[at] == _JOINER or text[at - 1] == _JOINER or 0x1F3FB <= code <= 0x1F3FF:
        return True
    if _is_flag(text[at]) and _is_flag(text[at - 1]):  # two letters make one flag
        first = at
        while first > 0 and _is_flag(text[first - 1]):
            first -= 1
        return (at - first) % 2 == 1
    return False


def _is_flag(character: str) -> bool:
    return 0x1F1E6 <= ord(character) <= 0x1F1FF


def _fold(text: str) -> tuple[str, list[int]]:
    """Return a text without case and width, and for each of its characters the place where it came from."""
    folded: list[str] = []
    places: list[int] = []
    start = 0
    for end in range(1, len(text) + 1):
        # An accent makes one character with the letter before it.
        if end < len(text) and category(text[end])[0] == "M" and end - start < _MAX_CLUSTER:
            continue
        form = normalize("NFKC", text[start:end]).lower()
        folded.append(form)
        places += [start] * len(form)
        start = end
    return "".join(folded), places
