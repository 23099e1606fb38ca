"""Upheld in a Codex: installed and trusted as a user does it, its calls as an agent makes them, its blocks.

The tests of the story read only what the model saw; nothing here looks into a database.
"""

from __future__ import annotations

import json
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
    """Log a claim, project-wide unless `scope` says something else."""
    return Mcp("log_finding", {"claim": claim, "scope": {"everywhere": True}} | more)


def log_constraint(claim: str, **more: Any) -> Mcp:
    """Log a constraint; those in scope are handed out at every start."""
    return log_finding(claim, claim_kind="constraint", epistemic_state="not_applicable", **more)


def blocks(request: Request) -> list[str]:
    """Return the blocks of ours in a request, each whole."""
    return [text.text for text in request.containing(HEADING)]


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
    return [envelope for envelope in map(_envelope, outputs.values()) if envelope is not None]


def _envelope(output: str) -> Envelope | None:
    """Return the envelope in an output, which in one profile stands in the JSON of a tool result."""
    start = output.find("{")
    if start < 0:
        return None
    value, _ = json.JSONDecoder().raw_decode(output[start:])
    if "content" in value:
        value = json.loads(value["content"][0]["text"])
    return value if "ok" in value else None


def _git(path: str, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=path, check=True, capture_output=True)
