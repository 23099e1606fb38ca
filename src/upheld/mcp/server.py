"""The loop: a line in, at most one line out, until the other side or a signal ends it.

One bad message never ends it. The messages are understood in `conversation.py`.
"""

from __future__ import annotations

import os
import signal
import sys

from upheld.mcp.conversation import Conversation, render_json
from upheld.mcp.wire import BugError, ProtocolError, decode, encode, error_answer, iter_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import FrameType
    from typing import Any, BinaryIO, Self

    from upheld.mcp.tool import Tool


class _StoppedError(BaseException):
    """The process was asked to end while it waited; no `except Exception` may stop it."""


class _Ending:
    """Ends the loop on SIGTERM or SIGINT: at once while it waits, after the answer while it works.

    A second signal ends it at once. Handlers can only be set in the main thread; elsewhere the signals
    keep their meaning.
    """

    def __init__(self) -> None:
        self.waiting = False
        self.asked = False
        self._before: list[tuple[int, Any]] = []

    def __enter__(self) -> Self:
        try:
            for number in (signal.SIGTERM, signal.SIGINT):
                self._before.append((number, signal.signal(number, self._stop)))
        except ValueError:
            self._before.clear()
        return self

    def __exit__(self, *_exc: object) -> None:
        for number, handler in self._before:
            signal.signal(number, handler)

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        if self.waiting or self.asked:
            raise _StoppedError
        self.asked = True


def report_to_stderr(bug: Exception) -> None:
    """Print where a bug is, without its message: that may hold a user's text."""
    place = bug.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    file = "" if place is None else os.path.basename(place.tb_frame.f_code.co_filename)
    line = 0 if place is None else place.tb_lineno
    print(f"upheld mcp: bug: {type(bug).__name__} at {file}:{line}", file=sys.stderr)  # noqa: T201 - the host keeps standard error


def serve(
    tools: Sequence[Tool],
    *,
    name: str,
    version: str,
    instructions: str,
    lines_in: BinaryIO,
    lines_out: BinaryIO,
    render: Callable[[Mapping[str, Any]], str] = render_json,
    session: str | None = None,
    report_bug: Callable[[Exception], None] = report_to_stderr,
) -> None:
    """Answer MCP messages until the input ends, the output is closed, or SIGTERM or SIGINT comes.

    Args:
        tools: The tools, in the order in which they are listed.
        name: The server's name.
        version: The server's version.
        instructions: What every model should know about the server; the first 240 characters suffice.
        lines_in: One JSON-RPC message a line; see `upheld.mcp.stdio.take_stdio`.
        lines_out: Gets the answers, one a line, each in one write.
        render: Turns an envelope into the text that the model reads.
        session: The session of this process, where the host names it in the environment.
        report_bug: Is told every exception that is no refusal; may not raise.
    """
    conversation = Conversation(
        tools,
        name=name,
        version=version,
        instructions=instructions,
        render=render,
        session=session,
        report_bug=report_bug,
    )
    try:
        with _Ending() as ending:
            _loop(conversation, ending, lines_in, lines_out, report_bug)
    except (_StoppedError, BrokenPipeError, ConnectionResetError):
        return


def _loop(
    conversation: Conversation,
    ending: _Ending,
    lines_in: BinaryIO,
    lines_out: BinaryIO,
    report_bug: Callable[[Exception], None],
) -> None:
    lines = iter_lines(lines_in)
    while not ending.asked:
        ending.waiting = True
        line = next(lines, b"")
        ending.waiting = False
        if line == b"":
            return
        if line is None or line.strip():
            _write(lines_out, _answer_line(conversation, line, report_bug))


def _answer_line(conversation: Conversation, line: bytes | None, report_bug: Callable[[Exception], None]) -> bytes:
    try:
        message = decode(line)
    except ProtocolError as error:
        return encode(error_answer(None, error))
    answer = conversation.answer(message)
    if answer is None:
        return b""
    if not isinstance(answer, list):
        return _encode_one(answer, report_bug)
    return b"[" + b",".join(_encode_one(part, report_bug).rstrip() for part in answer) + b"]\n"


def _encode_one(answer: dict[str, Any], report_bug: Callable[[Exception], None]) -> bytes:
    """Return one answer as a line; what a tool gave that is no JSON is a bug of that call alone."""
    try:
        return encode(answer)
    except (ValueError, TypeError, RecursionError) as bug:
        report_bug(bug)
        return encode(error_answer(answer["id"], BugError()))


def _write(lines_out: BinaryIO, data: bytes) -> None:
    """Write all of it; an unbuffered stream may take less at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[lines_out.write(rest) :]
    lines_out.flush()
