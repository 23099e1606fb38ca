"""Cut the piece of a text that a search found, from the text itself, in code points."""

from __future__ import annotations

from unicodedata import combining, normalize

_BEFORE = 30


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
    start = max(0, min(at - _BEFORE, len(text) - length))
    end = min(len(text), start + length)
    while start > 0 and combining(text[start]):
        start -= 1
    while end < len(text) and combining(text[end]):
        end += 1
    return ("..." if start else "") + text[start:end] + ("..." if end < len(text) else "")


def _fold(text: str) -> tuple[str, list[int]]:
    """Return a text without case and width, and for each of its characters the place where it came from."""
    folded: list[str] = []
    places: list[int] = []
    for at, character in enumerate(text):
        form = normalize("NFKC", character).lower()
        folded.append(form)
        places += [at] * len(form)
    return "".join(folded), places
