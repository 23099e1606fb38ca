"""An MCP server with one honest writing tool and one destructive one; run by Codex as a file.

Usage: `python -I -S fixture_server.py DIRECTORY`. Each call that arrives is appended to
`calls.jsonl`, parameters and `_meta` whole.
"""

from __future__ import annotations

import json
import sys
from typing import Any

INSTRUCTIONS = "INSTRUCTIONS-OF-THE-FIXTURE: keep notes."
_TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
_TOOLS = [
    {
        "name": "keep_note",
        "description": "Keep a note.",
        "inputSchema": _TEXT,
        "annotations": {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False},
    },
    {
        "name": "burn_note",
        "description": "Burn a note.",
        "inputSchema": _TEXT,
        "annotations": {"readOnlyHint": False, "destructiveHint": True},
    },
]


def answer(message: dict[str, Any], directory: str) -> dict[str, Any] | None:
    """Return the result of a request, or None where it has none."""
    parameters = message.get("params") or {}
    if message["method"] == "initialize":
        return {
            "protocolVersion": parameters["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "fixture", "version": "0"},
            "instructions": INSTRUCTIONS,
        }
    if message["method"] == "tools/list":
        return {"tools": _TOOLS}
    if message["method"] == "tools/call":
        with open(f"{directory}/calls.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps(parameters) + "\n")
        return {"content": [{"type": "text", "text": f"KEPT {parameters['arguments']['text']}"}]}
    return None


def main(directory: str) -> None:
    """Answer one message per line until stdin ends."""
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        result = answer(message, directory)
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        reply |= {"error": {"code": -32601, "message": "no such method"}} if result is None else {"result": result}
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
