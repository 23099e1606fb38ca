"""`upheld export | import | purge | backup`: findings out of the ledger and into it, and copies of it."""

from __future__ import annotations

import os
import sys

import click

from upheld.cli import render
from upheld.cli.agreement import ask, yes_option
from upheld.cli.caller import is_person
from upheld.cli.progress import show_progress
from upheld.cli.run import json_option, open_upheld
from upheld.envelope import succeed
from upheld.errors import InvalidArgumentError
from upheld.findings.refusals import PersonRequiredError
from upheld.storage.backup import KEPT


def export(file: str, *, as_json: bool) -> int:
    """Write the findings of the project here."""
    with open_upheld() as upheld, show_progress() as progress:
        if file == "-":
            if as_json:
                raise InvalidArgumentError("json", "is given with an export to standard output", "Name a file.")
            upheld.export_findings(sys.stdout.buffer.write, progress=progress)
            return 0
        data = upheld.export_to_file(file, progress=progress)
    if as_json:
        render.print_json(succeed(data, command="export"))
    else:
        purged = f", without {data['purged']} purged ones" if data["purged"] else ""
        click.echo(f"Exported findings: {data['findings']}{purged}")
    return 0


def import_(file: str, *, into_this_project: bool, as_json: bool) -> int:
    """Read findings from an export."""
    if not is_person(os.environ):
        raise PersonRequiredError("`upheld import`")
    with open_upheld() as upheld, show_progress() as progress:
        data = upheld.import_findings(file, into_this_project=into_this_project, progress=progress)
    warnings = data.pop("warnings")
    if as_json:
        render.print_json(succeed(data, warnings, command="import"))
        return 0
    render.warn(warnings)
    click.echo(f"Imported findings: {data['imported']}; here already: {data['known']}")
    return 0


def purge(finding: str, *, reason: str | None, cited: bool, yes: bool, as_json: bool) -> int:
    """Purge one finding."""
    if not is_person(os.environ):
        raise PersonRequiredError("`upheld purge`")
    if reason is None:
        raise InvalidArgumentError("reason", "is missing", "Say why, without repeating what is purged.")
    with open_upheld() as upheld:
        if not yes:
            ask(f"Purge {render.quote_lines(finding)} for good? Its content is deleted, and every backup made before.")
        data = upheld.purge_finding(finding, reason, cited=cited)
    warnings = data.pop("warnings")
    if as_json:
        render.print_json(succeed(data, warnings, command="purge"))
        return 0
    render.warn(warnings)
    click.echo(f"Purged {data['finding_id']}. Backups deleted: {data['backups_deleted']}.")
    for key, said in (("evidence_kept", "Kept, since other findings have it"), ("cited_by", "Cited by")):
        if data[key]:
            click.echo(f"{said}: {', '.join(data[key])}")
    return 0


def make(*, keep: int, as_json: bool) -> int:
    """Make a backup."""
    with open_upheld() as upheld, show_progress() as progress:
        made = upheld.backup(keep=keep, progress=progress)
    if as_json:
        render.print_json(succeed({"name": made.name, "bytes": made.bytes}, command="backup make"))
    else:
        click.echo(f"Made {made.name} ({made.bytes:,} bytes).")
    return 0


def list_(*, as_json: bool) -> int:
    """List the backups."""
    with open_upheld() as upheld:
        backups = upheld.list_backups()
    if as_json:
        listed = [{"name": one.name, "bytes": one.bytes} for one in backups]
        render.print_json(succeed({"backups": listed}, command="backup list"))
        return 0
    for one in backups:
        click.echo(f"{one.name}  {one.bytes:,} bytes")
    if not backups:
        click.echo("No backups: upheld backup make")
    return 0


commands = [
    click.Command(
        "export",
        callback=export,
        params=[click.Argument(["file"], default="-", required=False), json_option()],
        help="Write the findings of the project here as JSON lines, to a file or to standard output.",
        epilog="\b\nExample:\n  upheld export findings.jsonl",
    ),
    click.Command(
        "import",
        callback=import_,
        params=[
            click.Argument(["file"]),
            click.Option(["--into-this-project"], is_flag=True, help="even if the file is of another project"),
            json_option(),
        ],
        help="Read findings from an export into the project here: all of them or none. For people.",
        epilog="\b\nExample:\n  upheld import findings.jsonl",
    ),
    click.Command(
        "purge",
        callback=purge,
        params=[
            click.Argument(["finding"]),
            click.Option(["--reason"], help="why, without repeating what is purged (required)"),
            click.Option(["--cited"], is_flag=True, help="even if other findings cite it"),
            yes_option(),
            json_option(),
        ],
        help="Delete what a finding says from everywhere we keep it; that it was purged stays on record. For people.",
        epilog='\b\nExample:\n  upheld purge F-12 --reason "it held a customer\'s name"',
    ),
    click.Group(
        "backup",
        help="Copies of the ledger: make, list.",
        commands=[
            click.Command(
                "make",
                callback=make,
                params=[
                    click.Option(
                        ["--keep"],
                        type=click.IntRange(1, 1000),
                        default=KEPT,
                        show_default=True,
                        help="how many stay, this one included",
                    ),
                    json_option(),
                ],
                help="Copy the ledger while it is in use, check the copy, and delete the oldest ones.",
                epilog="\b\nExample:\n  upheld backup make --keep 14",
            ),
            click.Command(
                "list",
                callback=list_,
                params=[json_option()],
                help="List the backups, newest first.",
                epilog="\b\nExample:\n  upheld backup list",
            ),
        ],
    ),
]
