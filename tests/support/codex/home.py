"""One Codex of one test: its own home, its own project, an environment with nothing of ours in it.

`CodexHome` writes the configuration, runs `codex exec` and its `resume`, opens the app-server, and reads what
Codex left behind. It knows nothing of Upheld; installing something is the test's business.
"""

from __future__ import annotations

import glob
import json
import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from support.codex.app_server import AppServer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from support.codex.network import PrivateNetwork
    from support.codex.request import Request
    from support.codex.scripted_model import ScriptedModel

# An unattended run as a careful user starts it: a writing MCP tool runs only if its annotations are honest.
UNATTENDED = ("--sandbox", "workspace-write", "--config", 'approval_policy="never"')
# What the model asks for runs unsandboxed: needed where the container allows no second sandbox.
UNSANDBOXED = ("--dangerously-bypass-approvals-and-sandbox",)
TRUST_ALL = ("--dangerously-bypass-hook-trust",)

_CONFIG = """\
model = "{model}"
model_provider = "scripted"
check_for_update_on_startup = false
{settings}
[model_providers.scripted]
name = "scripted"
base_url = "http://127.0.0.1:{port}/v1"
wire_api = "responses"
env_key = "SCRIPTED_MODEL_KEY"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false

[feedback]
enabled = false

[otel]
exporter = "none"
"""


@dataclass(frozen=True, slots=True)
class Run:
    """What one `codex exec` did.

    Args:
        thread: The thread's id, by which it is resumed.
        code: The exit code.
        events: What it printed with `--json`.
        errors: What it printed to stderr.
        requests: The model requests of this run, oldest first, children and compactions included.
    """

    thread: str
    code: int
    events: list[dict[str, Any]]
    errors: str
    requests: list[Request]

    @property
    def turns(self) -> list[Request]:
        """The requests that are no compaction."""
        return [request for request in self.requests if request.kind == "turn"]

    @property
    def outputs(self) -> list[str]:
        """The outputs of the model's calls, as the last request of this run shows them."""
        return self.turns[-1].outputs


class CodexHome:
    """A Codex with its directories under `root`.

    Args:
        root: An existing directory; `home`, `codex`, `upheld`, `project` and `temporary` are made in it.
        binary: The native Codex binary.
        network: Where everything runs.
        model: Who answers.
        settings: Top-level lines for `config.toml`.
    """

    def __init__(
        self, root: str, *, binary: str, network: PrivateNetwork, model: ScriptedModel, settings: str = ""
    ) -> None:
        self.binary, self.network, self.model = binary, network, model
        self.root = root
        self.home, self.codex, self.upheld = (f"{root}/{name}" for name in ("home", "codex", "upheld"))
        self.project, self.temporary = f"{root}/project", f"{root}/temporary"
        for directory in (self.home, self.codex, self.project, self.temporary):
            os.mkdir(directory)
        self.config = f"{self.codex}/config.toml"
        self.read_only: list[str] = []
        self.environ = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": self.home,
            "CODEX_HOME": self.codex,
            "UPHELD_HOME": self.upheld,
            "TMPDIR": self.temporary,
            "SCRIPTED_MODEL_KEY": "not-a-key",
            "LANG": "C.UTF-8",
            "TERM": "dumb",
        }
        with open(self.config, "x", encoding="utf-8") as file:
            file.write(_CONFIG.format(model=model.profile.model, port=model.port, settings=settings))

    def exec(self, prompt: str, *flags: str, cwd: str | None = None) -> Run:
        """Run `codex exec` with a prompt in the project, or in `cwd`."""
        return self._run([*(flags or UNATTENDED), prompt], cwd)

    def resume(self, thread: str, prompt: str, *flags: str, cwd: str | None = None) -> Run:
        """Resume a thread in a new process."""
        return self._run([*(flags or UNATTENDED), "resume", thread, prompt], cwd)

    def app_server(self) -> AppServer:
        """Start `codex app-server`, what an editor or desktop client talks to."""
        return AppServer(self.network.inside([self.binary, "app-server"], self.read_only), self.environ, self.project)

    def command(self, *command: str, cwd: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run another command in the same network and environment."""
        return subprocess.run(
            self.network.inside(command, self.read_only),
            cwd=cwd or self.project,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def write_hooks(self, hooks: dict[str, Any]) -> None:
        """Write `hooks.json`."""
        with open(f"{self.codex}/hooks.json", "w", encoding="utf-8") as file:
            json.dump({"hooks": hooks}, file, indent=1)

    def add_config(self, lines: str) -> None:
        """Append tables to `config.toml`."""
        with open(self.config, "a", encoding="utf-8") as file:
            file.write("\n" + lines)

    def rollout(self, thread: str) -> list[dict[str, Any]]:
        """Return the lines of a thread's log."""
        (path,) = glob.glob(f"{self.codex}/sessions/*/*/*/rollout-*-{thread}.jsonl")
        with open(path, encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def _run(self, arguments: Sequence[str], cwd: str | None) -> Run:
        before = len(self.model.requests)
        done = self.command(self.binary, "exec", "--json", "--skip-git-repo-check", *arguments, cwd=cwd)
        events = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        threads = [event["thread_id"] for event in events if event.get("type") == "thread.started"]
        if not threads:
            raise AssertionError(f"Codex started no thread: {done.stdout}{done.stderr}")
        return Run(threads[0], done.returncode, events, done.stderr, self.model.requests[before:])
