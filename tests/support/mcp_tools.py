"""A small tool set for tests of the MCP loop: what the loop must carry, nothing of findings.

The conformance suite calls some of them by name.
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

from upheld.mcp.tool import Tool

if TYPE_CHECKING:
    from collections.abc import Callable

    from upheld.mcp.tool import Caller

ENVELOPE = {
    "type": "object",
    "properties": {
        "ok": {"type": "boolean"},
        "data": {"type": ["object", "null"]},
        "warnings": {"type": "array", "items": {"type": "string"}},
        "error": {"type": ["object", "null"]},
    },
    "required": ["ok", "data", "warnings", "error"],
    "additionalProperties": False,
}
NO_ARGUMENTS = {"type": "object", "properties": {}, "additionalProperties": False}
DIALECT_2020_12 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
    "additionalProperties": False,
}


def done(**data: Any) -> dict[str, Any]:
    return {"ok": True, "data": data, "warnings": [], "error": None}


def refused(code: str, message: str) -> dict[str, Any]:
    return {"ok": False, "data": None, "warnings": [], "error": {"code": code, "message": message}}


def _greet(_arguments: dict[str, Any], _caller: Caller) -> dict[str, Any]:
    return done(text="This is a simple text response for testing.")


def _refuse(_arguments: dict[str, Any], _caller: Caller) -> dict[str, Any]:
    return refused("INVALID_ARGUMENT", "This tool intentionally returns an error for testing")


def _echo(arguments: dict[str, Any], caller: Caller) -> dict[str, Any]:
    return done(
        arguments=arguments,
        caller=[caller.host, caller.client_version, caller.session, caller.thread, caller.call_id],
    )


def _break(_arguments: dict[str, Any], _caller: Caller) -> dict[str, Any]:
    raise RuntimeError("the secret of /home/somebody")


def _answer_no_json(_arguments: dict[str, Any], _caller: Caller) -> dict[str, Any]:
    return done(value={1, 2})


def _answer_half_a_pair(_arguments: dict[str, Any], _caller: Caller) -> dict[str, Any]:
    return done(**{"text": "a\ud83db\U0001f680", "\ude80": ["\ude80\ud83d"]})


def _print(_arguments: dict[str, Any], _caller: Caller) -> dict[str, Any]:
    print("a stray print", flush=True)  # noqa: T201 - that is what it tests
    child = "import sys; print(\"a child's print\"); print(len(sys.stdin.read()), 'bytes of input for the child')"
    subprocess.run([sys.executable, "-I", "-c", child], check=True)
    return done()


def _tool(
    name: str,
    description: str,
    call: Callable[[dict[str, Any], Caller], dict[str, Any]],
    schema: dict[str, Any] = NO_ARGUMENTS,
) -> Tool:
    return Tool(
        name=name,
        title=name.replace("_", " ").capitalize(),
        description=description,
        input_schema=schema,
        output_schema=ENVELOPE,
        annotations={"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False},
        call=call,
    )


TOOLS = [
    _tool("test_simple_text", "Returns a text.", _greet),
    _tool("test_error_handling", "Refuses every call.", _refuse),
    _tool("json_schema_2020_12_tool", "Has a schema of the 2020-12 dialect.", _echo, DIALECT_2020_12),
    _tool("echo", "Returns its arguments and its caller.", _echo, {"type": "object"}),
    _tool("break", "Raises, as a bug would.", _break),
    _tool("answer_no_json", "Answers with what JSON cannot hold.", _answer_no_json),
    _tool("half", "Answers with halves of surrogate pairs.", _answer_half_a_pair),
    _tool("print", "Prints to standard output, and so does a child.", _print),
]
