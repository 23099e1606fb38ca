"""An item goes into somebody else's JSON and comes out again, and nothing else moves."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upheld.hosts.edit import EditRefusedError, append_item, parse_document, remove_item

PATH = ("hooks", "SessionStart")
ITEM = {"hooks": [{"type": "command", "command": "'/a 中/py' x", "timeout": 5}]}
OTHER = '{"hooks": [{"type": "command", "command": "theirs"}]}'

SHAPES = {
    "empty file": "",
    "blank lines": "\n\n",
    "empty object": "{}",
    "empty object over lines": "{\n}\n",
    "no final newline": '{\n  "hooks": {}\n}',
    "one line": '{"hooks": {"SessionStart": [' + OTHER + "]}}",
    "minified": '{"hooks":{"SessionStart":[' + OTHER + "]}}",
    "empty array": '{"hooks": {"SessionStart": []}}\n',
    "empty array over lines": '{\n  "hooks": {\n    "SessionStart": [\n    ]\n  }\n}\n',
    "another event": '{\n  "hooks": {\n    "Stop": [\n      ' + OTHER + "\n    ]\n  }\n}\n",
    "other members": '{\n "description": "mine",\n "version": 1.50e+2\n}\n',
    "tabs": '{\n\t"hooks": {\n\t\t"SessionStart": [\n\t\t\t' + OTHER + "\n\t\t]\n\t}\n}\n",
    "windows lines": '{\r\n    "hooks": {\r\n        "SessionStart": []\r\n    }\r\n}\r\n',
    "brackets together": '{\n  "hooks": {\n    "SessionStart": [{\n      "hooks": []\n    }]\n  }\n}\n',
    "odd spaces": '  { "hooks" :{"SessionStart" : [ ' + OTHER + " , " + OTHER + " ] } }  ",
    "escapes": '{"\\u0068ooks": {"SessionStart": ["\\ud800 \\/"]}, "a": "\\u4e2d"}',
    "duplicates elsewhere": '{"a": 1, "a": 2, "hooks": {"SessionStart": []}}',
}


def is_ours(value: Any) -> bool:
    return bool(value == ITEM)


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES.keys())
def test_adding_keeps_every_other_byte_and_removing_gives_the_old_text(text: str) -> None:
    new, splice = append_item(text, PATH, ITEM, "hooks.json")

    before = json.loads(text) if text.strip() else {}
    after = json.loads(new)
    assert after["hooks"]["SessionStart"].pop() == ITEM
    if not before.get("hooks", {}).get("SessionStart", [1]):
        assert after["hooks"]["SessionStart"] == []
    before.setdefault("hooks", {}).setdefault("SessionStart", [])
    assert after == before
    kept = next(i for i in range(len(text) + 1) if i == len(text) or text[i] != new[i])
    assert new.endswith(text[kept:])
    assert remove_item(new, PATH, is_ours, splice, "hooks.json") == text


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES.keys())
def test_an_item_follows_the_line_ends_and_the_indentation_of_the_file(text: str) -> None:
    new, _ = append_item(text, PATH, ITEM, "hooks.json")

    assert ("\r\n" in new) == ("\r\n" in text)
    assert new.count("\n") == new.count("\r\n") or "\r\n" not in text
    if "\t" in text:
        assert '\n\t\t\t{\n\t\t\t\t"hooks"' in new


def test_without_a_record_removing_leaves_no_empty_containers_of_ours() -> None:
    new, _ = append_item('{\n  "a": 1\n}\n', PATH, ITEM, "hooks.json")

    assert remove_item(new, PATH, is_ours, None, "hooks.json") == '{\n  "a": 1\n}\n'


def test_an_item_that_others_were_put_behind_is_taken_from_between() -> None:
    new, splice = append_item('{"hooks": {"SessionStart": [1]}}', PATH, ITEM, "hooks.json")
    later, _ = append_item(new, PATH, {"theirs": 2}, "hooks.json")

    assert remove_item(later, PATH, is_ours, splice, "hooks.json") == (
        '{"hooks": {"SessionStart": [1, {"theirs": 2}]}}'
    )


def test_what_others_put_into_a_container_of_ours_stays() -> None:
    new, splice = append_item("", PATH, ITEM, "hooks.json")
    later, _ = append_item(new, ("hooks", "Stop"), {"theirs": 2}, "hooks.json")

    rest = remove_item(later, PATH, is_ours, splice, "hooks.json")

    assert json.loads(rest) == {"hooks": {"Stop": [{"theirs": 2}]}}


def test_removing_what_is_not_there_changes_nothing() -> None:
    for text in ("", "{}", '{"hooks": {"SessionStart": [1]}}'):
        assert remove_item(text, PATH, is_ours, None, "hooks.json") == text


REFUSED = {
    "a comment": ('{\n  // mine\n  "hooks": {}\n}', "line 2, column 3"),
    "a trailing comma": ('{"hooks": {},}', "line 1, column 14"),
    "cut off": ('{"hooks": {', "not valid JSON"),
    "two documents": ("{} {}", "line 1, column 4"),
    "no number": ('{"a": 01}', "not valid JSON"),
    "NaN": ('{"a": NaN}', "not valid JSON"),
    "a control character": ('{"a": "\x01"}', "not valid JSON"),
    "a number of too many digits": ('{"a": ' + "9" * 5000 + "}", "not valid JSON"),
    "too deep": ("[" * 100_000, "nested too deep"),
    "an array": ("[]", "else than an object"),
    "hooks that are null": ('{"hooks": null}', "at hooks"),
    "an event that is an object": ('{"hooks": {"SessionStart": {}}}', "else than an array"),
    "hooks twice": ('{"hooks": {}, "hooks": {}}', "hooks twice"),
    "an event twice": ('{"hooks": {"SessionStart": [], "SessionStart": []}}', "SessionStart twice"),
}


@pytest.mark.parametrize(("text", "says"), REFUSED.values(), ids=REFUSED.keys())
def test_a_text_that_cannot_be_edited_safely_is_refused(text: str, says: str) -> None:
    with pytest.raises(EditRefusedError, match="Nothing was written") as refusal:
        append_item(text, PATH, ITEM, "hooks.json")

    assert says in refusal.value.message


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
)
spaces = st.text(alphabet=" \t\r\n", max_size=4)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A document that may or may not have our path, in any formatting."""
    events = draw(st.dictionaries(st.sampled_from(["SessionStart", "Stop", "X"]), st.lists(values, max_size=3)))
    document = draw(st.dictionaries(st.text(), values, max_size=3))
    document.pop("hooks", None)
    if draw(st.booleans()):
        document["hooks"] = events

    def write(value: Any) -> str:
        a, b, c = draw(spaces), draw(spaces), draw(spaces)
        if isinstance(value, dict):
            inner = f"{a},{b}".join(f"{json.dumps(k)}{c}:{a}{write(v)}" for k, v in value.items())
            return "{" + b + inner + c + "}"
        if isinstance(value, list):
            return "[" + a + f"{c},{b}".join(write(item) for item in value) + b + "]"
        return json.dumps(value, ensure_ascii=draw(st.booleans()))

    return draw(spaces) + write(document) + draw(spaces)


@given(documents())
def test_whatever_the_document_adding_and_removing_is_the_identity(text: str) -> None:
    new, splice = append_item(text, PATH, ITEM, "hooks.json")
    both, second = append_item(new, ("hooks", "Stop"), ITEM, "hooks.json")

    expected = json.loads(text)
    for event in ("SessionStart", "Stop"):
        expected.setdefault("hooks", {}).setdefault(event, []).append(ITEM)
    assert json.loads(both) == expected
    assert remove_item(both, ("hooks", "Stop"), is_ours, second, "hooks.json") == new
    assert remove_item(new, PATH, is_ours, splice, "hooks.json") == text
    rest = remove_item(both, PATH, is_ours, splice, "hooks.json")
    expected["hooks"]["SessionStart"].pop()
    assert {**json.loads(rest)["hooks"]}.get("SessionStart", []) == expected["hooks"]["SessionStart"]


@given(values)
def test_a_scanned_document_has_the_values_that_json_reads(value: Any) -> None:
    text = json.dumps(value, indent=1)
    node = parse_document(text, "x")

    assert node is not None
    assert node.value == value
    assert text[node.start : node.end] == text
