import pytest

from support.block import read_block
from support.parts import a_finding, a_judgement, a_link
from upheld.findings.injection import HEADING, NOTICE, Budget, format_block
from upheld.findings.sections import Item

LARGE = Budget(9900, "utf8")


def an_item(number: int, *, claim: str = "A short claim", state: str = "supported") -> Item:
    return Item(a_finding(id=number, claim=claim, epistemic_state=state), a_judgement("applicable"), [a_link()])


def test_nothing_to_say_is_no_block() -> None:
    assert format_block([], [], "", LARGE).text == ""


def test_sections_stand_in_their_order_and_items_by_rank() -> None:
    items = [an_item(1, state="provisional"), an_item(2), an_item(3, state="refuted"), an_item(4)]
    block = format_block(items, [], "", LARGE)
    assert [shown.finding_id for shown in read_block(block.text).items] == [2, 4, 3, 1]
    assert block.kept == items
    assert block.text.startswith(f"{HEADING}\n{NOTICE}\n\n### Supported by evidence\n- [F-2")


def test_corrections_come_first_and_the_closing_line_last() -> None:
    block = format_block([an_item(1)], ["F-9, shown above as supported: superseded by F-1."], "That is all.", LARGE)
    read = read_block(block.text)
    assert read.corrections == ["F-9, shown above as supported: superseded by F-1."]
    assert read.closing == "That is all."
    assert block.corrections == 1


def test_detail_lines_of_the_lowest_rank_go_first_then_whole_items_which_are_named() -> None:
    items = [an_item(number) for number in range(1, 9)]
    whole = format_block(items, [], "", LARGE)
    size = len(whole.text.encode())
    shortened = read_block(format_block(items, [], "", Budget(size - 1, "utf8")).text)
    assert ["Details" in shown.lines for shown in shortened.items] == [True] * 7 + [False]
    cut = format_block(items, [], "Ask more.", Budget(size // 2, "utf8"))
    assert cut.kept == items[: len(cut.kept)]
    assert cut.cut == items[len(cut.kept) :]
    named = ", ".join(f"F-{item.finding.id}" for item in cut.cut[:5])
    assert read_block(cut.text).closing == f"{len(cut.cut)} more: query_findings (next: {named}). Ask more."


def test_an_item_that_would_fill_half_of_the_block_is_told_briefly() -> None:
    items = [an_item(1, claim="很" * 1000), an_item(2)]
    block = format_block(items, [], "", Budget(1500, "utf8"))
    first, second = read_block(block.text).items
    assert first.claim == "很" * 77 + "..."
    assert first.lines["Details"] == "get_finding F-1"
    assert second.claim == "A short claim"


def test_corrections_that_do_not_fit_wait_for_the_next_time() -> None:
    corrections = [f"F-{number}, shown above as supported and applicable: withdrawn." for number in range(100)]
    block = format_block([an_item(1)], corrections, "", Budget(1500, "utf8"))
    assert read_block(block.text).corrections == corrections[: block.corrections]
    assert 10 < block.corrections < 30
    assert block.kept == []


@pytest.mark.parametrize("limit", [0, 1, 50, 100])
def test_a_budget_too_small_for_anything_gives_nothing(limit: int) -> None:
    block = format_block([an_item(1)], ["F-2: withdrawn."], "Closing.", Budget(limit, "utf8"))
    assert block.text == ""
    assert block.cut


@pytest.mark.parametrize(("unit", "size"), [("utf8", 4 + 3 + 1), ("utf16", 2 + 1 + 1)])
def test_sizes_are_the_hosts_own_count(unit: str, size: int) -> None:
    assert Budget(9, unit).size("😀很a") == size
    assert Budget(9, unit).size("\ud83d") == (3 if unit == "utf8" else 1)
