"""A client of `codex app-server`: JSON-RPC lines over its stdin and stdout.

What an editor does and `codex exec` cannot: compact on request, clear, list the hooks and trust them.
"""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_PATIENCE = 40.0
_UNATTENDED = {"approvalPolicy": "never", "sandbox": "workspace-write"}
_CLIENT = {
    "clientInfo": {"name": "tests", "title": "tests", "version": "0"},
    "capabilities": {"experimentalApi": True},
}

Message = dict[str, Any]


class AppServer:
    """A running app-server. Use it as a context manager.

    Args:
        command: How to start it.
        environ: Its environment.
        cwd: Its working directory; threads start there.
    """

    def __init__(self, command: Sequence[str], environ: Mapping[str, str], cwd: str) -> None:
        self.cwd = cwd
        self._process = subprocess.Popen(
            command,
            env=dict(environ),
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._messages: queue.Queue[Message | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._last_id = 0

    def __enter__(self) -> Self:
        self._reader.start()
        self.call("initialize", _CLIENT)
        self._send({"method": "initialized"})
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join()
        self._process.stdout.close()

    def call(self, method: str, parameters: Mapping[str, Any]) -> Message:
        """Call a method and return its result."""
        self._last_id += 1
        wanted = self._last_id
        self._send({"id": wanted, "method": method, "params": parameters})
        answer = self._wait(lambda message: message.get("id") == wanted and "method" not in message, method)
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']}")
        result: Message = answer["result"]
        return result

    def start_thread(self, *, clear: bool = False) -> str:
        """Start a thread and return its id; `clear` says that it replaces one, as `/clear` does."""
        source = {"sessionStartSource": "clear"} if clear else {}
        started = self.call("thread/start", {**_UNATTENDED, "cwd": self.cwd, **source})
        return str(started["thread"]["id"])

    def resume_thread(self, thread: str) -> None:
        """Load a thread of an earlier process."""
        self.call("thread/resume", {**_UNATTENDED, "threadId": thread})

    def fork_thread(self, thread: str) -> str:
        """Start a thread that goes on from where another one is, and return its id."""
        return str(self.call("thread/fork", {**_UNATTENDED, "threadId": thread})["thread"]["id"])

    def turn(self, thread: str, prompt: str) -> None:
        """Send a prompt and wait until the turn is over."""
        self.call("turn/start", {"threadId": thread, "input": [{"type": "text", "text": prompt}]})
        self._wait_for_turn(thread)

    def compact(self, thread: str) -> None:
        """Compact, as `/compact` does, and wait until it is done."""
        self.call("thread/compact/start", {"threadId": thread})
        self._wait_for_turn(thread)

    def hooks(self) -> list[Message]:
        """Return the hooks that Codex has loaded, each with its `trustStatus`."""
        listed = self.call("hooks/list", {"cwds": [self.cwd]})
        hooks: list[Message] = listed["data"][0]["hooks"]
        return hooks

    def trust(self, hooks: Sequence[Message]) -> None:
        """Trust hooks, as the user does by choosing Trust in the review screen."""
        trusted = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in hooks}
        edit = {"keyPath": "hooks.state", "value": trusted, "mergeStrategy": "upsert"}
        self.call("config/batchWrite", {"edits": [edit], "reloadUserConfig": True})

    def _wait_for_turn(self, thread: str) -> None:
        self._wait(
            lambda message: message.get("method") == "turn/completed" and message["params"].get("threadId") == thread,
            "a turn",
        )

    def _wait(self, wanted: Callable[[Message], bool], what: str) -> Message:
        """Read on until a message is the wanted one; those before it concern nobody."""
        while True:
            message = self._messages.get(timeout=_PATIENCE)
            if message is None:
                raise AssertionError(f"the app-server ended while {what} was awaited")
            if wanted(message):
                return message

    def _send(self, message: Message) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._messages.put(json.loads(line))
        self._messages.put(None)
