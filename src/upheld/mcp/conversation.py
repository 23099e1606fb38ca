"""The server's half of the Model Context Protocol, as a function from message to answer.

Written after https://modelcontextprotocol.io/specification and checked with the official SDK's client
and the official conformance suite. Two dialects: the `initialize` handshake of 2024-11-05 to 2025-11-25,
and 2026-07-28, whose every request names its version and client in `_meta`. We declare tools and nothing
else. A request before `initialize` is answered; its caller is then unknown. Requests are answered one
after the other, so a cancellation always comes too late and is ignored, as the protocol allows.

No input or output here: lines are in `wire.py`, the loop is in `server.py`.
"""

from __future__ import annotations

from upheld.mcp.tool import read_caller
from upheld.mcp.wire import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    UNSUPPORTED_PROTOCOL_VERSION,
    BugError,
    ProtocolError,
    error_answer,
    quoted,
)
from upheld.text import jsontext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from upheld.mcp.tool import Tool

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS_VERSIONS = ("2026-07-28",)

LARGEST_BATCH = 100
_FRESH_MS = 3_600_000  # The tools never change while a server runs.

_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
_CLIENT_KEY = "io.modelcontextprotocol/clientInfo"
_SERVER_KEY = "io.modelcontextprotocol/serverInfo"


def render_json(envelope: Mapping[str, Any]) -> str:
    """Return an envelope as the compact JSON that the model reads."""
    return jsontext.dumps(envelope)


class Conversation:
    """One client's conversation with the server, from its first message on.

    Args:
        tools: The tools, in the order in which they are listed.
        name: The server's name.
        version: The server's version.
        instructions: What every model should know about the server; the first 240 characters suffice.
        render: Turns an envelope into the text that the model reads.
        session: The session of this process, where the host names it in the environment.
        report_bug: Is told every exception that is no refusal.
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        *,
        name: str,
        version: str,
        instructions: str,
        render: Callable[[Mapping[str, Any]], str],
        session: str | None,
        report_bug: Callable[[Exception], None],
    ) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._server_info = {"name": name, "version": version}
        self._instructions = instructions
        self._render = render
        self._session = session
        self._report_bug = report_bug
        self._client_info: object = None

    def answer(self, message: object) -> Any:
        """Return the answer to one decoded line, or `None` if it gets none.

        Never raises for what a message holds. A batch (2025-03-26) gets the list of its answers.
        """
        if not isinstance(message, list):
            return self._answer_one(message)
        if not 0 < len(message) <= LARGEST_BATCH:
            return error_answer(None, ProtocolError(INVALID_REQUEST, f"A batch has 1 to {LARGEST_BATCH} messages."))
        answers = [self._answer_one(part) for part in message]
        return [answer for answer in answers if answer is not None] or None

    def _answer_one(self, message: object) -> dict[str, Any] | None:
        if not isinstance(message, dict):
            return error_answer(None, ProtocolError(INVALID_REQUEST, "A message is a JSON object."))
        method = message.get("method")
        if "id" not in message and isinstance(method, str):
            return None  # A notification; none of them changes what we do.
        if "method" not in message and ("result" in message or "error" in message):
            return None  # An answer, though we never ask.
        request_id = _find_id(message)
        try:
            if request_id is None:
                raise ProtocolError(INVALID_REQUEST, "A request's id is a string or an integer.")
            if message.get("jsonrpc") != "2.0" or not isinstance(method, str):
                raise ProtocolError(INVALID_REQUEST, 'A request has "jsonrpc": "2.0" and a method.')
            result = self._result_of(method, _read_params(message))
        except ProtocolError as error:
            return error_answer(request_id, error)
        except Exception as error:  # noqa: BLE001 - a bug in one call must not end the others
            self._report_bug(error)
            return error_answer(request_id, BugError())
        return {"jsonrpc": "2.0", "id": request_id, "result": result}

    def _result_of(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        meta = params.get("_meta")
        meta = meta if isinstance(meta, dict) else {}
        if method == "initialize":
            return self._initialize(params)
        stateless = method == "server/discover" or _VERSION_KEY in meta
        if stateless:
            _check_envelope(meta)
        if method == "server/discover":
            result = self._discover()
        elif method == "ping":
            result = {}
        elif method == "tools/list":
            result = self._list_tools(params)
        elif method == "tools/call":
            result = self._call_tool(params, meta)
        else:
            raise ProtocolError(METHOD_NOT_FOUND, f"There is no method {quoted(method)} here.")
        if stateless:
            result["resultType"] = "complete"
            result["_meta"] = {_SERVER_KEY: self._server_info}
            if method != "tools/call":
                result.update(ttlMs=_FRESH_MS, cacheScope="private")
        return result

    def _initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        asked = params.get("protocolVersion")
        if not isinstance(asked, str):
            raise ProtocolError(INVALID_PARAMS, "protocolVersion must be a string such as 2025-11-25.")
        self._client_info = params.get("clientInfo")
        return {
            "protocolVersion": asked if asked in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
            "capabilities": {"tools": {}},
            "serverInfo": self._server_info,
            "instructions": self._instructions,
        }

    def _discover(self) -> dict[str, Any]:
        return {
            "supportedVersions": [*HANDSHAKE_VERSIONS, *STATELESS_VERSIONS],
            "capabilities": {"tools": {}},
            "instructions": self._instructions,
        }

    def _list_tools(self, params: dict[str, Any]) -> dict[str, Any]:
        if params.get("cursor") is not None:
            raise ProtocolError(INVALID_PARAMS, "cursor is unknown: all tools come in one answer.")
        return {"tools": [tool.as_listed() for tool in self._tools.values()]}

    def _call_tool(self, params: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
        name = params.get("name")
        if not isinstance(name, str):
            raise ProtocolError(INVALID_PARAMS, "name must be the name of a tool.")
        tool = self._tools.get(name)
        if tool is None:
            raise ProtocolError(
                INVALID_PARAMS, f"There is no tool {quoted(name)}. There are: {', '.join(self._tools)}."
            )
        arguments = params.get("arguments")
        if arguments is None:
            arguments = {}
        if not isinstance(arguments, dict):
            raise ProtocolError(INVALID_PARAMS, "arguments must be an object.")
        client_info = meta.get(_CLIENT_KEY, self._client_info)
        envelope = tool.call(arguments, read_caller(client_info, meta, session=self._session))
        return {
            "content": [{"type": "text", "text": self._render(envelope)}],
            "structuredContent": envelope,
            "isError": not envelope["ok"],
        }


def _find_id(message: dict[str, Any]) -> str | int | None:
    """Return a request's id; `None` for what is no id, or could not be sent back as it came."""
    value = message.get("id")
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    if isinstance(value, str) and any("\ud800" <= char <= "\udfff" for char in value):
        return None
    return value


def _read_params(message: dict[str, Any]) -> dict[str, Any]:
    params = message.get("params")
    if params is None:
        return {}
    if not isinstance(params, dict):
        raise ProtocolError(INVALID_PARAMS, "params must be an object.")
    return params


def _check_envelope(meta: dict[str, Any]) -> None:
    """Refuse a request of the stateless dialect that does not say what it must in `_meta`."""
    version = meta.get(_VERSION_KEY)
    if not isinstance(version, str) or not isinstance(meta.get(_CAPABILITIES_KEY), dict):
        raise ProtocolError(
            INVALID_PARAMS, f"_meta must have {_VERSION_KEY}, a string, and {_CAPABILITIES_KEY}, an object."
        )
    if version not in STATELESS_VERSIONS:
        raise ProtocolError(
            UNSUPPORTED_PROTOCOL_VERSION,
            "Unsupported protocol version",
            {"supported": [*HANDSHAKE_VERSIONS, *STATELESS_VERSIONS], "requested": version[:60]},
        )
