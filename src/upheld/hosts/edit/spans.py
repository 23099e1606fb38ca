"""Where each value of a JSON text stands.

The standard parser gives values without positions, and printing them again would change other
people's formatting. This scanner gives both; it is strict, and knows nothing about editing.
"""

from __future__ import annotations

import json
import re
from _json import scanstring
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from upheld.hosts.edit.errors import EditRefusedError

if TYPE_CHECKING:
    from collections.abc import Iterator

_SPACE = re.compile(r"[ \t\r\n]*")
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null", re.ASCII)


@dataclass(frozen=True, slots=True)
class Node:
    """One value and its span; for a member of an object, the span of its key as well.

    Args:
        start: Index of the first character: of the key where there is one.
        value_start: Index of the first character of the value itself.
        end: Index behind the last character.
        key: The member's name, or None for an item of an array or the document.
        kind: `object`, `array` or `scalar`.
        children: The members or items in the order of the text.
        scalar: The value of a scalar.
    """

    start: int
    value_start: int
    end: int
    key: str | None
    kind: str
    children: tuple[Node, ...] = ()
    scalar: str | float | bool | None = None

    def find_members(self, key: str) -> list[Node]:
        """Return the members of this name: none, one, or more where a name stands twice."""
        return [child for child in self.children if child.key == key] if self.kind == "object" else []

    @property
    def value(self) -> Any:
        """The plain Python value, as `json.loads` gives it."""
        if self.kind == "object":
            return {child.key: child.value for child in self.children}
        if self.kind == "array":
            return [child.value for child in self.children]
        return self.scalar


def parse_document(text: str, name: str) -> Node | None:
    """Return the one value of a JSON text, or None where there is nothing but white space.

    Args:
        text: The whole text, without a byte order mark.
        name: The file's name for a refusal.

    Raises:
        EditRefusedError: The text is not JSON; the line and column are named.
    """
    if not text.strip(" \t\r\n"):
        return None
    scanner = _Scanner(text)
    try:
        node = scanner.value(scanner.space(0), None)
        end = scanner.space(node.end)
        if end != len(text):
            raise _NotJsonError(end)
    except _NotJsonError as exc:
        line = text.count("\n", 0, exc.position) + 1
        column = exc.position - text.rfind("\n", 0, exc.position)
        raise EditRefusedError(
            name,
            f"is not valid JSON (line {line}, column {column})",
            "Correct it first; comments and trailing commas are not JSON, and the host refuses them too.",
        ) from exc
    except RecursionError as exc:
        raise EditRefusedError(name, "is nested too deep to edit", "Flatten it first.") from exc
    return node


class _NotJsonError(Exception):
    def __init__(self, position: int) -> None:
        self.position = position


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text

    def space(self, at: int) -> int:
        match = _SPACE.match(self.text, at)
        return match.end() if match else at

    def value(self, at: int, key: tuple[int, str] | None) -> Node:
        start, label = (at, None) if key is None else key
        opening = self.text[at : at + 1]
        if opening in ("{", "["):
            children, end = self._children(at, opening)
            kind = "object" if opening == "{" else "array"
            return Node(start, at, end, label, kind, children)
        if opening == '"':
            value, end = self._string(at)
            return Node(start, at, end, label, "scalar", (), value)
        match = _SCALAR.match(self.text, at)
        if match is None:
            raise _NotJsonError(at)
        try:
            number = json.loads(match.group())
        except ValueError as exc:  # more digits than Python converts
            raise _NotJsonError(at) from exc
        return Node(start, at, match.end(), label, "scalar", (), number)

    def _string(self, at: int) -> tuple[str, int]:
        try:
            return scanstring(self.text, at + 1, True)
        except json.JSONDecodeError as exc:
            raise _NotJsonError(exc.pos) from exc

    def _children(self, at: int, opening: str) -> tuple[tuple[Node, ...], int]:
        closing = "}" if opening == "{" else "]"
        inside = self.space(at + 1)
        if self.text[inside : inside + 1] == closing:
            return (), inside + 1
        children = []
        for child in self._iter_children(inside, opening):
            children.append(child)
            inside = self.space(child.end)
        if self.text[inside : inside + 1] != closing:
            raise _NotJsonError(inside)
        return tuple(children), inside + 1

    def _iter_children(self, at: int, opening: str) -> Iterator[Node]:
        while True:
            child = self._member(at) if opening == "{" else self.value(at, None)
            yield child
            at = self.space(child.end)
            if self.text[at : at + 1] != ",":
                return
            at = self.space(at + 1)

    def _member(self, at: int) -> Node:
        if self.text[at : at + 1] != '"':
            raise _NotJsonError(at)
        key, end = self._string(at)
        colon = self.space(end)
        if self.text[colon : colon + 1] != ":":
            raise _NotJsonError(colon)
        return self.value(self.space(colon + 1), (at, key))
