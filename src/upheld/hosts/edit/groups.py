"""Put one item at the end of an array in JSON text, and take exactly it out again.

Putting in is a pure insertion: the text before and behind it stays as it is. The `Splice` that it
returns says how much was created, so that taking out can undo exactly that, also after others have
written around it. Objects on the way that are missing are created; nothing else is.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from upheld.hosts.edit.errors import EditRefusedError
from upheld.hosts.edit.spans import Node, parse_document

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_DEFAULT_UNIT = "  "


@dataclass(frozen=True, slots=True)
class Splice:
    """What one insertion added around the item.

    Args:
        created: How many containers on the path were made: 0 where the array existed.
        lead: The text inserted in front of what was made.
        tail: The text inserted behind it.
    """

    created: int
    lead: str
    tail: str


def append_item(text: str, path: Sequence[str], item: object, name: str) -> tuple[str, Splice]:
    """Return the text with an item at the end of the array that `path` names, and what was inserted.

    Args:
        text: The document, without a byte order mark. White space alone counts as an empty object.
        path: The members from the document to the array.
        item: A plain JSON value.
        name: The file's name for a refusal.

    Raises:
        EditRefusedError: Not JSON, a member on the path stands twice, or is of another kind.
    """
    style = _Style.of(text)
    root = parse_document(text, name)
    if root is None:
        made = style.render(_wrap(path, item), "", one_line=False)
        return text + made + style.newline, Splice(len(path) + 1, "", style.newline)
    chain = _walk(root, path, name)
    missing = path[len(chain) - 1 :]
    container = chain[-1]
    one_line = _is_one_line(text, container)
    lead, at, tail, indent = _insertion(text, container, style, one_line=one_line)
    made = style.render(_wrap(missing[1:], item) if missing else item, indent, one_line=one_line)
    if missing:
        made = json.dumps(missing[0], ensure_ascii=False) + ": " + made
    return text[:at] + lead + made + tail + text[at:], Splice(len(missing), lead, tail)


def remove_item(
    text: str, path: Sequence[str], is_ours: Callable[[Any], bool], splice: Splice | None, name: str
) -> str:
    """Return the text without the first item of the array that is ours; the same text if none is.

    Containers that the insertion made go too, if nothing else is in them. Without a splice (its record
    was lost), containers left empty go, since an empty one means the same as none.

    Raises:
        EditRefusedError: Not JSON, a member on the path stands twice, or is of another kind.
    """
    root = parse_document(text, name)
    if root is None:
        return text
    chain = _walk(root, path, name)
    if len(chain) <= len(path):
        return text
    array = chain[-1]
    ours = next((index for index, child in enumerate(array.children) if is_ours(child.value)), None)
    if ours is None:
        return text
    allowed = len(path) if splice is None else splice.created
    climbed = 0
    node, parents = array.children[ours], list(chain)
    while climbed < min(allowed, len(path)) and len(parents[-1].children) == 1:
        node = parents.pop()
        climbed += 1
    if splice is not None and splice.created > len(path) and len(parents) == 1 and len(root.children) == 1:
        end = root.end + len(splice.tail) if text.startswith(splice.tail, root.end) else root.end
        return text[: root.start] + text[end:]
    exact = splice if splice is not None and splice.created == climbed else None
    start, end = _removal(text, parents[-1], node, exact)
    return text[:start] + text[end:]


def replace_scalar(text: str, node: Node, value: str) -> str:
    """Return the text with another string where this scalar stands."""
    return text[: node.value_start] + json.dumps(value, ensure_ascii=False) + text[node.end :]


def find_array(text: str, path: Sequence[str], name: str) -> Node | None:
    """Return the array that `path` names, or None where it is missing.

    Raises:
        EditRefusedError: Not JSON, a member on the path stands twice, or is of another kind.
    """
    root = parse_document(text, name)
    chain = [] if root is None else _walk(root, path, name)
    return chain[-1] if len(chain) == len(path) + 1 else None


def _walk(root: Node, path: Sequence[str], name: str) -> list[Node]:
    """Return the existing nodes from the document along the path, all of the kinds they must be."""
    chain = [root]
    for depth in range(len(path) + 1):
        node = chain[-1]
        wanted = "array" if depth == len(path) else "object"
        if node.kind != wanted:
            where = ".".join(path[:depth]) or "the document"
            raise EditRefusedError(name, f"has something else than an {wanted} at {where}", "Correct it first.")
        if depth == len(path):
            break
        found = node.find_members(path[depth])
        if len(found) > 1:
            raise EditRefusedError(name, f"has the key {path[depth]} twice in one object", "Join the two first.")
        if not found:
            break
        chain.append(found[0])
    return chain


def _wrap(path: Sequence[str], item: object) -> object:
    """Return the missing objects with an array of one item at their end."""
    value: object = [item]
    for key in reversed(path):
        value = {key: value}
    return value


def _is_one_line(text: str, container: Node) -> bool:
    whole = text.strip()
    if "\n" not in whole:
        return whole != "{}"
    return bool(container.children) and "\n" not in text[container.value_start : container.end]


def _insertion(text: str, container: Node, style: _Style, *, one_line: bool) -> tuple[str, int, str, str]:
    """Return lead, position, tail and the indentation of a new last child of the container."""
    children = container.children
    if children:
        last = children[-1]
        before = children[-2].end + 1 if len(children) > 1 else container.value_start + 1
        gap = text[before : last.start]
        gap = gap[gap.find(",") + 1 :]
        if one_line or "\n" not in gap:
            return ", ", last.end, "", _indent_at(text, last.start)
        indent = gap[gap.rfind("\n") + 1 :]
        return "," + style.newline + indent, last.end, "", indent
    at = container.value_start + 1
    if one_line:
        return "", at, "", ""
    outer = _indent_at(text, container.start)
    indent = outer + style.unit
    tail = "" if "\n" in text[at : container.end - 1] else style.newline + outer
    return style.newline + indent, at, tail, indent


def _removal(text: str, parent: Node, node: Node, splice: Splice | None) -> tuple[int, int]:
    """Return the span that goes with a child, so that what is left is JSON and as it was before."""
    index = next(i for i, child in enumerate(parent.children) if child.start == node.start)
    if index > 0:
        return parent.children[index - 1].end, node.end
    if len(parent.children) > 1:
        return node.start, parent.children[1].start
    if splice is not None and text.endswith(splice.lead, 0, node.start):
        tail = len(splice.tail) if text.startswith(splice.tail, node.end) else 0
        return node.start - len(splice.lead), node.end + tail
    return parent.value_start + 1, parent.end - 1


def _indent_at(text: str, position: int) -> str:
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip(" \t"))]


@dataclass(frozen=True, slots=True)
class _Style:
    newline: str
    unit: str

    @classmethod
    def of(cls, text: str) -> _Style:
        newline = "\r\n" if "\r\n" in text else "\n"
        first = re.search(r"\n([ \t]+)\S", text)
        return cls(newline, first.group(1) if first else _DEFAULT_UNIT)

    def render(self, value: object, indent: str, *, one_line: bool) -> str:
        if one_line:
            return json.dumps(value, ensure_ascii=False)
        lines = json.dumps(value, ensure_ascii=False, indent=self.unit).split("\n")
        return (self.newline + indent).join(lines)
