"""A table goes into somebody else's TOML and comes out again, and nothing else moves."""

from __future__ import annotations

import tomllib

import pytest

from upheld.hosts.edit import EditRefusedError, append_table, remove_table, update_table

PATH = ("mcp_servers", "upheld")
VALUES = {"command": "/a 中/py", "args": ["-I", "-m", "upheld", "mcp"], "startup_timeout_sec": 10}

SHAPES = {
    "empty file": "",
    "a comment": "# mine\n",
    "no final newline": 'model = "x"   # aligned',
    "another server": "[mcp_servers.other]\ncommand = 'foo'  # keep\n",
    "a header of servers": '[mcp_servers]\n\n[mcp_servers.other]\ncommand = "foo"\n\n\n',
    "windows lines": 'model = "x"\r\n\r\n[a]\r\nb = 1\r\n',
    "arrays of tables": "[[a]]\nx = 1\n[[a]]\nx = 2\n",
    "odd spaces": "  a=1\n [ b ] \n\tc = [1,\n 2 ,]\n",
}


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES.keys())
def test_a_table_is_text_behind_the_text_and_goes_without_a_trace(text: str) -> None:
    new, added = append_table(text, PATH, VALUES, "config.toml")

    assert new == text + added
    assert tomllib.loads(new)["mcp_servers"]["upheld"] == VALUES
    assert remove_table(new, PATH, added, "config.toml") == text


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES.keys())
def test_a_table_goes_also_when_others_wrote_behind_it(text: str) -> None:
    new, added = append_table(text, PATH, VALUES, "config.toml")
    theirs = '\n[hooks.state."/x:stop:0:0"]\ntrusted_hash = "sha256:1"  # theirs\n'

    assert remove_table(new + theirs, PATH, added, "config.toml") == text + theirs


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES.keys())
def test_without_a_record_the_table_goes_and_the_rest_means_the_same(text: str) -> None:
    new, _ = append_table(text, PATH, VALUES, "config.toml")
    rest = remove_table(new + '\n[z]\ny = "kept"   # as it is\n', PATH, None, "config.toml")

    meaning = tomllib.loads(rest)
    assert meaning.pop("z") == {"y": "kept"}
    assert meaning.get("mcp_servers", {}) == tomllib.loads(text).get("mcp_servers", {})
    assert rest.startswith(text.rstrip())
    assert rest.endswith('[z]\ny = "kept"   # as it is\n')


def test_a_table_that_was_written_into_goes_whole_and_leaves_no_orphan() -> None:
    new, added = append_table("[a]\nb = 1\n", PATH, VALUES, "config.toml")

    rest = remove_table(new + "tool_timeout_sec = 3\n[c]\n", PATH, added, "config.toml")

    assert tomllib.loads(rest) == {"a": {"b": 1}, "c": {}}


def test_changing_a_value_keeps_what_the_user_put_into_the_table() -> None:
    new, _ = append_table("# mine\n", PATH, VALUES, "config.toml")
    new = update_table(new + "enabled = false # theirs\n", PATH, {"command": "/b"}, "config.toml")

    assert tomllib.loads(new)["mcp_servers"]["upheld"] == {**VALUES, "command": "/b", "enabled": False}
    assert new.startswith("# mine\n")
    assert new.endswith("enabled = false # theirs\n")


@pytest.mark.parametrize(
    "text",
    [
        "a = ",
        "mcp_servers = { other = { command = 'x' } }\n",
        "mcp_servers = 3\n",
        "[mcp_servers]\nupheld = 1\n",
    ],
)
def test_a_document_that_no_table_fits_into_is_refused(text: str) -> None:
    with pytest.raises(EditRefusedError, match="Nothing was written"):
        append_table(text, PATH, VALUES, "config.toml")
