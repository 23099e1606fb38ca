"""The loop over streams in memory: what it reads, what it writes, and what does not end it."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from typing import Any

import pytest

from support.mcp_tools import TOOLS, done
from upheld.mcp.server import serve
from upheld.mcp.tool import Tool
from upheld.mcp.wire import LONGEST_LINE, encode, iter_lines

PING = b'{"jsonrpc":"2.0","id":"last","method":"ping"}\n'
PONG = {"jsonrpc": "2.0", "id": "last", "result": {}}


def converse(data: bytes, tools: list[Tool] = TOOLS) -> list[Any]:
    out = io.BytesIO()
    serve(tools, name="u", version="1", instructions="", lines_in=io.BytesIO(data), lines_out=out)
    assert out.getvalue().isascii()
    return [json.loads(line) for line in out.getvalue().splitlines()]


NOT_JSON = {
    "a word": b"hello\n",
    "half a message": b'{"jsonrpc":"2.0","id":1,"meth\n',
    "two messages on a line": PING.strip() + PING,
    "invalid UTF-8": b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}\n',
    "UTF-8 surrogates": b'{"jsonrpc":"2.0","id":1,"method":"\xed\xa0\xbd"}\n',
    "UTF-16": '{"jsonrpc":"2.0"}'.encode("utf-16") + b"\n",
    "a byte order mark": b"\xef\xbb\xbf" + PING,
    "NUL": b"\x00\n",
    "a raw control character in a string": b'{"jsonrpc":"2.0","id":1,"method":"a\x01"}\n',
    "single quotes": b"{'jsonrpc':'2.0'}\n",
    "NaN": b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}\n',
    "a number of 5000 digits": b"9" * 5000 + b"\n",
    "nesting without end": b"[" * 200_000 + b"\n",
}


@pytest.mark.parametrize("line", NOT_JSON.values(), ids=NOT_JSON)
def test_a_line_that_is_no_json_gets_a_parse_error_and_the_next_is_answered(line: bytes) -> None:
    first, last = converse(line + PING)
    assert (first["id"], first["error"]["code"]) == (None, -32700)
    assert last == PONG


def test_empty_lines_and_carriage_returns_mean_nothing() -> None:
    assert converse(b"\n\r\n   \n" + PING.replace(b"\n", b"\r\n")) == [PONG]


def test_a_last_line_without_its_end_is_answered() -> None:
    assert converse(PING.rstrip()) == [PONG]


def test_no_input_is_a_clean_end() -> None:
    assert converse(b"") == []


@pytest.mark.parametrize("surplus", [1, 70_000, LONGEST_LINE])
def test_a_line_beyond_the_limit_is_refused_and_the_next_is_answered(surplus: int) -> None:
    first, last = converse(b'"' + b"x" * (LONGEST_LINE + surplus) + b"\n" + PING)
    assert (first["id"], first["error"]["code"]) == (None, -32600)
    assert last == PONG


def test_a_line_of_exactly_the_limit_is_read() -> None:
    padding = b" " * (LONGEST_LINE - len(PING))
    assert converse(padding + PING + PING) == [PONG, PONG]


def test_a_line_beyond_the_limit_that_never_ends_is_one_error() -> None:
    (only,) = converse(b"x" * (LONGEST_LINE + 5))
    assert only["error"]["code"] == -32600


def test_a_long_line_is_never_held_whole() -> None:
    class Endless(io.RawIOBase):
        sizes: list[int] = []  # noqa: RUF012 - one test, one list

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            self.sizes.append(len(buffer))
            buffer[:] = b"x" * len(buffer)
            return len(buffer) if sum(self.sizes) < 5 * LONGEST_LINE else 0

    assert list(iter_lines(io.BufferedReader(Endless()))) == [None]
    assert max(Endless.sizes) <= 2**20


def test_what_json_cannot_hold_is_an_error_of_that_call_alone() -> None:
    call = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"answer_no_json"}}\n'
    first, last = converse(call + PING)
    assert (first["id"], first["error"]["code"]) == (1, -32603)
    assert last == PONG


def test_what_a_render_function_lets_through_is_caught_at_the_end() -> None:
    out = io.BytesIO()
    line = b'[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"answer_no_json"}},'
    serve(
        TOOLS,
        name="u",
        version="1",
        instructions="",
        lines_in=io.BytesIO(line + PING.rstrip() + b"]\n"),
        lines_out=out,
        render=lambda envelope: f"ok: {envelope['ok']}",
    )
    first, last = json.loads(out.getvalue())
    assert (first["id"], first["error"]["code"]) == (1, -32603)
    assert last == PONG


def test_a_bug_is_reported_without_its_words(capsys: pytest.CaptureFixture[str]) -> None:
    converse(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"break"}}\n')
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("upheld mcp: bug: RuntimeError at mcp_tools.py:")
    assert "secret" not in printed.err


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("\ud83d", "\ufffd"),
        ("a\ude80b\ud83d", "a\ufffdb\ufffd"),
        ("\ud83d\ude80", "🚀"),  # two halves that belong together
        ("🚀", "🚀"),
        ("\u2028\x7f\x00é路", "\u2028\x7f\x00é路"),
        ("\\ud83d", "\\ud83d"),
    ],
)
def test_every_answer_is_ascii_that_a_strict_reader_accepts(text: str, sent: str) -> None:
    line = encode({"text": text})
    assert line.isascii()
    assert line.count(b"\n") == 1
    assert json.loads(line) == {"text": sent}
    json.loads(line)["text"].encode("utf-8")


def test_the_handlers_of_signals_are_put_back() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    converse(PING)
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before


def test_a_signal_during_a_call_ends_the_loop_after_its_answer() -> None:
    def call(_arguments: object, _caller: object) -> dict[str, Any]:
        os.kill(os.getpid(), signal.SIGTERM)
        return done()

    slow = Tool(name="slow", title="", description="", input_schema={}, output_schema={}, annotations={}, call=call)
    line = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}\n'
    (only,) = converse(line + PING, [slow])
    assert only["result"]["structuredContent"]["ok"] is True


def test_the_loop_imports_nothing_slow() -> None:
    code = "import sys, upheld.mcp.server, upheld.mcp.stdio; print(*sys.modules)"
    plain = "import sys, signal; print(*sys.modules)"
    run = [sys.executable, "-I", "-c"]
    loaded = set(subprocess.check_output([*run, code], text=True).split())
    bare = set(subprocess.check_output([*run, plain], text=True).split())
    assert {name for name in loaded - bare if not name.startswith("upheld")} <= {"__future__", "_json"}
