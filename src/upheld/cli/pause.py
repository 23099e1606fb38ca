"""`upheld pause`: no model is handed anything for a while, here or anywhere."""

from __future__ import annotations

import click

from upheld.cli import render
from upheld.cli.run import json_option, open_upheld
from upheld.envelope import succeed
from upheld.errors import InvalidArgumentError
from upheld.findings.model import FOREVER


def run(*, until: str | None, off: bool, everywhere: bool, as_json: bool) -> int:
    """Pause, or end it, and print until when it is paused here."""
    if off and until is not None:
        raise InvalidArgumentError("for", "is given with --off", "Give one of them.")
    with open_upheld() as upheld:
        upheld.pause(None if off else FOREVER if until is None else until, everywhere=everywhere)
        data = upheld.settings()
    found = {"paused_until": data["paused_until"], "pauses": data["pauses"]}
    warnings = []
    if off and "everywhere" in found["pauses"]:
        warnings.append("It is paused everywhere still: upheld pause --off --everywhere")
    elif off and "project" in found["pauses"]:
        warnings.append("This project is paused still: upheld pause --off")
    if as_json:
        render.print_json(succeed(found, command="pause", warnings=warnings))
        return 0
    until_then = found["paused_until"]
    click.echo(f"Paused {render.describe_pause(until_then)}." if until_then else "Not paused.")
    render.warn(warnings)
    return 0


command = click.Command(
    "pause",
    callback=run,
    params=[
        click.Option(["--for", "until"], help="how long, like 2h or 3d, or until when; else until it is ended"),
        click.Option(["--off"], is_flag=True, help="end it"),
        click.Option(["--everywhere"], is_flag=True, help="in every project"),
        json_option(),
    ],
    help="Hand no model anything for a while. Logging and asking go on. For people.",
    epilog="\b\nExample:\n  upheld pause --for 2h",
)
