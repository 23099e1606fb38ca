import json
from pathlib import Path
from typing import Any

import apsw
import pytest

from support import ledgers
from support.desk import Desk
from upheld.context.store import Project
from upheld.findings.candidates import (
    MAX_CANDIDATES,
    PATH_WEIGHT,
    PHRASE_WEIGHT,
    TELLING_WEIGHT,
    Candidate,
    find_candidates,
    is_common,
    is_slip,
    weigh,
)
from upheld.findings.model import Scope

FIXTURES = Path(__file__).parents[2] / "fixtures"


class Shelf:
    """A ledger in memory with one project, for rules that need no service."""

    def __init__(self) -> None:
        self.db = ledgers.open_ledger()
        self.project = self.new("ours")

    def new(self, name: str) -> Project:
        return ledgers.new_project(self.db, name)

    def put(self, claim: str, project: Project | None = None, **given: Any) -> int:
        return ledgers.put(self.db, project or self.project, claim, **given)

    def find(self, text: str) -> list[Candidate]:
        return find_candidates(self.db, self.project.id, text)

    def relevant(self, text: str) -> list[int]:
        return [one.finding_id for one in self.find(text) if one.is_relevant]


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


def a_scope(*paths: str) -> Scope:
    return Scope(match={}, context={}, revalidate_on=None, paths=paths, everywhere=False)


def test_a_rarer_word_weighs_more_and_every_weight_is_a_whole_number() -> None:
    weights = [weigh(1000, holding) for holding in (1, 2, 10, 100, 1000)]
    assert weights == sorted(weights, reverse=True)
    assert all(isinstance(weight, int) and weight >= 1 for weight in weights)
    assert weigh(0, 0) >= 1


@pytest.mark.parametrize(
    ("findings", "holding", "expected"), [(10, 10, False), (100, 24, False), (100, 25, True), (1000, 125, False)]
)
def test_a_word_is_common_in_an_eighth_of_more_than_a_few(findings: int, holding: int, expected: bool) -> None:
    assert is_common(findings, holding) is expected


def test_two_shared_things_are_no_match_and_three_are(shelf: Shelf) -> None:
    finding = shelf.put("The retry of the payment client hides errors")
    assert shelf.relevant("add a retry to the client") == []
    assert shelf.relevant("does the payment client retry?") == [finding]


def test_the_parts_of_one_identifier_are_one_thing(shelf: Shelf) -> None:
    shelf.put("MongoDB holds the sessions")
    assert shelf.relevant("use MongoDB here") == []
    assert [one.things for one in shelf.find("use MongoDB here")] == [1]


def test_one_identifier_is_enough(shelf: Shelf) -> None:
    finding = shelf.put("parse_manifest loses entries")
    assert shelf.relevant("fix parse_manifest") == [finding]
    (one,) = shelf.find("fix parse_manifest")
    assert one.relevance == TELLING_WEIGHT + sum(weight for _, weight in one.words)


def test_a_tag_as_a_phrase_outweighs_scattered_words(shelf: Shelf) -> None:
    tagged = shelf.put("Something short", aliases=("loss spike",))
    wordy = shelf.put("The loss has a spike where gradients of the tokenizer explode")
    found = shelf.find("the loss spike of the tokenizer, do gradients explode?")
    assert [one.finding_id for one in found] == [tagged, wordy]
    assert found[0].phrases == ["loss spike"]
    assert found[0].relevance >= PHRASE_WEIGHT > found[1].relevance


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("src/a.py", "look at src/a.py", True),
        ("src/a.py", "look at SRC/A.PY:12", True),
        ("src/a.py", "in /home/u/project/src/a.py", True),
        ("src/a.py", "look at a.py", True),
        ("src/a.py", "look at lib/a.py", False),
        ("src/a.py", "look at src/b.py", False),
        ("src/**", "look at src/deep/b.py", True),
        ("src/*", "look at src/b.py", True),
        ("src/*", "look at src/deep/b.py", False),
        ("src/*.py", "look at src/b.py", True),
        ("src/**/*.py", "look at src/deep/b.py", True),
        ("src/**/*.js", "look at src/deep/b.py", False),
    ],
)
def test_a_named_path_is_found_under_what_the_scope_says(path: str, text: str, expected: bool, shelf: Shelf) -> None:
    finding = shelf.put("Nothing in common", scope=a_scope(path))
    assert shelf.relevant(text) == ([finding] if expected else [])
    if expected:
        assert shelf.find(text)[0].relevance >= PATH_WEIGHT


def test_ties_go_to_the_newer_finding(shelf: Shelf) -> None:
    older, newer = shelf.put("alpha beta gamma"), shelf.put("alpha beta gamma")
    assert shelf.relevant("alpha beta gamma") == [newer, older]


def test_nothing_another_project_holds_changes_a_result(shelf: Shelf) -> None:
    for number in range(30):
        shelf.put(f"alpha beta gamma number{number}", aliases=("alpha beta",))

    def seen() -> list[tuple[int, int, list[tuple[str, int]]]]:
        return [(one.finding_id, one.relevance, one.words) for one in shelf.find("alpha beta gamma delta")]

    before = seen()
    other = shelf.new("theirs")
    for number in range(100):
        shelf.put(f"alpha beta gamma delta {number}", other, aliases=("alpha beta", "delta"))
    assert seen() == before


def test_there_are_never_more_than_the_most_candidates(shelf: Shelf) -> None:
    for _ in range(MAX_CANDIDATES + 50):
        shelf.put("anything", aliases=("alpha",))
    assert len(shelf.find("alpha")) == MAX_CANDIDATES


def test_common_words_are_not_looked_up(shelf: Shelf) -> None:
    for number in range(60):
        shelf.put(f"alpha beta gamma item{number:02d}aa")
    assert shelf.find("alpha beta gamma") == []


def test_an_empty_text_or_project_has_no_candidates(shelf: Shelf) -> None:
    assert shelf.find("alpha") == []
    shelf.put("alpha beta gamma")
    assert shelf.find("") == []
    assert shelf.find("the of and") == []


# Case 12 and its kind: what a scan would find, a query never denies.


@pytest.mark.parametrize(
    ("claim", "query"),
    [
        ("这里记录用户身份的来源", "用户身份"),
        ("重跑gen-itgc后结果一致", "gen"),
        ("广西的旅游数据在第二张表", "广西 OR 桂林 OR 旅游"),
        ("文件锁超时", "锁"),
        ("the tokenizer is shifted", "oken"),
        ("E1234: cannot open 'x.y'", "E1234: cannot"),
        ("and so it was done", "was"),
        ("ＦＵＬＬ width", "full"),
    ],
)
@pytest.mark.parametrize("others", [0, 1])
def test_every_literal_piece_of_a_claim_is_found(claim: str, query: str, others: int, desk: Desk) -> None:
    wanted = desk.log(claim)
    for _ in range(others):
        desk.log("锁 oken gen full stand here alone")
    desk.log("Nothing like it, 无关")
    found = [one["finding_id"] for one in desk.run("query_findings", words=query).data["findings"]]
    assert wanted in found
    assert f"F-{2 + others}" not in found


def _load(*names: str) -> Any:
    return json.loads(FIXTURES.joinpath(*names).read_text())


def test_unrelated_prompts_bring_nothing_and_related_ones_the_right_finding(shelf: Shelf) -> None:
    held = _load("selection", "everyday.json")
    ids = [shelf.put(one["claim"], aliases=tuple(one["aliases"])) for one in held["claims"]]
    assert {prompt: shelf.relevant(prompt) for prompt in held["unrelated"] if shelf.relevant(prompt)} == {}
    missed = [
        one["prompt"] for one in held["related"] if ids[one["claim"] - 1] not in shelf.relevant(one["prompt"])[:3]
    ]
    assert missed == []


def test_a_large_prompt_reads_a_bounded_part_of_the_index(shelf: Shelf) -> None:
    with shelf.db:
        for claim in ledgers.Zipf(3).claims(3000):
            shelf.put(claim)
    rows = 0

    def trace(_: apsw.Cursor, row: tuple[Any, ...]) -> tuple[Any, ...]:
        nonlocal rows
        rows += 1
        return row

    shelf.db.row_trace = trace
    found = shelf.find(" ".join(ledgers.Zipf(3).words[:600]))
    assert 0 < len(found) <= MAX_CANDIDATES
    assert rows <= 2000 + 600 + 1


@pytest.mark.parametrize(
    ("written", "meant", "expected"),
    [
        ("eror", "error", True),
        ("errror", "error", True),
        ("erorr", "error", True),
        ("databese", "database", True),
        ("databas", "database", True),
        ("error", "error", False),
        ("terror", "error", False),
        ("stage", "state", False),
        ("handled", "handler", False),
        ("released", "release", False),
        ("databaase", "datbase", False),
        ("eerro", "error", False),
        ("err", "error", False),
    ],
)
def test_a_slip_is_one_letter_inside_a_word(written: str, meant: str, expected: bool) -> None:
    assert is_slip(written, meant) is expected
    assert is_slip(meant, written) is expected


def test_a_tag_with_a_typing_error_is_found_below_one_that_is_written_right(shelf: Shelf) -> None:
    right, wrong = shelf.put("One", aliases=("webhook",)), shelf.put("Two", aliases=("loss spike",))
    found = shelf.find("is it the webhook or the loss spkie?")
    assert [(one.finding_id, one.phrases) for one in found] == [
        (right, ["webhook"]),
        (wrong, ["loss spike (written loss spkie)"]),
    ]
    assert all(one.is_relevant for one in found)


def test_a_word_that_the_project_knows_is_no_typing_error(shelf: Shelf) -> None:
    tagged = shelf.put("One", aliases=("castle",))
    assert shelf.relevant("look at the caslte") == [tagged]
    shelf.put("The caslte is a service")
    assert shelf.relevant("look at the caslte") == []


def test_another_projects_tags_are_never_meant(shelf: Shelf) -> None:
    shelf.put("One", shelf.new("theirs"), aliases=("database",))
    assert shelf.find("the databse") == []


def test_spellings_come_and_go_with_the_word_index(shelf: Shelf) -> None:
    first, second = (shelf.put("One", aliases=("error handling", "error")) for _ in range(2))
    count = "select phrases from phrase_spellings where spelling = 'eror' and word = 'error'"
    assert shelf.db.execute(count).get == 4
    shelf.db.execute("delete from finding_words where finding_id = ?", (first,))
    assert shelf.db.execute(count).get == 2
    shelf.db.execute("delete from finding_words where finding_id = ?", (second,))
    assert shelf.db.execute("select count(*) from phrase_spellings").get == 0
