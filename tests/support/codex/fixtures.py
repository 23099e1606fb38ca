"""Installs the fixture hook and the fixture MCP server, and reads what they kept."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from support.codex.home import CodexHome

_HERE = os.path.dirname(os.path.abspath(__file__))
EVENTS = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PreCompact", "PostCompact", "SubagentStart")


class Fixtures:
    """The fixture hook and server, installed into one Codex.

    Args:
        codex: Where to install them.
        answers: What the hook adds, by event or by event and source.
    """

    def __init__(self, codex: CodexHome, answers: Mapping[str, str]) -> None:
        self.directory = f"{codex.root}/fixtures"
        os.mkdir(self.directory)
        with open(f"{self.directory}/answers.json", "w", encoding="utf-8") as file:
            json.dump(answers, file)
        command = f"{sys.executable} -I -S {_HERE}/fixture_hook.py {self.directory}"
        codex.write_hooks({event: [{"hooks": [{"type": "command", "command": command}]}] for event in EVENTS})
        server = ["-I", "-S", f"{_HERE}/fixture_server.py", self.directory]
        codex.add_config(
            f"[mcp_servers.fixture]\ncommand = {json.dumps(sys.executable)}\nargs = {json.dumps(server)}\n"
        )

    @property
    def raw_payloads(self) -> list[str]:
        """The hook payloads so far as Codex wrote them, oldest first."""
        return self._lines("payloads.jsonl")

    @property
    def payloads(self) -> list[dict[str, Any]]:
        """The hook payloads so far, oldest first."""
        return [json.loads(line) for line in self.raw_payloads]

    @property
    def events(self) -> list[str]:
        """The events of the payloads so far, with their source or trigger."""
        kinds = [(p["hook_event_name"], p.get("source") or p.get("trigger")) for p in self.payloads]
        return [f"{event}/{kind}" if kind else event for event, kind in kinds]

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The parameters of the MCP calls that reached the server."""
        return [json.loads(line) for line in self._lines("calls.jsonl")]

    def _lines(self, name: str) -> list[str]:
        path = f"{self.directory}/{name}"
        if not os.path.exists(path):
            return []
        with open(path, encoding="utf-8") as file:
            return file.read().splitlines()
