import json
from pathlib import Path
from typing import Any

import pytest

from upheld.hosts.codex.wire import read_event, write_context
from upheld.hosts.event import (
    CLEARED,
    COMPACTED,
    COMPACTING,
    FORKED,
    PROMPTED,
    RESUMED,
    STARTED,
    SUBAGENT_STARTED,
    MalformedEventError,
)

PAYLOADS = Path(__file__).parents[2] / "fixtures/codex/payloads"
KINDS = {
    "SessionStart-startup": STARTED,
    "SessionStart-clear": CLEARED,
    "SessionStart-fork": FORKED,
    "SessionStart-resume": RESUMED,
    "SessionStart-compact": COMPACTED,
    "UserPromptSubmit": PROMPTED,
    "SubagentStart": SUBAGENT_STARTED,
    "PostCompact": COMPACTING,
}
CAPTURED = sorted(PAYLOADS.glob("*.json"))


def a_payload(**fields: Any) -> bytes:
    given = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": "/p", "prompt": "hello"}
    return json.dumps({**given, **fields}).encode()


def test_every_kind_of_event_was_captured() -> None:
    assert all(any(f"-{name}-" in path.name for path in CAPTURED) for name in KINDS)


@pytest.mark.parametrize("path", CAPTURED, ids=lambda path: path.stem)
def test_a_captured_payload_is_read_as_what_it_is(path: Path) -> None:
    data = json.loads(path.read_text())
    event = read_event(path.read_bytes())
    expected = next((kind for name, kind in KINDS.items() if f"-{name}-" in path.name), None)
    if expected is None:
        assert event is None
        return
    assert event is not None
    assert event.kind == expected
    assert event.name == data["hook_event_name"]
    assert event.session == data["session_id"]
    assert event.cwd == data["cwd"]
    assert event.agent == data.get("agent_id", "")
    assert bool(event.agent) == path.stem.endswith("-child")
    assert event.text == data.get("prompt", "")
    assert event.transcript == (data["transcript_path"] or "")


@pytest.mark.parametrize(
    "fields",
    [
        {"hook_event_name": "SomethingNew"},
        {"hook_event_name": "SessionStart", "source": "teleport"},
        {"hook_event_name": "SessionStart"},
        {"hook_event_name": "SessionStart", "source": 3},
        {"hook_event_name": "SubagentStart"},
    ],
)
def test_what_is_unknown_but_well_formed_means_nothing_to_do(fields: dict[str, Any]) -> None:
    assert read_event(a_payload(**fields)) is None


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        (b"", "payload_is_no_json"),
        (b"\xff\xfe", "payload_is_no_json"),
        (b"{} {}", "payload_is_no_json"),
        (b"[]", "payload_is_no_object"),
        (b"null", "payload_is_no_object"),
        (b"{}", "event_name_is_missing"),
        (a_payload(hook_event_name=None), "event_name_is_missing"),
        (a_payload(session_id=""), "field_is_missing_or_no_text"),
        (a_payload(session_id=7), "field_is_missing_or_no_text"),
        (a_payload(cwd=None), "field_is_missing_or_no_text"),
        (a_payload(prompt=["a"]), "field_is_missing_or_no_text"),
        (a_payload(agent_id=7), "field_is_missing_or_no_text"),
        (a_payload(transcript_path=[]), "field_is_missing_or_no_text"),
    ],
)
def test_what_is_malformed_is_named(payload: bytes, code: str) -> None:
    with pytest.raises(MalformedEventError, match=code):
        read_event(payload)


def test_an_empty_prompt_is_a_prompt() -> None:
    event = read_event(a_payload(prompt=""))
    assert event is not None
    assert event.text == ""


@pytest.mark.parametrize("text", ["plain", "中文 😀", "lone \ud83d", "a\nb\x00"])
def test_the_output_is_one_ascii_line_that_repeats_the_events_name(text: str) -> None:
    event = read_event(a_payload())
    assert event is not None
    output = write_context(event, text)
    assert b"\n" not in output
    assert json.loads(output.decode("ascii")) == {
        "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": text}
    }
