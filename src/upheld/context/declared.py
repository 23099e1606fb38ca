"""Parsing what a project declares, at the moment when a person confirms it. Not for the hook: it needs tomllib.

`.upheld/facts.toml` is flat TOML; tables become dots, so `[dep]` with `numpy = "1.26"` declares `dep.numpy`. The hook
compares the file with the confirmed digest and uses the facts as they were stored then.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from upheld.context.facts import FACTS_FILE, MAX_FACTS_FILE, accept_facts, digest_facts
from upheld.context.files import UnreadableError, read_file
from upheld.context.marks import MAX_PROJECT_FILE, PROJECT_FILE, read_declared_id
from upheld.text import jsontext

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class DeclaredFacts:
    """What `.upheld/facts.toml` says, to be shown to a person before it is confirmed.

    Attributes:
        digest: Of the file's bytes; "" if there is no such file.
        facts: Names and values.
        problems: What was not used, a sentence each.
    """

    digest: str
    facts: dict[str, str]
    problems: tuple[str, ...]

    @property
    def stored(self) -> str:
        """The facts as the text that a confirmation keeps."""
        return jsontext.dumps_canonical(self.facts)


@dataclass(frozen=True, slots=True)
class DeclaredProject:
    """What `.upheld/project.toml` says.

    Attributes:
        id: The claimed id, or None.
        name: What the project calls itself, or None.
        problems: What was not used, a sentence each.
    """

    id: str | None
    name: str | None
    problems: tuple[str, ...]


def read_declared_facts(root: str) -> DeclaredFacts:
    """Read and check the declared facts of a project. Never raises for what stands in the file."""
    content, problem = _read(root, FACTS_FILE, MAX_FACTS_FILE)
    if content is None:
        return DeclaredFacts("", {}, (problem,) if problem else ())
    parsed, problem = _parse(content, FACTS_FILE)
    if parsed is None:
        return DeclaredFacts(digest_facts(content), {}, (problem,))
    accepted = accept_facts(_flatten(parsed, ""), FACTS_FILE)
    facts = {name: fact.value for name, fact in accepted.facts.items() if fact.value is not None}
    return DeclaredFacts(digest_facts(content), facts, accepted.problems)


def read_declared_project(root: str) -> DeclaredProject:
    """Read the declared id and name of a project."""
    content, problem = _read(root, PROJECT_FILE, MAX_PROJECT_FILE)
    if content is None:
        return DeclaredProject(None, None, (problem,) if problem else ())
    parsed, problem = _parse(content, PROJECT_FILE)
    if parsed is None:
        return DeclaredProject(None, None, (problem,))
    problems: list[str] = []
    # The hook reads the id by hand; what it cannot read there must not count here either.
    declared = read_declared_id(root)
    if "id" in parsed and parsed["id"] != declared:
        declared = None
        problems.append(
            f'{PROJECT_FILE}: write id = "..." on one line, at most 64 letters, digits, dots, underscores and hyphens.'
        )
    name = parsed.get("name")
    if name is not None and not (isinstance(name, str) and 0 < len(name.strip()) <= 100 and name.isprintable()):
        name = None
        problems.append(f"{PROJECT_FILE}: name needs 1 to 100 printable characters.")
    return DeclaredProject(declared, name.strip() if isinstance(name, str) else None, tuple(problems))


def _read(root: str, relative: str, limit: int) -> tuple[bytes | None, str]:
    try:
        return read_file(root, relative, limit), ""
    except UnreadableError as exc:
        return None, f"{relative}: {exc}."


def _parse(content: bytes, relative: str) -> tuple[dict[str, object] | None, str]:
    try:
        return tomllib.loads(content.decode()), ""
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError):
        return None, f"{relative}: is no valid TOML; nothing of it was used."


def _flatten(table: dict[str, object], prefix: str) -> Iterator[tuple[object, object]]:
    for key, value in table.items():
        name = prefix + key
        if isinstance(value, dict):
            yield from _flatten(value, name + ".")
        elif isinstance(value, bool):
            yield name, "true" if value else "false"
        elif isinstance(value, int | float):
            yield name, str(value)
        else:
            yield name, value
