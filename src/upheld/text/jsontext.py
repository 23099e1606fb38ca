"""JSON in and out without the `json` package.

The hook reads a payload and writes an answer in a process that may not afford `json`: importing it
pulls in `re` and costs more than the interpreter's own start. Its C halves in `_json` do the work
here too, so what is read and written is the same; `json` is the reference in the tests.
"""

from __future__ import annotations

import _json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SPACE = " \t\n\r"


class _Scanning:
    """The settings that the C scanner reads from its context: strict JSON, plain Python values."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    memo: dict[str, str] = {}  # noqa: RUF012 - the scanner's own scratch space

    @staticmethod
    def parse_constant(name: str) -> Any:
        """Refuse NaN and Infinity, which are not JSON."""
        raise ValueError(name)


_scan = _json.make_scanner(_Scanning)  # type: ignore[arg-type]  # reads attributes, whatever holds them


def _default(value: object) -> Any:
    raise TypeError(type(value).__name__)


def _encoder(*, sort_keys: bool, ascii_only: bool) -> Any:
    encode = _json.encode_basestring_ascii if ascii_only else _json.encode_basestring
    # By position: markers, default, encoder, indent, key and item separator, flags. No markers: they would outlive
    # a call that failed and refuse the next value at the same address; a cycle ends as a RecursionError.
    return _json.make_encoder(None, _default, encode, None, ":", ",", sort_keys, False, False)


_readable = _encoder(sort_keys=False, ascii_only=False)
_canonical = _encoder(sort_keys=True, ascii_only=False)
_plain_ascii = _encoder(sort_keys=False, ascii_only=True)


def loads(text: str) -> Any:
    """Return the value of one JSON text.

    Raises:
        ValueError: The text is not exactly one JSON value, or nests too deep to read.
    """
    start = len(text) - len(text.lstrip(_SPACE))
    try:
        value, end = _scan(text, start)
    except (StopIteration, SystemError):
        # The C scanner takes its exception from `json.decoder`, and has none to raise where that is not loaded.
        raise ValueError("no JSON value") from None
    except RecursionError:
        raise ValueError("JSON nested too deep") from None
    if text[end:].strip(_SPACE):
        raise ValueError("text after the JSON value")
    return value


def dumps(value: object) -> str:
    """Return compact JSON in insertion order, non-ASCII text kept as it is."""
    return _encode(_readable, value)


def dumps_ascii(value: object) -> str:
    """Return compact JSON that is pure ASCII: lone surrogates survive any encoding."""
    return _encode(_plain_ascii, value)


def dumps_canonical(value: object) -> str:
    """Return the one JSON text of a value: keys sorted, compact. Hashes are taken over this form."""
    return _encode(_canonical, value)


def _encode(encoder: Any, value: object) -> str:
    try:
        return "".join(encoder(value, 0))
    except RecursionError:
        raise ValueError("circular value, or one nested too deep") from None
