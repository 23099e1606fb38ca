"""What every command shares: the ledger it opens, `--json`, and one place where errors become exit codes.

A refusal exits 1, wrong usage 2, a bug 3 with its log named, an interrupt 130.
"""

from __future__ import annotations

import os
import traceback
from typing import TYPE_CHECKING

import click

from upheld.api import Upheld
from upheld.cli import render
from upheld.cli.caller import is_at_terminal, read_caller
from upheld.envelope import refuse
from upheld.errors import INVALID_ARGUMENT, UpheldError
from upheld.storage.places import find_places

if TYPE_CHECKING:
    from collections.abc import Callable

REFUSED = 1
USAGE = 2
BUG = 3
INTERRUPTED = 130


def open_upheld() -> Upheld:
    """Return the ledger as seen from the working directory by whoever runs this command."""
    return Upheld(caller=read_caller(os.environ, at_terminal=is_at_terminal()))


def json_option() -> click.Option:
    """Return `--json`, the same on every command."""
    return click.Option(["--json", "as_json"], is_flag=True, help="print one JSON envelope")


def run_guarded(command: Callable[[], int | None], name: str, *, as_json: bool) -> int:
    """Run a command and return its exit status, whatever happens.

    Args:
        command: What to do.
        name: The command's word, for the envelope.
        as_json: Whether an error is printed as an envelope, to standard output.
    """
    try:
        return _run(command, name, as_json=as_json)
    except (BrokenPipeError, SystemExit):
        # Whoever read our output has seen enough; click makes an exit of that.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except Exception:  # noqa: BLE001 - the one place where a bug becomes a message
        where = _keep_traceback(traceback.format_exc())
        click.secho(f"This is a bug in Upheld. What happened is in {where}; nothing was lost.", err=True, fg="red")
        return BUG


def _run(command: Callable[[], int | None], name: str, *, as_json: bool) -> int:
    try:
        return command() or 0
    except UpheldError as error:
        if as_json:
            render.print_json(refuse(error, command=name))
        else:
            click.secho(f"{error.code}: {render.quote_lines(error.message)}", err=True, fg="red")
        return REFUSED
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        if as_json:
            render.print_json(refuse(UpheldError(error.format_message(), code=INVALID_ARGUMENT), command=name))
        else:
            _show_usage(error)
        return USAGE
    except (KeyboardInterrupt, click.Abort):
        click.echo("Interrupted.", err=True)
        return INTERRUPTED


def _show_usage(error: click.ClickException) -> None:
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is None or isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        return
    click.echo(context.get_usage(), err=True)
    message = " ".join(error.format_message().split())  # click breaks lists of choices over lines
    click.echo(f"Error: {render.quote_lines(message)}", err=True)
    click.echo(f"Try '{context.command_path} -h'.", err=True)


def _keep_traceback(text: str) -> str:
    """Write a traceback beside our state and return its path as it may be shown."""
    state = find_places(os.environ).state
    path = state + "/bug.log"
    try:
        os.makedirs(state, mode=0o700, exist_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "wb") as file:
            file.write(text.encode("utf-8", "backslashreplace"))
    except OSError:
        click.echo(text, err=True)
        return "the lines above"
    return path.replace(os.path.expanduser("~"), "~", 1)
