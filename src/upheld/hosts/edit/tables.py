"""Append one table to a TOML text, change values in it, and take it out again.

Appending is text behind text, so nothing else moves. Taking out first looks for the very text that
was appended; only where that is gone or was written into does tomlkit take the table out. Every
result is read back with the standard parser and must mean what the old text meant, plus or minus
that table; else the edit is refused.
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from upheld.hosts.edit.errors import EditRefusedError

if TYPE_CHECKING:
    from collections.abc import Mapping


def load_toml(text: str, name: str) -> dict[str, Any]:
    """Return the values of a TOML text.

    Raises:
        EditRefusedError: The text is not TOML.
    """
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as exc:
        raise EditRefusedError(name, f"is not valid TOML ({exc})", "Correct it first.") from exc


def append_table(text: str, path: tuple[str, str], values: Mapping[str, object], name: str) -> tuple[str, str]:
    """Return the text with a table at its end, and exactly what was appended.

    Args:
        text: The document, without a byte order mark.
        path: The table's name: `("mcp_servers", "upheld")` makes `[mcp_servers.upheld]`.
        values: Strings, numbers, booleans and lists of them, in order.
        name: The file's name for a refusal.

    Raises:
        EditRefusedError: Not TOML, or the document is written in a form that no table can be added to.
    """
    old = load_toml(text, name)
    newline = "\r\n" if "\r\n" in text else "\n"
    table = tomlkit.table()
    for key, value in values.items():
        table.append(key, value)
    lead = newline if text.strip() else ""
    if text and not text.endswith("\n"):
        lead += newline
    parent = tomlkit.table(is_super_table=True).append(path[1], table)
    body = tomlkit.dumps(tomlkit.document().append(path[0], parent)).replace("\n", newline)
    added = lead + body
    expected = _with_table(old, path, dict(values))
    try:
        new = tomllib.loads(text + added)
    except ValueError:
        new = {}
    if new != expected:
        raise EditRefusedError(
            name,
            f"writes {path[0]} in a form that no table can be added to",
            f"Write its entries as tables, [{path[0]}.NAME], and run this again.",
        )
    return text + added, added


def remove_table(text: str, path: tuple[str, str], added: str | None, name: str) -> str:
    """Return the text without the table; the same text if there is none.

    Args:
        text: The document.
        path: The table's name.
        added: What `append_table` appended, if that is known.
        name: The file's name for a refusal.

    Raises:
        EditRefusedError: Not TOML, or the table cannot be taken out without changing anything else.
    """
    old = load_toml(text, name)
    if _find(old, path) is None:
        return text
    expected = _without_table(old, path)
    for block in (added, added.lstrip("\r\n")) if added else ():
        if text.count(block) == 1 and _loads(cut := text.replace(block, "")) in expected:
            return cut
    try:
        document = tomlkit.parse(text)
        if tomlkit.dumps(document) != text:
            raise _refuse_removal(path, name)
        parent = document[path[0]]
        del parent[path[1]]
        if not parent:
            del document[path[0]]
        new = tomlkit.dumps(document)
    except (TOMLKitError, KeyError, TypeError) as exc:
        raise _refuse_removal(path, name) from exc
    if _loads(new) not in expected:
        raise _refuse_removal(path, name)
    return new


def update_table(text: str, path: tuple[str, str], values: Mapping[str, object], name: str) -> str:
    """Return the text with these values in an existing table; its other values stay.

    Raises:
        EditRefusedError: Not TOML, or the values cannot be set without changing anything else.
    """
    old = load_toml(text, name)
    expected = _with_table(old, path, {**(_find(old, path) or {}), **values})
    try:
        document = tomlkit.parse(text)
        table = document[path[0]][path[1]]
        for key, value in values.items():
            if table.get(key) != value:
                table[key] = value
        new = tomlkit.dumps(document)
    except (TOMLKitError, KeyError, TypeError, AttributeError) as exc:
        raise _refuse_removal(path, name) from exc
    if _loads(new) != expected:
        raise _refuse_removal(path, name)
    return new


def _refuse_removal(path: tuple[str, str], name: str) -> EditRefusedError:
    return EditRefusedError(
        name,
        f"holds the table {'.'.join(path)} in a form that cannot be changed without touching the rest",
        "Change it by hand.",
    )


def _loads(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except ValueError:
        return None


def _find(values: Mapping[str, Any], path: tuple[str, str]) -> dict[str, Any] | None:
    parent = values.get(path[0])
    found = parent.get(path[1]) if isinstance(parent, dict) else None
    return found if isinstance(found, dict) else None


def _with_table(old: dict[str, Any], path: tuple[str, str], table: dict[str, object]) -> dict[str, Any]:
    parent = old.get(path[0], {})
    inner = parent if isinstance(parent, dict) else {}
    return {**old, path[0]: {**inner, path[1]: table}}


def _without_table(old: dict[str, Any], path: tuple[str, str]) -> list[dict[str, Any]]:
    """Return the meanings that are right afterwards: an empty parent may stay or go."""
    rest = {key: value for key, value in old[path[0]].items() if key != path[1]}
    kept = {**old, path[0]: rest}
    return [kept] if rest else [kept, {key: value for key, value in old.items() if key != path[0]}]
