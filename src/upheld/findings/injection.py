"""Put items, corrections and one closing line into a block that never exceeds its budget.

The host's own count decides: UTF-8 bytes or UTF-16 units. Low-relevance detail goes first, then whole items from
the end of the ranking; what is left out is named by id or counted in the closing line.
"""

from __future__ import annotations

from upheld.findings.labels import ENGLISH
from upheld.findings.sections import SECTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from upheld.findings.labels import Labels
    from upheld.findings.sections import Item

HEADING = ENGLISH.heading
NOTICE = ENGLISH.notice

_NAMED = 5
"""How many ids the closing line names."""


class Budget:
    """A limit in the unit the host counts in.

    Args:
        limit: The largest size of a block.
        unit: `utf8` bytes or `utf16` units.
    """

    __slots__ = ("limit", "size")

    def __init__(self, limit: int, unit: str) -> None:
        self.limit = limit
        self.size: Callable[[str], int] = _utf8 if unit == "utf8" else _utf16

    def fits(self, text: str) -> bool:
        """Say whether a text is within the limit."""
        return self.size(text) <= self.limit


class Block:
    """The text to inject, "" for nothing, with what stands in it: items kept and cut, and how many corrections."""

    __slots__ = ("corrections", "cut", "kept", "text")

    def __init__(self, text: str, kept: list[Item], cut: list[Item], corrections: int) -> None:
        self.text = text
        self.kept = kept
        self.cut = cut
        self.corrections = corrections


def format_block(
    items: list[Item], corrections: list[str], closing: str, budget: Budget, labels: Labels = ENGLISH
) -> Block:
    """Return the largest block that fits. What is kept is always the best of the ranking.

    Args:
        items: Best first.
        corrections: One sentence each; they come before anything else and are kept as long as they fit.
        closing: A last line that is wanted anyway, "" for none.
        budget: The host's limit.
        labels: The language; items, corrections and closing line are in it already.
    """
    if not (items or corrections or closing):
        return Block("", [], [], 0)
    # One that would fill half of the block is told briefly, or those behind it would never be told.
    brief = [budget.size(item.short) > budget.limit // 2 for item in items]
    full = [item.brief if large else item.full for item, large in zip(items, brief, strict=True)]
    short = [item.brief if large else item.short for item, large in zip(items, brief, strict=True)]
    full_sizes = [budget.size(text) for text in full]
    short_sizes = [budget.size(text) for text in short]
    # The items alone give lower bounds, so that the loops below start close to where they end.
    for shortened in range(_first_within(full_sizes, short_sizes, budget.limit), len(items) + 1):
        # The detail lines of the lowest-ranked items go first ...
        whole = len(items) - shortened
        text = _text(items, full[:whole] + short[whole:], corrections, closing, labels)
        if budget.fits(text):
            return Block(text, items, [], len(corrections))
    for kept in range(min(len(items) - 1, _count_within(short_sizes, budget.limit)), -1, -1):
        # ... then whole items, from the end.
        text = _text(items[:kept], short[:kept], corrections, _with_rest(items[kept:], closing, labels), labels)
        if budget.fits(text):
            return Block(text, items[:kept], items[kept:], len(corrections))
    for kept in range(len(corrections) - 1, 0, -1):
        text = _text([], [], corrections[:kept], _with_rest(items, closing, labels), labels)
        if budget.fits(text):
            return Block(text, [], items, kept)
    return Block("", [], items, 0)


def _first_within(full: list[int], short: list[int], limit: int) -> int:
    """Return the least number of shortened items (from the end) whose sizes could fit."""
    total = sum(full)
    for shortened in range(len(full) + 1):
        if total <= limit:
            return shortened
        if shortened < len(full):
            place = len(full) - 1 - shortened
            total += short[place] - full[place]
    return len(full) + 1


def _count_within(short: list[int], limit: int) -> int:
    """Return how many items from the start could fit."""
    total = 0
    for count, size in enumerate(short):
        total += size
        if total > limit:
            return count
    return len(short)


def _text(items: list[Item], texts: list[str], corrections: list[str], closing: str, labels: Labels) -> str:
    parts = [labels.heading, labels.notice]
    if corrections:
        parts.append("")
        parts += [labels.correction.format(line=line) for line in corrections]
    for section in SECTIONS:
        held = [text for item, text in zip(items, texts, strict=True) if item.section == section]
        if held:
            parts += ["", f"### {labels.sections.get(section, section)}", *held]
    if closing:
        parts += ["", closing]
    return "\n".join(parts)


def _with_rest(rest: list[Item], closing: str, labels: Labels) -> str:
    if not rest:
        return closing
    names = ", ".join(item.finding.name for item in rest[:_NAMED])
    line = labels.rest.format(count=len(rest), names=names)
    return labels.rest_and_closing.format(rest=line, closing=closing) if closing else line


def _utf8(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _utf16(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
