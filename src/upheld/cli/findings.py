"""One command for each operation on findings: `upheld log`, `query`, `refute`, `rule approve` and so on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from upheld.cli import render
from upheld.cli.options import build_params, read_values
from upheld.cli.progress import show_progress
from upheld.cli.run import REFUSED, json_option, open_upheld
from upheld.envelope import succeed
from upheld.findings.operations import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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
    "revalidate": (
        'upheld revalidate F-12 --outcome held --reason "ran the probes again on 2.2" '
        "--evidence \"source_kind=experiment_run source_ref=run-4501 rationale='same result'\""
    ),
    "link": 'upheld link F-12 --relation derived_from --to F-3 --reason "it takes F-3 for granted"',
    "propose-rule": (
        'upheld propose-rule F-3 --rule "never call flush inside the retry loop" --owner test '
        '--reason "it cost two evenings"'
    ),
    "review": "upheld review --limit 5",
    "drift": "upheld drift",
    "recall": "upheld recall",
    "context": "upheld context --facts backend=cuda",
    "rule list": "upheld rule list --promotion proposed",
    "rule approve": 'upheld rule approve F-3 --reason "agreed in review"',
    "rule reject": 'upheld rule reject F-3 --reason "the linter knows it already"',
    "rule land": 'upheld rule land F-3 --target tests/test_retry.py --reason "guarded by a test"',
    "amend": 'upheld amend F-12 --tags tokenizer --tags spike --reason "found under both names"',
    "merge": 'upheld merge F-12 --into F-3 --reason "both say the same"',
    "mute": 'upheld mute F-12 --until 3d --reason "not while the migration runs"',
    "withdraw": 'upheld withdraw F-12 --reason "logged for the wrong repository"',
    "archive": 'upheld archive F-12 --reason "the module is gone"',
    "restore": 'upheld restore F-12 --reason "the module came back"',
}
"""One line for each command that works as it stands, shown in its help."""


GROUPS = {"rule": "Rules that findings are proposed to become: list, approve, reject, land."}
"""The first words of commands that have two, and what they are about."""


def build_commands() -> list[click.Command]:
    """Return the commands of all operations; those of two words in the group of the first."""
    groups = {name: click.Group(name, help=help_) for name, help_ in GROUPS.items()}
    commands: list[click.Command] = []
    for operation in OPERATIONS:
        first, _, second = operation.command.partition(" ")
        if second:
            groups[first].add_command(_build(operation), second)
        else:
            commands.append(_build(operation))
    return [*commands, *groups.values()]


_PRINTERS: dict[str, Callable[[Mapping[str, Any]], None]] = {
    "query_findings": render.print_findings,
    "get_finding": render.print_finding,
    "list_rules": render.print_rules,
    "review_findings": render.print_review,
    "find_drift": render.print_drift,
    "recall_findings": render.print_recalled,
    "read_context": render.print_context,
}
"""How the answers of reading operations are printed; those of writing ones all alike."""


def _status(data: Mapping[str, Any]) -> int:
    """Return the exit status of an answer: what drifted fails a build."""
    return REFUSED if data.get("drifted") else 0


def _build(operation: Operation) -> click.Command:
    def run(*, as_json: bool, **given: Any) -> int:
        with open_upheld() as upheld, show_progress() as progress:
            answer = operation.run(upheld.findings, read_values(operation.arguments, given), progress=progress)
        if as_json:
            render.print_json(succeed(answer.data, answer.warnings, command=operation.command))
            return _status(answer.data)
        render.warn(answer.warnings)
        if operation.name in _PRINTERS:
            _PRINTERS[operation.name](answer.data)
        else:
            render.print_written(operation.name, answer.data)
        return _status(answer.data)

    return click.Command(
        operation.command.split()[-1],
        callback=run,
        params=[*build_params(operation.arguments, operation.subject), json_option()],
        help=operation.summary,
        epilog=f"\b\nExample:\n  {EXAMPLES[operation.command]}",
    )
