"""`upheld project list | show | confirm | rename | link | forget`: what projects are recognised by."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from upheld.cli import render
from upheld.cli.agreement import ask, yes_option
from upheld.cli.caller import is_person
from upheld.cli.run import json_option, open_upheld
from upheld.envelope import succeed
from upheld.findings.refusals import PersonRequiredError
from upheld.text.quote import quote

if TYPE_CHECKING:
    from collections.abc import Mapping


def show(*, as_json: bool) -> int:
    """Print the project, its marks, and what its files declare."""
    with open_upheld() as upheld:
        data = upheld.show_project()
    if as_json:
        render.print_json(succeed(data, command="project show"))
    else:
        _print(data)
    return 0


def confirm(*, yes: bool, as_json: bool) -> int:
    """Show what the project's files declare and accept it for this clone."""
    if not is_person(os.environ):
        raise PersonRequiredError("Confirming what a project declares")
    with open_upheld() as upheld:
        seen = upheld.read_declared()
        _print_declared(seen.as_data(), err=as_json)
        if not yes:
            ask("Use this id and these facts for this clone?")
        data = upheld.confirm_declared(seen)
    if as_json:
        render.print_json(succeed(data, command="project confirm"))
    else:
        click.echo(f"Confirmed. This clone belongs to the project {quote(data['project']['name'])}.")
    return 0


def list_(*, as_json: bool) -> int:
    """Print every project of the ledger."""
    with open_upheld() as upheld:
        projects = upheld.list_projects()
    if as_json:
        render.print_json(succeed({"projects": projects}, command="project list"))
        return 0
    for one in projects:
        here = "  (here)" if one["here"] else ""
        changed = f", last changed {one['changed_at'][:10]}" if one["changed_at"] else ""
        click.echo(f"{one['uid'][:8]}  {quote(one['name'])}: findings: {one['findings']}{changed}{here}")
    if not projects:
        click.echo("No projects.")
    return 0


def rename(project: str, name: str, *, as_json: bool) -> int:
    """Give a project another name."""
    with open_upheld() as upheld:
        data = upheld.rename_project(project, name)
    return _tell(data, "project rename", "Renamed to", as_json=as_json)


def link(project: str, *, yes: bool, as_json: bool) -> int:
    """Join the clone here to a project."""
    if not is_person(os.environ):
        raise PersonRequiredError("Joining a clone to a project")
    with open_upheld() as upheld:
        if not yes:
            ask("Is this directory a clone of that project? What it writes from now on belongs there.")
        data = upheld.link_project(project)
    return _tell(data, "project link", "This clone belongs to", as_json=as_json)


def forget(project: str, *, yes: bool, as_json: bool) -> int:
    """Forget a project without findings."""
    if not is_person(os.environ):
        raise PersonRequiredError("Forgetting a project")
    with open_upheld() as upheld:
        if not yes:
            ask("Forget this project and what it is recognised by?")
        data = upheld.forget_project(project)
    return _tell(data, "project forget", "Forgot", as_json=as_json)


def _tell(data: Mapping[str, str], command: str, did: str, *, as_json: bool) -> int:
    if as_json:
        render.print_json(succeed(dict(data), command=command))
    else:
        click.echo(f"{did} {quote(data['name'])} ({data['uid'][:8]}).")
    return 0


def _print(data: Mapping[str, Any]) -> None:
    project = data["project"]
    if project is None:
        click.echo("Project:  not in the ledger yet; log_finding begins it")
    else:
        click.echo(f"Project:  {quote(project['name'])} ({project['uid']})")
        for mark in project["marks"]:
            click.echo(f"  {mark['kind']:<12} {quote(mark['value'])}  (seen {mark['noted_at']})")
    git = data["git"]
    click.echo(f"Git:      {git['state']}" + (f": {render.quote_lines(git['problem'])}" if git["problem"] else ""))
    if git["commit"]:
        click.echo(f"  {quote(git['branch'] or 'no branch')} at {git['commit']}")
    for name, url in git["remotes"].items():
        click.echo(f"  remote {quote(name)}: {quote(url)}")
    _print_declared(data["declared"], err=False)


def _print_declared(declared: Mapping[str, Any], *, err: bool) -> None:
    click.echo("Declared by the project's files:", err=err)
    if declared["id"] is not None:
        click.echo(f"  id = {quote(declared['id'])}  ({_state(confirmed=declared['id_confirmed'])})", err=err)
    for name, value in declared["facts"].items():
        click.echo(f"  {quote(name)} = {quote(value)}  ({_state(confirmed=declared['facts_confirmed'])})", err=err)
    if declared["id"] is None and not declared["facts"]:
        click.echo("  nothing", err=err)
    for problem in declared["problems"]:
        click.echo(f"  problem: {render.quote_lines(problem)}", err=err)


def _state(*, confirmed: bool) -> str:
    return "confirmed for this clone" if confirmed else "not confirmed: upheld project confirm"


_PROJECT = click.Argument(["project"])
group = click.Group(
    "project",
    help="Which projects there are, what identifies this one, and what its own files declare.",
    commands=[
        click.Command(
            "list",
            callback=list_,
            params=[json_option()],
            help="List every project of the ledger: uid, name, findings.",
            epilog="\b\nExample:\n  upheld project list",
        ),
        click.Command(
            "rename",
            callback=rename,
            params=[_PROJECT, click.Argument(["name"]), json_option()],
            help="Give a project another name. For people.",
            epilog="\b\nExample:\n  upheld project rename 1f9ac03b engine",
        ),
        click.Command(
            "link",
            callback=link,
            params=[_PROJECT, yes_option(), json_option()],
            help="Join the clone here to a project; findings stay where they are. For people.",
            epilog="\b\nExample:\n  upheld project link engine",
        ),
        click.Command(
            "forget",
            callback=forget,
            params=[_PROJECT, yes_option(), json_option()],
            help="Forget a project that holds no findings, or only purged ones. For people.",
            epilog="\b\nExample:\n  upheld project forget 1f9ac03b",
        ),
        click.Command(
            "show",
            callback=show,
            params=[json_option()],
            help="Show the project here: its marks, what git says, and what its files declare.",
            epilog="\b\nExample:\n  upheld project show",
        ),
        click.Command(
            "confirm",
            callback=confirm,
            params=[yes_option(), json_option()],
            help="Accept the id and the facts in .upheld/ for this clone. For people: a repository can be hostile.",
            epilog="\b\nExample:\n  upheld project confirm",
        ),
    ],
)
