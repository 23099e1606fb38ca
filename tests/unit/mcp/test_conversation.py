"""Each line of the table is one message and the answer that it gets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.mcp_tools import TOOLS
from upheld.mcp.conversation import LARGEST_BATCH, Conversation, render_json

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
CLIENT = "io.modelcontextprotocol/clientInfo"
STATELESS = {VERSION: "2026-07-28", CAPABILITIES: {}}


@pytest.fixture
def bugs() -> list[Exception]:
    return []


@pytest.fixture
def conversation(bugs: list[Exception]) -> Conversation:
    return Conversation(
        TOOLS,
        name="upheld",
        version="1.2",
        instructions="Log what you find.",
        render=render_json,
        session=None,
        report_bug=bugs.append,
    )


def request(method: object, params: object = None, request_id: object = 1, **more: object) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": request_id, "method": method, **more}
    return message if params is None else {**message, "params": params}


REFUSED: dict[str, tuple[object, object, int]] = {
    "no object": ("tools/list", None, -32600),
    "a number": (7, None, -32600),
    "nothing": (None, None, -32600),
    "an empty object": ({}, None, -32600),
    "no version": ({"id": 1, "method": "ping"}, 1, -32600),
    "another version": (request("ping", jsonrpc="1.0"), 1, -32600),
    "no method": ({"jsonrpc": "2.0", "id": "a"}, "a", -32600),
    "a method that is no string": (request(["ping"]), 1, -32600),
    "no id and no method": ({"jsonrpc": "2.0"}, None, -32600),
    "an id that is null": (request("ping", request_id=None), None, -32600),
    "an id that is true": (request("ping", request_id=True), None, -32600),
    "an id with a fraction": (request("ping", request_id=1.5), None, -32600),
    "an id that is a list": (request("ping", request_id=[1]), None, -32600),
    "an id with half a surrogate pair": (request("ping", request_id="\ud83d"), None, -32600),
    "params that are a list": (request("ping", [1]), 1, -32602),
    "params that are a string": (request("tools/list", "x"), 1, -32602),
    "an unknown method": (request("resources/list"), 1, -32601),
    "logging, which we do not declare": (request("logging/setLevel", {"level": "info"}), 1, -32601),
    "a notification's name with an id": (request("notifications/initialized"), 1, -32601),
    "no protocol version": (request("initialize", {}), 1, -32602),
    "a protocol version that is a number": (request("initialize", {"protocolVersion": 1}), 1, -32602),
    "an unknown cursor": (request("tools/list", {"cursor": "abc"}), 1, -32602),
    "no tool name": (request("tools/call", {}), 1, -32602),
    "a tool name that is a list": (request("tools/call", {"name": []}), 1, -32602),
    "an unknown tool": (request("tools/call", {"name": "\n\ud83d" * 999}), 1, -32602),
    "arguments that are a list": (request("tools/call", {"name": "echo", "arguments": []}), 1, -32602),
    "arguments that are a string": (request("tools/call", {"name": "echo", "arguments": "{}"}), 1, -32602),
    "discovery without an envelope": (request("server/discover"), 1, -32602),
    "an envelope without capabilities": (request("ping", {"_meta": {VERSION: "2026-07-28"}}), 1, -32602),
    "an envelope of another version": (
        request("tools/list", {"_meta": {VERSION: "2099-01-01", CAPABILITIES: {}}}),
        1,
        -32022,
    ),
    "an empty batch": ([], None, -32600),
    "a batch beyond the limit": ([request("ping")] * (LARGEST_BATCH + 1), None, -32600),
}


@pytest.mark.parametrize(("message", "request_id", "code"), REFUSED.values(), ids=REFUSED)
def test_a_bad_message_gets_one_error_with_its_id_and_code(
    conversation: Conversation, bugs: list[Exception], message: object, request_id: object, code: int
) -> None:
    answer = conversation.answer(message)
    assert answer["jsonrpc"] == "2.0"
    assert answer["id"] == request_id
    assert answer["error"]["code"] == code
    assert len(answer["error"]["message"]) < 500
    assert answer["error"]["message"].isprintable()
    assert bugs == []


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "break"}},
        {"jsonrpc": "2.0", "method": "no/such", "params": [1]},
        {"method": "ping"},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}},
        [{"jsonrpc": "2.0", "method": "notifications/initialized"}],
    ],
)
def test_notifications_and_answers_get_no_answer(
    conversation: Conversation, bugs: list[Exception], message: object
) -> None:
    assert conversation.answer(message) is None
    assert bugs == []


@pytest.mark.parametrize(
    ("asked", "agreed"),
    [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),  # no handshake leads there
        ("1999-01-01", "2025-11-25"),
        ("", "2025-11-25"),
    ],
)
def test_initialize_agrees_on_a_version_we_both_speak(conversation: Conversation, asked: str, agreed: str) -> None:
    answer = conversation.answer(request("initialize", {"protocolVersion": asked, "clientInfo": "odd"}))
    assert answer["result"] == {
        "protocolVersion": agreed,
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "upheld", "version": "1.2"},
        "instructions": "Log what you find.",
    }


@pytest.mark.parametrize("params", [None, {}, {"cursor": None}, {"_meta": {"progressToken": 1}}, {"_meta": 5}])
def test_tools_are_listed_before_initialize_too(conversation: Conversation, params: object) -> None:
    answer = conversation.answer(request("tools/list", params))
    assert answer["result"] == {"tools": [tool.as_listed() for tool in TOOLS]}


@pytest.mark.parametrize("request_id", [0, -1, 2**70, "", "ü", "1"])
def test_an_id_comes_back_as_it_was(conversation: Conversation, request_id: object) -> None:
    answer = conversation.answer(request("ping", request_id=request_id))
    assert answer == {"jsonrpc": "2.0", "id": request_id, "result": {}}


@pytest.mark.parametrize("arguments", [{}, {"arguments": None}, {"arguments": {}}])
def test_a_call_without_arguments_is_a_call_with_none(conversation: Conversation, arguments: dict[str, object]) -> None:
    answer = conversation.answer(request("tools/call", {"name": "echo", **arguments}))
    assert answer["result"]["structuredContent"]["data"]["arguments"] == {}
    assert answer["result"]["isError"] is False


def test_the_text_is_the_envelope_in_readable_json(conversation: Conversation) -> None:
    answer = conversation.answer(request("tools/call", {"name": "echo", "arguments": {"a": "路"}}))
    assert answer["result"]["content"] == [
        {
            "type": "text",
            "text": '{"ok":true,"data":{"arguments":{"a":"路"},"caller":["","",null,null,null]},'
            '"warnings":[],"error":null}',
        }
    ]


def test_a_refusal_is_a_result_with_is_error(conversation: Conversation) -> None:
    result = conversation.answer(request("tools/call", {"name": "test_error_handling"}))["result"]
    assert result["isError"] is True
    assert result["structuredContent"]["error"]["code"] == "INVALID_ARGUMENT"


def test_a_bug_is_reported_to_us_and_hidden_from_the_client(conversation: Conversation, bugs: list[Exception]) -> None:
    answer = conversation.answer(request("tools/call", {"name": "break"}))
    assert answer["error"] == {
        "code": -32603,
        "message": "Upheld failed at this request; the next ones are not affected.",
    }
    assert [str(bug) for bug in bugs] == ["the secret of /home/somebody"]


def test_a_batch_gets_one_answer_for_each_request(conversation: Conversation) -> None:
    notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    answers = conversation.answer([request("ping"), notification, 5, request("no", request_id="b")])
    assert [(answer["id"], "result" in answer) for answer in answers] == [
        (1, True),
        (None, False),
        ("b", False),
    ]


def caller_of(conversation: Conversation, meta: Mapping[str, object]) -> object:
    answer = conversation.answer(request("tools/call", {"name": "echo", "_meta": meta}))
    return answer["result"]["structuredContent"]["data"]["caller"]


def test_codex_names_session_thread_and_call(conversation: Conversation) -> None:
    info = {"name": "codex-mcp-client", "title": "Codex", "version": "0.171.0"}
    conversation.answer(request("initialize", {"protocolVersion": "2025-06-18", "clientInfo": info}))
    meta = {"callId": "call_7", "sessionId": "s-1", "threadId": "t-1", "progressToken": 3}
    assert caller_of(conversation, meta) == ["codex-mcp-client", "0.171.0", "s-1", "t-1", "call_7"]


def test_claude_code_names_its_tool_use(conversation: Conversation) -> None:
    assert caller_of(conversation, {"claudecode/toolUseId": "toolu_1"})[4] == "toolu_1"  # type: ignore[index]


@pytest.mark.parametrize("value", [7, None, "", "x" * 201, "a\nb", "\ud83d", ["s"], {}])
def test_what_is_no_name_stays_unknown(conversation: Conversation, value: object) -> None:
    meta = {"callId": value, "sessionId": value, "threadId": value}
    assert caller_of(conversation, meta) == ["", "", None, None, None]


def test_a_stateless_request_names_its_client_itself(conversation: Conversation) -> None:
    meta = {**STATELESS, CLIENT: {"name": "claude-code", "version": "2.1"}}
    assert caller_of(conversation, meta) == ["claude-code", "2.1", None, None, None]


@pytest.mark.parametrize("method", ["server/discover", "tools/list", "ping"])
def test_a_stateless_answer_says_who_answers_and_how_long_it_holds(conversation: Conversation, method: str) -> None:
    result = conversation.answer(request(method, {"_meta": STATELESS}))["result"]
    assert result["resultType"] == "complete"
    assert result["_meta"] == {"io.modelcontextprotocol/serverInfo": {"name": "upheld", "version": "1.2"}}
    assert result["ttlMs"] > 0
    assert result["cacheScope"] == "private"


def test_a_refused_version_names_those_we_speak(conversation: Conversation) -> None:
    meta = {VERSION: "2099-01-01" + "x" * 999, CAPABILITIES: {}}
    data = conversation.answer(request("server/discover", {"_meta": meta}))["error"]["data"]
    assert "2026-07-28" in data["supported"]
    assert data["requested"].startswith("2099-01-01")
    assert len(data["requested"]) == 60
