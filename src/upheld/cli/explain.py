"""`upheld explain`: what a model would be handed here, and why each other finding was left out."""

from __future__ import annotations

import os
from typing import Any

import click

from upheld.cli import render
from upheld.cli.run import json_option, open_upheld
from upheld.envelope import succeed
from upheld.findings.explain import REASONS, explain
from upheld.findings.retrieval import START, TRIGGERS
from upheld.hosts.adapters import ADAPTERS


def run(prompt: str | None, *, trigger: str | None, session: str | None, as_json: bool) -> int:
    """Print the block and every decision."""
    adapter = ADAPTERS["codex"]
    with open_upheld() as upheld:
        data = explain(
            upheld.ledger,
            upheld.place,
            trigger=trigger or ("prompt" if prompt else START),
            text=prompt or "",
            session=session or os.environ.get("CODEX_SESSION_ID", ""),
            host=adapter.name,
            limit=adapter.limit,
            unit=adapter.unit,
        )
    if as_json:
        render.print_json(succeed(data, command="explain"))
    else:
        _print(data)
        render.warn(data["problems"])
    return 0


def _print(data: dict[str, Any]) -> None:
    if data["block"]:
        click.echo(data["block"])
        click.echo(f"({data['bytes']} bytes of {data['limit']})")
    else:
        click.echo(f"Nothing would be injected: {REASONS[data['reason']]}.")
    click.echo()
    for decision in data["decisions"]:
        scores = f", relevance {decision['relevance']}" if "relevance" in decision else ""
        here = f", {decision['applicability']}" if "applicability" in decision else ""
        click.echo(
            f"{decision['outcome']:<8} {decision['finding']}{here}{scores}: {render.quote_lines(decision['why'])}"
        )
    click.echo(f"{data['not_candidates']} other findings of this project were no candidates (rules {data['rules']}).")


command = click.Command(
    "explain",
    callback=run,
    params=[
        click.Argument(["prompt"], required=False),
        click.Option(
            ["--trigger"], type=click.Choice(TRIGGERS), help="what asks (prompt, if one is given, else start)"
        ),
        click.Option(["--session"], help="the conversation of a host that is meant, for what stands in it"),
        json_option(),
    ],
    help="Show what a model would be handed here, and why each other candidate was left out. Changes nothing.",
    epilog='\b\nExample:\n  upheld explain "why does the tokenizer test fail?"',
)
