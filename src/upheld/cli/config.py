"""`upheld config list | get | set | unset`: what counts here, and changing it. People change, anybody looks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from upheld.cli import render
from upheld.cli.run import json_option, open_upheld
from upheld.envelope import succeed
from upheld.findings.settings import SETTINGS, get_setting

if TYPE_CHECKING:
    from collections.abc import Mapping

    from click.shell_completion import CompletionItem


def show_all(*, as_json: bool) -> int:
    """Print every setting and what counts here."""
    with open_upheld() as upheld:
        data = upheld.settings()
    if as_json:
        render.print_json(succeed(data, command="config list"))
        return 0
    for one in data["settings"]:
        value = _show(one)
        click.echo(f"{one['name']:<13} {value:<16} ({one['origin']})  {one['doc']}")
    if data["paused_until"]:
        click.echo(f"Paused {render.describe_pause(data['paused_until'])}.")
    return 0


def show_one(name: str, *, as_json: bool) -> int:
    """Print the value of one setting that counts here."""
    get_setting(name)
    with open_upheld() as upheld:
        found = next(one for one in upheld.settings()["settings"] if one["name"] == name)
    if as_json:
        render.print_json(succeed(found, command="config get"))
    else:
        click.echo(_show(found))
    return 0


def change(name: str, value: str, *, everywhere: bool, as_json: bool) -> int:
    """Set one and print what counts here now."""
    with open_upheld() as upheld:
        upheld.set_setting(name, value, everywhere=everywhere)
        found = next(one for one in upheld.settings()["settings"] if one["name"] == name)
    warnings = []
    if everywhere and found["origin"] == "project":
        warnings.append(f"Here it stays what was set for this project: upheld config unset {name}")
    _tell(found, warnings, "config set", as_json=as_json)
    return 0


def take_back(name: str, *, everywhere: bool, as_json: bool) -> int:
    """Take one back and print what counts here now."""
    with open_upheld() as upheld:
        was_set = upheld.unset_setting(name, everywhere=everywhere)
        found = next(one for one in upheld.settings()["settings"] if one["name"] == name)
    warnings = []
    if not was_set:
        warnings.append(f"{name} was not set {'everywhere' if everywhere else 'for this project'}.")
    _tell(found, warnings, "config unset", as_json=as_json)
    return 0


def _tell(found: Mapping[str, Any], warnings: list[str], command: str, *, as_json: bool) -> None:
    if as_json:
        render.print_json(succeed(found, command=command, warnings=warnings))
        return
    click.echo(f"{found['name']} is {_show(found)} here ({found['origin']}).")
    render.warn(warnings)


def _show(setting: Mapping[str, Any]) -> str:
    return "the host's limit" if setting["value"] is None else str(setting["value"])


def _complete(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(one.name, help=one.doc) for one in SETTINGS.values() if one.name.startswith(incomplete)]


def _name() -> click.Argument:
    return click.Argument(["name"], shell_complete=_complete)


def _everywhere() -> click.Option:
    return click.Option(["--everywhere"], is_flag=True, help="for every project that has none of its own")


group = click.Group(
    "config",
    help="What counts here, and changing it. People change settings; anybody may look.",
    commands=[
        click.Command(
            "list",
            callback=show_all,
            params=[json_option()],
            help="List the settings, what counts here, and where that was set.",
            epilog="\b\nExample:\n  upheld config list",
        ),
        click.Command(
            "get",
            callback=show_one,
            params=[_name(), json_option()],
            help="Print the value of one setting that counts here.",
            epilog="\b\nExample:\n  upheld config get prompt-items",
        ),
        click.Command(
            "set",
            callback=change,
            params=[_name(), click.Argument(["value"]), _everywhere(), json_option()],
            help="Set one for this project, or everywhere. For people.",
            epilog="\b\nExample:\n  upheld config set language zh --everywhere",
            context_settings={"ignore_unknown_options": True},
        ),
        click.Command(
            "unset",
            callback=take_back,
            params=[_name(), _everywhere(), json_option()],
            help="Take back what was set for this project, or everywhere. For people.",
            epilog="\b\nExample:\n  upheld config unset language --everywhere",
        ),
    ],
)
