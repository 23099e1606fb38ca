"""Two courses as a picture and as text: what was probed when, what was probed again, which blocks came in between."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from benchmarks.investigation.course import ASKED, total

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.investigation.course import Moment

_STEP = 12
_LEFT = 24
_LANE = 168
_ROW = 96
_OTHER = 20
_ITEM = 2

_STYLE = """\
text { font: 12px system-ui, sans-serif; fill: #1f2937 } .head { font-weight: 600; font-size: 14px }
.small { font-size: 11px; fill: #4b5563 } .probe { fill: #2563eb } .repeat { fill: #dc2626 } .log { fill: #9ca3af }
.block { fill: #16a34a } .cross { stroke: #fff; stroke-width: 1.5 } .cut { stroke: #111827; stroke-dasharray: 3 3 }
.turn { stroke: #d1d5db }"""


def draw(without: Sequence[Moment], shown: Sequence[Moment]) -> str:
    """Return the two courses as an SVG, one lane each, one column per request."""
    width = 2 * _LEFT + _STEP * max(len(without), len(shown))
    height = 2 * _LANE + 44
    body = [*_lane("Without the block", without, 0), *_lane("With the block", shown, _LANE), *_legend(2 * _LANE + 20)]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
            "<title>The same investigation without and with the block</title>",
            f"<desc>{_headline('Without the block', without)}. {_headline('With the block', shown)}.</desc>",
            f"<style>{_STYLE}</style>",
            f'<rect width="{width}" height="{height}" fill="#fff"/>',
            *body,
            "</svg>\n",
        ]
    )


def write_down(without: Sequence[Moment], shown: Sequence[Moment]) -> str:
    """Return the two courses as text, one line per request."""
    lines: list[str] = []
    for name, course in (("Without the block", without), ("With the block", shown)):
        lines += [_headline(name, course), ""]
        for number, moment in enumerate(course, 1):
            lines += [f"     -- {mark}" for mark in moment.marks]
            who = "  " if moment.main else "| "
            size = f"{moment.size / 1000:6.1f} kB" if moment.size else " " * 9
            block = f"block of {len(moment.injected)}" if moment.injected else "correction" * bool(moment.corrections)
            lines.append(f"{number:4} {size}  {block:11} {who}{moment.kind:11}{moment.what}")
        lines.append("")
    return "\n".join(lines)


def _headline(name: str, course: Sequence[Moment]) -> str:
    counts = total(course)
    sent = f"{counts.size / 1e6:.1f} MB of input in {counts.turns} requests"
    return f"{name}: {counts.probes} probes, {counts.repeated} of them repeated; {sent}"


def _lane(name: str, course: Sequence[Moment], top: int) -> Iterator[str]:
    yield f'<text class="head" x="{_LEFT}" y="{top + 24}">{_headline(name, course)}</text>'
    for number, moment in enumerate(course):
        x, y = _LEFT + number * _STEP, top + _ROW
        for mark in moment.marks:
            asked = mark.startswith(ASKED)
            at = top + 148 if asked else top + 44
            yield f'<line class="turn" x1="{x}" y1="{top + 50}" x2="{x}" y2="{top + 138}"/>'
            yield f'<text class="small" x="{x}" y="{at}">{escape(mark.removeprefix(ASKED))}</text>'
        if moment.injected:
            tall = _ITEM * len(moment.injected)
            yield f'<rect class="block" x="{x + 1}" y="{y - 4 - tall}" width="10" height="{tall}"/>'
            yield f'<text class="small" x="{x + 1}" y="{y - 7 - tall}">{len(moment.injected)}</text>'
        yield _mark(moment, x, y if moment.main else y + _OTHER, top)


def _mark(moment: Moment, x: int, y: int, top: int) -> str:
    if moment.kind == "compaction":
        return f'<line class="cut" x1="{x + 6}" y1="{top + 50}" x2="{x + 6}" y2="{top + 138}"/>'
    if moment.kind in ("probe", "repeat"):
        square = f'<rect class="{moment.kind}" x="{x + 1}" y="{y}" width="10" height="10"/>'
        cross = f'<path class="cross" d="M{x + 3} {y + 2}l6 6m0 -6l-6 6"/>'
        return square + cross if moment.kind == "repeat" else square
    return f'<rect class="log" x="{x + 5}" y="{y + 2}" width="2" height="6"/>'


_REPEATED = '<rect class="repeat" x="{x}" y="{y}" width="10" height="10"/>'


def _legend(y: int) -> Iterator[str]:
    entries = (
        ('<rect class="probe" x="{x}" y="{y}" width="10" height="10"/>', "probe", 60),
        (f'{_REPEATED}<path class="cross" d="M{{x}} {{y}}m2 2l6 6m0 -6l-6 6"/>', "probe repeated", 116),
        (
            '<rect class="log" x="{x}" y="{y}" width="2" height="8"/>',
            "another request (lower row: the other agent)",
            262,
        ),
        ('<path class="cut" d="M{x} {y}v10"/>', "compaction", 86),
        ('<rect class="block" x="{x}" y="{y}" width="10" height="10"/>', "block, with its number of findings", 0),
    )
    x = _LEFT
    for shape, text, wide in entries:
        yield shape.format(x=x, y=y) + f'<text class="small" x="{x + 15}" y="{y + 9}">{text}</text>'
        x += wide + 15
