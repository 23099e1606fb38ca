"""HTTP on one side, our stdio server on the other: the conformance suite speaks only HTTP.

It listens where it is told, such as in a network of its own, and carries bytes. One server process a
session; a POST body is one line in, and a body with an `id` waits for one line out. It understands no
method of the protocol.
"""

from __future__ import annotations

import json
import subprocess
import threading
import uuid
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator, Sequence

_SESSION = "Mcp-Session-Id"


class Session:
    """One server process and its two pipes."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._lock = threading.Lock()

    def carry(self, body: bytes, *, wait: bool) -> bytes:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._lock:
            self._process.stdin.write(body.replace(b"\n", b" ") + b"\n")
            self._process.stdin.flush()
            return self._process.stdout.readline() if wait else b""

    def close(self) -> int:
        self._process.communicate()
        return self._process.returncode


class Bridge(ThreadingHTTPServer):
    """Serves `command` on a listening socket."""

    daemon_threads = True

    def __init__(self, command: Sequence[str], listener: socket.socket) -> None:
        super().__init__(listener.getsockname(), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.command = command
        self.sessions: dict[str, Session] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.socket.getsockname()[1]}/mcp"

    def handle_error(self, _request: object, _address: object) -> None:
        """Say nothing: the suite drops connections when a scenario is over."""


class _Handler(BaseHTTPRequestHandler):
    server: Bridge
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        key = self.headers.get(_SESSION)
        if key is None:
            key = uuid.uuid4().hex
            self.server.sessions[key] = Session(self.server.command)
        wait = "id" in json.loads(body)
        line = self.server.sessions[key].carry(body, wait=wait)
        self._answer(200 if wait else 202, line, key)

    def do_GET(self) -> None:
        self._answer(405, b"", None)

    def do_DELETE(self) -> None:
        self._answer(405, b"", None)

    def _answer(self, status: int, body: bytes, key: str | None) -> None:
        self.send_response(status)
        if key is not None:
            self.send_header(_SESSION, key)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: object) -> None:
        """Say nothing: the suite's own report is what counts."""


@contextmanager
def bridged(command: Sequence[str], listener: socket.socket) -> Iterator[Bridge]:
    """Serve a command over HTTP; at the end every process must have ended by itself, in peace."""
    with Bridge(command, listener) as bridge:
        thread = threading.Thread(target=bridge.serve_forever)
        thread.start()
        try:
            yield bridge
        finally:
            bridge.shutdown()
            thread.join()
            codes = [session.close() for session in bridge.sessions.values()]
    assert set(codes) <= {0}, codes
