"""What is seen when the hook and the server are started once."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from upheld.hosts.codex.chain import try_chain, try_hook, try_server

if TYPE_CHECKING:
    from pathlib import Path

ENVIRON = {"PATH": "/usr/bin:/bin", "SHELL": "/bin/sh", "UPHELD_HOME": "/here", "SECRET": "token"}

SERVER = """
import json, os, sys
print("not json")
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {}}), flush=True)
    if message.get("method") == "tools/list":
        tools = [{"name": name} for name in sorted(os.environ) if name in ("UPHELD_HOME", "SECRET")]
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"tools": tools}}), flush=True)
"""

HOOKS = {
    "says nothing": ("import sys; sys.stdin.read()", True, "nothing to say"),
    "says something": (
        (
            "import json, sys; p = json.load(sys.stdin); print(json.dumps({'hookSpecificOutput': {'hookEventName':"
            " p['hook_event_name'], 'additionalContext': p['source'] + '中'}}))"
        ),
        True,
        "10 bytes",
    ),
    "answers nonsense": ("print('hello')", False, "none that Codex understands"),
    "answers another object": ("print('{}')", False, "none that Codex understands"),
    "fails": ("import sys; sys.exit(2)", False, "failed"),
    "complains": ("raise ValueError('/secret/path')", False, "ValueError"),
}


@pytest.mark.parametrize(("code", "ok", "says"), HOOKS.values(), ids=HOOKS.keys())
def test_a_hook_is_judged_by_what_codex_would_make_of_it(tmp_path: Path, code: str, *, ok: bool, says: str) -> None:
    (tmp_path / "hook.py").write_text(code)

    check = try_hook(f"{sys.executable} -I -S '{tmp_path}/hook.py'", ENVIRON, str(tmp_path), "s")

    assert check.ok is ok
    assert says in check.what
    assert "/secret" not in check.what
    assert bool(check.do) is not ok


def test_a_server_that_answers_is_timed_and_sees_only_what_codex_hands_on(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    server = {
        "command": sys.executable,
        "args": ["-I", "-S", str(tmp_path / "server.py")],
        "env_vars": ["UPHELD_HOME"],
    }

    check = try_server(server, ENVIRON, str(tmp_path))

    assert "with 1 tools" in check.what


@pytest.mark.parametrize("code", ["", "print('{}')", "print('{\"id\": 1}', flush=True)\nimport sys\nsys.stdin.read()"])
def test_a_server_that_does_not_speak_the_protocol_is_reported(tmp_path: Path, code: str) -> None:
    (tmp_path / "server.py").write_text(code)
    server = {"command": sys.executable, "args": ["-I", "-S", str(tmp_path / "server.py")]}

    check = try_server(server, ENVIRON, str(tmp_path))

    assert check.ok is False
    assert "did not answer" in check.what


def test_programs_that_are_not_there_are_reported(tmp_path: Path) -> None:
    none = str(tmp_path / "none")

    hook, server = try_chain(none, {"command": none}, ENVIRON, str(tmp_path), "s")

    assert (hook.ok, server.ok) == (False, False)
    assert str(tmp_path) not in hook.what + server.what
    assert os.listdir(tmp_path) == []
