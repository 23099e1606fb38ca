"""The official SDK's own client against our server, over real pipes, in both dialects."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from support.mcp_tools import ENVELOPE, TOOLS
from upheld.mcp.conversation import HANDSHAKE_VERSIONS, STATELESS_VERSIONS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

SUPPORT = os.path.join(os.path.dirname(__file__), "..", "..", "support")
MODES = ["legacy", "auto", *STATELESS_VERSIONS]


def talk(mode: str, ask: Callable[[Client], Awaitable[Any]], **env: str) -> Any:
    """Return what `ask` makes of a connected client."""

    async def main() -> Any:
        example = os.path.join(SUPPORT, "mcp_example.py")
        server = StdioServerParameters(command=sys.executable, args=["-I", example], env=env)
        async with Client(server, mode=mode) as client:
            return await ask(client)

    return anyio.run(main)


def test_we_speak_every_version_that_the_sdk_knows() -> None:
    assert HANDSHAKE_VERSIONS == HANDSHAKE_PROTOCOL_VERSIONS
    assert STATELESS_VERSIONS == MODERN_PROTOCOL_VERSIONS


@pytest.mark.parametrize(("mode", "version"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
def test_the_client_agrees_with_us_on_a_version(mode: str, version: str) -> None:
    async def ask(client: Client) -> object:
        return client.protocol_version, client.server_info, client.instructions

    agreed, server, instructions = talk(mode, ask)
    assert agreed == version
    assert (server.name, server.version) == ("upheld-example", "1.0")
    assert instructions == "Tools for tests."


@pytest.mark.parametrize("mode", MODES)
def test_the_client_lists_the_tools_as_we_wrote_them(mode: str) -> None:
    async def ask(client: Client) -> object:
        return await client.list_tools()

    listed = talk(mode, ask)
    assert listed.next_cursor is None
    as_sent = [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in listed.tools]
    assert as_sent == [tool.as_listed() for tool in TOOLS]


@pytest.mark.parametrize("mode", MODES)
def test_the_client_gets_the_envelope_twice_and_finds_it_valid(mode: str) -> None:
    async def ask(client: Client) -> object:
        await client.list_tools()  # from then on the client checks answers against `outputSchema`
        return await client.call_tool("echo", {"claim": "Straße 路 🚀 \u2028"})

    answered = talk(mode, ask)
    assert answered.is_error is False
    assert answered.structured_content["data"]["arguments"] == {"claim": "Straße 路 🚀 \u2028"}
    assert "Straße 路 🚀" in answered.content[0].text
    assert list(answered.structured_content) == ENVELOPE["required"]


@pytest.mark.parametrize("mode", MODES)
def test_half_a_surrogate_pair_arrives_as_the_replacement_character(mode: str) -> None:
    async def ask(client: Client) -> object:
        return await client.call_tool("half", {})

    answered = talk(mode, ask)
    assert answered.structured_content["data"] == {"text": "a\ufffdb🚀", "\ufffd": ["\ufffd\ufffd"]}
    assert '"text":"a\ufffdb🚀"' in answered.content[0].text


@pytest.mark.parametrize("mode", MODES)
def test_a_refusal_is_an_answer_that_the_model_sees(mode: str) -> None:
    async def ask(client: Client) -> object:
        await client.list_tools()
        return await client.call_tool("test_error_handling", {})

    answered = talk(mode, ask)
    assert answered.is_error is True
    assert answered.structured_content["error"]["code"] == "INVALID_ARGUMENT"
    assert "intentionally" in answered.content[0].text


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("tool", "code", "words"),
    [
        ("no_such_tool", -32602, "There is no tool 'no_such_tool'"),
        ("break", -32603, "Upheld failed at this request"),
        ("answer_no_json", -32603, "Upheld failed at this request"),
    ],
)
def test_a_call_that_cannot_be_answered_is_a_protocol_error(mode: str, tool: str, code: int, words: str) -> None:
    async def ask(client: Client) -> object:
        with pytest.raises(MCPError) as caught:
            await client.call_tool(tool, {})
        await client.call_tool("test_simple_text", {})  # and the server goes on
        return caught.value.error

    error = talk(mode, ask)
    assert error.code == code
    assert words in error.message


@pytest.mark.parametrize("mode", MODES)
def test_the_caller_is_who_the_client_says_it_is(mode: str) -> None:
    async def ask(client: Client) -> object:
        meta: Any = {"callId": "call-1", "sessionId": "s-1", "threadId": "t-1"}
        return await client.call_tool("echo", {}, meta=meta)

    host, _, *ids = talk(mode, ask).structured_content["data"]["caller"]
    assert host == "mcp"
    assert ids == ["s-1", "t-1", "call-1"]


def test_a_session_named_in_the_environment_counts_where_the_call_names_none() -> None:
    async def ask(client: Client) -> object:
        meta: Any = {"claudecode/toolUseId": "toolu_1"}
        return await client.call_tool("echo", {}, meta=meta)

    answered = talk("legacy", ask, CLAUDE_CODE_SESSION_ID="s-2")
    assert answered.structured_content["data"]["caller"][2:] == ["s-2", None, "toolu_1"]


def test_a_stray_print_of_a_tool_does_not_reach_the_client() -> None:
    async def ask(client: Client) -> object:
        return await client.call_tool("print", {})

    assert talk("legacy", ask).structured_content["ok"] is True
