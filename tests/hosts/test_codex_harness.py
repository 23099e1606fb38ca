"""What the harness promises, proven with a hook and a server of its own; and what Codex does with them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from support.codex.capture import name_of, play, saved_payloads
from support.codex.fixture_server import INSTRUCTIONS
from support.codex.fixtures import Fixtures
from support.codex.home import TRUST_ALL, UNATTENDED, CodexHome
from support.codex.scripted_model import SUMMARY, ScriptedModel
from support.codex.steps import FULL, Mcp, Shell, Spawn, Wait, call, say

if TYPE_CHECKING:
    from support.codex.profiles import Profile

pytestmark = pytest.mark.hosts

ANSWERS = {
    "SessionStart/startup": "CONTEXT-AT-STARTUP",
    "SessionStart/resume": "CONTEXT-AT-RESUME",
    "SessionStart/compact": "CONTEXT-AFTER-COMPACTION",
    "SessionStart/clear": "CONTEXT-AFTER-CLEAR",
    "UserPromptSubmit": "CONTEXT-OF-THE-PROMPT",
    "SubagentStart": "CONTEXT-OF-THE-CHILD",
}
FLAGS = (*UNATTENDED, *TRUST_ALL)


def test_the_context_of_a_hook_reaches_the_model_once_and_again_after_a_compaction(
    codex: CodexHome, model: ScriptedModel
) -> None:
    fixtures = Fixtures(codex, ANSWERS)
    model.scripts["work"] = [
        call(Mcp("keep_note", {"text": "one"}, server="fixture")),
        call(Mcp("keep_note", {"text": "two"}, server="fixture"), tokens=FULL),
        say("done"),
    ]

    run = codex.exec("SCRIPT:work", *FLAGS)

    assert run.code == 0
    assert model.problems == []
    assert [request.kind for request in run.requests] == ["turn", "turn", "compaction", "turn"]
    first, second, last = run.turns
    for request in (first, second):
        assert [text.role for text in request.containing("CONTEXT-AT-STARTUP")] == ["developer"]
        assert [text.role for text in request.containing("CONTEXT-OF-THE-PROMPT")] == ["developer"]
    assert [text.role for text in last.containing("CONTEXT-AFTER-COMPACTION")] == ["developer"]
    assert last.containing("CONTEXT-AT-STARTUP") == last.containing("CONTEXT-OF-THE-PROMPT") == []
    assert len(last.containing(SUMMARY)) == 1
    assert fixtures.events == [
        "SessionStart/startup",
        "UserPromptSubmit",
        "PreToolUse",
        "PreToolUse",
        "PreCompact/auto",
        "PostCompact/auto",
        "SessionStart/compact",
    ]


def test_a_policy_decides_by_what_each_request_shows(codex: CodexHome, model: ScriptedModel) -> None:
    model.scripts["look"] = lambda request: (
        say("seen") if "it is here" in request.text else call(Shell("echo it is $X"))
    )
    codex.environ["X"] = "here"

    run = codex.exec("SCRIPT:look", *FLAGS)

    assert [step.say for step in model.steps] == [None, "seen"]
    assert len(run.requests) == len(model.steps)


def test_a_server_is_there_from_the_first_request_on_and_knows_who_calls(
    codex: CodexHome, model: ScriptedModel
) -> None:
    fixtures = Fixtures(codex, {})
    model.scripts["work"] = [call(Mcp("keep_note", {"text": "one"}, server="fixture")), say("done")]

    run = codex.exec("SCRIPT:work", *FLAGS)

    assert INSTRUCTIONS in run.turns[0].text
    assert "KEPT one" in run.outputs[0]
    (made,) = fixtures.calls
    assert made["_meta"]["sessionId"] == made["_meta"]["threadId"] == run.thread
    (before,) = [p for p in fixtures.payloads if p["hook_event_name"] == "PreToolUse"]
    assert before["tool_use_id"] == made["_meta"]["callId"]
    assert before["session_id"] == run.thread


def test_an_unattended_run_refuses_a_tool_that_calls_itself_destructive(codex: CodexHome, model: ScriptedModel) -> None:
    fixtures = Fixtures(codex, {})
    model.scripts["work"] = [call(Mcp("burn_note", {"text": "one"}, server="fixture")), say("done")]

    run = codex.exec("SCRIPT:work", *FLAGS)

    assert run.code == 0
    assert fixtures.calls == []
    assert "KEPT" not in run.outputs[0]


def test_a_resumed_thread_keeps_what_it_was_told_and_is_told_more(codex: CodexHome, model: ScriptedModel) -> None:
    fixtures = Fixtures(codex, ANSWERS)
    model.scripts["work"] = [say("done")]
    begun = codex.exec("SCRIPT:work", *FLAGS)

    run = codex.resume(begun.thread, "SCRIPT:work", *FLAGS)

    assert run.thread == begun.thread
    (request,) = run.turns
    assert len(request.containing("CONTEXT-AT-STARTUP")) == 1
    assert len(request.containing("CONTEXT-AT-RESUME")) == 1
    assert fixtures.events == [
        "SessionStart/startup",
        "UserPromptSubmit",
        "SessionStart/resume",
        "UserPromptSubmit",
    ]
    assert next(line["type"] for line in codex.rollout(run.thread)) == "session_meta"


def test_a_child_is_told_what_its_start_hook_says_and_loses_it_when_it_is_compacted(
    codex: CodexHome, model: ScriptedModel
) -> None:
    fixtures = Fixtures(codex, ANSWERS)
    model.scripts["child"] = [call(Shell("true"), tokens=FULL), say("child done")]
    model.scripts["work"] = [
        call(Spawn("kid", "SCRIPT:child")),
        lambda seen: call(Wait(seen.agents)),
        say("done"),
    ]

    run = codex.exec("SCRIPT:work", *FLAGS)

    assert model.problems == []
    first, last = [request for request in run.turns if request.script == "child"]
    assert first.thread == last.thread != run.thread
    assert len(first.containing("CONTEXT-OF-THE-CHILD")) == 1
    assert last.containing("CONTEXT-OF-THE-CHILD") == []
    after = [p for p in fixtures.payloads if p["hook_event_name"] == "PostCompact"]
    assert [p["agent_id"] for p in after] == [first.thread]
    assert [p["session_id"] for p in after] == [run.thread]


def test_a_client_can_trust_hooks_compact_and_clear(codex: CodexHome, model: ScriptedModel) -> None:
    fixtures = Fixtures(codex, ANSWERS)
    model.scripts["work"] = [say("done")]
    with codex.app_server() as app:
        untrusted = app.hooks()
        assert {hook["trustStatus"] for hook in untrusted} == {"untrusted"}
        app.trust(untrusted)
        assert {hook["trustStatus"] for hook in app.hooks()} == {"trusted"}
        thread = app.start_thread()
        app.turn(thread, "SCRIPT:work")
        app.compact(thread)
        app.turn(thread, "SCRIPT:work")
        app.turn(app.start_thread(clear=True), "SCRIPT:work")

    before, after, cleared = model.turns
    assert len(before.containing("CONTEXT-AT-STARTUP")) == 1
    assert len(after.containing("CONTEXT-AFTER-COMPACTION")) == 1
    assert after.containing("CONTEXT-AT-STARTUP") == []
    assert len(cleared.containing("CONTEXT-AFTER-CLEAR")) == 1
    assert cleared.thread != thread
    assert "PostCompact/manual" in fixtures.events


def test_an_untrusted_hook_is_passed_over_without_a_word(codex: CodexHome, model: ScriptedModel) -> None:
    fixtures = Fixtures(codex, ANSWERS)
    model.scripts["work"] = [say("done")]

    run = codex.exec("SCRIPT:work", *UNATTENDED)

    assert run.code == 0
    assert fixtures.payloads == []
    assert "hook" not in run.errors.lower()


def test_a_hook_whose_file_is_missing_swallows_the_prompt_unless_its_command_forgives(
    codex: CodexHome, model: ScriptedModel
) -> None:
    """Python ends with 2 when it cannot open its file, and 2 is how a hook blocks a prompt."""
    command = f"{sys.executable} -I -S {codex.root}/no-such-hook.py"
    model.scripts["work"] = [say("done")]
    asked = []
    for tried in (command, f"{command} || true"):
        codex.write_hooks({"UserPromptSubmit": [{"hooks": [{"type": "command", "command": tried}]}]})
        run = codex.exec("SCRIPT:work", *FLAGS)
        asked.append((run.code, len(run.requests)))

    assert asked == [(0, 0), (0, 1)]


def test_two_compactions_before_a_turn_ask_the_hook_twice_at_that_turn(codex: CodexHome, model: ScriptedModel) -> None:
    """So a hook that answers each time is heard twice; only PostCompact tells the two apart."""
    fixtures = Fixtures(codex, ANSWERS)
    model.scripts["work"] = [say("done")]
    with codex.app_server() as app:
        app.trust(app.hooks())
        thread = app.start_thread()
        app.turn(thread, "SCRIPT:work")
        app.compact(thread)
        app.compact(thread)
        app.turn(thread, "SCRIPT:work")

    assert fixtures.events[-7:] == [
        *("PreCompact/manual", "PostCompact/manual") * 2,
        *("SessionStart/compact",) * 2,
        "UserPromptSubmit",
    ]
    assert len(model.turns[-1].containing("CONTEXT-AFTER-COMPACTION")) == 2


def test_a_resumed_thread_that_is_compacted_at_once_asks_the_hook_for_both(
    codex: CodexHome, model: ScriptedModel
) -> None:
    fixtures = Fixtures(codex, ANSWERS)
    model.scripts["work"] = [say("done", tokens=FULL)]
    begun = codex.exec("SCRIPT:work", *FLAGS)

    run = codex.resume(begun.thread, "SCRIPT:work", *FLAGS)

    assert [request.kind for request in run.requests] == ["compaction", "turn"]
    assert fixtures.events[-5:] == [
        "PreCompact/auto",
        "PostCompact/auto",
        "SessionStart/resume",
        "SessionStart/compact",
        "UserPromptSubmit",
    ]


def test_the_saved_payloads_have_the_fields_that_codex_sends(codex: CodexHome, profile: Profile) -> None:
    fixtures = Fixtures(codex, {})
    play(codex, fixtures)

    sent = {name_of(payload): set(payload) for payload in fixtures.payloads}

    assert sent == {name: set(payload) for name, payload in saved_payloads(profile.name).items()}


def test_two_runs_that_differ_in_ids_and_times_only_have_the_same_shape(codex: CodexHome, model: ScriptedModel) -> None:
    Fixtures(codex, ANSWERS)
    model.scripts["work"] = [
        call(Mcp("keep_note", {"text": "one"}, server="fixture")),
        call(Shell("echo here"), tokens=FULL),
        say("done"),
    ]

    one, two = (codex.exec("SCRIPT:work", *FLAGS) for _ in range(2))

    assert [request.shape() for request in one.requests] == [request.shape() for request in two.requests]
    assert len({request.shape() for request in one.requests}) == len(one.requests)
    assert "here" in one.requests[2].outputs[-1]


def test_what_is_read_only_cannot_be_written_even_by_root(codex: CodexHome) -> None:
    target = f"{codex.root}/kept"
    with open(target, "w", encoding="utf-8") as file:
        file.write("kept")
    codex.read_only = [target]

    tried = codex.command("sh", "-c", 'echo changed > "$1"', "sh", target)

    assert tried.returncode != 0
    with open(target, encoding="utf-8") as file:
        assert file.read() == "kept"


def test_nothing_outside_loopback_can_be_reached(codex: CodexHome) -> None:
    tried = codex.command("cat", "/proc/net/route")

    assert tried.returncode == 0
    assert len(tried.stdout.splitlines()) <= 1
