"""What an injection costs inside the process as a ledger grows, and how exactly it finds what a prompt is about.

`findings.injection-time`: the whole of `retrieval.select` (candidates, judging, ranking, block) for prompts of 60
words that hold the 20 commonest of the ledger, against 1,000, 10,000 and 100,000 findings with a Zipf vocabulary;
`.candidates` is choosing candidates alone, `.aliases` the whole again where every finding has two aliases and every
prompt ten typing errors. `findings.precision`: the 75 single-turn cases of PrecisionMemBench
(tests/fixtures/precisionmembench), beliefs as findings, exactly the right set or nothing; every third case was looked
at when the rules were made, the other 50 are the report. Beside it, in the same run, what plain full text reaches.
docs/decisions/0007-selection.md draws the conclusion.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any

import apsw

from upheld.context.marks import read_marks
from upheld.findings.candidates import MAX_CANDIDATES, find_candidates
from upheld.findings.injection import Budget
from upheld.findings.retrieval import PROMPT, Request, select
from upheld.findings.surroundings import Surroundings

if TYPE_CHECKING:
    from collections.abc import Callable

    from upheld.context.marks import Marks
    from upheld.context.store import Project

PREFIX = "findings."
SIZES = (1_000, 10_000, 100_000)
GOAL = 43
"""Of the 50 reported cases."""
PROMPTS = 40
TESTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests")
sys.path.insert(0, TESTS)

from support import ledgers  # noqa: E402 - found by the line above


def rows() -> list[dict[str, Any]]:
    """Return the rows of growth and of precision."""
    return [*_growth(), *_precision(), *_everyday()]


def _growth() -> list[dict[str, Any]]:
    text = ledgers.Zipf(1)
    prompts = [" ".join(text.words[:20] + text.draw(40)) for _ in range(PROMPTS)]
    slipped = [" ".join(text.words[:20] + text.draw(30) + list(map(_slip, text.draw(10)))) for _ in range(PROMPTS)]
    top = tempfile.mkdtemp(prefix="upheld-bench-")
    try:
        marks = read_marks(top, environ=os.environ)
        plain = {size: _measure(_fill(size, aliases=0), marks, prompts) for size in SIZES}
        named = {size: _measure(_fill(size, aliases=2), marks, slipped) for size in (SIZES[0], SIZES[-1])}
    finally:
        shutil.rmtree(top)
    most = max(one["most"] for one in (*plain.values(), *named.values()))
    small, middle, large = (plain[size] for size in SIZES)
    few, many = named.values()
    name = f"{PREFIX}injection"
    return [
        {"name": f"{name}-candidates", "value": most, "unit": "findings", "limit": MAX_CANDIDATES, "goal": 1.0},
        {"name": f"{name}-time", "value": large["whole"], "unit": "ms", "limit": small["whole"], "goal": 3.0},
        {"name": f"{name}-time.10000", "value": middle["whole"], "unit": "ms", "limit": small["whole"]},
        {"name": f"{name}-time.candidates", "value": large["choosing"], "unit": "ms", "limit": small["choosing"]},
        {"name": f"{name}-time.aliases", "value": many["whole"], "unit": "ms", "limit": few["whole"], "goal": 3.0},
    ]


def _slip(word: str) -> str:
    """Return a word with its third and fourth letter swapped."""
    return word[:2] + word[3] + word[2] + word[4:]


def _fill(size: int, *, aliases: int) -> tuple[apsw.Connection, Project]:
    db = ledgers.open_ledger()
    project = ledgers.new_project(db, "grows")
    names = ledgers.Zipf(3)
    with db:
        for claim in ledgers.Zipf(2).claims(size):
            ledgers.put(db, project, claim, aliases=tuple(" ".join(names.draw(2)) for _ in range(aliases)))
    return db, project


def _measure(filled: tuple[apsw.Connection, Project], marks: Marks, prompts: list[str]) -> dict[str, Any]:
    """Return the medians in ms of the whole selection and of choosing candidates alone, and the most candidates."""
    db, project = filled
    whole: list[float] = []
    choosing: list[float] = []
    most = 0
    for prompt in [prompts[0], *prompts]:
        begin = time.perf_counter()
        surroundings = Surroundings(db, marks, declared={}, environ=os.environ, host={})
        select(db, project.id, _ask(prompt), surroundings)
        middle = time.perf_counter()
        found = find_candidates(db, project.id, prompt)
        choosing.append(time.perf_counter() - middle)
        whole.append(middle - begin)
        most = max(most, len(found))
    return {
        "whole": statistics.median(whole[1:]) * 1000,
        "choosing": statistics.median(choosing[1:]) * 1000,
        "most": most,
    }


def _ask(prompt: str) -> Request:
    return Request(
        trigger=PROMPT,
        text=prompt,
        task="",
        budget=Budget(9000, "utf8"),
        shown=[],
        logged=[],
        touched=[],
        now=ledgers.NOW,
    )


class Bench:
    """The beliefs as findings of one project per user, and the cases."""

    def __init__(self) -> None:
        self.beliefs = _load("precisionmembench", "beliefs.seed.json")
        self.cases = [
            case for case in _load("precisionmembench", "retrieval.cases.json") if _expected(case) is not None
        ]
        self.db = ledgers.open_ledger()
        self.by_finding: dict[int, dict[str, Any]] = {}
        self.projects: dict[str, Project] = {}
        for belief in self.beliefs:
            user = belief["user_id"]
            if user not in self.projects:
                self.projects[user] = ledgers.new_project(self.db, user)
            finding_id = ledgers.put(
                self.db,
                self.projects[user],
                belief["content"],
                aliases=(belief["canonical_name"].replace("_", " "), *belief["aliases"]),
                lifecycle="superseded" if _is_superseded(belief) else "current",
            )
            self.by_finding[finding_id] = belief

    def ours(self, case: dict[str, Any]) -> list[dict[str, Any]]:
        """Return what our rules hand out: relevant, current, in scope, and nothing that stands anyway."""
        project = self.projects.get(case.get("userId", "test-user"))
        if project is None:
            return []
        found = find_candidates(self.db, project.id, case["query"])
        return [belief for one in found if one.is_relevant and _fits(belief := self.by_finding[one.finding_id], case)]


def _load(folder: str, name: str) -> Any:
    with open(os.path.join(TESTS, "fixtures", folder, name), encoding="utf-8") as file:
        return json.load(file)


def _expected(case: dict[str, Any]) -> list[str] | None:
    expected: list[str] | None = case["expect"].get("relevantBeliefs", {}).get("shouldOnlyInclude")
    return expected


def _is_superseded(belief: dict[str, Any]) -> bool:
    return belief["epistemic_status"] == "superseded" or bool(belief["superseded_by"])


def _fits(belief: dict[str, Any], case: dict[str, Any]) -> bool:
    """Say whether policy and scope let a belief through: pinned ones stand in every context already."""
    return (
        belief["user_id"] == case.get("userId", "test-user")
        and not _is_superseded(belief)
        and not belief["pinned"]
        and belief["type"] != "open_question"
        and (bool(set(belief["scope"]) & set(case["scope"])) or "user:universal" in belief["scope"])
    )


def _is_exact(case: dict[str, Any], found: list[dict[str, Any]]) -> bool:
    most = (case.get("budget") or {}).get("maxBeliefs")
    ids = [belief["_id"] for belief in found]
    return set(ids[:most]) == set(_expected(case) or ())


def _baselines(bench: Bench) -> dict[str, Callable[[dict[str, Any]], list[dict[str, Any]]]]:
    """Return what others reach: full text with any word, the same with our filters, and names as phrases."""
    db = apsw.Connection(":memory:")
    db.execute("create virtual table held using fts5 (body, alias, tokenize = 'porter unicode61')")
    names = [[belief["canonical_name"].replace("_", " "), *belief["aliases"]] for belief in bench.beliefs]
    for number, belief in enumerate(bench.beliefs):
        body = belief["content"] + " " + (belief.get("why_it_matters") or "")
        db.execute("insert into held (rowid, body, alias) values (?, ?, ?)", (number, body, " | ".join(names[number])))

    def full_text(case: dict[str, Any], most: int) -> list[dict[str, Any]]:
        words = dict.fromkeys(_spaced(case["query"]).split())
        match = " OR ".join(f'"{word}"' for word in words)
        sql = "select rowid from held where held match ? order by bm25(held) limit ?"
        return [bench.beliefs[row[0]] for row in db.execute(sql, (match, most))] if words else []

    def phrases(case: dict[str, Any]) -> list[dict[str, Any]]:
        query = _spaced(case["query"])
        found = [any(_spaced(name) in query for name in held) for held in names]
        return [belief for belief, holds in zip(bench.beliefs, found, strict=True) if holds and _fits(belief, case)]

    return {
        "plain-full-text": lambda case: full_text(case, 10),
        "full-text-filtered": lambda case: [belief for belief in full_text(case, 50) if _fits(belief, case)],
        "names-as-phrases": phrases,
    }


def _spaced(text: str) -> str:
    return f" {' '.join(''.join(c if c.isalnum() or c == '_' else ' ' for c in text.lower()).split())} "


def _precision() -> list[dict[str, Any]]:
    bench = Bench()
    rules_on = [case for place, case in enumerate(bench.cases) if place % 3 == 0]
    reported = [case for place, case in enumerate(bench.cases) if place % 3 != 0]

    def exact(find: Callable[[dict[str, Any]], list[dict[str, Any]]], cases: list[dict[str, Any]]) -> int:
        return sum(_is_exact(case, find(case)) for case in cases)

    reached = exact(bench.ours, reported)
    stale = sum(any(map(_is_superseded, bench.ours(case))) for case in bench.cases)
    name = f"{PREFIX}precision"
    return [
        {"name": name, "value": reached, "unit": "of 50", "limit": GOAL, "met": reached >= GOAL},
        {"name": f"{name}.rules-made-on", "value": exact(bench.ours, rules_on), "unit": "of 25"},
        {"name": f"{name}.all", "value": exact(bench.ours, bench.cases), "unit": "of 75"},
        *(
            {"name": f"{name}.{what}", "value": exact(find, bench.cases), "unit": "of 75"}
            for what, find in _baselines(bench).items()
        ),
        {"name": f"{name}.superseded-shown", "value": stale, "unit": "cases", "met": stale == 0},
    ]


def _everyday() -> list[dict[str, Any]]:
    held = _load("selection", "everyday.json")
    db = ledgers.open_ledger()
    project = ledgers.new_project(db, "everyday")
    ids = [ledgers.put(db, project, one["claim"], aliases=tuple(one["aliases"])) for one in held["claims"]]

    def relevant(prompt: str) -> list[int]:
        return [one.finding_id for one in find_candidates(db, project.id, prompt) if one.is_relevant]

    wrong = sum(len(relevant(prompt)) for prompt in held["unrelated"])
    found = sum(ids[one["claim"] - 1] in relevant(one["prompt"])[:3] for one in held["related"])
    unrelated, related = len(held["unrelated"]), len(held["related"])
    name = f"{PREFIX}precision"
    return [
        {"name": f"{name}.unrelated", "value": wrong, "unit": f"items in {unrelated} prompts", "met": wrong == 0},
        {"name": f"{name}.related", "value": found, "unit": f"of {related} prompts"},
    ]
