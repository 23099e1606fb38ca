"""`upheld check`: whether the ledger is what was written, and accepting it where a person knows why it is not."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from upheld.cli import render
from upheld.cli.agreement import ask, yes_option
from upheld.cli.caller import is_person
from upheld.cli.progress import show_progress
from upheld.cli.run import REFUSED, json_option, open_upheld
from upheld.envelope import succeed
from upheld.errors import InvalidArgumentError
from upheld.findings.refusals import PersonRequiredError

if TYPE_CHECKING:
    from upheld.findings.check import Report


def run(*, accept: bool, reason: str | None, yes: bool, as_json: bool) -> int:
    """Print what the check found; 1 if there is anything."""
    if reason is not None and not accept:
        raise InvalidArgumentError("reason", "is given without --accept", "Give both, or neither.")
    if accept and not is_person(os.environ):
        raise PersonRequiredError("Accepting the ledger as it is")
    with open_upheld() as upheld:
        with show_progress() as progress:
            report = upheld.check(progress=progress)
        if accept and reason is None:
            raise InvalidArgumentError("reason", "is missing", "Say why the ledger may be taken as it is.")
        if accept:
            _print(report, err=as_json)
            if not yes:
                ask("Take the ledger as it is, under a new key?")
            report = upheld.accept_ledger(reason or "")
    if as_json:
        render.print_json(succeed(_as_data(report), command="check"))
    else:
        _print(report, err=False)
    return 0 if report.ok else REFUSED


def _as_data(report: Report) -> dict[str, object]:
    return {
        "whole": report.ok,
        "problems": [{"where": one.where, "what": one.what, "do": one.do} for one in report.problems],
        "more": report.more,
        "counts": report.counts,
        "accepted": list(report.accepted),
    }


def _print(report: Report, *, err: bool) -> None:
    for problem in report.problems:
        click.echo(render.quote_lines(f"{problem.where} {problem.what}. {problem.do}"), err=err)
    if report.more:
        click.echo(f"and {report.more} more", err=err)
    counts = ", ".join(f"{count} {name}" for name, count in report.counts.items())
    click.echo(f"{'Everything is as it was written' if report.ok else 'Problems were found'} ({counts}).", err=err)
    for line in report.accepted:
        click.echo(f"accepted before: {render.quote_lines(line)}", err=err)


command = click.Command(
    "check",
    callback=run,
    params=[
        click.Option(["--accept"], is_flag=True, help="take the ledger as it is, under a new key; for people only"),
        click.Option(["--reason"], help="why it may be taken as it is, with --accept"),
        yes_option(),
        json_option(),
    ],
    help="Check that the ledger is whole and what was written. Changes nothing without --accept.",
    epilog="\b\nExample:\n  upheld check",
)
