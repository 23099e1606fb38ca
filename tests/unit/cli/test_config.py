"""`upheld config` and `upheld pause`, as a person at a terminal and as an agent run them."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from support.hook import Hook, make_hook
from support.terminal import run_as_person
from upheld.cli import config, pause

if TYPE_CHECKING:
    from pathlib import Path

    import click


@pytest.fixture
def hook(tmp_path: Path) -> Hook:
    hook = make_hook(tmp_path)
    hook.log()
    return hook


def person(hook: Hook, *arguments: str) -> str:
    done = run_as_person(arguments, cwd=str(hook.repository), environ=hook.environ)
    assert done.returncode == 0, done.stderr
    return (done.stdout + done.stderr).decode()


def answered(hook: Hook, *arguments: str) -> dict[str, Any]:
    done = run_as_person([*arguments, "--json"], cwd=str(hook.repository), environ=hook.environ)
    (line,) = done.stdout.splitlines()
    envelope: dict[str, Any] = json.loads(line)
    assert done.returncode == (0 if envelope["ok"] else 1)
    assert done.stderr == b""
    return envelope


def agent(hook: Hook, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-I", "-m", "upheld", *arguments],
        cwd=hook.repository,
        env=hook.environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )


def test_a_person_sets_looks_and_takes_back(hook: Hook) -> None:
    assert person(hook, "config", "get", "prompt-items") == "3\n"
    assert person(hook, "config", "get", "start-bytes") == "the host's limit\n"
    assert (
        person(hook, "config", "set", "prompt-items", "5", "--everywhere") == "prompt-items is 5 here (everywhere).\n"
    )
    assert person(hook, "config", "set", "prompt-items", "7") == "prompt-items is 7 here (project).\n"
    assert "stays what was set for this project" in person(hook, "config", "set", "prompt-items", "6", "--everywhere")
    listed = person(hook, "config", "list")
    assert "prompt-items  7                (project)" in listed
    assert len(listed.splitlines()) == 5
    assert person(hook, "config", "unset", "prompt-items") == "prompt-items is 6 here (everywhere).\n"
    assert "was not set for this project" in person(hook, "config", "unset", "prompt-items")


@pytest.mark.parametrize("command", [*config.group.commands.values(), pause.command], ids=lambda one: str(one.name))
def test_the_example_of_each_command_works_as_it_stands(hook: Hook, command: click.Command) -> None:
    example = (command.epilog or "").rpartition("\n")[2].split()
    assert example[0] == "upheld"
    assert person(hook, *example[1:])


def test_every_answer_is_an_envelope(hook: Hook) -> None:
    assert answered(hook, "config", "set", "language", "zh")["data"]["value"] == "zh"
    assert answered(hook, "config", "get", "language")["data"]["origin"] == "project"
    assert len(answered(hook, "config", "list")["data"]["settings"]) == 5
    assert answered(hook, "config", "unset", "language")["data"]["value"] == "en"
    assert answered(hook, "pause")["data"] == {"paused_until": "forever", "pauses": {"project": "forever"}}
    assert answered(hook, "pause", "--off")["data"] == {"paused_until": "", "pauses": {}}


@pytest.mark.parametrize(
    ("arguments", "argument", "said"),
    [
        (["config", "set", "prompt-items", "11"], "value", "Give a whole number from 0 to 10."),
        (["config", "set", "prompt-items", "-1"], "value", "Give a whole number from 0 to 10."),
        (["config", "set", "language", "fr"], "value", "Give en or zh."),
        (["config", "set", "colour", "red"], "name", "Give one of language, "),
        (["config", "get", "colour"], "name", "Give one of language, "),
        (["config", "unset", "paused-until"], "name", "Use `upheld pause`."),
        (["pause", "--for", "soon"], "until", "Give a time like 2h"),
        (["pause", "--for", ""], "until", "Give a time like 2h"),
        (["pause", "--for", "2h", "--off"], "for", "Give one of them."),
    ],
)
def test_what_is_wrong_is_refused_with_what_would_be_right(
    hook: Hook, arguments: list[str], argument: str, said: str
) -> None:
    error = answered(hook, *arguments)["error"]
    assert error["argument"] == argument
    assert said in error["message"]
    assert error["message"].endswith("Nothing was written.")


@pytest.mark.parametrize(
    "arguments", [["config", "set", "language", "zh"], ["config", "unset", "language"], ["pause"], ["pause", "--off"]]
)
def test_an_agent_changes_nothing_and_may_look(hook: Hook, arguments: list[str]) -> None:
    refused = agent(hook, *arguments)
    assert refused.returncode == 1
    assert b"is for people: run it in a terminal. Nothing was written." in refused.stderr
    assert agent(hook, "config", "get", "language").stdout == b"en\n"


def test_a_pause_is_told_where_it_was_made(hook: Hook) -> None:
    assert person(hook, "pause", "--everywhere") == "Paused until it is ended: upheld pause --off.\n"
    said = person(hook, "pause", "--off")
    assert "paused everywhere still: upheld pause --off --everywhere" in said
    assert person(hook, "pause", "--off", "--everywhere") == "Not paused.\n"
    assert person(hook, "pause", "--for", "2h").startswith("Paused until 2")
    status = person(hook, "status")
    assert "Paused:   until 2" in status
    assert "Settings:" not in status
    person(hook, "config", "set", "prompt-bytes", "900", "--everywhere")
    assert "Settings:\n  prompt-bytes 900  (everywhere)\n" in person(hook, "status")
    assert "Paused until 2" in person(hook, "config", "list")
