"""The hash by which Codex 0.171 remembers trust, and how our entries are told from others'."""

from __future__ import annotations

from typing import Any

import pytest

from upheld.hosts.codex import wiring
from upheld.storage.places import Places

PLACES = Places("/own 数/data", "/own 数/state", "/own 数/cache")

# Each as `hooks/list` of the real program gave it.
OBSERVED: list[tuple[str, str | None, dict[str, Any], str]] = [
    (
        "SessionStart",
        None,
        {"command": "ours", "timeout": 5},
        "c42c2090592614519c66c6f42bebdc19a18ec2dcadbb76f76176305d0e62f9a1",
    ),
    (
        "SessionStart",
        "startup",
        {"command": "other-a 中 / \"x\" 'é'"},
        "aea5cb71619b2522c7cd2fac307ceaf14db24acb81f98b99cfd99a5dc95b3eab",
    ),
    (
        "SessionEnd",
        None,
        {"command": "e", "timeout": 30},
        "1c961b1feb2ddfd034b56b57216af374518582fbf5dc0173dcebc20889d389f5",
    ),
    (
        "Stop",
        None,
        {"command": "q", "statusMessage": "hé", "async": True},
        "217fa2c57a15a65c2b5e0c5cc03aff1b9142e36dae3eb6cb9c99bc205ab7413c",
    ),
    (
        "PostToolUse",
        "",
        {"command": "m", "timeout": 0},
        "27adeead15b9abad9c802e6632a4b7177a87f9b4150b943d4468da5697bbb9d3",
    ),
    (
        "PreToolUse",
        "*",
        {"command": "m", "statusMessage": "", "timeout": 1},
        "1c77d02225976b9e77b1d030429af6a0ca35394caa70854629ecaf2d33f9f5c3",
    ),
    (
        "SubagentStart",
        None,
        {
            "command": "/usr/bin/python3 -I -S '/home/u/inst 中 家/own 数/data/hook.py' codex || true",
            "timeout": 5,
        },
        "3af42577841a81c168b487826202e88344020a2cc56fd9f37d4471275bbd775a",
    ),
]


@pytest.mark.parametrize(("event", "matcher", "values", "digest"), OBSERVED)
def test_the_hash_is_the_one_that_codex_shows(
    event: str, matcher: str | None, values: dict[str, Any], digest: str
) -> None:
    handler = wiring.Handler(event, 0, 0, matcher, {"type": "command", **values})

    assert wiring.trust_hash(handler) == f"sha256:{digest}"


def test_the_key_is_the_place_in_the_file() -> None:
    handler = wiring.Handler("UserPromptSubmit", 2, 1, None, {})

    assert wiring.trust_key("/h/hooks.json", handler) == "/h/hooks.json:user_prompt_submit:2:1"


def test_our_hook_is_known_whichever_python_starts_it() -> None:
    command = wiring.hook_command("/a b/python", PLACES)

    assert wiring.is_our_handler({"command": command}, PLACES)
    assert wiring.is_our_handler({"command": "py -I -S '/own 数/data/hook.py' codex"}, PLACES)


@pytest.mark.parametrize(
    "values",
    [
        None,
        {},
        {"command": 3},
        {"command": "'unclosed"},
        {"command": "python -I -S /other/hook.py codex"},
        {"command": "cat '/own 数/data/hook.py'"},
        {"command": "python '/own 数/data/hook.py' other"},
        {"command": "theirs # '/own 数/data/hook.py' codex"},
    ],
)
def test_what_is_not_ours_is_never_taken_for_ours(values: object) -> None:
    assert not wiring.is_our_handler(values, PLACES)


def test_a_copy_for_another_data_directory_is_told_apart() -> None:
    assert wiring.is_foreign_copy({"command": "python -I -S /other/hook.py codex || true"}, PLACES)
    assert not wiring.is_foreign_copy({"command": wiring.hook_command("py", PLACES)}, PLACES)
    assert not wiring.is_foreign_copy({"command": "python their/hook.py"}, PLACES)


@pytest.mark.parametrize(
    "document", [None, [], {"hooks": []}, {"hooks": {"Stop": {}}}, {"hooks": {"Stop": [1, {"hooks": [2]}]}}]
)
def test_a_file_of_another_form_has_no_handlers(document: object) -> None:
    assert list(wiring.iter_handlers(document)) == []
