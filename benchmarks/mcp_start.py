"""How long a host waits for the MCP server: process start to `tools/list` answered, one core kept busy.

Codex waits about one second for its servers and then sends its first request without them; we keep to
0.6 of that. Beside it, from the same minutes: what importing the official SDK alone would take.
docs/decisions/0004-mcp-stdio-loop.md draws the conclusion.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

PREFIX = "slice.mcp-start"
ROUNDS = 20
SDK_EVERY = 4  # its import takes seconds, and its median needs fewer
HOST_WAITS_MS = 1000.0
GOAL = 0.6

SERVER = [sys.executable, "-I", "-m", "upheld", "mcp"]
SDK_IMPORT = [sys.executable, "-I", "-c", "import mcp.server"]
BUSY = [sys.executable, "-I", "-S", "-c", "while True: pass"]

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "codex-mcp-client", "version": "0.171.0"},
}


def _ask(server: subprocess.Popen[bytes], method: str, params: dict[str, Any]) -> Any:
    assert server.stdin is not None
    assert server.stdout is not None
    message = {"jsonrpc": "2.0", "id": method, "method": method, "params": params}
    server.stdin.write(json.dumps(message).encode() + b"\n")
    server.stdin.flush()
    return json.loads(server.stdout.readline())


def _server_seconds(env: dict[str, str]) -> float:
    """Return the time until a client that waits for each answer, as hosts do, has the tools."""
    begin = time.perf_counter()
    with subprocess.Popen(SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, cwd=env["HOME"]) as server:
        _ask(server, "initialize", HELLO)
        listed = _ask(server, "tools/list", {})
        seconds = time.perf_counter() - begin
    assert listed["result"]["tools"]
    return seconds


def _run_seconds(command: list[str], env: dict[str, str]) -> float:
    begin = time.perf_counter()
    subprocess.run(command, check=True, env=env)
    return time.perf_counter() - begin


def rows() -> list[dict[str, Any]]:
    """Return the server's row and, for information, the SDK's import and the bare interpreter's start."""
    servers: list[float] = []
    imports: list[float] = []
    bare: list[float] = []
    with tempfile.TemporaryDirectory() as home, subprocess.Popen(BUSY) as busy:
        env = {"PATH": os.environ["PATH"], "HOME": home, "UPHELD_HOME": home}
        _server_seconds(env)  # the first start of an installation compiles; hosts meet it once
        for turn in range(ROUNDS):
            servers.append(_server_seconds(env))
            bare.append(_run_seconds([sys.executable, "-I", "-c", "pass"], env))
            if turn % SDK_EVERY == 0:
                imports.append(_run_seconds(SDK_IMPORT, env))
        busy.kill()
    value = statistics.median(servers) * 1000
    ratio = value / HOST_WAITS_MS
    row = {"name": PREFIX, "value": value, "unit": "ms", "limit": HOST_WAITS_MS}
    return [
        {**row, "ratio": ratio, "goal": GOAL, "met": ratio <= GOAL},
        _for_information("sdk-import", imports),
        _for_information("bare-python", bare),
    ]


def _for_information(what: str, seconds: list[float]) -> dict[str, Any]:
    value = statistics.median(seconds) * 1000
    return {
        "name": f"{PREFIX}.{what}",
        "value": value,
        "unit": "ms",
        "limit": HOST_WAITS_MS,
        "ratio": value / HOST_WAITS_MS,
        "goal": None,
        "met": True,
    }
