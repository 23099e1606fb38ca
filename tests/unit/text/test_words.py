import pytest
from hypothesis import given
from hypothesis import strategies as st

from upheld.text.words import (
    MAX_CJK_PHRASE,
    MAX_PHRASE_TOKENS,
    MAX_PHRASES,
    MAX_TERMS,
    iter_phrases,
    normalise_phrase,
    read_words,
)


@given(st.text(st.characters(codec=None), max_size=200))
def test_any_text_has_words_and_phrases(text: str) -> None:
    words = read_words(text)
    assert all(words.terms)
    assert len(set(words.terms)) == len(words.terms)
    assert words.telling <= set(words.terms)
    assert len(set(iter_phrases(words.tokens))) == len(iter_phrases(words.tokens))
    normalise_phrase(text)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The tokenizer is shifted", ("tokenizer", "shifted")),
        ("Losses and loss", ("losse", "loss")),
        ("probes", ("probe",)),
        ("read_event", ("read_event", "read", "event")),
        ("readEvent", ("readevent", "read", "event")),
        ("HTTPServer", ("httpserver", "http", "server")),
        ("__init__", ("init",)),
        ("_", ()),
        ("e2e", ("e2e",)),
        ("ＦＵＬＬ width", ("full", "width")),
        ("用户身份", ("用户", "户身", "身份")),
        ("锁", ("锁",)),
        ("的", ()),
        ("重跑gen-itgc后", ("重跑", "gen", "itgc", "后")),
        ("a b c", ()),
    ],
)
def test_terms_are_words_parts_of_identifiers_and_pairs(text: str, terms: tuple[str, ...]) -> None:
    assert read_words(text).terms == terms


@pytest.mark.parametrize(
    "text", ["parse_manifest", "readEvent", "find_candidates()", "at 0862527a there", "OneTwoThree"]
)
def test_an_identifier_is_telling(text: str) -> None:
    assert read_words(text).telling


@pytest.mark.parametrize(
    "text", ["GitHub", "TypeScript", "sha256", "k8s", "10ms", "2026", "python3", "tokenizer", "锁"]
)
def test_a_brand_a_size_or_a_word_is_not(text: str) -> None:
    assert not read_words(text).telling


def test_the_parts_of_an_identifier_say_one_thing() -> None:
    words = read_words("MongoDB holds it")
    assert {words.whole_of.get(term, term) for term in words.terms} == {"mongodb", "hold"}


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        ("TypeScript", "is typescript strict?"),
        ("REACTJS", "ReactJS components"),
        ("error_handling", "our error handling"),
        ("error handling", "fix error_handling now"),
        ("mocks", "the mock is wrong"),
        ("连接池", "调整连接池大小"),
        ("gen", "重跑gen-itgc后"),
        ("ＡＰＩ", "an api"),
        ("a b c d e", "x a b c d e y"),
    ],
)
def test_a_tag_is_found_where_it_stands_as_a_phrase(tag: str, text: str) -> None:
    assert normalise_phrase(tag) in iter_phrases(read_words(text).tokens)


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        ("TS", "TSLint rules"),
        ("type", "TypeScript"),
        ("error handling", "handling of an error"),
        ("go", "a good idea"),
    ],
)
def test_a_tag_is_not_found_inside_another_word(tag: str, text: str) -> None:
    assert normalise_phrase(tag) not in iter_phrases(read_words(text).tokens)


def test_phrases_are_bounded() -> None:
    phrases = iter_phrases([f"w{number}" for number in range(50)])
    assert max(phrase.count(" ") + 1 for phrase in phrases) == MAX_PHRASE_TOKENS
    assert max(map(len, iter_phrases(["重" * 3 + "启" * 30])[1:])) <= MAX_CJK_PHRASE


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("see src/a.py, please", ("src/a.py",)),
        ("`./Lib/B.PY`:12", ("lib/b.py",)),
        ("in src/a.py:12:3", ("src/a.py",)),
        ("https://example.org/a.html", ()),
        ("version 1.2.3 and 0.5", ()),
        ("a.py. And then", ("a.py",)),
        ("either/or", ("either/or",)),
        ("修改src/引擎.py。", ("修改src/引擎.py", "src/引擎.py")),
        ("look at .github/workflows/ci.yml!", (".github/workflows/ci.yml",)),
        ("no path here", ()),
    ],
)
def test_paths_are_pieces_that_look_like_file_names(text: str, paths: tuple[str, ...]) -> None:
    assert read_words(text).paths == paths


def test_a_pasted_log_costs_a_bounded_number_of_words() -> None:
    words = read_words(" ".join(f"word{number}x" for number in range(100_000)))
    assert len(words.terms) == MAX_TERMS


def test_a_pasted_page_without_spaces_costs_a_bounded_number_of_phrases() -> None:
    page = "".join(chr(0x4E00 + number) for number in range(20_000))
    assert len(iter_phrases([page])) <= MAX_PHRASES
    assert len(iter_phrases([page[start : start + 100] for start in range(0, 20_000, 100)])) < MAX_PHRASES * 2
