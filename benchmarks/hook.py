"""What a host waits for at each event: the installed hook command beside a bare interpreter.

Every row is taken pair-wise, hook and bare interpreter in turn, so that load hits both alike. `direct` is the work
without a server: 10,000 findings, a repository of 20,000 files. The rows without a goal say where its time goes.
docs/decisions/0011-the-hook-path.md draws the conclusion.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests"))

from support.ledgers import Zipf, put
from upheld import __version__
from upheld.api import Upheld
from upheld.context.projects import find_project
from upheld.hosts.hook_file import find_roots, render_hook
from upheld.hosts.socket_path import find_socket_path
from upheld.storage import database
from upheld.storage.places import find_places

if TYPE_CHECKING:
    from collections.abc import Sequence

    from upheld.calls import ScopeArgument

PREFIX = "slice.hook"
ROUNDS = 30
FINDINGS = 10_000
FILES = 20_000
RELAY_GOAL = 1.5
DIRECT_GOAL = 4.0
MEMORY_GOAL = 3.0
BARE = [sys.executable, "-I", "-c", "pass"]


class _Stage:
    """A home with the hook installed, a ledger, and the repository that the events come from."""

    def __init__(self, top: str, *, findings: int, files: int) -> None:
        self.repository = top + "/repository"
        self.environ = {"PATH": os.environ["PATH"], "HOME": top, "UPHELD_HOME": top + "/home"}
        self.places = find_places(self.environ)
        os.makedirs(self.places.data, mode=0o700)
        with open(self.places.data + "/hook.py", "w", encoding="utf-8") as file:
            file.write(render_hook(find_roots(), __version__))
        self.hook = [sys.executable, "-I", "-S", self.places.data + "/hook.py", "codex"]
        self.session = 0
        self._fill_repository(files)
        self._fill_ledger(findings)

    def payload(self, event: str, **more: str) -> bytes:
        """Return the event of a session that was never seen before."""
        self.session += 1
        fields = {"hook_event_name": event, "session_id": f"s-{self.session}", "cwd": self.repository, **more}
        return json.dumps(fields).encode()

    def git(self, *arguments: str) -> None:
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        command = ["git", *identity, *arguments]
        subprocess.run(command, cwd=self.repository, env=self.environ, check=True, capture_output=True)

    def _fill_repository(self, files: int) -> None:
        for folder in range(files // 100):
            path = f"{self.repository}/src/part{folder:03}"
            os.makedirs(path)
            for number in range(100):
                with open(f"{path}/module{number:02}.py", "w", encoding="utf-8") as file:
                    file.write(f"x = {folder * 100 + number}\n")
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "Begin")

    def _fill_ledger(self, findings: int) -> None:
        words = Zipf(1)
        with Upheld(self.repository, environ=self.environ) as upheld:
            # What every start looks at: a rule for everywhere, one for a branch, one about a file.
            scopes: list[ScopeArgument] = [
                {"everywhere": True},
                {"match": {"git.branch": "main"}},
                {"paths": ["src/part001/module07.py"]},
            ]
            for scope in scopes:
                upheld.log_finding(
                    claim=f"A rule for {' and '.join(scope)}",
                    claim_kind="constraint",
                    epistemic_state="not_applicable",
                    scope=scope,
                )
            with closing(database.open_for_writing(self.places.ledger, database.LEDGER)) as db:
                project = find_project(db, upheld.place.marks, root_commits=lambda: ())
                assert project is not None
                db.execute("pragma synchronous = off")
                with database.Transaction(db):
                    for claim in words.claims(findings):
                        put(db, project, claim)
        self.prompt = "why does " + " ".join(words.draw(30)) + " fail in src/part001/module07.py?"


def _run(command: Sequence[str], payload: bytes, environ: dict[str, str]) -> tuple[float, bytes]:
    """Run a process and return its seconds and its output."""
    begin = time.perf_counter()
    done = subprocess.run(command, input=payload, env=environ, stdout=subprocess.PIPE, check=True)
    return time.perf_counter() - begin, done.stdout


def _measure(stage: _Stage, event: str, **more: str) -> tuple[list[float], list[float]]:
    """Return the seconds of the hook and of the bare interpreter, of pair-wise runs."""
    hooks, bares = [], []
    for turn in range(ROUNDS + 1):
        bare, _ = _run(BARE, b"", stage.environ)
        hook, output = _run(stage.hook, stage.payload(event, **more), stage.environ)
        assert b"additionalContext" in output, "there was nothing to answer"
        if turn:  # the first start compiles; hosts meet it once
            hooks.append(hook)
            bares.append(bare)
    return hooks, bares


def _git_share(stage: _Stage, payload: bytes) -> float:
    """Return git's share of the time of one hook, from inside: spawning it and waiting for it."""
    code = (
        "import posix, sys, time; begin = time.perf_counter()\n"
        "sys.argv = sys.argv[1:]; lines = open(sys.argv[0]).read().splitlines()\n"
        "exec('\\n'.join(line for line in lines if line.startswith('sys.path') or line.startswith('ROOTS')))\n"
        "from upheld.context import git; spent = 0.0; run_all = git.run_all\n"
        "def timed(*given, **more):\n"
        "    global spent; start = time.perf_counter()\n"
        "    try: return run_all(*given, **more)\n"
        "    finally: spent += time.perf_counter() - start\n"
        "git.run_all = timed; leave = posix._exit\n"
        "def tell(status):\n"
        "    posix.write(2, b'%d' % round(1e6 * spent / (time.perf_counter() - begin))); leave(status)\n"
        "posix._exit = tell; exec('\\n'.join(lines))\n"
    )
    command = [sys.executable, "-I", "-S", "-c", code, *stage.hook[3:]]
    done = subprocess.run(command, input=payload, env=stage.environ, capture_output=True, check=True)
    return int(done.stderr) / 1e6


def rows() -> list[dict[str, Any]]:
    """Return the rows of the relay, of the direct way at a start and at a prompt, and of memory."""
    start = {"event": "SessionStart", "source": "startup"}
    found = []
    with tempfile.TemporaryDirectory() as top:
        small = _Stage(top, findings=100, files=200)
        found += _relay(small, "relay", start, RELAY_GOAL)
    with tempfile.TemporaryDirectory() as top:
        large = _Stage(top, findings=FINDINGS, files=FILES)
        found += _relay(large, "relay.large", start, None)
        found += _direct(large, "direct-start", start)
        found += _direct(large, "direct-prompt", {"event": "UserPromptSubmit", "prompt": large.prompt})
        return found + _memory(large, start)


def _relay(stage: _Stage, what: str, event: dict[str, str], goal: float | None) -> list[dict[str, Any]]:
    server = subprocess.Popen(
        [sys.executable, "-I", "-m", "upheld", "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=stage.environ,
        cwd=stage.repository,
    )
    with server:
        path = find_socket_path(stage.places.state)
        while not os.path.exists(path):
            assert server.poll() is None
        hooks, bares = _measure(stage, **event)
        server.communicate()
    return _timed(what, hooks, bares, goal)


def _direct(stage: _Stage, what: str, event: dict[str, str]) -> list[dict[str, Any]]:
    hooks, bares = _measure(stage, **event)
    share = statistics.median(_git_share(stage, stage.payload(**event)) for _ in range(5))
    return [
        *_timed(what, hooks, bares, DIRECT_GOAL),
        {"name": f"{PREFIX}-{what}.git-share", "value": share * 100, "unit": "%"},
    ]


def _memory(stage: _Stage, event: dict[str, str]) -> list[dict[str, Any]]:
    hook = [_peak(stage.hook, stage.payload(**event), stage.environ) for _ in range(5)]
    bare = [_peak(BARE, b"", stage.environ) for _ in range(5)]
    value, limit = statistics.median(hook) / 1024, statistics.median(bare) / 1024
    return [{"name": f"{PREFIX}-memory", "value": value, "unit": "MB", "limit": limit, "goal": MEMORY_GOAL}]


def _peak(command: Sequence[str], payload: bytes, environ: dict[str, str]) -> int:
    """Return the peak memory of a process in kilobytes, as its parent is told.

    A new process begins with the peak of the one that started it: so that is a small one, not this.
    """
    code = (
        "import os, sys\n"
        "away = [(os.POSIX_SPAWN_OPEN, 1, '/dev/null', os.O_WRONLY, 0)]\n"
        "pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=away)\n"
        "print(os.wait4(pid, 0)[2].ru_maxrss)\n"
    )
    launcher = [sys.executable, "-I", "-S", "-c", code, *command]
    return int(subprocess.run(launcher, input=payload, env=environ, capture_output=True, check=True).stdout)


def _timed(what: str, hooks: list[float], bares: list[float], goal: float | None) -> list[dict[str, Any]]:
    limit = statistics.median(bares) * 1000
    late = statistics.quantiles(hooks, n=20)[-1] * 1000
    median = statistics.median(hooks) * 1000
    return [
        {"name": f"{PREFIX}-{what}", "value": median, "unit": "ms", "limit": limit, "goal": goal},
        {"name": f"{PREFIX}-{what}.p95", "value": late, "unit": "ms", "limit": limit},
    ]
