"""What `make demo` plays on: a temporary home with Upheld wired into it, two repositories, and the real faces.

The command line, the MCP server over its standard streams, and the hook as the host's own files name it. Only
the model and the host's program are missing: the demo says what they would say, with payloads saved from one.
"""

from __future__ import annotations

import json
import os
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import tomllib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import Self

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAYLOADS = os.path.join(ROOT, "tests", "fixtures", "codex", "payloads")
ANSWER_SECONDS = 20.0


class UnexpectedError(Exception):
    """Something was not as the demo tells it."""


class Stage:
    """A temporary home. Leaving it ends the server and removes everything."""

    def __init__(self) -> None:
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="upheld-demo-"))
        self.home = os.path.join(self.folder, "home")
        self.codex = os.path.join(self.home, ".codex")
        os.makedirs(self.codex)
        # Nothing of the caller's own agent, ledger or git configuration may reach the demo, and commits have
        # the same names in every run.
        self.environ = {
            "HOME": self.home,
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_AUTHOR_NAME": "Ada",
            "GIT_AUTHOR_EMAIL": "ada@example.invalid",
            "GIT_AUTHOR_DATE": "2026-01-01T12:00:00Z",
            "GIT_COMMITTER_NAME": "Ada",
            "GIT_COMMITTER_EMAIL": "ada@example.invalid",
            "GIT_COMMITTER_DATE": "2026-01-01T12:00:00Z",
        }

    def __enter__(self) -> Self:
        """Return this stage."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove everything."""
        shutil.rmtree(self.folder)

    def repository(self, name: str, files: Mapping[str, str]) -> str:
        """Make a repository with one commit and return its path."""
        path = os.path.join(self.folder, name)
        os.makedirs(path)
        self._git(path, "init", "--quiet", "--initial-branch=main")
        self.commit(path, files)
        return path

    def commit(self, path: str, files: Mapping[str, str]) -> None:
        """Write files and commit them."""
        for name, text in files.items():
            target = os.path.join(path, name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "w", encoding="utf-8") as file:
                file.write(text)
        self._git(path, "add", "--all")
        self._git(path, "commit", "--quiet", "--message", f"Change {', '.join(files)}")

    def upheld(self, cwd: str, *arguments: str) -> str:
        """Run the command line as a person at a terminal would, and return what it prints."""
        ours, theirs = pty.openpty()
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-m", "upheld", *arguments],
                stdin=theirs,
                capture_output=True,
                text=True,
                cwd=cwd,
                env=self.environ,
                check=False,
            )
        finally:
            os.close(ours)
            os.close(theirs)
        if done.returncode != 0:
            raise UnexpectedError(f"upheld {' '.join(arguments)} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def hook(self, session: Session, saved: str, **values: str) -> str:
        """Give one event to the hook as the host's file names it, and return the context it adds, "" for none."""
        with open(os.path.join(PAYLOADS, f"classic-{saved}-root.json"), encoding="utf-8") as file:
            payload = json.load(file)
        payload.update(session_id=session.id, cwd=session.cwd, transcript_path=session.transcript, **values)
        with open(os.path.join(self.codex, "hooks.json"), encoding="utf-8") as file:
            (group,) = json.load(file)["hooks"][payload["hook_event_name"]]
        done = subprocess.run(
            ["/bin/sh", "-c", group["hooks"][0]["command"]],
            input=json.dumps(payload).encode(),
            capture_output=True,
            cwd=session.cwd,
            env=self.environ,
            check=False,
        )
        if done.returncode != 0 or done.stderr:
            raise UnexpectedError(f"the hook ended with {done.returncode}: {done.stderr.decode()}")
        if not done.stdout:
            return ""
        return str(json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"])

    def server(self, session: Session) -> Agent:
        """Start the MCP server as the host's file names it, in a session's directory."""
        with open(os.path.join(self.codex, "config.toml"), "rb") as file:
            table = tomllib.load(file)["mcp_servers"]["upheld"]
        process = subprocess.Popen(
            [table["command"], *table["args"]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=session.cwd,
            env=self.environ,
        )
        return Agent(process, session)

    def _git(self, path: str, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=path, env=self.environ, check=True, capture_output=True)


class Session:
    """One conversation of the host: its id, its directory and its log."""

    def __init__(self, stage: Stage, name: str, cwd: str) -> None:
        self.id = f"00000000-0000-7000-8000-{name:>012}"
        self.cwd = cwd
        self.transcript = os.path.join(stage.codex, f"rollout-{name}.jsonl")

    def note(self, prompt: str) -> None:
        """Write a prompt into the log, in the host's form."""
        item = {"type": "UserMessage", "content": [{"type": "text", "text": prompt}]}
        with open(self.transcript, "a", encoding="utf-8") as file:
            file.write(json.dumps({"type": "event_msg", "payload": {"type": "item_completed", "item": item}}) + "\n")


class Agent:
    """The model's side of the MCP server: calls a tool and reads its answer."""

    def __init__(self, process: subprocess.Popen[bytes], session: Session) -> None:
        self._process = process
        self._session = session
        self._sent = 0
        client = {"name": "codex-mcp-client", "version": "0.171.0"}
        self._ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})

    def __enter__(self) -> Self:
        """Return this agent."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the server's input, which ends it."""
        self._process.communicate(timeout=ANSWER_SECONDS)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return the data of its envelope."""
        meta = {"sessionId": self._session.id, "threadId": self._session.id, "callId": f"call-{self._sent}"}
        result = self._ask("tools/call", {"name": tool, "arguments": arguments, "_meta": meta})
        envelope = result["structuredContent"]
        if not envelope["ok"]:
            raise UnexpectedError(f"{tool} was refused: {envelope['error']['message']}")
        data: dict[str, Any] = envelope["data"]
        return data

    def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._sent += 1
        message = {"jsonrpc": "2.0", "id": self._sent, "method": method, "params": params}
        assert self._process.stdin is not None  # noqa: S101 - for the type checker: both are pipes
        assert self._process.stdout is not None  # noqa: S101 - the same
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        ready, _, _ = select.select([self._process.stdout], [], [], ANSWER_SECONDS)
        line = self._process.stdout.readline() if ready else b""
        answer = json.loads(line) if line else {}
        if "result" not in answer:
            self._process.kill()
            raise UnexpectedError(f"the server did not answer {method}")
        result: dict[str, Any] = answer["result"]
        return result
