"""What the operations on findings take: one declaration for the checks, the JSON Schema and the help.

Everything that comes from a model, a shell or a library user passes here once; inside, values are trusted.
An error names the argument, what is wrong with it and what would be right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from upheld.context.facts import DEPENDENCY, check_fact, is_provided
from upheld.context.globs import check_pattern
from upheld.context.versions import check_range, is_range
from upheld.errors import InvalidArgumentError
from upheld.findings import model
from upheld.findings.model import Scope

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAX_CLAIM = 1000
MAX_TEXT = 4000
MAX_SHORT = 300
MAX_NAME = 80
MAX_QUOTE = 500
MAX_LIST = 16
MAX_FACTS = 32
MAX_LIMIT = 100


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of an operation.

    Args:
        name: The same in the CLI, over MCP and in Python.
        kind: text, choice, choices, strings, scope, evidence, pieces (of evidence), facts, finding, integer, flag.
        doc: One line for people and models.
        required: Whether it must be given.
        choices: Allowed values of a choice.
        limit: The most code points of a text, or the largest integer.
    """

    name: str
    kind: str
    doc: str
    required: bool = False
    choices: tuple[str, ...] = ()
    limit: int = MAX_TEXT


@dataclass(frozen=True, slots=True)
class EvidenceInput:
    """Evidence as a caller gives it: a new source, or an existing one by `evidence_id`."""

    source_kind: str
    source_ref: str
    role: str
    method: str
    locator: str = ""
    revision: str = ""
    excerpt: str = ""
    rationale: str = ""
    observed_at: str = ""
    evidence_id: int | None = None


_METHOD_OF_KIND = {
    "log": "runtime_observation",
    "file": "code_inspection",
    "experiment_run": "experiment",
    "git_commit": "code_inspection",
    "user_statement": "user_assertion",
    "session_event": "runtime_observation",
    "test_run": "test",
    "url": "code_inspection",
    "other": "runtime_observation",
}

EVIDENCE_FIELDS = (
    Argument("source_kind", "choice", "what the source is", required=True, choices=model.SOURCE_KINDS),
    Argument("source_ref", "text", "path, run id, commit, URL or quote", required=True, limit=MAX_SHORT),
    Argument("role", "choice", "what it does for the claim (supports)", choices=model.ROLES),
    Argument("method", "choice", "how it was obtained", choices=model.METHODS),
    Argument("rationale", "text", "why it bears on the claim"),
    Argument("excerpt", "text", "the decisive lines"),
    Argument("locator", "text", "where in it: lines, section", limit=MAX_SHORT),
    Argument("revision", "text", "its version", limit=MAX_SHORT),
    Argument("observed_at", "text", "when, ISO 8601", limit=40),
    Argument("evidence_id", "text", "E-<n>: use existing evidence instead of a new source", limit=20),
)

SCOPE_FIELDS = ("match", "context", "revalidate_on", "paths", "everywhere")


def parse_arguments(declared: Sequence[Argument], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return checked values for every declared argument; what was not given is None.

    Raises:
        InvalidArgumentError: Names the first argument at fault.
    """
    names = [argument.name for argument in declared]
    for name in given:
        if name not in names:
            raise InvalidArgumentError(_shown(name), "is not known here", f"Known are: {', '.join(names)}.")
    values: dict[str, Any] = {}
    for argument in declared:
        value = given.get(argument.name)
        if value is None:
            if argument.required:
                choices = f": {', '.join(argument.choices)}" if argument.choices else ""
                raise InvalidArgumentError(argument.name, "is missing", f"Give {argument.doc}{choices}.")
            values[argument.name] = None
        else:
            values[argument.name] = _PARSERS[argument.kind](argument, value)
    return values


def parse_finding(name: str, value: object) -> int:
    """Return the number of `F-<n>`; a bare number is taken too."""
    return _parse_number(name, value, "F", "finding")


def _parse_number(name: str, value: object, letter: str, noun: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**15:
        return value
    text = value.strip().upper() if isinstance(value, str) else ""
    digits = text.removeprefix(f"{letter}-")
    if not (digits.isascii() and digits.isdigit() and 0 < len(digits) <= 15):
        raise InvalidArgumentError(name, f"is no {noun} id", f"Write it like {letter}-12.")
    return int(digits)


def check_text(name: str, value: object, limit: int, *, keep_ends: bool = False) -> str:
    """Return a text stripped at both ends: not empty, bounded, without control characters or half surrogates."""
    if not isinstance(value, str):
        raise InvalidArgumentError(name, f"is a {_kind_of(value)}", "Give a text.")
    text = value.replace("\r\n", "\n")
    if not keep_ends:
        text = text.strip()
    if not text.strip():
        raise InvalidArgumentError(name, "is empty", "Give a text that says something.")
    if len(text) > limit:
        raise InvalidArgumentError(
            name,
            f"has {len(text):,} characters, at most {limit:,} are kept",
            "Shorten it; the raw source stays where it is.",
        )
    for at, character in enumerate(text):
        code = ord(character)
        if (code < 0x20 and character not in "\n\t") or 0x7F <= code <= 0x9F:
            raise InvalidArgumentError(
                name,
                f"has the control character U+{code:04X} at position {at}",
                "Take it out or write it as an escape.",
            )
        if 0xD800 <= code <= 0xDFFF:
            raise InvalidArgumentError(
                name, f"has half of a surrogate pair (U+{code:04X}) at position {at}", "Give valid Unicode."
            )
    return text


def _text(argument: Argument, value: object) -> str:
    return check_text(argument.name, value, argument.limit)


def _choice(argument: Argument, value: object) -> str:
    if not isinstance(value, str) or value not in argument.choices:
        raise InvalidArgumentError(argument.name, f"is {_shown(value)}", f"Allowed are: {', '.join(argument.choices)}.")
    return value


def _choices(argument: Argument, value: object) -> tuple[str, ...]:
    return tuple(_choice(argument, one) for one in _list(argument.name, value, len(argument.choices)))


def _strings(argument: Argument, value: object) -> tuple[str, ...]:
    texts = [check_text(argument.name, one, MAX_NAME) for one in _list(argument.name, value, MAX_LIST)]
    return tuple(dict.fromkeys(texts))


def _integer(argument: Argument, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= argument.limit:
        raise InvalidArgumentError(
            argument.name, f"is {_shown(value)}", f"Give a whole number from 1 to {argument.limit:,}."
        )
    return value


def _flag(argument: Argument, value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidArgumentError(argument.name, f"is {_shown(value)}", "Give true or false.")
    return value


def _finding(argument: Argument, value: object) -> int:
    return parse_finding(argument.name, value)


def _facts(argument: Argument, value: object) -> dict[str, str]:
    facts = {}
    for name, entry in _mapping(argument.name, value, MAX_FACTS).items():
        text = _scalar(f"{argument.name}.{_shown(name)}", entry)
        problem = check_fact(name, text)
        if problem:
            raise InvalidArgumentError(f"{argument.name}.{_shown(name)}", problem, 'Write {"backend": "cuda"}.')
        facts[name] = text
    return facts


def _scope(argument: Argument, value: object) -> Scope:
    data = _mapping(argument.name, value, MAX_FACTS)
    for key in data:
        if key not in SCOPE_FIELDS:
            raise InvalidArgumentError(
                f"{argument.name}.{_shown(key)}", "is not known", f"A scope has: {', '.join(SCOPE_FIELDS)}."
            )
    paths, quotes = _paths(f"{argument.name}.paths", data.get("paths") or [])
    revalidate = data.get("revalidate_on")
    everywhere = data.get("everywhere", False)
    if not isinstance(everywhere, bool):
        raise InvalidArgumentError(f"{argument.name}.everywhere", f"is {_shown(everywhere)}", "Give true or false.")
    scope = Scope(
        match=_conditions(f"{argument.name}.match", data.get("match")),
        context=_conditions(f"{argument.name}.context", data.get("context")),
        revalidate_on=None if revalidate is None else _names(f"{argument.name}.revalidate_on", revalidate),
        paths=paths,
        quotes=quotes,
        everywhere=everywhere,
    )
    both = sorted(set(scope.match) & set(scope.context))
    if both:
        raise InvalidArgumentError(f"{argument.name}.{both[0]}", "stands in match and in context", "Keep one of them.")
    return scope


def _conditions(name: str, value: object) -> dict[str, str | tuple[str, ...]]:
    conditions: dict[str, str | tuple[str, ...]] = {}
    for key, wanted in _mapping(name, value if value is not None else {}, MAX_FACTS).items():
        where = f"{name}.{_shown(key)}"
        listed = _list(where, wanted, MAX_LIST) if isinstance(wanted, (list, tuple)) else [wanted]
        values = [_scalar(where, one) for one in listed]
        if not values:
            raise InvalidArgumentError(where, "is an empty list", "Name at least one value.")
        for text in values:
            problem = _check_condition(key, text)
            if problem:
                raise InvalidArgumentError(where, problem, "Fact names are like git.branch or backend.")
            if str(key).startswith(DEPENDENCY) and is_range(text) and (problem := check_range(text)):
                raise InvalidArgumentError(
                    where, problem, "Write it like >=2.1,<3 for Python, ^1.2 or >=1.2 <2 for npm, or one version."
                )
        conditions[key] = tuple(values) if isinstance(wanted, (list, tuple)) else values[0]
    return conditions


def _check_condition(name: object, value: str) -> str:
    """Return what is wrong with a condition: a scope may ask for what only a provider may declare."""
    return check_fact(f"x.{name}" if isinstance(name, str) and is_provided(name) else name, value)


def _names(name: str, value: object) -> tuple[str, ...]:
    names = []
    for one in _list(name, value, MAX_LIST):
        problem = "" if one == "paths" else _check_condition(one, "any")
        if problem:
            raise InvalidArgumentError(name, problem, 'Write fact names, like ["git.commit", "backend"].')
        names.append(str(one))
    return tuple(dict.fromkeys(names))


def _paths(name: str, value: object) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the patterns, and the quoted pieces of those that have one."""
    quotes: dict[str, str] = {}
    paths: dict[str, None] = {}
    for entry in _list(name, value, MAX_LIST):
        if isinstance(entry, dict):
            if set(entry) != {"path", "quote"}:
                raise InvalidArgumentError(name, "holds an object", 'Write {"path": "src/a.py", "quote": "def f("}.')
            pattern = _pattern(name, entry["path"])
            quotes[pattern] = check_text(name, entry["quote"], MAX_QUOTE, keep_ends=True)
        else:
            pattern = _pattern(name, entry)
        if pattern in paths:
            raise InvalidArgumentError(name, f"names {_shown(pattern)} twice", "Name each path once.")
        paths[pattern] = None
    return tuple(paths), quotes


def _pattern(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidArgumentError(name, f"holds a {_kind_of(value)}", 'Write paths like "src/model.py" or "src/**".')
    return check_pattern(value)


def _piece(argument: Argument, value: object) -> EvidenceInput:
    data = _mapping(argument.name, value, MAX_FACTS)
    fields = {field.name: field for field in EVIDENCE_FIELDS}
    values: dict[str, str] = {}
    for key, entry in data.items():
        field = fields.get(key)
        if field is None:
            raise InvalidArgumentError(
                f"{argument.name}.{_shown(key)}", "is not known", f"Evidence has: {', '.join(fields)}."
            )
        if entry is not None and entry != "":
            named = Argument(f"{argument.name}.{key}", field.kind, field.doc, choices=field.choices, limit=field.limit)
            values[key] = _PARSERS[field.kind](named, entry)
    existing = values.pop("evidence_id", None)
    number = None if existing is None else _parse_number(f"{argument.name}.evidence_id", existing, "E", "evidence")
    for key in ("source_kind", "source_ref", "locator", "revision", "excerpt", "observed_at"):
        if number is not None and key in values:
            raise InvalidArgumentError(
                f"{argument.name}.{key}", "can't change existing evidence", "Give evidence_id, or a new source."
            )
    for key in ("source_kind", "source_ref"):
        if number is None and key not in values:
            raise InvalidArgumentError(f"{argument.name}.{key}", "is missing", f"Give {fields[key].doc}.")
    kind = values.pop("source_kind", "")
    if number is not None and "method" not in values:
        raise InvalidArgumentError(f"{argument.name}.method", "is missing", "Say how it bears on this claim.")
    return EvidenceInput(
        source_kind=kind,
        source_ref=values.pop("source_ref", ""),
        role=values.pop("role", "supports"),
        method=values.pop("method", "") or _METHOD_OF_KIND[kind],
        evidence_id=number,
        **values,
    )


def _pieces(argument: Argument, value: object) -> tuple[EvidenceInput, ...]:
    entries = value if isinstance(value, list) else [value]
    return tuple(_piece(argument, one) for one in _list(argument.name, entries, MAX_LIST))


def _list(name: str, value: object, limit: int) -> list[object]:
    if not isinstance(value, (list, tuple)):
        raise InvalidArgumentError(name, f"is a {_kind_of(value)}", "Give a list.")
    if len(value) > limit:
        raise InvalidArgumentError(name, f"has {len(value)} entries", f"At most {limit} are kept.")
    return list(value)


def _mapping(name: str, value: object, limit: int) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidArgumentError(name, f"is a {_kind_of(value)}", "Give an object.")
    if len(value) > limit:
        raise InvalidArgumentError(name, f"has {len(value)} entries", f"At most {limit} are kept.")
    for key in value:
        if not isinstance(key, str):
            raise InvalidArgumentError(name, "has a key that is no text", "Give an object with text keys.")
    return value


def _scalar(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if abs(value) >= 10**MAX_NAME:  # Python refuses to print a number of thousands of digits
            raise InvalidArgumentError(name, "is a number that is too large", "Give it as a text, or a smaller one.")
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidArgumentError(name, f"is {value}", "Give a finite number.")
        return str(value)
    return check_text(name, value, MAX_SHORT)


def _kind_of(value: object) -> str:
    return {dict: "object", list: "list", str: "text", bool: "true or false", type(None): "null"}.get(
        type(value), "number" if isinstance(value, (int, float)) else type(value).__name__
    )


def _shown(value: object) -> str:
    """Return a caller's own value in a form that is safe and short enough for a message."""
    if isinstance(value, int) and abs(value) >= 10**MAX_NAME:
        return "a number that is too large"
    text = value if isinstance(value, str) else repr(value) if isinstance(value, (int, float)) else _kind_of(value)
    safe = "".join(c if c.isprintable() else "?" for c in text[:MAX_NAME])
    return safe or "empty"


_PARSERS: dict[str, Any] = {
    "text": _text,
    "choice": _choice,
    "choices": _choices,
    "strings": _strings,
    "integer": _integer,
    "flag": _flag,
    "finding": _finding,
    "facts": _facts,
    "scope": _scope,
    "evidence": _piece,
    "pieces": _pieces,
}


def as_schema(declared: Sequence[Argument]) -> dict[str, Any]:
    """Return the JSON Schema of an operation's arguments."""
    return {
        "type": "object",
        "properties": {argument.name: _schema_of(argument) for argument in declared},
        "required": [argument.name for argument in declared if argument.required],
        "additionalProperties": False,
    }


def _schema_of(argument: Argument) -> dict[str, Any]:
    described = {"description": argument.doc}
    match argument.kind:
        case "choice":
            return {"type": "string", "enum": list(argument.choices), **described}
        case "choices":
            return {"type": "array", "items": {"type": "string", "enum": list(argument.choices)}, **described}
        case "strings":
            return {"type": "array", "items": {"type": "string"}, **described}
        case "integer":
            bound = {"maximum": argument.limit} if argument.limit <= MAX_LIMIT else {}
            return {"type": "integer", "minimum": 1, **bound, **described}
        case "flag":
            return {"type": "boolean", **described}
        case "facts":
            return {"type": "object", "additionalProperties": {"type": "string"}, **described}
        case "scope":
            conditions = {"type": "object"}
            return {
                "type": "object",
                "properties": {
                    "match": conditions,
                    "context": conditions,
                    "revalidate_on": {"type": "array", "items": {"type": "string"}},
                    "paths": {"type": "array", "items": {"type": ["string", "object"]}},
                    "everywhere": {"type": "boolean"},
                },
                "additionalProperties": False,
                **described,
            }
        case "evidence":
            return {**as_schema(EVIDENCE_FIELDS), "required": [], **described}
        case "pieces":
            return {"type": "array", "items": {"type": "object"}, **described}
        case _:
            return {"type": "string", **described}
