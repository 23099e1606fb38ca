"""The one safe way to show text that came from somewhere else.

A plain piece of text is shown as it is. Anything else stands as a JSON string in double quotes: when it
has a line break, a control, bidi or zero-width character, an angle bracket or a fence that could close
what surrounds it, framing that reads like a turn or an instruction, or begins with a quote itself. So a
value never leaves its line, a reader can always tell where it ends, and `unquote` gives the text back
unchanged.
"""

from __future__ import annotations

from upheld.text import jsontext

_FRAMING = (
    "ignore previous", "ignore all", "ignore the above", "ignore your", "disregard", "forget everything",
    "forget previous", "forget all", "system:", "assistant:", "human:", "user:", "developer:", "system prompt",
    "you must now", "you are now", "new instructions", "important instruction", "override", "### ", "## ", "[inst",
    "忽略之前", "忽略以上", "忽略先前", "无视", "系统提示", "新的指令",
)  # fmt: skip
"""Lower-case pieces that make text read like an instruction; such text is quoted, not removed."""

_ESCAPED = "<>`\u2028\u2029\ufeff"


def is_plain(text: str) -> bool:
    """Say whether a text can stand on one line without quotes."""
    if not text or text != text.strip() or text[0] in "\"'-#>|[":
        return False
    if any(_must_escape(character) for character in text):
        return False
    lower = text.lower()
    return not any(piece in lower for piece in _FRAMING)


def quote(text: str) -> str:
    """Return a one-line form of any text: itself if plain, else a JSON string with everything visible."""
    return text if is_plain(text) else quote_always(text)


def quote_word(text: str) -> str:
    """Return the form for a place among other words: quoted as soon as it has a space or ends like a separator."""
    return text if is_plain(text) and " " not in text and text[-1] not in ",;:" else quote_always(text)


def quote_always(text: str) -> str:
    """Return a JSON string in which every character that could mislead is escaped."""
    encoded = jsontext.dumps(text)
    if not any(_must_escape(character) for character in encoded):
        return encoded
    return "".join(_escape(character) if _must_escape(character) else character for character in encoded)


def unquote(shown: str) -> str:
    """Return the text that `quote` was given.

    Raises:
        ValueError: It begins with a double quote and is no JSON string.
    """
    if not shown.startswith('"'):
        return shown
    text = jsontext.loads(shown)
    if not isinstance(text, str):
        raise ValueError("not a quoted text")
    return text


def shorten(text: str, limit: int) -> str:
    """Return at most `limit` code points, the cut shown as `...`."""
    return text if len(text) <= limit else text[: limit - 3].rstrip() + "..."


def _must_escape(character: str) -> bool:
    if character in _ESCAPED:
        return True
    # Unprintable covers control, format (bidi, zero-width), surrogate, private and unassigned characters.
    return not character.isprintable()


def _escape(character: str) -> str:
    code = ord(character)
    if code > 0xFFFF:
        code -= 0x10000
        return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
    return f"\\u{code:04x}"
