"""Asking before a change that is somebody's to decide: at a terminal, or agreed to beforehand with `--yes`."""

from __future__ import annotations

import click

from upheld.cli.caller import is_at_terminal
from upheld.errors import INVALID_ARGUMENT, UpheldError


class NotAgreedError(UpheldError):
    """Nobody agreed to a change."""

    def __init__(self) -> None:
        super().__init__(
            "yes is missing: nobody at a terminal agreed. Repeat with --yes to agree. Nothing was changed.",
            code=INVALID_ARGUMENT,
            argument="yes",
        )


def ask(question: str) -> None:
    """Ask a question that must be answered with yes.

    Raises:
        NotAgreedError: The answer was no, or nobody is there to ask.
    """
    if not is_at_terminal() or not click.confirm(question, err=True):
        raise NotAgreedError


def yes_option() -> click.Option:
    """Return `--yes`, the same on every command that asks."""
    return click.Option(["--yes"], is_flag=True, help="agree to the change without being asked")
