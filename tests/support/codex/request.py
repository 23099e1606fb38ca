"""One request that Codex sent to the model, and how a test reads it.

Everything in a request body is what the model sees; `texts` is that as a list, in order. The authorization
header is never kept.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Literal

_ID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_CHANGING = (
    (re.compile(r"(?:call|msg|resp)_[0-9]+\b"), "CALL"),
    (re.compile(r"(?i)wall time:? [0-9.]+ seconds|\bwall_time_seconds\\*\":[0-9.e-]+"), "WALL TIME"),
    (re.compile(r"(?i)chunk[ _]id(?:: |\\*\":\\*\")[0-9a-f]+"), "CHUNK ID"),
    (re.compile(r"\b[0-9]{13}\b"), "MILLISECONDS"),
    (re.compile(r"\d{4}-\d\d-\d\d"), "DATE"),
)


@dataclass(frozen=True, slots=True)
class Text:
    """One piece of text that the model sees.

    Args:
        role: `developer`, `user` or `assistant`, or the item's own type (`function_call_output`).
        text: The text.
    """

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Request:
    """A recorded model request.

    Args:
        kind: `turn`, or `compaction` for the request that asks for a summary.
        thread: The thread that asks; a child agent has its own.
        turn: The turn that it belongs to.
        script: The script that answered, by its name.
        step: Which step of the script answered.
        body: The request body.
    """

    kind: Literal["turn", "compaction"]
    thread: str
    turn: str
    script: str | None
    step: int
    body: dict[str, Any]

    @property
    def texts(self) -> list[Text]:
        """Everything in the conversation that this request carries, in order."""
        return [text for item in self.body.get("input", []) for text in texts_of(item)]

    @property
    def developer(self) -> list[str]:
        """The developer messages: Codex's own instructions, and what hooks added."""
        return [text.text for text in self.texts if text.role == "developer"]

    @property
    def outputs(self) -> list[str]:
        """The outputs of the model's own calls, one string each."""
        return outputs_of(self.body.get("input", []))

    @property
    def outputs_by_call(self) -> dict[str, str]:
        """The same, by the id of the call."""
        items = [item for item in self.body.get("input", []) if "output" in item]
        return {str(item["call_id"]): _joined(item["output"]) for item in items}

    @property
    def text(self) -> str:
        """The whole body as JSON: tools and their descriptions too."""
        return json.dumps(self.body, ensure_ascii=False)

    def containing(self, piece: str) -> list[Text]:
        """Return the texts in which a piece occurs, one entry per occurrence."""
        return [text for text in self.texts for _ in range(text.text.count(piece))]

    def shape(self, *private: str) -> str:
        """Return the whole body as text, with what differs from run to run made equal.

        Ids are numbered in the order in which they appear; times and the given private strings (directories
        of the test) are replaced.
        """
        text = json.dumps(self.body, sort_keys=True, ensure_ascii=False)
        for number, piece in enumerate(private):
            text = text.replace(piece, f"PRIVATE-{number}")
        for pattern, name in _CHANGING:
            text = pattern.sub(name, text)
        known: dict[str, str] = {}
        return _ID.sub(lambda match: known.setdefault(match.group(), f"ID-{len(known)}"), text)


def texts_of(item: dict[str, Any]) -> list[Text]:
    """Return the texts of one input item."""
    if item.get("type") == "message":
        return [Text(item["role"], part.get("text", "")) for part in item.get("content", [])]
    if "output" in item:
        return [Text(item["type"], _joined(item["output"]))]
    if item.get("type") == "agent_message":
        return [Text("agent_message", json.dumps(item, ensure_ascii=False))]
    return []


def outputs_of(items: list[dict[str, Any]]) -> list[str]:
    """Return the outputs of calls among input items, one string each."""
    return [_joined(item["output"]) for item in items if "output" in item]


def _joined(output: Any) -> str:
    if isinstance(output, list):
        return "".join(part.get("text", "") for part in output)
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
