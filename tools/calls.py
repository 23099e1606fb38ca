"""Write the typed methods of the Python API from the table of operations: `src/upheld/calls.py`.

So a library user's editor and type checker know every argument, and no list of arguments is kept twice.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

from upheld.findings.arguments import EVIDENCE_FIELDS
from upheld.findings.operations import OPERATIONS

if TYPE_CHECKING:
    from upheld.findings.arguments import Argument
    from upheld.findings.operations import Operation

PAGE = "src/upheld/calls.py"

_HEAD = '''"""The operations on findings as methods with types. Written by `make docs` from the table of operations."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Literal, TypedDict

    from upheld.findings.service import Answer

    FindingId = str | int
    """`F-12`, or its number."""

    class QuotedPath(TypedDict):
        """A path of which only a quoted piece counts."""

        path: str
        quote: str

    class ScopeArgument(TypedDict, total=False):
        """Where a claim holds: fact names to a value, or to a list of which any will do."""

        match: Mapping[str, str | Sequence[str]]
        context: Mapping[str, str | Sequence[str]]
        revalidate_on: Sequence[str]
        paths: Sequence[str | QuotedPath]
        everywhere: bool

    class EvidenceArgument(TypedDict, total=False):
        """A source and what it does for a claim; or `evidence_id` for one that is there."""

{evidence}


class Calls:
    """Every operation on findings. Each raises `UpheldError`, and then nothing was written."""

    def run(self, operation: str, arguments: Mapping[str, Any]) -> Answer:
        """Run an operation by its name."""
        raise NotImplementedError
'''


def write_calls() -> dict[str, str]:
    """Return the text of the module by its path."""
    fields = "\n".join(f"        {field.name}: {_type(field)}" for field in EVIDENCE_FIELDS)
    text = _HEAD.replace("{evidence}", fields) + "".join(map(_method, OPERATIONS))
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--stdin-filename", PAGE, "-"],
        input=text,
        capture_output=True,
        text=True,
        check=True,
        cwd=os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
    )
    return {PAGE: done.stdout}


def _method(operation: Operation) -> str:
    ordered = sorted(operation.arguments, key=lambda argument: not argument.required)
    parameters = "".join(f"{one.name}: {_type(one)}{'' if one.required else ' | None = None'}, " for one in ordered)
    star = "*, " if ordered else ""
    told = "".join(_describe(one) for one in ordered)
    people = " For people." if operation.people and operation.writes else ""
    given = "".join(f'"{one.name}": {one.name}, ' for one in ordered)
    args = f"\n\n        Args:\n{told}        " if told else ""
    summary = textwrap.fill(
        operation.summary + people, 110, initial_indent="        ", subsequent_indent="        "
    ).strip()
    return (
        f"\n    def {operation.name}(self, {star}{parameters}) -> Answer:\n"
        f'        """{_first_line(summary)}{args}"""\n'
        f'        return self.run("{operation.name}", {{{given}}})\n'
    )


def _first_line(summary: str) -> str:
    """Return a summary whose first line is its first sentence, as docstrings have it."""
    flat = " ".join(summary.split())
    first, _, rest = flat.partition(". ")
    if not rest:
        return flat
    rest = textwrap.fill(rest, 108, initial_indent="        ", subsequent_indent="        ")
    return f"{first}.\n\n{rest}"


def _describe(argument: Argument) -> str:
    doc = argument.doc[0].upper() + argument.doc[1:]
    return textwrap.fill(f"{argument.name}: {doc}.", 112, initial_indent=" " * 12, subsequent_indent=" " * 16) + "\n"


def _type(argument: Argument) -> str:
    match argument.kind:
        case "choice":
            return f"Literal[{', '.join(map(repr, argument.choices))}]".replace("'", '"')
        case "choices":
            return f"Sequence[Literal[{', '.join(map(repr, argument.choices))}]]".replace("'", '"')
        case "strings":
            return "Sequence[str]"
        case "integer":
            return "int"
        case "flag":
            return "bool"
        case "finding":
            return "FindingId"
        case "facts":
            return "Mapping[str, str]"
        case "scope":
            return "ScopeArgument"
        case "evidence":
            return "EvidenceArgument"
        case "pieces":
            return "Sequence[EvidenceArgument]"
        case _:
            return "str"
