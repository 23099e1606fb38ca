"""`upheld log | query | get | evidence | state | refute | supersede`: one command for each operation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from upheld.cli import render
from upheld.cli.options import build_params, read_values
from upheld.cli.run import json_option, open_upheld
from upheld.envelope import succeed
from upheld.findings.operations import OPERATIONS

if TYPE_CHECKING:
    from upheld.findings.operations import Operation

EXAMPLES = {
    "log": (
        'upheld log "tokenizer shift is not the cause of the loss spike" --claim-kind diagnosis '
        "--epistemic-state supported --path src/tokenizer.py "
        "--evidence \"source_kind=experiment_run source_ref=run-4480 rationale='4 probes, none reproduced it'\""
    ),
    "query": 'upheld query "tokenizer shift" --states refuted',
    "get": "upheld get F-12",
    "evidence": (
        "upheld evidence F-12 --evidence \"source_kind=test_run source_ref='pytest -k shift' role=contradicts\""
    ),
    "state": (
        'upheld state F-12 --epistemic-state inconclusive --reason "the probe was confounded" '
        '--evidence "source_kind=log source_ref=logs/run.txt role=context"'
    ),
    "refute": (
        'upheld refute F-12 --reason "off by one is ruled out" '
        "--evidence \"source_kind=log source_ref=logs/run.txt excerpt='shift=0 in all rows'\""
    ),
    "supersede": 'upheld supersede F-12 --claim "use backend B since 2.1" --reason "A was removed"',
}
"""One line for each command that works as it stands, shown in its help."""


def build_commands() -> list[click.Command]:
    """Return the commands of all operations."""
    return [_build(operation) for operation in OPERATIONS]


def _build(operation: Operation) -> click.Command:
    def run(*, as_json: bool, **given: Any) -> int:
        with open_upheld() as upheld:
            answer = operation.run(upheld.findings, read_values(operation.arguments, given))
        if as_json:
            render.print_json(succeed(answer.data, answer.warnings, command=operation.command))
            return 0
        render.warn(answer.warnings)
        if operation.name == "query_findings":
            render.print_findings(answer.data)
        elif operation.name == "get_finding":
            render.print_finding(answer.data)
        else:
            render.print_written(operation.name, answer.data)
        return 0

    return click.Command(
        operation.command,
        callback=run,
        params=[*build_params(operation.arguments, operation.subject), json_option()],
        help=operation.summary,
        epilog=f"\b\nExample:\n  {EXAMPLES[operation.command]}",
    )
