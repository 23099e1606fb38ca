"""What a tool is to the protocol, and who calls it.

What the tools do lives in the services; their schemas and texts are written beside their calls.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

_LONGEST_NAME = 200


class Caller:
    """Who sent one request, as the host itself says: for provenance, never for permission.

    Args:
        host: The name the client gives itself, such as `codex-mcp-client`; empty if it gave none.
        client_version: The client's version; empty if it gave none.
        session: The host's session id.
        thread: The host's thread id inside that session.
        call_id: The host's id of this tool call, as its hooks name it.
    """

    __slots__ = ("call_id", "client_version", "host", "session", "thread")

    def __init__(
        self,
        *,
        host: str = "",
        client_version: str = "",
        session: str | None = None,
        thread: str | None = None,
        call_id: str | None = None,
    ) -> None:
        self.host = host
        self.client_version = client_version
        self.session = session
        self.thread = thread
        self.call_id = call_id


class Tool:
    """One tool: what the host is told about it and the function that does it.

    Args:
        name: The name that the model calls.
        title: The name that people see.
        description: When to use it and what comes back, written for the model.
        input_schema: JSON Schema of the arguments, an object.
        output_schema: JSON Schema of the envelope.
        annotations: The hints `readOnlyHint`, `destructiveHint`, `idempotentHint`, `openWorldHint`.
        call: Takes the arguments as they came (an object, not yet checked against the schema) and the
            caller; returns the envelope `{ok, data, warnings, error}`. Refusals are envelopes too; an
            exception is a bug.
    """

    __slots__ = ("annotations", "call", "description", "input_schema", "name", "output_schema", "title")

    def __init__(
        self,
        *,
        name: str,
        title: str,
        description: str,
        input_schema: Mapping[str, Any],
        output_schema: Mapping[str, Any],
        annotations: Mapping[str, Any],
        call: Callable[[dict[str, Any], Caller], Mapping[str, Any]],
    ) -> None:
        self.name = name
        self.title = title
        self.description = description
        self.input_schema = input_schema
        self.output_schema = output_schema
        self.annotations = annotations
        self.call = call

    def as_listed(self) -> dict[str, Any]:
        """Return the tool as `tools/list` names it."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.input_schema,
            "outputSchema": self.output_schema,
            "annotations": self.annotations,
        }


def read_caller(client_info: object, meta: Mapping[str, Any], *, session: str | None) -> Caller:
    """Return who sends a request, from what the host puts around it.

    Codex sends `sessionId`, `threadId` and `callId` with each call; Claude Code sends
    `claudecode/toolUseId` and names its session in the environment. What is missing, no text or
    oddly long stays unknown.

    Args:
        client_info: The client's `clientInfo`, as it came.
        meta: The request's `params._meta`.
        session: The session of the whole server process, where the host names it.
    """
    info = client_info if isinstance(client_info, dict) else {}
    return Caller(
        host=_find_name(info, "name") or "",
        client_version=_find_name(info, "version") or "",
        session=_find_name(meta, "sessionId") or session,
        thread=_find_name(meta, "threadId"),
        call_id=_find_name(meta, "callId") or _find_name(meta, "claudecode/toolUseId"),
    )


def _find_name(source: Mapping[str, Any], key: str) -> str | None:
    value = source.get(key)
    if isinstance(value, str) and 0 < len(value) <= _LONGEST_NAME and value.isprintable():
        return value
    return None
