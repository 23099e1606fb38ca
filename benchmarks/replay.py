"""An investigation with compactions in the real Codex, replayed with and without the block.

A scripted model looks for the cause of a drift: twelve hypotheses, a probe for each, another agent that helps, four
compactions, a resume in a new process, a change of code in between. It decides from the text of each request
(`investigation/policy.py`), in both replays alike, and has the ledger's tools in both. In one the hooks are not
trusted, so no block arrives: what differs comes from what the model was shown. What a block must not cause is counted
too: a superseded decision followed, a conclusion of another backend or of changed code taken for an answer, anything
shown for 50 unrelated prompts. docs/explain/replay.md has the picture and says what it does not show.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [ROOT, f"{ROOT}/tests"]

from benchmarks.investigation import case  # noqa: E402 - found by the line above
from benchmarks.investigation.course import ASKED, COMMIT, Moment, Totals, tell, total  # noqa: E402 - the same
from benchmarks.investigation.picture import draw, write_down  # noqa: E402 - the same
from benchmarks.investigation.policy import decide  # noqa: E402 - the same

from support.block import read_block  # noqa: E402 - the same
from support.codex.binary import find_codex  # noqa: E402 - the same
from support.codex.home import CodexHome  # noqa: E402 - the same
from support.codex.network import PrivateNetwork, why_no_network  # noqa: E402 - the same
from support.codex.profiles import CODE  # noqa: E402 - the same
from support.codex.scripted_model import ScriptedModel  # noqa: E402 - the same
from support.codex.steps import COMPACT_AT, FULL, Step, say  # noqa: E402 - the same
from support.codex.upheld import blocks, commit, install, make_repository, trust, upheld  # noqa: E402 - the same
from support.node import why_missing  # noqa: E402 - the same

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.codex.app_server import AppServer
    from support.codex.request import Request

PREFIX = "findings.replay"
_MOST_STEPS = 60


def rows() -> list[dict[str, Any]]:
    """Return the rows; none, and the reason on stderr, where the real Codex can't be run."""
    binary = find_codex()
    reason = why_no_network() if binary else why_missing("@openai/codex")
    if binary is None or reason is not None:
        print(f"{PREFIX} is skipped: {reason}.", file=sys.stderr)
        return []
    with PrivateNetwork() as network:
        with _Replay(binary, network) as alone:
            without = alone.investigate()
        with _Replay(binary, network) as told:
            trust(told.codex)
            shown = told.investigate()
            unrelated = told.ask_unrelated()
    _write_pictures(without, shown)
    return [{"name": f"{PREFIX}.{row.pop('name')}"} | row for row in _judge(total(without), total(shown), unrelated)]


def _judge(without: Totals, shown: Totals, unrelated: int) -> Iterator[dict[str, Any]]:
    def row(name: str, value: float, unit: str, limit: float | None = None, *, met: bool = True) -> dict[str, Any]:
        return {"name": name, "value": value, "unit": unit, "limit": limit, "met": met}

    less = shown.repeated < without.repeated
    yield row("probes-repeated.with", shown.repeated, "probes", without.repeated, met=less)
    yield row("probes-repeated.without", without.repeated, f"of {without.probes} probes")
    yield row("items-injected", shown.injected, "findings")
    yield row("items-cited", shown.cited, "findings", shown.injected)
    yield row("wrong-uses.with", shown.wrong, "uses", met=shown.wrong == 0)
    yield row("wrong-uses.without", without.wrong, "uses")
    yield row("constraint-breaches.with", shown.breaches, "probes", met=shown.breaches == 0)
    yield row("constraint-breaches.without", without.breaches, "probes")
    yield row("logged-twice.with", shown.twice, "findings", met=shown.twice == 0)
    yield row("logged-twice.without", without.twice, "findings")
    yield row("bytes-per-turn.with", shown.size / shown.turns, "bytes a request", without.size / without.turns)
    yield row("bytes-per-turn.without", without.size / without.turns, "bytes a request")
    yield row("bytes-per-turn.block", shown.block / shown.turns, "bytes a request", shown.size / shown.turns)
    yield row("bytes-in-all.with", shown.size, "bytes", without.size)
    yield row("bytes-in-all.without", without.size, "bytes")
    yield row("unrelated-items", unrelated, "items on 50 prompts", met=unrelated == 0)


class _Replay:
    """A Codex of its own with Upheld installed, its hooks not trusted yet. Use it as a context manager."""

    def __init__(self, binary: str, network: PrivateNetwork) -> None:
        self._root = tempfile.TemporaryDirectory(prefix="upheld-bench-")
        self.model = ScriptedModel(network.listen(), CODE)
        self.model.scripts["investigate"] = self._decide
        self.model.scripts["talk"] = lambda _: say("done")
        settings = f"model_auto_compact_token_limit = {COMPACT_AT}"
        self.codex = CodexHome(self._root.name, binary=binary, network=network, model=self.model, settings=settings)
        self.marks: dict[int, list[str]] = {}
        self._to_fill = set(case.FILLING)

    def __enter__(self) -> Self:
        self.model.__enter__()
        self.codex.environ["UPHELD_FACTS"] = f"backend={case.BACKEND}"
        make_repository(self.codex.project, case.repository())
        install(self.codex)
        for logged in case.LOGGED_BEFORE:
            upheld(self.codex, "log", *logged)
        return self

    def __exit__(self, *problem: object) -> None:
        self.model.__exit__(*problem)
        self._root.cleanup()

    def investigate(self) -> list[Moment]:
        """Play the investigation, two processes long, and return its course."""
        with self.codex.app_server() as app:
            thread = app.start_thread()
            self._ask(app, thread, "numerics", f"{case.NUMERICS} SCRIPT:investigate")
            app.compact(thread)
            self._ask(app, thread, "data", case.DATA)
        self._mark("new process")
        with self.codex.app_server() as app:
            app.resume_thread(thread)
            self._ask(app, thread, "kernels, by another agent", case.KERNELS)
            self._mark(COMMIT)
            commit(self.codex.project, {case.CHANGED.path: "# rewritten\n"})
            app.compact(thread)
            self._ask(app, thread, "conclude", case.CONCLUDE)
        assert self.model.problems == []
        return tell(self.model.requests, self.model.steps, self.marks)

    def ask_unrelated(self) -> int:
        """Say 50 unrelated things in a new conversation; return how many items came with them."""
        with open(f"{ROOT}/tests/fixtures/selection/everyday.json", encoding="utf-8") as file:
            prompts = json.load(file)["unrelated"]
        assert len(prompts) == 50
        with self.codex.app_server() as app:
            thread = app.start_thread()
            app.turn(thread, "Hello. SCRIPT:talk")
            # What every conversation is given at its start, the constraint, did not come with a prompt.
            given = self._items()
            for prompt in prompts:
                app.turn(thread, prompt)
            unrelated = self._items() - given
            app.turn(thread, case.NUMERICS)
            assert self._items() > given + unrelated, "a related prompt is given nothing: the zero would say nothing"
        return unrelated

    def _ask(self, app: AppServer, thread: str, what: str, prompt: str) -> None:
        self._mark(ASKED + what)
        app.turn(thread, prompt)

    def _mark(self, what: str) -> None:
        self.marks.setdefault(len(self.model.requests), []).append(what)

    def _items(self) -> int:
        """Return how many items stand in the last request."""
        return sum(len(read_block(block).items) for block in blocks(self.model.turns[-1]))

    def _decide(self, request: Request) -> Step:
        """Let the policy decide; the window is full once certain probes are settled for the first time."""
        assert request.step < _MOST_STEPS, "the policy goes round in circles"
        step = decide(request)
        full = {name for name in self._to_fill if f"probe {name}:" in str(step.calls)}
        self._to_fill -= full
        return replace(step, tokens=FULL) if full else step


def _write_pictures(without: list[Moment], shown: list[Moment]) -> None:
    os.makedirs(f"{ROOT}/build", exist_ok=True)
    for name, text in (("svg", draw(without, shown)), ("txt", write_down(without, shown))):
        with open(f"{ROOT}/build/replay.{name}", "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    for one in rows():
        print(f"{one['name']:45} {one['value']:>12,.0f} {one['unit']}")
