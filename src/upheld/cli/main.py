"""The command line's table of commands."""

from __future__ import annotations

import io
import sys

import click

from upheld import __version__
from upheld.cli import check, completion, config, explain, findings, hosts, pause, project, status, transfer
from upheld.cli.run import run_guarded


def build() -> click.Group:
    """Return the whole command line."""
    group = click.Group(
        "upheld",
        help="Evidence-based memory for coding agents: only what is still worth believing, here, now.",
        params=[],
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    group.params.append(
        click.Option(
            ["--version"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=_print_version,
            help="Print the version.",
        )
    )
    for command in (
        *findings.build_commands(),
        status.command,
        explain.command,
        check.command,
        project.group,
        *transfer.commands,
        config.group,
        pause.command,
        completion.command,
        *hosts.commands,
        _mcp(),
    ):
        group.add_command(command)
    return group


def _print_version(context: click.Context, _parameter: click.Parameter, value: object) -> None:
    if value:
        click.echo(f"upheld {__version__}")
        context.exit()


def _mcp() -> click.Command:
    return click.Command(
        "mcp",
        callback=_serve,
        help="Serve the tools to a host over stdio. Hosts start this; people need not.",
        epilog="\b\nExample:\n  upheld mcp",
    )


def _serve() -> int:
    from upheld.mcp.main import main as serve

    return serve()


def main() -> int:
    """Run the command in `sys.argv` and return its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal of another encoding gets escapes, no half of the output.
            stream.reconfigure(errors="backslashreplace")
    arguments = sys.argv[1:]
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    words = [argument for argument in options if not argument.startswith("-")]
    group = build()
    grouped = bool(words) and isinstance(group.commands.get(words[0]), click.Group)
    name = " ".join(words[: 2 if grouped else 1])
    return run_guarded(
        lambda: group.main(arguments, prog_name="upheld", standalone_mode=False),
        name,
        as_json="--json" in options,
    )
