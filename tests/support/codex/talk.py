"""A Codex conversation as the hook sees it: events in, the injected context out, everything noted as it would be."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from support.block import Block, read_block
from upheld.hosts.answer import Answer, answer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from upheld.storage.places import Places

NOW = "2026-11-30T12:00:00Z"


class Talk:
    """One conversation in one directory. `last` is the last answer whole."""

    def __init__(
        self, cwd: Path, places: Places, *, session: str = "session-1", environ: Mapping[str, str] | None = None
    ) -> None:
        self.cwd = cwd
        self.places = places
        self.session = session
        self.environ = dict(os.environ if environ is None else environ)
        self.transcript = ""
        self.last = Answer(b"", "")

    def ask(self, name: str, *, noted: bool = True, **fields: Any) -> str:
        """Send one event and return the injected text, "" for silence. Without `noted` the note is lost."""
        payload = {"session_id": self.session, "cwd": str(self.cwd), "hook_event_name": name, **fields}
        if self.transcript:
            payload["transcript_path"] = self.transcript
        self.last = answer("codex", json.dumps(payload).encode(), places=self.places, environ=self.environ)
        if noted:
            assert self.last.finish(self.places, NOW) == ""
        if not self.last.output:
            return ""
        output = json.loads(self.last.output)["hookSpecificOutput"]
        assert output["hookEventName"] == name
        text = output["additionalContext"]
        assert isinstance(text, str)
        read_block(text)
        return text

    def start(self, source: str = "startup", *, noted: bool = True) -> str:
        return self.ask("SessionStart", source=source, noted=noted)

    def prompt(self, text: str, **fields: Any) -> str:
        return self.ask("UserPromptSubmit", prompt=text, **fields)

    def compact(self, **fields: Any) -> str:
        """Compact as Codex does: announced first, then the new context asks."""
        assert self.ask("PostCompact", trigger="auto", **fields) == ""
        return self.start("compact")


def ids(text: str) -> list[int]:
    """Return the findings that stand in a block as items."""
    return [shown.finding_id for shown in held(text).items]


def held(text: str) -> Block:
    """Return what a block holds; nothing for no block."""
    return read_block(text) if text else Block([], [], "")
