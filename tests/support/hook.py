"""The installed hook as a host starts it: a file, run by `python -I -S`, with a payload on its standard input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from upheld import __version__
from upheld.api import Upheld
from upheld.findings.ledger import Caller
from upheld.hosts.hook_file import find_roots, render_hook
from upheld.storage.places import Places, find_places

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

PAYLOADS = os.path.join(os.path.dirname(__file__), "..", "fixtures", "codex", "payloads")
CONSTRAINT = "Releases need two approvals"

DRIVER = """
import posix, sys
leave = posix._exit
def tell_and_leave(status):
    posix.write(2, " ".join(sys.modules).encode())
    leave(status)
posix._exit = tell_and_leave
sys.argv = sys.argv[1:]
exec(compile(open(sys.argv[0]).read(), sys.argv[0], "exec"))
"""


@dataclass
class Hook:
    """One hook, its home and the repository that its events come from."""

    home: Path
    repository: Path
    environ: dict[str, str]
    path: str = field(init=False)

    def __post_init__(self) -> None:
        os.makedirs(self.places.data, mode=0o700)
        self.path = self.places.data + "/hook.py"
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(render_hook(find_roots(), __version__))

    @property
    def places(self) -> Places:
        return find_places(self.environ)

    @property
    def command(self) -> list[str]:
        return [sys.executable, "-I", "-S", self.path, "codex"]

    def git(self, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=self.repository, env=self.environ, check=True, capture_output=True)

    def log(self, claim: str = CONSTRAINT, **more: Any) -> str:
        """Log a constraint that holds everywhere, unless told otherwise, and return its id."""
        given = {"claim_kind": "constraint", "epistemic_state": "not_applicable", "scope": {"everywhere": True}}
        with Upheld(str(self.repository), environ=self.environ, caller=Caller("agent", "codex")) as upheld:
            return str(upheld.log_finding(claim=claim, **given | more).data["finding_id"])

    def payload(self, event: str = "SessionStart", session: str = "s-1", **more: Any) -> bytes:
        given = {"source": "startup"} if event == "SessionStart" else {}
        fields = {"hook_event_name": event, "session_id": session, "cwd": str(self.repository), **given, **more}
        return json.dumps(fields).encode()

    def run(
        self,
        payload: bytes,
        *,
        environ: Mapping[str, str] | None = None,
        command: Sequence[str] | None = None,
        timeout: float = 20,
    ) -> bytes:
        """Run it once and return its output. Whatever came in: it exits 0 and says nothing on standard error."""
        done = subprocess.run(
            command or self.command,
            input=payload,
            env={**self.environ, **(environ or {})},
            capture_output=True,
            check=False,
            timeout=timeout,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout

    def run_and_list(self, payload: bytes) -> tuple[bytes, set[str]]:
        """Run it and return its output and the modules that it had loaded at its end."""
        command = [sys.executable, "-I", "-S", "-c", DRIVER, self.path, "codex"]
        done = subprocess.run(command, input=payload, env=self.environ, capture_output=True, check=True)
        return done.stdout, set(done.stderr.decode().split())

    def diagnostics(self) -> str:
        """Return the diagnostics log, "" if there is none."""
        try:
            with open(self.places.state + "/diagnostics.log", encoding="ascii") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def server(self) -> subprocess.Popen[bytes]:
        """Start the MCP server, which holds the socket; end it by closing its input."""
        return subprocess.Popen(
            [sys.executable, "-I", "-m", "upheld", "mcp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=self.repository,
            env=self.environ,
        )


def make_hook(top: Path) -> Hook:
    """Return a hook with a home and a git repository below a new directory."""
    repository = top / "a project"
    repository.mkdir(parents=True)
    home = top / "home"
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(top),
        "UPHELD_HOME": str(home),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@example.org",
    }
    hook = Hook(home, repository, environ)
    (repository / "code.py").write_text("x = 1\n")
    hook.git("init", "--quiet", "--initial-branch=main")
    hook.git("add", "--all")
    hook.git("commit", "--quiet", "--message", "Begin")
    return hook


def read_context(output: bytes, event: str) -> str:
    """Return the context of an output that is valid for an event; "" for silence."""
    if not output:
        return ""
    answer = json.loads(output)
    assert set(answer) == {"hookSpecificOutput"}
    assert set(answer["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
    assert answer["hookSpecificOutput"]["hookEventName"] == event
    context = answer["hookSpecificOutput"]["additionalContext"]
    assert isinstance(context, str)
    assert context
    return context
