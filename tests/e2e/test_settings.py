"""What a person sets at a terminal, as the hook's process then answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.block import read_block
from support.hook import CONSTRAINT, Hook, make_hook, read_context
from support.terminal import run_as_person

if TYPE_CHECKING:
    from pathlib import Path

COSTLY = {"typing", "re", "json", "enum", "dataclasses", "collections", "functools", "datetime", "contextlib"}


@pytest.fixture
def hook(tmp_path: Path) -> Hook:
    hook = make_hook(tmp_path)
    hook.log()
    return hook


def as_person(hook: Hook, line: str) -> None:
    done = run_as_person(line.split(), cwd=str(hook.repository), environ=hook.environ)
    assert done.returncode == 0, done.stderr


def start(hook: Hook, session: str) -> str:
    return read_context(hook.run(hook.payload(session=session)), "SessionStart")


def test_a_pause_silences_the_hook_until_it_is_ended(hook: Hook) -> None:
    assert CONSTRAINT in start(hook, "s-1")
    as_person(hook, "pause --for 2h")
    assert start(hook, "s-2") == ""
    as_person(hook, "pause --off")
    as_person(hook, "pause --everywhere")
    assert start(hook, "s-3") == ""
    as_person(hook, "pause --off --everywhere")
    assert CONSTRAINT in start(hook, "s-4")
    assert hook.diagnostics() == ""


def test_the_hook_speaks_the_language_that_was_set_and_pays_no_more_for_it(hook: Hook) -> None:
    _, before = hook.run_and_list(hook.payload(session="s-1"))
    as_person(hook, "config set language zh --everywhere")
    output, after = hook.run_and_list(hook.payload(session="s-2"))
    block = read_block(read_context(output, "SessionStart"))
    assert block.language == "zh"
    assert block.items[0].claim == CONSTRAINT
    assert block.closing == "本项目有 1 条发现, 0 条死路: query_findings"
    assert after == before
    # The driver of the database brings it.
    assert COSTLY & after <= {"collections"}


def test_a_server_that_was_running_before_answers_by_what_is_set_now(hook: Hook) -> None:
    with hook.server() as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        server.stdin.flush()
        server.stdout.readline()
        assert read_block(start(hook, "s-1")).language == "en"
        as_person(hook, "config set language zh")
        assert read_block(start(hook, "s-2")).language == "zh"
        as_person(hook, "pause")
        assert start(hook, "s-3") == ""
        server.communicate()
