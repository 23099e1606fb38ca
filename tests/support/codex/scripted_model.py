"""A model that answers by script: the Responses API, as Codex asks for it, on a socket that it is given.

A script is a list of steps under a name; the last `SCRIPT:name` in the conversation chooses it, once per turn.
The answer to the n-th request of a turn is the script's n-th step. In place of a list a policy may stand: it is
given each request and returns the step. A request for a summary gets a fixed one, whatever the script. Every
request is kept as a `Request`, and the step that answered it.
"""

from __future__ import annotations

import contextlib
import http.server
import itertools
import json
import re
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

from support.codex.request import Request
from support.codex.steps import Item, Scripted, Seen, Step, say

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping

    from support.codex.profiles import Profile

SUMMARY = "SUMMARY-BY-SCRIPT: the work so far."
_MARKER = re.compile(r"SCRIPT:([A-Za-z0-9_]+)")
_TURNS_OF_THE_MODEL = ("function_call", "custom_tool_call")

Policy = Callable[[Request], Step]


class ScriptedModel:
    """A model on a listening socket. Use it as a context manager.

    Args:
        listener: A listening TCP socket; the model closes it at the end.
        profile: How calls look on the wire.
    """

    def __init__(self, listener: socket.socket, profile: Profile) -> None:
        self.profile = profile
        self.scripts: dict[str, Sequence[Scripted] | Policy] = {}
        self.requests: list[Request] = []
        self.steps: list[Step] = []
        self.problems: list[str] = []
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._progress: dict[tuple[str, str], tuple[str | None, int]] = {}
        self._server = _Server(listener, self)
        self.port: int = listener.getsockname()[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def turns(self) -> list[Request]:
        """The requests that are no compaction, oldest first."""
        return [request for request in self.requests if request.kind == "turn"]

    def answer(self, body: dict[str, Any]) -> bytes:
        """Return the event stream that answers a request body, and keep the request."""
        with self._lock:
            about = _metadata(body)
            kind: Literal["turn", "compaction"] = "turn" if _is_turn(about, body) else "compaction"
            name, number = self._place(kind, about, body)
            request = Request(kind, str(about.get("thread_id")), str(about.get("turn_id")), name, number, body)
            step = self._step(request)
            self.requests.append(request)
            self.steps.append(step)
            return self._stream(step)

    def _place(self, kind: str, about: Mapping[str, Any], body: dict[str, Any]) -> tuple[str | None, int]:
        if kind == "compaction":
            return None, 0
        key = (str(about.get("thread_id")), str(about.get("turn_id")))
        name, number = self._progress.get(key) or (_script_named(body["input"]), 0)
        self._progress[key] = (name, number + 1)
        return name, number

    def _step(self, request: Request) -> Step:
        if request.kind == "compaction":
            return say(SUMMARY, tokens=100)
        script = self.scripts.get(request.script or "", ())
        if callable(script):
            return script(request)
        if request.step >= len(script):
            self.problems.append(f"no step {request.step} of a script named {request.script}")
            return say("(the script has no such step)")
        scripted = script[request.step]
        return scripted if isinstance(scripted, Step) else scripted(Seen(tuple(request.outputs)))

    def _stream(self, step: Step) -> bytes:
        items: list[Item] = [call.item(self.profile, self._id("call")) for call in step.calls]
        if step.say is not None:
            items.append(_message(self._id("msg"), step.say))
        response = self._id("resp")
        usage = {
            "input_tokens": step.tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 10,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": step.tokens + 10,
        }
        events: list[Item] = [{"type": "response.created", "response": {"id": response}}]
        events += [
            {"type": "response.output_item.done", "output_index": index, "item": item}
            for index, item in enumerate(items)
        ]
        events.append({"type": "response.completed", "response": {"id": response, "usage": usage}})
        return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()

    def _id(self, prefix: str) -> str:
        return f"{prefix}_{next(self._numbers)}"


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = False
    block_on_close = True

    def __init__(self, listener: socket.socket, model: ScriptedModel) -> None:
        super().__init__(listener.getsockname(), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.model = model

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a Codex that was killed resets its connection."""


class _Handler(http.server.BaseHTTPRequestHandler):
    # One connection per request: no idle thread is left when the test ends.
    protocol_version = "HTTP/1.0"
    server: _Server

    def do_GET(self) -> None:
        self._reply(404, b"{}", "application/json")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        if self.path.rstrip("/").endswith("/responses"):
            self._reply(200, self.server.model.answer(body), "text/event-stream")
        else:
            self._reply(404, b"{}", "application/json")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        """Log nothing: the requests are the log."""

    def _reply(self, status: int, data: bytes, kind: str) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)


def _metadata(body: dict[str, Any]) -> dict[str, Any]:
    client = body.get("client_metadata") or {}
    turn: dict[str, Any] = json.loads(client.get("x-codex-turn-metadata") or "{}")
    return turn | {name: client[name] for name in ("thread_id", "turn_id") if name in client}


def _is_turn(about: Mapping[str, Any], body: dict[str, Any]) -> bool:
    last = json.dumps(body["input"][-1]) if body.get("input") else ""
    return about.get("request_kind", "turn") == "turn" and "CONTEXT CHECKPOINT COMPACTION" not in last


def _script_named(items: list[dict[str, Any]]) -> str | None:
    """Return the last script name that was said to the model, not by it."""
    said = [json.dumps(item) for item in items if item.get("type") not in _TURNS_OF_THE_MODEL]
    names = _MARKER.findall("\n".join(said))
    return names[-1] if names else None


def _message(identity: str, text: str) -> Item:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {
        "type": "message",
        "id": identity,
        "role": "assistant",
        "status": "completed",
        "content": content,
    }
