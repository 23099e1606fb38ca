"""Whether a log is told what it replaces, how often it is told something for nothing, and what that costs.

`findings.conflict-warned`: 1,100 cases of a block of ten facts and a newer fact (tests/fixtures/letta-core-memory): the
block is a project's findings, the newer fact is what is logged, and a fact it replaces must be among at most three
warnings. `.rules-made-on` and `.held-out` are its parts: the cases of every third block, which were looked at when the
rules were made, and the others, which were not.
`findings.conflict-unrelated`: logs that replace nothing, and may not be warned: the newer fact of another block, drawn
once for each case, against this one. `.same-block` is harder: each fact against the other nine about the same people.
`.engineering`: each claim of tests/fixtures/selection against the others. Beside them what plain full text does with
any shared word, three best. docs/decisions/0013-conflict-warnings.md draws the conclusion.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import sys
import time
from typing import TYPE_CHECKING, Any

import apsw

from upheld.findings.similar import MAX_SIMILAR, find_similar

if TYPE_CHECKING:
    from collections.abc import Callable

    # Facts, and what is logged after them: the places of the facts that it is warned about.
    Warn = Callable[[list[str], str], list[int]]

PREFIX = "findings.conflict"
LEAST_WARNED = 90
MOST_UNRELATED = 10
SIZES = (1_000, 100_000)
LOGS = 60
TESTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests")
sys.path.insert(0, TESTS)

from support import ledgers  # noqa: E402 - found by the line above


class Desk:
    """Warns about facts as a project's findings; a block is stored once."""

    def __init__(self) -> None:
        self._db = ledgers.open_ledger()
        self._stored: dict[tuple[str, ...], tuple[int, list[int]]] = {}

    def warn(self, facts: list[str], claim: str) -> list[int]:
        """Return the places of the facts that a log is warned about."""
        key = tuple(facts)
        if key not in self._stored:
            project = ledgers.new_project(self._db, f"project-{len(self._stored)}")
            with self._db:
                self._stored[key] = (project.id, [ledgers.put(self._db, project, fact) for fact in facts])
        project_id, ids = self._stored[key]
        found = find_similar(self._db, project_id, claim)
        assert len(found) <= MAX_SIMILAR
        return [ids.index(finding.id) for finding, _ in found]


def full_text(facts: list[str], claim: str) -> list[int]:
    """Return what plain full text finds with any word of the claim, three best."""
    db = apsw.Connection(":memory:")
    db.execute("create virtual table held using fts5 (fact, tokenize = 'porter unicode61')")
    db.executemany("insert into held (rowid, fact) values (?, ?)", list(enumerate(facts)))
    words = "".join(c if c.isalnum() else " " for c in claim).split()
    match = " OR ".join(f'"{word}"' for word in dict.fromkeys(words))
    rows = db.execute("select rowid from held where held match ? order by bm25(held) limit ?", (match, MAX_SIMILAR))
    return [row[0] for row in rows]


def rows() -> list[dict[str, Any]]:
    """Return the rows of what is warned, of what is warned for nothing, and of the time."""
    held = _load("letta-core-memory", "cases.json")
    blocks: list[list[str]] = held["blocks"]
    made_on = [case for case in held["cases"] if case["block"] % 3 == 0]
    reported = [case for case in held["cases"] if case["block"] % 3 != 0]
    warn = Desk().warn
    warned = _warned(warn, blocks, held["cases"])
    unrelated = _of_others(warn, blocks, reported)
    name = f"{PREFIX}-warned"
    none = f"{PREFIX}-unrelated"
    claims = [one["claim"] for one in _load("selection", "everyday.json")["claims"]]
    met, free = warned >= LEAST_WARNED, unrelated <= MOST_UNRELATED
    return [
        {"name": name, "value": warned, "unit": "%", "limit": LEAST_WARNED, "met": met},
        {"name": f"{name}.rules-made-on", "value": _warned(warn, blocks, made_on), "unit": "%"},
        {"name": f"{name}.held-out", "value": _warned(warn, blocks, reported), "unit": "%"},
        {"name": f"{name}.plain-full-text", "value": _warned(full_text, blocks, reported), "unit": "%"},
        {"name": none, "value": unrelated, "unit": "%", "limit": MOST_UNRELATED, "goal": 1.0, "met": free},
        {"name": f"{none}.rules-made-on", "value": _of_others(warn, blocks, made_on), "unit": "%"},
        {"name": f"{none}.same-block", "value": _of_the_rest(warn, _reported_blocks(blocks)), "unit": "%"},
        {"name": f"{none}.engineering", "value": _of_the_rest(warn, [claims]), "unit": "%"},
        {"name": f"{none}.plain-full-text", "value": _of_others(full_text, blocks, reported), "unit": "%"},
        *_times(),
    ]


def _load(folder: str, name: str) -> Any:
    with open(os.path.join(TESTS, "fixtures", folder, name), encoding="utf-8") as file:
        return json.load(file)


def _reported_blocks(blocks: list[list[str]]) -> list[list[str]]:
    return [block for place, block in enumerate(blocks) if place % 3 != 0]


def _warned(warn: Warn, blocks: list[list[str]], cases: list[dict[str, Any]]) -> float:
    """Return in how many cases, in percent, a fact that is replaced is among the warnings."""
    found = sum(bool(set(warn(blocks[case["block"]], case["newer"])) & set(case["replaces"])) for case in cases)
    return 100 * found / len(cases)


def _of_others(warn: Warn, blocks: list[list[str]], cases: list[dict[str, Any]]) -> float:
    """Return how many logs, in percent, are warned that are the newer fact of another block."""
    drawn = random.Random(1)  # noqa: S311 - a benchmark's draw
    others = [drawn.choice([one for one in cases if one["block"] != case["block"]]) for case in cases]
    wrong = sum(bool(warn(blocks[case["block"]], other["newer"])) for case, other in zip(cases, others, strict=True))
    return 100 * wrong / len(cases)


def _of_the_rest(warn: Warn, groups: list[list[str]]) -> float:
    """Return how many claims, in percent, are warned when each is logged after the others of its group."""
    wrong = [
        bool(warn(group[:place] + group[place + 1 :], claim)) for group in groups for place, claim in enumerate(group)
    ]
    return 100 * sum(wrong) / len(wrong)


def _times() -> list[dict[str, Any]]:
    medians: list[float] = []
    for size in SIZES:
        db = ledgers.open_ledger()
        project = ledgers.new_project(db, "grows")
        with db:
            for claim in ledgers.Zipf(2).claims(size):
                ledgers.put(db, project, claim)
        taken = []
        for claim in ledgers.Zipf(5).claims(LOGS):
            begin = time.perf_counter()
            find_similar(db, project.id, claim)
            taken.append(time.perf_counter() - begin)
        medians.append(statistics.median(taken) * 1000)
    small, large = medians
    return [{"name": f"{PREFIX}-time", "value": large, "unit": "ms", "limit": small, "goal": 3.0}]
