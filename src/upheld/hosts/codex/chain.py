"""Run what was installed once, the way Codex would, and say what was seen.

The hook through a shell with a payload on its standard input; the server over its standard streams
with the small environment that Codex gives a server. Real processes; nothing of Codex is started.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import time
from typing import TYPE_CHECKING, Any

from upheld.hosts.check import Check

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HOST_WAITS_SECONDS = 1.0
"""How long Codex waits for servers before its first request goes out without them (measured, 0.171)."""

_GIVE_UP_SECONDS = 10.0
_PASSED_BY_CODEX = ("HOME", "LOGNAME", "PATH", "SHELL", "USER", "LANG", "LC_ALL", "TERM", "TMPDIR", "TZ")


def try_chain(
    command: str, server: Mapping[str, Any], environ: Mapping[str, str], cwd: str, session: str
) -> list[Check]:
    """Start the hook and the server once and return what was seen.

    Args:
        command: The hook's command as `hooks.json` has it.
        server: The server's table as `config.toml` has it.
        environ: The environment of the user's shell.
        cwd: The directory to start both in.
        session: An id for the made-up session; no real session may have it.
    """
    return [try_hook(command, environ, cwd, session), try_server(server, environ, cwd)]


def try_hook(command: str, environ: Mapping[str, str], cwd: str, session: str) -> Check:
    """Give the hook the start of a session and return what came of it."""
    name = "hook runs"
    payload = {
        "session_id": session,
        "transcript_path": None,
        "cwd": cwd,
        "hook_event_name": "SessionStart",
        "model": "none",
        "permission_mode": "default",
        "source": "startup",
    }
    started = time.monotonic()
    # `exec` would not see the end of the command; the shell is the one that Codex takes too.
    process = subprocess.Popen(
        [environ.get("SHELL") or "/bin/sh", "-c", command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(environ),
        cwd=cwd,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(json.dumps(payload).encode(), timeout=_GIVE_UP_SECONDS)
    except subprocess.TimeoutExpired:
        _end(process)
        return Check(name, False, "The hook did not end within 10 seconds.", "Run `upheld doctor codex`.")
    took = f"{(time.monotonic() - started) * 1000:.0f} ms"
    if process.returncode != 0 or err.strip():
        reason = _last_line(err)
        return Check(name, False, f"The hook failed: {reason}.", "Run `upheld install codex` again.")
    if not out.strip():
        return Check(name, True, f"The hook answered in {took}: it has nothing to say here.")
    try:
        answer = json.loads(out)
        text = answer["hookSpecificOutput"]["additionalContext"]
    except (ValueError, KeyError, TypeError):
        return Check(name, False, "The hook's answer is none that Codex understands.", "Report this.")
    return Check(name, True, f"The hook answered in {took} with {len(text.encode())} bytes of context.")


def try_server(server: Mapping[str, Any], environ: Mapping[str, str], cwd: str) -> Check:
    """Start the server, ask for its tools, end it, and return what came of it."""
    name = "server answers"
    names = (*_PASSED_BY_CODEX, *server.get("env_vars", ()))
    env = {key: environ[key] for key in names if key in environ} | dict(server.get("env", {}))
    started = time.monotonic()
    try:
        process = subprocess.Popen(
            [server["command"], *server.get("args", ())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=env,
            cwd=cwd,
            start_new_session=True,
        )
    except OSError as exc:
        return Check(
            name, False, f"The server cannot be started ({exc.strerror}).", "Run `upheld install codex` again."
        )
    try:
        tools = _ask_for_tools(process, started + _GIVE_UP_SECONDS)
    finally:
        took = time.monotonic() - started
        _end(process)
    if tools is None:
        return Check(name, False, "The server did not answer.", "Run its command in a terminal to see why.")
    seen = f"The server answered in {took:.2f} s with {len(tools)} tools; Codex waits about 1.0 s."
    if took > HOST_WAITS_SECONDS:
        return Check(name, False, seen, "Its tools come one request late; see what slows the start of Python down.")
    return Check(name, True, seen)


def _ask_for_tools(process: subprocess.Popen[bytes], deadline: float) -> Sequence[Any] | None:
    """Speak the start of the protocol and return the tools, or None without a right answer in time."""
    client = {"name": "upheld-check", "version": "1"}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}},
    ]
    if process.stdin is None or process.stdout is None:
        return None
    try:
        process.stdin.write("".join(json.dumps(message) + "\n" for message in messages[:1]).encode())
        process.stdin.flush()
        if _read_answer(process, 1, deadline) is None:
            return None
        process.stdin.write("".join(json.dumps(message) + "\n" for message in messages[1:]).encode())
        process.stdin.flush()
        tools = (_read_answer(process, 2, deadline) or {}).get("tools")
    except OSError:
        return None
    return tools if isinstance(tools, list) else None


def _read_answer(process: subprocess.Popen[bytes], wanted: int, deadline: float) -> dict[str, Any] | None:
    """Return the result with this id; lines before it are passed over. None at the end or the deadline."""
    if process.stdout is None:
        return None
    buffer = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while selector.select(max(0.0, deadline - time.monotonic())):
            chunk = os.read(process.stdout.fileno(), 65536)
            if not chunk:
                return None
            buffer += chunk
            *lines, buffer = buffer.split(b"\n")
            for line in lines:
                with contextlib.suppress(ValueError):
                    message = json.loads(line)
                    if isinstance(message, dict) and message.get("id") == wanted:
                        result = message.get("result")
                        return result if isinstance(result, dict) else None
    return None


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process that we started, and its children: politely, then not."""
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    try:
        process.wait(1)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _last_line(output: bytes) -> str:
    """Return what kind of error it was; the rest of the line may hold a path."""
    lines = output.decode("utf-8", "replace").strip().splitlines()
    return lines[-1].split(":")[0] if lines else "no output"
