"""Every text of a block is there in every language, with the same values in it."""

from __future__ import annotations

import re
import string
from typing import Any

import pytest

from support.block import read_block
from support.desk import AGAINST, FOR, Desk
from upheld.context.projects import find_project
from upheld.findings.injection import Budget
from upheld.findings.labels import CHINESE, ENGLISH, LANGUAGES, Labels
from upheld.findings.retrieval import COMPACT, PROMPT, RESUME, START, TRIGGERS, Request, Selection, select
from upheld.findings.sections import SECTIONS
from upheld.findings.store.shown import Shown
from upheld.findings.surroundings import Surroundings

NAMES = sorted(name for name in vars(Labels) if not name.startswith("_") and name != "sections")


def values(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


def test_every_text_is_translated_and_holds_the_same_values() -> None:
    for name in NAMES:
        english, chinese = getattr(ENGLISH, name), getattr(CHINESE, name)
        assert name in vars(type(CHINESE)), f"{name} has no translation"
        assert chinese != english
        assert values(chinese) == values(english), name
        assert chinese.startswith(" ") == english.startswith(" "), name
        assert chinese.endswith(" ") == english.endswith(" "), name
    assert tuple(CHINESE.sections) == SECTIONS
    assert tuple(LANGUAGES) == ("en", "zh")


def test_labels_that_a_reader_tells_apart_differ() -> None:
    labels = (
        *("claim", "path", "evidence", "evidence_for", "against", "refuted_by", "check_first", "condition"),
        *("scope", "holds_for", "contradicts", "supersedes", "details"),
    )
    for language in LANGUAGES.values():
        assert len({getattr(language, name) for name in labels}) == len(labels)
        assert not any(":" in getattr(language, name) for name in labels)


@pytest.mark.parametrize("name", NAMES)
def test_only_ascii_stands_beside_a_value_since_only_that_keeps_it_apart(name: str) -> None:
    assert not re.search(r"\}[^\x00-\x7f。]|[^\x00-\x7f。]\{", getattr(CHINESE, name))


# The same in both


def fill(desk: Desk) -> None:
    about = {"tags": ["tokenizer"]}
    desk.log("The tokenizer is not shifted", evidence=[FOR], epistemic_state="supported", **about)
    desk.log("Never edit golden files", claim_kind="constraint")
    desk.log("Only under some engine", scope={"match": {"engine": "x y"}, "context": {"gpu": ["a", "b"]}}, **about)
    desk.log("Where code matters", scope={"paths": ["engine.py"], "match": {"os": "linux"}}, **about)
    dead = desk.log("A larger batch is the cause", **about)
    desk.run("refute_finding", finding_id=dead, reason="measured", evidence=[AGAINST])
    desk.log("Both sides", evidence=[FOR, AGAINST], epistemic_state="contested", **about)
    (desk.cwd / "engine.py").write_text("speed = 4\n")


def chosen(desk: Desk, language: str, **given: Any) -> Selection:
    place, db = desk.findings.place, desk.ledger.read()
    assert db is not None
    project = find_project(db, place.marks, root_commits=tuple)
    assert project is not None
    parts: dict[str, Any] = {
        "trigger": PROMPT,
        "text": "is the tokenizer shifted?",
        "task": "",
        "budget": Budget(9000, "utf8"),
        "shown": [],
        "logged": [],
        "touched": [],
        "now": "2026-12-01T00:00:00.000Z",
        "max_items": 10,
    }
    surroundings = Surroundings(db, place.marks, declared={}, environ=place.environ, host={})
    return select(db, project.id, Request(**parts | given, language=language), surroundings)


@pytest.mark.parametrize("trigger", TRIGGERS)
def test_the_same_is_chosen_for_the_same_reasons_in_every_language(trigger: str, desk: Desk) -> None:
    fill(desk)
    shown = [Shown(4, "unassessed", "current", "applicable"), Shown(5, "supported", "current", "applicable")]
    given = {"trigger": trigger, "shown": shown if trigger in (COMPACT, RESUME) else []}
    english, chinese = chosen(desk, "en", **given), chosen(desk, "zh", **given)

    assert [one.as_data() for one in chinese.decisions] == [one.as_data() for one in english.decisions]
    assert [one.as_row() for one in chinese.shown] == [one.as_row() for one in english.shown]
    mine, theirs = read_block(chinese.text), read_block(english.text)
    assert (mine.language, theirs.language) == ("zh", "en")
    assert [(one.finding_id, one.section, list(one.lines)) for one in mine.items] == [
        (one.finding_id, one.section, list(one.lines)) for one in theirs.items
    ]
    assert [one.claim for one in mine.items] == [one.claim for one in theirs.items]
    assert len(mine.corrections) == len(theirs.corrections)


def test_no_english_word_of_ours_is_left_in_a_chinese_block(desk: Desk) -> None:
    fill(desk)
    shown = [Shown(4, "unassessed", "current", "applicable"), Shown(5, "supported", "current", "applicable")]
    asked: tuple[dict[str, Any], ...] = (
        {},
        {"trigger": START},
        {"trigger": COMPACT},
        {"trigger": RESUME, "shown": shown},
        {"budget": Budget(700, "utf8")},
    )
    text = "\n".join(chosen(desk, "zh", **given).text for given in asked)
    for word in ("Claim", "Evidence", "Scope", " here", "wanted", " changed", "unknown here", " more", "findings,"):
        assert word not in text, word
    for said in ("engine 在此处未知, 要求 ", "engine.py 已改变", "更正: F-5, 上文显示为 supported", "另有 "):
        assert said in text
    for said in ("环境 gpu a 或 b", "本项目有 6 条发现, 1 条死路: query_findings", "没有记录任何发现", "本项目各处"):
        assert said in text


@pytest.mark.parametrize("limit", [300, 700, 1500, 4000])
@pytest.mark.parametrize("unit", ["utf8", "utf16"])
def test_a_chinese_block_keeps_its_budget(limit: int, unit: str, desk: Desk) -> None:
    fill(desk)
    for trigger in TRIGGERS:
        text = chosen(desk, "zh", trigger=trigger, budget=Budget(limit, unit)).text
        assert Budget(limit, unit).fits(text)
        assert len(text.encode("utf-8" if unit == "utf8" else "utf-16-le")) // (1 if unit == "utf8" else 2) <= limit
