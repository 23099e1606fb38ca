"""Upheld in a Codex: installed and trusted as a user does it, its calls as an agent makes them, its blocks.

The tests of the story read only what the model saw; nothing here looks into a database.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from support.codex.steps import Mcp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from support.codex.home import CodexHome, Run
    from support.codex.request import Request

HEADING = "## Upheld: findings for this task"
# Codex cuts a context above about this many UTF-8 bytes.
HOST_LIMIT = 9_900

# A user who switched our server off, or a server that did not start.
WITHOUT_SERVER = ("--config", "mcp_servers.upheld.enabled=false")

Envelope = dict[str, Any]


def make_repository(path: str, files: dict[str, str]) -> None:
    """Make a git repository with one commit of these files."""
    _git(path, "init", "--quiet", "--initial-branch=main")
    commit(path, files)


def commit(path: str, files: dict[str, str]) -> None:
    """Write files and commit them."""
    for name, text in files.items():
        with open(f"{path}/{name}", "w", encoding="utf-8") as file:
            file.write(text)
    _git(path, "add", "--all")
    _git(path, "commit", "--quiet", "--message", "Change " + ", ".join(files))


def upheld(codex: CodexHome, *arguments: str, cwd: str | None = None) -> str:
    """Run the command line as the user of this Codex, and return what it prints."""
    done = codex.command(sys.executable, "-I", "-m", "upheld", *arguments, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def install(codex: CodexHome) -> None:
    """Install Upheld into this Codex; its hooks are not trusted yet."""
    upheld(codex, "install", "codex", "--yes")


def trust(codex: CodexHome) -> None:
    """Trust what is installed, as the user does in the review screen."""
    with codex.app_server() as app:
        hooks = app.hooks()
        assert hooks
        app.trust(hooks)


def supporting(source: str, excerpt: str) -> dict[str, Any]:
    """Return evidence of an experiment that supports a claim."""
    return {
        "source_kind": "experiment_run",
        "source_ref": source,
        "method": "experiment",
        "role": "supports",
        "excerpt": excerpt,
    }


def contradicting(source: str, excerpt: str) -> dict[str, Any]:
    """Return evidence of an experiment that contradicts a claim."""
    return supporting(source, excerpt) | {"role": "contradicts"}


def log_finding(claim: str, **more: Any) -> Mcp:
    """Log an observation that holds everywhere, unless `more` says something else."""
    usual = {"claim": claim, "claim_kind": "observation", "scope": {"everywhere": True}}
    return Mcp("log_finding", usual | more)


def log_supported(claim: str, **more: Any) -> Mcp:
    """Log an observation with evidence of an experiment that supports it."""
    return log_finding(claim, epistemic_state="supported", evidence=[supporting("run-4472", "as claimed")], **more)


def refute(finding: str) -> Mcp:
    """Refute a finding with evidence of an experiment."""
    evidence = [supporting("probe-a", "otherwise") | {"role": "contradicts"}]
    return Mcp("refute_finding", {"finding_id": finding, "reason": "measured", "evidence": evidence})


def supersede(finding: str, claim: str) -> Mcp:
    """Log a newer claim in place of a finding."""
    return Mcp("supersede_finding", {"finding_id": finding, "claim": claim, "reason": "the code has changed"})


def log_constraint(claim: str, **more: Any) -> Mcp:
    """Log a constraint; those in scope are handed out at every start."""
    return log_finding(claim, claim_kind="constraint", epistemic_state="not_applicable", **more)


def blocks(request: Request) -> list[str]:
    """Return the blocks of ours in a request; each came from a hook, and whole."""
    found = request.containing(HEADING)
    for block in found:
        assert block.role == "developer"
        assert len(block.text.encode()) <= HOST_LIMIT
        assert "truncated" not in block.text
    return [block.text for block in found]


def only_block(request: Request) -> str:
    """Return the one block of a request."""
    (block,) = blocks(request)
    return block


def block_about(request: Request, claim: str) -> str:
    """Return the one block of a request in which a claim stands; it stands nowhere else, and once."""
    (block,) = [block for block in blocks(request) if claim in block]
    assert block.count(claim) == 1
    return block


def section(block: str, heading: str) -> str:
    """Return what stands under a heading of a block, "" if it has no such heading."""
    _, found, rest = block.partition(f"### {heading}")
    return rest.partition("\n### ")[0] if found else ""


def answers(run: Run) -> list[Envelope]:
    """Return the envelopes that our tools answered with in a run, in the order of the calls."""
    return answers_in(run.requests)


def answers_in(requests: Sequence[Request]) -> list[Envelope]:
    """Return the envelopes that our tools answered with, in the order of the calls, whoever called."""
    outputs: dict[str, str] = {}
    for request in requests:
        for call_id, output in request.outputs_by_call.items():
            outputs.setdefault(call_id, output)
    return [envelope for envelope in map(envelope_in, outputs.values()) if envelope is not None]


def envelope_in(output: str) -> Envelope | None:
    """Return the envelope in an output, which in one profile stands in the tool result that a script printed."""
    start = output.find("{")
    if start < 0:
        return None
    value, _ = json.JSONDecoder().raw_decode(output[start:])
    value = value.get("structuredContent", value)
    return value if "ok" in value else None


def take_the_ledger_from_the_hook(codex: CodexHome) -> None:
    """Leave the hook without its database driver: from now on only a running server can answer."""
    path = f"{codex.upheld}/data/hook.py"
    with open(path, encoding="utf-8") as file:
        text = file.read()
    assert "import sys\n" in text
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace("import sys\n", "import sys\nsys.modules['apsw'] = None\n", 1))


def kill_server(codex: CodexHome) -> None:
    """Kill the MCP server that runs in this Codex, without a chance to end in order."""
    (server,) = [process for process in map(int, filter(str.isdigit, os.listdir("/proc"))) if _serves(process, codex)]
    os.kill(server, signal.SIGKILL)


def _serves(process: int, codex: CodexHome) -> bool:
    try:
        with open(f"/proc/{process}/cmdline", "rb") as file:
            command = file.read().split(b"\0")
        with open(f"/proc/{process}/environ", "rb") as file:
            environ = file.read().split(b"\0")
    except OSError:
        return False  # it has ended meanwhile, or is another user's
    return b"UPHELD_HOME=" + os.fsencode(codex.upheld) in environ and command[-3:-1] == [b"upheld", b"mcp"]


def _git(path: str, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=path, check=True, capture_output=True)
