"""A hook that keeps what it was given and answers as told; run by Codex as a file, with nothing but Python.

Usage: `python -I -S fixture_hook.py DIRECTORY`. Each payload is appended to `payloads.jsonl`.
`answers.json` maps an event, or an event and its source (`SessionStart/compact`), to the context that
is added.
"""

from __future__ import annotations

import fcntl
import json
import sys


def main(directory: str) -> None:
    """Keep the payload on stdin, and print the answer that is configured for it."""
    raw = sys.stdin.read()
    payload = json.loads(raw)
    with open(f"{directory}/payloads.jsonl", "a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(raw.strip() + "\n")
    with open(f"{directory}/answers.json", encoding="utf-8") as file:
        answers = json.load(file)
    event = payload["hook_event_name"]
    text = answers.get(f"{event}/{payload.get('source')}", answers.get(event))
    if text is not None:
        added = {"hookEventName": event, "additionalContext": text}
        sys.stdout.write(json.dumps({"hookSpecificOutput": added}))


if __name__ == "__main__":
    main(sys.argv[1])
