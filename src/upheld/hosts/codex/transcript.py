"""The end of a Codex rollout: the last thing a person asked for, which a compaction has just taken away."""

from __future__ import annotations

import os

from upheld.text import jsontext

_TAIL = 1024 * 1024
"""Bytes from the end of the log that are looked at; a prompt before that counts as none."""

_MARK = b'"UserMessage"'


def find_last_prompt(path: str) -> str:
    """Return the text of the last user message in a rollout, "" if it can't be told."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return ""
    try:
        size = os.fstat(file).st_size
        tail = os.pread(file, _TAIL, max(0, size - _TAIL))
    except OSError:
        return ""
    finally:
        os.close(file)
    for line in reversed(tail.split(b"\n")):
        if _MARK in line:
            text = _text_of(line)
            if text:
                return text
    return ""


def _text_of(line: bytes) -> str:
    try:
        payload = jsontext.loads(line.decode("utf-8"))["payload"]
        item = payload["item"]
        if payload["type"] != "item_completed" or item["type"] != "UserMessage":
            return ""
        return "\n".join(part["text"] for part in item["content"] if part["type"] == "text")
    except (ValueError, KeyError, TypeError, AttributeError):
        return ""
