"""`upheld completion`: the script with which a shell completes commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from upheld.cli import render
from upheld.cli.run import json_option
from upheld.envelope import succeed

SHELLS = ("bash", "zsh", "fish")


def run(shell: str, *, as_json: bool) -> int:
    """Print the script."""
    script = _make_script(shell)
    if as_json:
        render.print_json(succeed({"shell": shell, "script": script}, command="completion"))
    else:
        click.echo(script)
    return 0


def _make_script(shell: str) -> str:
    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101 - for the type checker: click has these three
    made = kind(click.Group("upheld"), {}, "upheld", "_UPHELD_COMPLETE")
    # Not `source`: that starts a bash to look at its version, and this one may be meant for another machine.
    return made.source_template % made.source_vars()


command = click.Command(
    "completion",
    callback=run,
    params=[click.Argument(["shell"], type=click.Choice(SHELLS)), json_option()],
    help="Print the script that completes commands and options in a shell.\n\n"
    'bash and zsh: put eval "$(upheld completion bash)" into ~/.bashrc, or with zsh into ~/.zshrc. '
    "fish: upheld completion fish > ~/.config/fish/completions/upheld.fish",
    epilog="\b\nExample:\n  upheld completion bash",
)
