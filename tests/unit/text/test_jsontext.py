"""`upheld.text.jsontext` against the `json` package, its reference."""

import json
import math
import os
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import upheld
from upheld.text import jsontext

TEXTS = st.text() | st.text(st.characters(categories=["Cs", "Cc", "Lo", "So"]))
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXTS, inner, max_size=5),
    max_leaves=20,
)


@given(VALUES)
def test_it_writes_what_the_json_package_writes(value: Any) -> None:
    compact = (",", ":")
    assert jsontext.dumps(value) == json.dumps(value, ensure_ascii=False, separators=compact)
    assert jsontext.dumps_ascii(value) == json.dumps(value, separators=compact)
    assert jsontext.dumps_canonical(value) == json.dumps(value, ensure_ascii=False, separators=compact, sort_keys=True)


@given(VALUES, st.sampled_from(["", " ", "\n\t ", "\r\n"]))
def test_it_reads_what_the_json_package_reads(value: Any, space: str) -> None:
    for indent in (None, 2):
        text = space + json.dumps(value, indent=indent) + space
        assert jsontext.loads(text) == json.loads(text)


@given(VALUES)
def test_a_value_survives_being_written_and_read(value: Any) -> None:
    for write in (jsontext.dumps, jsontext.dumps_ascii, jsontext.dumps_canonical):
        assert jsontext.loads(write(value)) == value


@given(st.text(st.sampled_from(' \t\n{}[]:,"\\u0041eE+-.truefalsnl'), max_size=30))
def test_it_refuses_exactly_what_the_json_package_refuses(text: str) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        with pytest.raises(ValueError):  # noqa: PT011 - any ValueError: callers catch that type
            jsontext.loads(text)
    else:
        assert jsontext.loads(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "{",
        '{"a":1,}',
        "[1 2]",
        "01",
        "nul",
        "'a'",
        '"a\nb"',
        "{} {}",
        "[1]x",
        "NaN",
        "-Infinity",
        '{"a":NaN}',
        "\ufeff{}",
        "\u00a0{}",
        "[" * 200_000,
    ],
)
def test_text_that_is_not_one_json_value_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - any ValueError: callers catch that type
        jsontext.loads(text)


def test_the_keys_of_the_canonical_form_are_sorted_at_every_depth() -> None:
    assert jsontext.dumps_canonical({"b": {"z": 1, "a": 2}, "a": "é"}) == '{"a":"é","b":{"a":2,"z":1}}'


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_does_not_have_are_refused_when_writing(value: float) -> None:
    for write in (jsontext.dumps, jsontext.dumps_ascii, jsontext.dumps_canonical):
        with pytest.raises(ValueError, match="JSON"):
            write([value])


def test_a_value_that_contains_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"[Cc]ircular"):
            jsontext.dumps(endless)


def test_what_is_no_json_value_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="set"):
        jsontext.dumps({"a": {1}})


def test_a_failed_call_leaves_nothing_behind() -> None:
    value: dict[str, Any] = {"a": [object()]}
    for _ in range(2):
        with pytest.raises(TypeError, match="object"):
            jsontext.dumps(value)
    value["a"] = [1]
    assert jsontext.dumps(value) == '{"a":[1]}'


@pytest.mark.parametrize("text", ['{"a":', '{"a" 1}', '{"a": "x', "{a", '["\\x"]', '{"a":1,}'])
def test_what_is_no_json_is_a_value_error_also_where_the_json_package_is_not_loaded(text: str) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from upheld.text import jsontext\n"
        "try: jsontext.loads(sys.argv[2])\n"
        "except ValueError: print('json' in sys.modules)\n"
    )
    source = os.path.dirname(os.path.dirname(upheld.__file__))
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, source, text], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
