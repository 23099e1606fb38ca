"""Whatever comes in, the loop answers each request once and reaches the end."""

from __future__ import annotations

import io
import json
from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from support.mcp_tools import TOOLS
from upheld.mcp.server import serve

METHODS = [
    "initialize",
    "ping",
    "tools/list",
    "tools/call",
    "server/discover",
    "notifications/cancelled",
    "logging/setLevel",
    "x",
]
KEYS = ["protocolVersion", "clientInfo", "name", "arguments", "cursor", "_meta", "callId", "sessionId"]
TEXTS = st.text(st.characters(), max_size=8) | st.sampled_from([tool.name for tool in TOOLS])
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | TEXTS, inner, max_size=3),
    max_leaves=8,
)
PARAMS = st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=4) | VALUES
IDS = st.integers() | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
MESSAGES = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "method": st.sampled_from(METHODS) | TEXTS},
    optional={"id": IDS, "params": PARAMS},
)


def converse(data: bytes) -> list[Any]:
    out = io.BytesIO()
    bugs: list[Exception] = []
    serve(
        TOOLS,
        name="u",
        version="1",
        instructions="",
        lines_in=io.BytesIO(data),
        lines_out=out,
        report_bug=bugs.append,
    )
    assert {type(bug) for bug in bugs} <= {RuntimeError, TypeError}, "only the tools that are made to fail"
    return [json.loads(line) for line in out.getvalue().splitlines()]


def key(request_id: object) -> tuple[str, object]:
    """Return an id so that 1 and "1" are two."""
    return type(request_id).__name__, request_id


@given(st.lists(st.binary(max_size=60), max_size=8))
def test_no_bytes_end_the_loop(lines: list[bytes]) -> None:
    ping = b'\n{"jsonrpc":"2.0","id":"last","method":"ping"}\n'
    assert converse(b"\n".join(lines) + ping)[-1] == {"jsonrpc": "2.0", "id": "last", "result": {}}


@given(VALUES)
def test_no_json_value_ends_the_loop(value: object) -> None:
    for answer in converse(json.dumps(value).encode() + b"\n"):
        parts = answer if isinstance(answer, list) else [answer]
        assert all("error" in part for part in parts)


@given(st.lists(MESSAGES | st.lists(MESSAGES, min_size=1, max_size=4), max_size=8))
def test_each_request_gets_exactly_one_answer_and_nothing_else_gets_one(lines: list[Any]) -> None:
    answers = converse(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    flat = [part for line in lines for part in (line if isinstance(line, list) else [line])]
    asked = Counter(key(message["id"]) for message in flat if "id" in message)
    got = Counter(
        key(part["id"])
        for answer in answers
        for part in (answer if isinstance(answer, list) else [answer])
        if ("result" in part) != ("error" in part)
    )
    assert got == asked
