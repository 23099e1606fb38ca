"""What a scripted model does: the steps of a script and the calls in a step, as plain values.

A call knows how it looks on the wire in each profile. How requests are answered is in `scripted_model.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from support.codex.profiles import CLASSIC, Profile

Item = dict[str, Any]

# The tests' Codex compacts above COMPACT_AT; its own instructions alone are some 16,000 tokens by its count.
COMPACT_AT = 50_000
FULL = 90_000


@dataclass(frozen=True, slots=True)
class Shell:
    """One shell command."""

    command: str

    def item(self, profile: Profile, call_id: str) -> Item:
        arguments = {"cmd": self.command}
        if profile is CLASSIC:
            return _function(call_id, "exec_command", arguments)
        return _script(call_id, f"text(await tools.exec_command({json.dumps(arguments)}))")


@dataclass(frozen=True, slots=True)
class Mcp:
    """One call of a tool of an MCP server."""

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)
    server: str = "upheld"

    def item(self, profile: Profile, call_id: str) -> Item:
        namespace = f"mcp__{self.server}"
        if profile is CLASSIC:
            return _function(call_id, self.tool, self.arguments, namespace)
        call = f"tools.{namespace}__{self.tool}({json.dumps(self.arguments)})"
        return _script(call_id, f"text(await {call})")


@dataclass(frozen=True, slots=True)
class Spawn:
    """Start a child agent with a message; a `SCRIPT:name` marker in it chooses the child's script."""

    name: str
    message: str

    def item(self, profile: Profile, call_id: str) -> Item:
        if profile is CLASSIC:
            return _function(call_id, "spawn_agent", {"message": self.message}, "multi_agent_v1")
        arguments = {"task_name": self.name, "message": self.message, "fork_turns": "none"}
        return _function(call_id, "spawn_agent", arguments, "collaboration")


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait for children; the classic profile wants their ids, which `Seen.agents` finds."""

    agents: tuple[str, ...] = ()

    def item(self, profile: Profile, call_id: str) -> Item:
        if profile is CLASSIC:
            arguments = {"targets": list(self.agents), "timeout_ms": 20_000}
            return _function(call_id, "wait_agent", arguments, "multi_agent_v1")
        return _function(call_id, "wait_agent", {"timeout_ms": 20_000}, "collaboration")


Call = Shell | Mcp | Spawn | Wait


@dataclass(frozen=True, slots=True)
class Step:
    """One answer of the model.

    Args:
        calls: The tools that it calls.
        say: Its closing text; a step that says something ends the turn.
        tokens: How many input tokens it reports. `FULL` makes Codex compact before the next request.
    """

    calls: tuple[Call, ...] = ()
    say: str | None = None
    tokens: int = 1000


@dataclass(frozen=True, slots=True)
class Seen:
    """What the model has been told so far: the outputs of its own calls, oldest first."""

    outputs: tuple[str, ...]

    def find(self, pattern: str) -> list[str]:
        """Return every match of a regular expression in the outputs, oldest first."""
        return [match for output in self.outputs for match in re.findall(pattern, output)]

    @property
    def agents(self) -> tuple[str, ...]:
        """The ids of the children that were started."""
        return tuple(self.find(r'"agent_id":\s*"([^"]+)"'))


Scripted = Step | Callable[[Seen], Step]


def call(*calls: Call, tokens: int = 1000) -> Step:
    """Return a step that makes these calls."""
    return Step(calls=calls, tokens=tokens)


def say(text: str, tokens: int = 1000) -> Step:
    """Return a step that ends the turn with a text."""
    return Step(say=text, tokens=tokens)


def _function(call_id: str, name: str, arguments: Item, namespace: str | None = None) -> Item:
    item = {
        "type": "function_call",
        "id": f"fc_{call_id}",
        "call_id": call_id,
        "name": name,
        "arguments": json.dumps(arguments),
        "status": "completed",
    }
    return item if namespace is None else item | {"namespace": namespace}


def _script(call_id: str, source: str) -> Item:
    return {
        "type": "custom_tool_call",
        "id": f"ctc_{call_id}",
        "call_id": call_id,
        "name": "exec",
        "namespace": "functions",
        "input": source,
        "status": "completed",
    }
