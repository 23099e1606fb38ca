"""Codex's hook payloads in, its hook output out. Proven against 0.171.0 (docs/reference/hosts.md).

Unknown but well-formed means nothing to do; malformed is a `MalformedEventError`, which the hook turns
into silence and a line in the diagnostics log.
"""

from __future__ import annotations

from upheld.hosts.event import (
    CLEARED,
    COMPACTED,
    COMPACTING,
    FORKED,
    PROMPTED,
    RESUMED,
    STARTED,
    SUBAGENT_STARTED,
    HostEvent,
    MalformedEventError,
)
from upheld.text import jsontext

NAME = "codex"

CONTEXT_LIMIT = 9900
"""UTF-8 bytes of one context that reach the model whole, measured on 0.171.0."""

_SOURCES = {
    "startup": STARTED,
    "clear": CLEARED,
    "fork": FORKED,
    "resume": RESUMED,
    "compact": COMPACTED,
}
_EVENTS = {"UserPromptSubmit": PROMPTED, "SubagentStart": SUBAGENT_STARTED, "PostCompact": COMPACTING}


def read_event(payload: bytes) -> HostEvent | None:
    """Return the event of a payload, None if it asks for nothing.

    Raises:
        MalformedEventError: It is no JSON object, or a field we need is missing or of another type.
    """
    try:
        data = jsontext.loads(payload.decode("utf-8"))
    except ValueError:
        raise MalformedEventError("payload_is_no_json") from None
    if not isinstance(data, dict):
        raise MalformedEventError("payload_is_no_object")
    name = data.get("hook_event_name")
    if not isinstance(name, str):
        raise MalformedEventError("event_name_is_missing")
    kind = _find_kind(name, data.get("source"))
    if kind is None:
        return None
    agent = _text(data, "agent_id", optional=True)
    if kind == SUBAGENT_STARTED and not agent:
        return None
    return HostEvent(
        kind,
        name=name,
        session=_text(data, "session_id"),
        agent=agent,
        cwd=_text(data, "cwd"),
        text=_text(data, "prompt") if kind == PROMPTED else "",
        transcript=_text(data, "transcript_path", optional=True),
    )


def write_context(event: HostEvent, text: str) -> bytes:
    """Return the output that adds a text to the model's context."""
    output = {"hookSpecificOutput": {"hookEventName": event.name, "additionalContext": text}}
    return jsontext.dumps_ascii(output).encode("ascii")


def _text(data: dict[str, object], name: str, *, optional: bool = False) -> str:
    value = data.get(name)
    if value is None and optional:
        return ""
    if not isinstance(value, str) or (not value and not optional and name != "prompt"):
        raise MalformedEventError("field_is_missing_or_no_text")
    return value


def _find_kind(name: str, source: object) -> str | None:
    if name == "SessionStart":
        return _SOURCES.get(source) if isinstance(source, str) else None
    return _EVENTS.get(name)
