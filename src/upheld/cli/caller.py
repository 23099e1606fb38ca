"""Who is at the command line: a person at a terminal, or an agent that runs commands."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from upheld.findings.ledger import Caller

if TYPE_CHECKING:
    from collections.abc import Mapping

_AGENT_VARIABLES = (
    "CODEX_CI",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "CODEX_SESSION_ID",
    "CODEX_THREAD_ID",
    "CLAUDECODE",
    "CLAUDE_CODE_SESSION_ID",
    "DSH_SESSION_ID",
    "GEMINI_CLI",
)
"""Variables that hosts set for the commands their agents run."""


def read_caller(environ: Mapping[str, str], *, at_terminal: bool) -> Caller:
    """Return the caller: `user` only at a terminal that no agent has opened.

    Args:
        environ: Of this process. A host may name its session; that is provenance, never permission.
        at_terminal: Whether a person can type here.
    """
    session = environ.get("CODEX_SESSION_ID", "")
    thread = environ.get("CODEX_THREAD_ID", "")
    host = "codex" if session else ""
    agent = thread if thread != session else ""
    if at_terminal and not any(environ.get(name) for name in _AGENT_VARIABLES):
        return Caller("user")
    return Caller("agent", host, session, agent)


def is_at_terminal() -> bool:
    """Say whether somebody can type here; standard input may be closed."""
    return sys.stdin is not None and sys.stdin.isatty()


def is_person(environ: Mapping[str, str]) -> bool:
    """Say whether a person sits at the terminal: only they are asked, and only they may confirm."""
    return read_caller(environ, at_terminal=is_at_terminal()).actor == "user"
