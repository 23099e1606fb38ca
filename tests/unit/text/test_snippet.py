from __future__ import annotations

from unicodedata import category, normalize

from hypothesis import given
from hypothesis import strategies as st

from upheld.text.snippet import cut_snippet

FAMILY = "👨\u200d👩\u200d👧"
PIECES = ["a", "é", "e\u0301", "锁", "用户", " ", "🇨🇳", "🇩🇪", FAMILY, "👍🏽", "Ｆ", "\n", "x" * 40]


def test_a_short_text_stands_whole() -> None:
    assert cut_snippet("the probe hangs", ["probe"], 120) == "the probe hangs"


def test_a_long_text_is_cut_around_the_match_and_says_so() -> None:
    cut = cut_snippet("a" * 500 + " needle " + "b" * 500, ["needle"], 60)
    assert cut is not None
    assert " needle " in cut
    assert cut.startswith("...a")
    assert cut.endswith("b...")
    assert len(cut) <= 66


def test_the_most_wanted_piece_decides() -> None:
    text = "second " + "-" * 200 + " first"
    cut = cut_snippet(text, ["first", "second"], 20)
    assert cut is not None
    assert cut.endswith("first")


def test_case_width_and_composition_do_not_matter() -> None:
    assert cut_snippet("ＦＵＬＬ width", ["full"], 50) == "ＦＵＬＬ width"
    assert cut_snippet("cafe\u0301 closed", ["CAFÉ"], 50) == "cafe\u0301 closed"
    assert cut_snippet("caf\u00e9 closed", ["cafe\u0301"], 50) == "caf\u00e9 closed"


def test_what_is_not_there_has_no_snippet() -> None:
    assert cut_snippet("the probe hangs", ["needle", ""], 50) is None


def test_accents_without_end_do_not_lengthen_a_snippet() -> None:
    cut = cut_snippet("match a" + "\u0301" * 5000, ["match"], 50)
    assert cut is not None
    assert len(cut) <= 56


@given(st.lists(st.sampled_from(PIECES), max_size=60), st.lists(st.sampled_from(PIECES), max_size=60))
def test_a_snippet_is_of_the_text_bounded_and_cuts_no_character(before: list[str], after: list[str]) -> None:
    text = normalize("NFC", "".join(before)) + "NEEDLE" + "".join(after)
    cut = cut_snippet(text, ["needle"], 50)
    assert cut is not None
    assert "NEEDLE" in cut
    bare = cut.removeprefix("...").removesuffix("...")
    assert bare in text
    assert len(bare) <= 50
    begin = text.find(bare)
    rest = text[begin + len(bare) :]
    for edge in (bare, rest):
        assert not edge or (category(edge[0])[0] != "M" and edge[0] not in ("\u200d", "🏽"))
    assert not bare.endswith("\u200d")
