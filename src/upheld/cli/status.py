"""`upheld status`: what there is here, and why nothing may have appeared."""

from __future__ import annotations

import click

from upheld.cli import render
from upheld.cli.run import json_option, open_upheld
from upheld.envelope import succeed


def run(*, as_json: bool) -> int:
    """Print the status."""
    with open_upheld() as upheld:
        status = upheld.status()
    if as_json:
        render.print_json(succeed(status, command="status"))
    else:
        render.print_status(status)
    return 0


command = click.Command(
    "status",
    callback=run,
    params=[json_option()],
    help="Say what the ledger holds here, which facts are known, and why the last injection was empty.",
    epilog="\b\nExample:\n  upheld status",
)
