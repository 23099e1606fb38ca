"""What the generated reference pages say, read from the code: `docs.py` writes and checks them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from calls import write_calls
from upheld import errors
from upheld.cli.main import build
from upheld.envelope import succeed
from upheld.findings import injection, model, retrieval, sections
from upheld.findings.applicability import Condition, Judgement
from upheld.findings.arguments import EVIDENCE_FIELDS, SCOPE_FIELDS, Argument
from upheld.findings.candidates import MAX_CANDIDATES, RULES
from upheld.findings.ledger import Ledger
from upheld.findings.operations import OPERATIONS
from upheld.hosts.adapters import ADAPTERS
from upheld.hosts.edit.errors import EDIT_REFUSED
from upheld.mcp.tools import Tools
from upheld.storage.places import find_places

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MIGRATIONS = os.path.join(ROOT, "src", "upheld", "storage", "migrations")
NOTE = "<!-- Written by `make docs` from the code; edits here are lost. -->\n\n"
COLUMNS = 100

MEANINGS = {
    errors.INVALID_ARGUMENT: "An argument is wrong in itself; no state of the ledger could make it right.",
    errors.NOT_FOUND: "There is no such finding, evidence or project.",
    errors.PROJECT_SCOPE_MISMATCH: "The id belongs to another project than the caller's.",
    errors.INVALID_STATE_TRANSITION: "The claim cannot go from its present state to the one asked for.",
    errors.EVIDENCE_REQUIRED: "The state asked for needs a kind of evidence that the finding does not have.",
    errors.RELATION_CYCLE: "The relation would make a finding depend on itself.",
    errors.CONCURRENT_MODIFICATION: "The finding changed since the version that the call names.",
    errors.STORAGE_ERROR: "The database could not be read or written; the message says what to do.",
}

HOST_MEANINGS = {
    EDIT_REFUSED: "A host's file can't be edited without risk to what others wrote in it, or can't be written.",
    errors.CONCURRENT_MODIFICATION: "A host's file was written by somebody else since the change was shown.",
}
"""What installing and uninstalling refuse besides wrong arguments."""

SCOPE_MEANINGS = {
    "match": "fact to value, or to a list of values: elsewhere the finding is incompatible and not shown",
    "context": "the same, but elsewhere it is only conditional",
    "revalidate_on": "facts whose change asks for a new check; without it, those named that are like a version",
    "paths": "the code it is about, as git pathspecs from the project's root; a change of it asks for a new check",
    "everywhere": "it holds in the whole project",
}
"""What the parts of a scope mean; a part without a meaning here fails the tests."""


INJECTION_PAGE = """\
# What is injected

{note}At most {candidates} candidates out of indexes, judged, ranked and cut to the budget (rules {rules}).
Same ledger, same context, same text: same bytes. `upheld explain` shows the block and why each other candidate was left
out. Why the rules are as they are: [decision 0007](../decisions/0007-selection.md).

## Triggers

| trigger | looks for |
|---|---|
| `start`: start, clear, fork, a subagent's start | policy `always`, constraints in scope, the declared task; a count |
| `prompt` | what its words are about: at most {items} items that this context was not shown |
| `compact` | what this context was handed or this conversation logged, cited or fetched; then the last prompt |
| `resume` | only what changed since |

At most {always} items of policy `always`. A finding that was shown and no longer holds as shown is named in one
correction line. A compaction in a conversation that logged nothing gets one line:

```text
{nothing_logged}
```

## Budget

| host | its limit | any other trigger | a prompt |
|---|---|--:|--:|
{limits}

Detail lines of the lowest-ranked items go first, then whole items, with one closing line that counts and names them.
State fields are never cut.

## Form

Sections in their order. An item stands where the first rule fits: in conflict or `contested`; `needs_revalidation` or
`unknown`; `refuted`; `not_applicable`; `supported`; anything else. `incompatible` is not shown.

```text
{example}
```
"""


def write_pages() -> dict[str, str]:
    """Return the text of every generated page, by its path from the root of the repository."""
    writers = {
        "cli": _write_cli,
        "errors": _write_errors,
        "injection": _write_injection,
        "schema": _write_schema,
        "tools": _write_tools,
    }
    return {f"docs/reference/{name}.md": write() for name, write in writers.items()} | write_calls()


def _write_errors() -> str:
    findings, hosts = (
        "| code | it means |\n|---|---|\n" + "".join(f"| `{code}` | {meanings[code]} |\n" for code in sorted(codes))
        for codes, meanings in ((errors.FINDING_CODES, MEANINGS), (HOST_MEANINGS, HOST_MEANINGS))
    )
    intro = (
        "Every refusal carries one code of a closed set, a sentence that says what was wrong and what would\n"
        "be right, and the argument at fault where there is one. A call that is refused writes nothing.\n"
    )
    return f"# Error codes\n\n{NOTE}{intro}\n## Findings\n\n{findings}\n## Installing into a host\n\n{hosts}"


def _write_schema() -> str:
    parts = ["# Database schemas\n\n", NOTE, "Migrations as they are applied, oldest first.\n"]
    for database in sorted(os.listdir(MIGRATIONS)):
        folder = os.path.join(MIGRATIONS, database)
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        scripts = [name for name in names if name.endswith(".sql")]
        if scripts:
            parts.append(f"\n## `{database}.db`\n")
        for name in scripts:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                parts.append(f"\n`{name}`\n\n```sql\n{file.read().rstrip()}\n```\n")
    return "".join(parts)


def _write_cli() -> str:
    intro = (
        "`--json` prints one envelope `{ok, data, warnings, error}`, an error included. Exit status: 0 done,\n"
        "1 refused, 2 wrong usage, 3 a bug (the message names its log), 130 interrupted.\n"
    )
    parts = [f"# Command line\n\n{NOTE}{intro}"]
    for path, command in _iter_commands(build(), "upheld"):
        context = click.Context(command, info_name=path, terminal_width=COLUMNS, max_content_width=COLUMNS)
        context.help_option_names = ["-h", "--help"]
        lines = [line.rstrip() for line in command.get_help(context).split("\n")]
        parts.append(f"\n## `{path}`\n\n```text\n" + "\n".join(lines) + "\n```\n")
    return "".join(parts)


def _iter_commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        for name, inner in sorted(command.commands.items()):
            yield from _iter_commands(inner, f"{path} {name}")


def _write_tools() -> str:
    envelope = ", ".join(f"`{key}`" for key in succeed({}, ()))
    intro = (
        "Every tool answers with one envelope, also as structured content: "
        f"{envelope}. The same operations are commands\n([command line](cli.md)) and methods of the Python API. "
        "Over MCP the actor is always the agent. Refusals: [error codes](errors.md).\n"
    )
    parts = [f"# Tools\n\n{NOTE}{intro}"]
    operations = {operation.name: operation for operation in OPERATIONS}
    for tool in Tools(Ledger(find_places({"UPHELD_HOME": "/nowhere"})), "/", {}).build():
        operation = operations.get(tool.name)
        hints = ", ".join(f"{name} {str(value).lower()}" for name, value in tool.annotations.items())
        command = f" Command: `upheld {operation.command}`." if operation else " Command: `upheld status`."
        parts.append(f"\n## `{tool.name}`\n\n{tool.description}{command}\n\nHints: {hints}.\n")
        if operation:
            parts.append("\n" + _table(operation.arguments))
        else:
            parts.append("\nIt takes no arguments.\n")
    parts.append("\n## Evidence\n\nA source, and what it does for the claim.\n\n" + _table(EVIDENCE_FIELDS))
    scope = "".join(f"| `{name}` | {SCOPE_MEANINGS[name]} |\n" for name in SCOPE_FIELDS)
    parts.append(
        "\n## Scope\n\nWhere a claim is meant to hold. Without one its applicability is unknown.\n\n"
        f"| part | it says |\n|---|---|\n{scope}"
    )
    return "".join(parts)


def _table(arguments: Sequence[Argument]) -> str:
    rows = []
    for argument in arguments:
        kind = {"pieces": "list of evidence", "strings": "list of texts", "choices": "list of choices"}.get(
            argument.kind, argument.kind
        )
        says = argument.doc.replace("<", "\\<") + (
            ": " + ", ".join(f"`{one}`" for one in argument.choices) if argument.choices else ""
        )
        rows.append(f"| `{argument.name}`{' (required)' if argument.required else ''} | {kind} | {says} |\n")
    return "| argument | kind | it says |\n|---|---|---|\n" + "".join(rows)


def _write_injection() -> str:
    rows = []
    for adapter in ADAPTERS.values():
        unit = "UTF-8 bytes" if adapter.unit == "utf8" else "UTF-16 units"
        rest = adapter.limit - retrieval.MAX_PROMPT_SIZE
        rows.append(
            f"| {adapter.name} | {adapter.limit:,} {unit} per context | {rest:,} | {retrieval.MAX_PROMPT_SIZE:,} |"
        )
    return INJECTION_PAGE.format(
        note=NOTE,
        candidates=MAX_CANDIDATES,
        rules=RULES,
        always=retrieval.MAX_ALWAYS,
        items=retrieval.MAX_PROMPT_ITEMS,
        nothing_logged=retrieval.NOTHING_LOGGED,
        limits="\n".join(rows),
        example=_example(),
    )


def _example() -> str:
    """Return a block with an item in every section."""
    changed = (Condition("paths:src/loader.py", "paths", "mismatch", "", None),)
    items = [
        _item(1, "supported", "the spike comes with the batch size", {"supports": "run-4472"}),
        _item(2, "refuted", "an off-by-one in the mask causes the drift", {"contradicts": "run-4480"}),
        _item(3, "contested", "the cache makes the start slow", {"supports": "run-7", "contradicts": "run-12"}),
        _item(4, "supported", "the loader drops the last batch", {"supports": "run-31"}, deciding=changed),
        _item(5, "unassessed", "warm-up hides the error", {}),
        _item(6, "not_applicable", "never fuse the kernels on this card", {}),
    ]
    return injection.format_block(items, [], "", injection.Budget(10_000, "utf8")).text


def _item(
    number: int, state: str, claim: str, evidence: dict[str, str], *, deciding: tuple[Condition, ...] = ()
) -> sections.Item:
    finding = model.Finding(
        id=number,
        uid="",
        project_id=1,
        claim=claim,
        claim_kind="constraint" if state == "not_applicable" else "diagnosis",
        epistemic_state=state,
        lifecycle_state="current",
        retrieval_policy="relevant",
        scope=model.scope_from_data({"paths": ["src/loader.py"]} if deciding else {"everywhere": True}),
        tags=(),
        aliases=(),
        task="",
        promotion_state="",
        version=1,
        decided_event=2,
        created_at="",
        updated_at="",
        actor="agent",
        host="",
        session="",
    )
    links = [
        model.Evidence(
            id=1,
            uid="",
            source_kind="experiment_run",
            source_ref=source,
            locator="",
            revision="",
            excerpt="",
            content_hash="",
            resolution="resolved",
            observed_at="",
            actor="agent",
            role=role,
            method="experiment",
            rationale="seen in 4 of 4 runs",
            event=1,
        )
        for role, source in evidence.items()
    ]
    judgement = Judgement("needs_revalidation" if deciding else "applicable", list(deciding), list(deciding))
    return sections.Item(finding, judgement, links)
