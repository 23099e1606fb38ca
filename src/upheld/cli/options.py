"""Command-line options made from the declared arguments of an operation, and back to their values.

What needs structure has a short form for a shell: `--match backend=cuda`, `--path src/model.py`,
`--evidence "source_kind=test_run source_ref=run-4472 rationale='four probes'"`; JSON is taken too.
"""

from __future__ import annotations

import json
import shlex
import sys
from typing import TYPE_CHECKING, Any

import click

from upheld.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from upheld.findings.arguments import Argument

_MAX_STDIN = 4 * 1024 * 1024


def build_params(arguments: Sequence[Argument], subject: str) -> list[click.Parameter]:
    """Return the click parameters of an operation; `subject` is taken by position.

    Nothing is checked here: what is missing or not allowed is refused by the operation, in the words that every face
    uses.
    """
    params: list[click.Parameter] = []
    for argument in arguments:
        if argument.name == subject:
            params.insert(0, click.Argument([argument.name], required=False, metavar=_position(argument)))
        elif argument.kind == "scope":
            params += _scope_params()
        else:
            params.append(_option(argument))
    return params


def read_values(arguments: Sequence[Argument], given: dict[str, Any]) -> dict[str, Any]:
    """Return what the operation is given: the options in their declared form, absent ones left out.

    Raises:
        InvalidArgumentError: A short form that can't be read.
    """
    values: dict[str, Any] = {}
    for argument in arguments:
        value = _scope_value(given) if argument.kind == "scope" else given.get(argument.name)
        if value not in (None, (), False):
            values[argument.name] = _convert(argument, value)
    return values


def _position(argument: Argument) -> str:
    name = argument.name.upper()
    return name if argument.required else f"[{name}]"


def _option(argument: Argument) -> click.Option:
    name = "--" + argument.name.replace("_", "-")
    help_ = argument.doc + (" (required)" if argument.required else "")
    allowed = "[" + "|".join(argument.choices) + "]"
    match argument.kind:
        case "flag":
            return click.Option([name], is_flag=True, help=help_)
        case "integer":
            return click.Option([name], metavar="NUMBER", help=help_)
        case "choice":
            return click.Option([name], metavar=allowed, help=help_)
        case "choices":
            return click.Option([name], metavar=allowed, multiple=True, help=f"{help_} (repeat for more)")
        case "strings":
            return click.Option([name], multiple=True, help=f"{help_} (repeat for more)")
        case "facts":
            return click.Option([name], multiple=True, metavar="NAME=VALUE", help=help_)
        case "evidence" | "pieces":
            return click.Option([name], multiple=argument.kind == "pieces", metavar="FIELD=VALUE...", help=help_)
        case _:
            return click.Option([name], help=help_)


def _scope_params() -> list[click.Parameter]:
    return [
        click.Option(
            ["--match"], multiple=True, metavar="FACT=VALUE", help="holds only where this fact has this value"
        ),
        click.Option(["--context"], multiple=True, metavar="FACT=VALUE", help="conditional elsewhere"),
        click.Option(
            ["--revalidate-on"], multiple=True, metavar="FACT", help="a change of this fact asks for a new check"
        ),
        click.Option(
            ["--path"], multiple=True, metavar="PATTERN", help="the code it is about, from the project's root"
        ),
        click.Option(
            ["--quote"],
            multiple=True,
            metavar="PATTERN=PIECE",
            help="of that path only this piece counts: stale when it is gone",
        ),
        click.Option(["--everywhere"], is_flag=True, help="holds everywhere in this project"),
    ]


def _scope_value(given: dict[str, Any]) -> dict[str, Any] | None:
    scope: dict[str, Any] = {}
    for name in ("match", "context"):
        if given.get(name):
            scope[name] = _pairs(name, given[name])
    if given.get("revalidate_on"):
        scope["revalidate_on"] = list(given["revalidate_on"])
    quotes = dict(_split("quote", entry, "src/model.py=def load(") for entry in given.get("quote") or ())
    paths = dict.fromkeys([*(given.get("path") or ()), *quotes])
    if paths:
        scope["paths"] = [{"path": path, "quote": quotes[path]} if path in quotes else path for path in paths]
    if given.get("everywhere"):
        scope["everywhere"] = True
    return scope or None


def _convert(argument: Argument, value: Any) -> Any:
    match argument.kind:
        case "text" if value == "-":
            return _read_stdin(argument.name)
        case "strings" | "choices":
            return list(value)
        case "integer" if _is_number(value):
            return int(value)
        case "facts":
            return {
                name: values if isinstance(values, str) else values[-1]
                for name, values in _pairs("facts", value).items()
            }
        case "evidence":
            return _piece(argument.name, value)
        case "pieces":
            return [_piece(argument.name, one) for one in value]
        case _:
            return value


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 16


def _pairs(name: str, entries: Sequence[str]) -> dict[str, Any]:
    """Return FACT=VALUE entries as an object; a fact named twice takes any of its values."""
    pairs: dict[str, Any] = {}
    for entry in entries:
        fact, value = _split(name, entry, "backend=cuda")
        if fact in pairs:
            known = pairs[fact]
            pairs[fact] = [*(known if isinstance(known, list) else [known]), value]
        else:
            pairs[fact] = value
    return pairs


def _split(name: str, entry: str, right: str) -> tuple[str, str]:
    left, equals, value = entry.partition("=")
    if not equals:
        raise InvalidArgumentError(name, "has no =", f"Write it like {right}.")
    return left, value


def _piece(name: str, text: str) -> Any:
    if text.lstrip().startswith("{"):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise InvalidArgumentError(name, "is no valid JSON", "Write an object, or FIELD=VALUE pairs.") from None
    try:
        words = shlex.split(text)
    except ValueError:
        raise InvalidArgumentError(name, "has an open quote", "Close it.") from None
    piece: dict[str, str] = {}
    for word in words:
        field, equals, value = word.partition("=")
        if not equals:
            raise InvalidArgumentError(
                name,
                "has a word without =",
                "Write it like \"source_kind=test_run source_ref=run-4472 rationale='four probes'\".",
            )
        piece[field] = value
    return piece


def _read_stdin(name: str) -> str:
    data = b"" if sys.stdin is None else sys.stdin.buffer.read(_MAX_STDIN + 1)
    if len(data) > _MAX_STDIN:
        raise InvalidArgumentError(name, "from standard input is too long", "Give at most 4 MB.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidArgumentError(
            name, f"from standard input is no UTF-8 at byte {error.start}", "Convert it to UTF-8."
        ) from None
