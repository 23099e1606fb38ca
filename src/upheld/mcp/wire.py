"""JSON-RPC as lines: bounded reading, decoding, and answers that every reader can decode.

What the messages mean is in `conversation.py`.
"""

from __future__ import annotations

from upheld.text import jsontext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, BinaryIO

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
UNSUPPORTED_PROTOCOL_VERSION = -32022

LONGEST_LINE = 10_000_000
_CHUNK = 65_536


class ProtocolError(Exception):
    """A message that gets a JSON-RPC error for an answer.

    Args:
        code: The JSON-RPC error code.
        message: What was wrong and what would be right; names nothing of this machine.
        data: What a program needs to do better, where the protocol defines it.
    """

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class LineTooLongError(ProtocolError):
    """A line beyond the limit; the next line is read as if it had not been there."""

    def __init__(self) -> None:
        super().__init__(INVALID_REQUEST, f"A message may have at most {LONGEST_LINE} bytes.")


class NotJsonError(ProtocolError):
    """A line that is no JSON text in UTF-8."""

    def __init__(self) -> None:
        super().__init__(PARSE_ERROR, "The line is not one JSON text in UTF-8.")


class BugError(ProtocolError):
    """What the other side hears of a bug: that it is ours, and nothing of its inside."""

    def __init__(self) -> None:
        super().__init__(INTERNAL_ERROR, "Upheld failed at this request; the next ones are not affected.")


def iter_lines(stream: BinaryIO) -> Iterator[bytes | None]:
    """Yield each line of a stream, `None` in place of one that is too long, until its end.

    At most `LONGEST_LINE` bytes and one chunk are held, however long a line is.
    """
    while line := stream.readline(LONGEST_LINE + 1):
        if len(line) <= LONGEST_LINE:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(_CHUNK)
        yield None


def decode(line: bytes | None) -> Any:
    """Return the message of one line.

    Raises:
        LineTooLongError: The line was `None`.
        NotJsonError: It is no JSON text.
    """
    if line is None:
        raise LineTooLongError
    try:
        return jsontext.loads(line.decode("utf-8"))
    except ValueError:
        raise NotJsonError from None


def encode(answer: object) -> bytes:
    r"""Return one line of pure ASCII.

    Some readers end a line at U+2028, so nothing but ASCII is sent. Strict readers refuse the whole line
    for half a surrogate pair, and their call would never be answered, so such halves become U+FFFD.

    Raises:
        ValueError, TypeError, RecursionError: The value has no JSON text.
    """
    text = jsontext.dumps_ascii(answer)
    if "\\ud" in text:
        whole = jsontext.dumps(answer).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        text = jsontext.dumps_ascii(jsontext.loads(whole))
    return text.encode("ascii") + b"\n"


def error_answer(request_id: str | int | None, error: ProtocolError) -> dict[str, Any]:
    """Return the answer that reports an error; the id is `None` where the request's own is unknown."""
    body: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    return {"jsonrpc": "2.0", "id": request_id, "error": body}


def quoted(name: str) -> str:
    """Return a name that came from outside for use in a message: short, and printable ASCII."""
    return ascii(name[:60])
