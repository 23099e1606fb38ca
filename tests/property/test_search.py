"""Whatever texts a ledger holds, a query finds what stands in them literally, and nothing of another project."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import ledgers
from upheld.findings import search as looking
from upheld.findings.search import Found, search
from upheld.findings.store import searching
from upheld.text.words import is_cjk

if TYPE_CHECKING:
    import apsw

PIECES = [
    "the", "probe", "TypeScript", "readEvent", "snake_case_name", "self._loop", "src/a_b/c.py:12", "E501", "x", "0x1f",
    "用户身份", "锁", "重跑gen-itgc后", "広告", "한국어", "🙂", "👍🏽", "café", "ＦＵＬＬ", "--flag", "'x.y'", "Can't",
    "ß", "...",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).flatmap(
    lambda pieces: st.sampled_from([" ", "", ", ", "-"]).map(lambda between: between.join(pieces))
)


def _ask(db: apsw.Connection, project_id: int, words: str) -> tuple[set[int], Found]:
    found = Found()
    batches = search(db, project_id, words, lambda _: True, found)
    return {finding.id for batch in batches for finding in batch}, found


def _is_border(text: str, at: int) -> bool:
    """Say whether words begin or end at a place: any place between two CJK characters is one."""
    if not 0 < at < len(text):
        return True
    before, after = text[at - 1], text[at]
    return not (before.isalnum() and after.isalnum()) or is_cjk(before) or is_cjk(after)


def _is_cut_in_two(text: str, at: int) -> bool:
    return 0 < at < len(text) and category(text[at])[0] == "M"


@given(TEXTS, TEXTS, st.data())
def test_every_literal_piece_is_found_and_only_here(claim: str, other: str, data: st.DataObject) -> None:
    db = ledgers.open_ledger()
    here, elsewhere = ledgers.new_project(db, "here"), ledgers.new_project(db, "elsewhere")
    foreign = [ledgers.put(db, elsewhere, text) for text in (claim, other)]
    wanted = ledgers.put(db, here, claim)
    for finding_id in (*foreign, wanted):
        searching.refresh_text(db, finding_id)
    start = data.draw(st.integers(0, len(claim) - 1))
    end = data.draw(st.integers(start + 1, len(claim)))
    piece = claim[start:end]
    if not piece.strip() or _is_cut_in_two(claim, start) or _is_cut_in_two(claim, end):
        return
    assert _ask(db, here.id, piece)[0] == {wanted}
    searching.refresh_text(db, ledgers.put(db, here, other))
    found, how = _ask(db, here.id, piece)
    assert found
    assert not found & set(foreign)
    long_enough = any(is_cjk(c) for c in piece) or sum(c.isalnum() for c in piece) >= 2
    if _is_border(claim, start) and _is_border(claim, end) and long_enough:
        assert wanted in found
        assert how.scanned == 0


@given(TEXTS, st.lists(TEXTS, max_size=6))
def test_what_another_project_holds_changes_no_order(query: str, texts: list[str]) -> None:
    db = ledgers.open_ledger()
    here, elsewhere = ledgers.new_project(db, "here"), ledgers.new_project(db, "elsewhere")
    for text in texts:
        searching.refresh_text(db, ledgers.put(db, here, text))
    before = [one.id for batch in search(db, here.id, query, lambda _: True, Found()) for one in batch]
    for text in [query, *texts] * 3:
        searching.refresh_text(db, ledgers.put(db, elsewhere, text))
    assert [one.id for batch in search(db, here.id, query, lambda _: True, Found()) for one in batch] == before
    assert len(set(before)) == len(before)


@given(TEXTS, st.lists(TEXTS, max_size=8))
def test_one_statement_ranks_as_the_steps_do(query: str, texts: list[str]) -> None:
    db = ledgers.open_ledger()
    here = ledgers.new_project(db, "here")
    for text in [*texts, query]:
        searching.refresh_text(db, ledgers.put(db, here, text))
    orders = []
    for few in (0, looking._FEW):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(looking, "_FEW", few)
            orders.append([one.id for batch in search(db, here.id, query, lambda _: True, Found()) for one in batch])
    assert orders[0] == orders[1]


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=8), st.integers(1, 3))
def test_pages_together_are_the_whole_answer(query: str, texts: list[str], size: int) -> None:
    db = ledgers.open_ledger()
    here = ledgers.new_project(db, "here")
    for text in texts:
        searching.refresh_text(db, ledgers.put(db, here, text))
    whole = [one.id for batch in search(db, here.id, query, lambda _: True, Found()) for one in batch]
    paged: list[int] = []
    last: int | None = None
    while page := [
        one.id
        for batch in search(db, here.id, query, lambda _: True, Found(), wanted=size + 1, after=last)
        for one in batch
    ][:size]:
        paged += page
        last = page[-1]
    assert paged == whole
