import json
import os
from pathlib import Path

import pytest

from upheld.hosts.codex.transcript import find_last_prompt

ROLLOUTS = Path(__file__).parents[2] / "fixtures/codex/rollouts"


def a_line(text: str = "hello", *, kind: str = "item_completed", item: str = "UserMessage") -> bytes:
    content = [{"type": "image", "url": "x"}, {"type": "text", "text": text}]
    return json.dumps({"payload": {"type": kind, "item": {"type": item, "content": content}}}).encode()


@pytest.mark.parametrize("path", sorted(ROLLOUTS.glob("*.jsonl")), ids=lambda path: path.stem)
def test_the_last_prompt_of_a_real_rollout_is_found(path: Path) -> None:
    assert find_last_prompt(str(path)) == "Go on with the second thing. SCRIPT:talk"


def test_the_prompt_before_a_compaction_is_found(tmp_path: Path) -> None:
    rollout = tmp_path / "rollout.jsonl"
    whole = (ROLLOUTS / "code-compacted-and-resumed.jsonl").read_bytes().split(b"\n")
    first = next(place for place, line in enumerate(whole) if b"Look into the first thing" in line)
    second = next(place for place, line in enumerate(whole) if b"Go on with the second thing" in line)
    assert first < second
    rollout.write_bytes(b"\n".join(whole[:second]))
    assert find_last_prompt(str(rollout)) == "Look into the first thing. SCRIPT:work"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([], ""),
        ([a_line("first"), a_line("second")], "second"),
        ([a_line("first"), a_line("")], "first"),
        ([a_line("first"), a_line("torn")[:-9]], "first"),
        ([a_line("first"), b'"UserMessage" and no JSON'], "first"),
        ([a_line("first"), b'{"UserMessage": 1}'], "first"),
        ([a_line("first"), b'["UserMessage"]'], "first"),
        ([a_line("first"), b'"UserMessage" \xff'], "first"),
        ([a_line("first"), a_line("UserMessage", item="AgentMessage")], "first"),
        ([a_line("first"), a_line("later", kind="item_started")], "first"),
        ([a_line("中文 😀")], "中文 😀"),
    ],
)
def test_lines_that_are_no_prompt_are_passed_over(lines: list[bytes], expected: str, tmp_path: Path) -> None:
    rollout = tmp_path / "rollout.jsonl"
    rollout.write_bytes(b"\n".join(lines))
    assert find_last_prompt(str(rollout)) == expected


def test_only_the_end_of_a_large_log_is_read(tmp_path: Path) -> None:
    rollout = tmp_path / "rollout.jsonl"
    rollout.write_bytes(a_line("long ago") + b"\n" + b"x" * (2 << 20))
    assert find_last_prompt(str(rollout)) == ""


def test_a_log_that_can_not_be_read_holds_no_prompt(tmp_path: Path) -> None:
    assert find_last_prompt(str(tmp_path / "missing")) == ""
    assert find_last_prompt(str(tmp_path)) == ""
    os.mkfifo(tmp_path / "pipe")
    assert find_last_prompt(str(tmp_path / "pipe")) == ""
