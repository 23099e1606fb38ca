"""What a query in words brings, in which order, and what it says about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.desk import FOR
from upheld.envelope import succeed
from upheld.findings.search import MAX_HITS
from upheld.findings.verbs.query import MAX_BYTES
from upheld.mcp.tools import render

if TYPE_CHECKING:
    from support.desk import Desk


def _ask(desk: Desk, words: str, **given: Any) -> list[str]:
    return [one["finding_id"] for one in desk.run("query_findings", words=words, **given).data["findings"]]


def test_a_name_comes_before_a_claim_before_evidence_before_any_word(desk: Desk) -> None:
    named = desk.log("About something", tags=["offset tokenizer"])
    claimed = desk.log("The tokenizer has an offset")
    shown = desk.log("It is wrong", evidence=[{**FOR, "excerpt": "offset in the tokenizer: 3"}])
    partly = desk.log("The offset alone")
    desk.log("Nothing like it")
    assert _ask(desk, "offset tokenizer") == [named, claimed, shown, partly]


def test_of_single_words_the_rarest_comes_first(desk: Desk) -> None:
    rare = desk.log("The quokka waits")
    common = [desk.log(f"The tokenizer waits {number}") for number in range(3)]
    assert _ask(desk, "tokenizer quokka") == [rare, *common[::-1]]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("这里记录用户身份的来源", "用户身份"),
        ("重跑gen-itgc后结果一致", "gen"),
        ("重跑gen-itgc后结果一致", "跑gen-itgc后"),
        ("广西的旅游数据在第二张表", "广西 OR 桂林 OR 旅游"),
        ("文件锁超时", "锁"),
        ("E1234: cannot open 'x.y'", "E1234: cannot open 'x.y'"),
        ("src/engine/read_event.py:12", "engine/read_event.py"),
        ("calls self._loop.readEvent(x)", "readEvent(x)"),
        ("calls self._loop.readEvent(x)", "event"),
        ("calls self._loop.readEvent(x)", "READEVENT"),
        ("calls self._loop.readEvent(x)", "loop.readEv"),
        ("ＦＵＬＬ width", "full"),
    ],
)
@pytest.mark.parametrize("field", ["excerpt", "rationale", "source_ref"])
def test_what_evidence_says_is_found_and_shown(text: str, query: str, field: str, desk: Desk) -> None:
    one = desk.log("A claim of other words", evidence=[{**FOR, field: text}])
    desk.log("Nothing like it")
    answer = desk.run("query_findings", words=query)
    assert [found["finding_id"] for found in answer.data["findings"]] == [one]
    assert answer.warnings == ()
    matched = answer.data["findings"][0]["matched"]
    assert matched["where"] == "evidence E-1"
    assert matched["snippet"] in text


def test_a_claim_that_shows_the_words_needs_no_snippet_and_a_tag_is_named(desk: Desk) -> None:
    desk.log("The probe hangs", tags=["deadlock"])
    assert "matched" not in desk.run("query_findings", words="probe").data["findings"][0]
    found = desk.run("query_findings", words="deadlock").data["findings"][0]
    assert found["matched"] == {"where": "tags", "snippet": "deadlock"}


def test_what_no_index_knows_is_found_by_reading_and_the_answer_says_so(desk: Desk) -> None:
    one = desk.log("Ends in zq")
    desk.log("Nothing like it")
    desk.log("Done 🙂")
    answer = desk.run("query_findings", words="🙂")
    assert [found["finding_id"] for found in answer.data["findings"]] == ["F-3"]
    assert answer.warnings == ("The index knew none of these words: found by scanning 3 findings.",)
    assert _ask(desk, "q") == [one]


def test_filters_come_before_any_limit(desk: Desk) -> None:
    wanted = desk.log("The probe hangs", claim_kind="constraint", scope={"paths": ["src/engine/**"]}, tags=["probe"])
    for number in range(MAX_HITS + 20):
        desk.log(f"The probe hangs {number}", tags=["probe"])
    assert _ask(desk, "probe", kinds=["constraint"], limit=1) == [wanted]
    assert _ask(desk, "robe", kinds=["constraint"], limit=1) == [wanted]
    assert _ask(desk, "rob", paths=["src/engine/x.py"], limit=1) == [wanted]


def test_paths_are_files_or_globs_that_a_scope_reaches(desk: Desk) -> None:
    below = desk.log("Below", scope={"paths": ["src/engine"]})
    literal = desk.log("Literal", scope={"paths": ["src/engine/a.py"]})
    desk.log("Elsewhere", scope={"paths": ["docs/**"]})

    def listed(path: str) -> list[str]:
        found = desk.run("query_findings", paths=[path]).data["findings"]
        return [one["finding_id"] for one in found]

    assert listed("src/engine/a.py") == [literal, below]
    assert listed("src/**/*.py") == [literal]
    assert listed("src/other.py") == []


def test_a_scope_filter_keeps_what_names_the_fact(desk: Desk) -> None:
    one = desk.log("On cuda", scope={"match": {"backend": "cuda"}})
    desk.log("On cpu", scope={"match": {"backend": "cpu"}})
    found = desk.run("query_findings", matching={"backend": "cuda"}).data["findings"]
    assert [data["finding_id"] for data in found] == [one]


def test_a_page_goes_on_where_the_one_before_ended(desk: Desk) -> None:
    ids = [desk.log(f"The probe hangs {number}") for number in range(7)]
    first = _ask(desk, "probe", limit=3)
    assert first == ids[:-4:-1]
    assert _ask(desk, "probe", limit=10, before=first[-1]) == ids[3::-1]


def test_a_page_after_a_finding_that_is_no_hit_says_so(desk: Desk) -> None:
    desk.log("The probe hangs")
    other = desk.log("Nothing like it")
    answer = desk.run("query_findings", words="probe", before=other)
    assert answer.data["findings"] == []
    assert "no longer found" in answer.warnings[0]


def test_a_page_of_long_findings_is_bounded_and_pages_together_are_all(desk: Desk) -> None:
    ids = [
        desk.log(
            f"{number} probe " + "很长的说明 " * 160, scope={"paths": [f"src/{'d' * 60}/{at}.py" for at in range(9)]}
        )
        for number in range(40)
    ]
    for words in ({"words": "probe"}, {}):
        found: list[str] = []
        before: dict[str, str] = {}
        more = True
        while more:
            answer = desk.run("query_findings", limit=100, **words, **before)
            text = render(succeed(answer.data, answer.warnings))
            assert len(text.encode()) <= MAX_BYTES + 1_000  # commas and `more`
            found += [one["finding_id"] for one in answer.data["findings"]]
            before, more = {"before": found[-1]}, answer.data["more"]
        assert found == ids[::-1]


def test_the_order_is_that_of_the_steps_however_many_findings_hold_the_words(desk: Desk) -> None:
    partly = [desk.log(f"Only the tokenizer {number}") for number in range(3)]
    begun = [desk.log(f"Tokenizers and offsets {number}") for number in range(3)]
    shown = [desk.log(f"Wrong {number}", evidence=[{**FOR, "excerpt": "offset of tokenizer"}]) for number in range(3)]
    claimed = [desk.log(f"The offset of the tokenizer {number}") for number in range(3)]
    wanted = [*claimed[::-1], *shown[::-1], *begun[::-1], *partly[::-1]]
    assert _ask(desk, "offset tokenizer", limit=50) == wanted
    # So many that the words are no longer ranked from one statement.
    more = [desk.log(f"An offset of a tokenizer {number}") for number in range(110)]
    found = _ask(desk, "offset tokenizer", limit=50)
    for _ in range(2):
        found += _ask(desk, "offset tokenizer", limit=50, before=found[-1])
    assert found == [*more[::-1], *wanted]
