"""The course of a replay, read from what went over the wire: requests of the real Codex, and the steps that answered.

One moment per request, with what there is to count in it. Pure: the same requests and steps, the same course.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchmarks.investigation.case import BY_NAME, CHANGED
from benchmarks.investigation.policy import DECISION

from support.block import read_block
from support.codex.steps import Mcp, Shell, Step
from support.codex.upheld import blocks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from support.codex.request import Request

COMMIT = f"{CHANGED.path} changed"
ASKED = "asked: "
"""How a mark begins that stands for a prompt."""
_PROBE = re.compile(r"sh probe\.sh (\w+) (\d+) (\w+)")
_FINDING = re.compile(r"\bF-(\d+)")


@dataclass
class Moment:
    """One request and its answer. Sizes are UTF-8 bytes.

    Args:
        kind: `probe`, `repeat` (a probe that was run before, its code unchanged since), `log`, `compaction`, `report`,
            or `agent` (starting another, or waiting for it).
        what: What it is about, in a few words.
        main: It is the first agent's, not one that was started.
        marks: What happened outside before it: a prompt, a resume, a commit.
        size: The text of the request's input.
        block: What of it is blocks.
        injected: The findings in blocks that came with this request.
        corrections: The lines in them that correct what was shown before.
        cited: The findings that the answer names.
        wrong: Uses of what does not hold: a seed that was given up, an answer that no probe of this code gave.
        breach: A probe against the constraint.
        twice: Findings logged although their claim was logged before.
    """

    kind: str
    what: str
    main: bool
    marks: Sequence[str]
    size: int = 0
    block: int = 0
    injected: set[int] = field(default_factory=set)
    corrections: int = 0
    cited: set[int] = field(default_factory=set)
    wrong: int = 0
    breach: bool = False
    twice: int = 0


class _Teller:
    """Tells one moment after the other; keeps what was probed, decided, logged and shown so far."""

    def __init__(self) -> None:
        self.probed: set[str] = set()
        self.seeds: set[int] = set()
        self.claims: set[str] = set()
        self.shown: dict[str, list[str]] = {}

    def tell(self, request: Request, step: Step, marks: Sequence[str], *, main: bool) -> Moment:
        if COMMIT in marks:
            self.probed.discard(CHANGED.name)
        if request.kind == "compaction":
            self.shown.pop(request.thread, None)
            return Moment("compaction", "a summary takes the place of the context", main, marks)
        moment = Moment("agent", "another agent", main, marks)
        moment.size = sum(len(text.text.encode()) for text in request.texts)
        self._read_blocks(request, moment)
        self._read_step(step, moment)
        return moment

    def _read_blocks(self, request: Request, moment: Moment) -> None:
        now = blocks(request)
        before = self.shown.get(request.thread, [])
        self.shown[request.thread] = now
        moment.block = sum(len(text.encode()) for text in now)
        for text in now:
            if text not in before:
                block = read_block(text)
                moment.injected |= {item.finding_id for item in block.items}
                moment.corrections += len(block.corrections)

    def _read_step(self, step: Step, moment: Moment) -> None:
        for call in step.calls:
            if isinstance(call, Shell):
                self._read_probe(call.command, moment)
            elif isinstance(call, Mcp):
                self._read_call(call, moment)
        if step.say is not None:
            moment.kind, moment.what = "report", step.say
            moment.cited |= set(map(int, _FINDING.findall(step.say)))
            moment.wrong += sum(f"{name} " in step.say for name in BY_NAME if name not in self.probed)

    def _read_probe(self, command: str, moment: Moment) -> None:
        probe = _PROBE.fullmatch(command)
        assert probe
        name, seed, kernel = probe.groups()
        moment.kind, moment.what = "repeat" if name in self.probed else "probe", f"{name}, seed {seed}, {kernel} kernel"
        moment.breach = kernel == "fused"
        # Decisions on a seed only ever go up: below the highest, a seed was given up.
        moment.wrong += int(seed) in self.seeds and int(seed) != max(self.seeds)
        self.probed.add(name)

    def _read_call(self, call: Mcp, moment: Moment) -> None:
        named = str(call.arguments.get("finding_id", ""))
        what = f"{call.tool} {named}".strip()
        moment.what = what if moment.kind != "log" else f"{moment.what}, {what}"
        moment.kind = "log"
        moment.cited |= set(map(int, _FINDING.findall(named)))
        claim = str(call.arguments.get("claim", ""))
        if claim:
            moment.twice += claim in self.claims
            self.claims.add(claim)
        if claim.startswith(DECISION):
            self.seeds.add(int(claim.removeprefix(DECISION)))


def tell(requests: Sequence[Request], steps: Sequence[Step], marks: Mapping[int, Sequence[str]]) -> list[Moment]:
    """Return the course of a replay.

    Args:
        requests: What Codex sent; the first is the first agent's.
        steps: What was answered, one per request.
        marks: What happened outside before a request, by the request's number.
    """
    teller = _Teller()
    first = requests[0].thread
    pairs = enumerate(zip(requests, steps, strict=True))
    return [teller.tell(one, step, marks.get(n, ()), main=one.thread == first) for n, (one, step) in pairs]


@dataclass(frozen=True, slots=True)
class Totals:
    """What is counted over a course.

    Args:
        probes: Runs of a probe.
        repeated: Those that had been run before, the code unchanged since.
        injected: Findings that stood in a block.
        cited: Those of them that an answer names afterwards.
        wrong: Uses of what does not hold.
        breaches: Probes against the constraint.
        twice: Findings logged although their claim was logged before.
        compactions: Of the host.
        turns: The requests that are no compaction.
        size: The text of their inputs, in UTF-8 bytes.
        block: What of it is blocks.
    """

    probes: int
    repeated: int
    injected: int
    cited: int
    wrong: int
    breaches: int
    twice: int
    compactions: int
    turns: int
    size: int
    block: int


def total(course: Sequence[Moment]) -> Totals:
    """Count over a course."""
    injected: set[int] = set()
    cited: set[int] = set()
    for moment in course:
        injected |= moment.injected
        cited |= moment.cited & injected
    kinds = [moment.kind for moment in course]
    return Totals(
        probes=kinds.count("probe") + kinds.count("repeat"),
        repeated=kinds.count("repeat"),
        injected=len(injected),
        cited=len(cited),
        wrong=sum(moment.wrong for moment in course),
        breaches=sum(moment.breach for moment in course),
        twice=sum(moment.twice for moment in course),
        compactions=kinds.count("compaction"),
        turns=len(kinds) - kinds.count("compaction"),
        size=sum(moment.size for moment in course),
        block=sum(moment.block for moment in course),
    )
