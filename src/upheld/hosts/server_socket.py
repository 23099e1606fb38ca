"""The other end of the hook's socket: held by one running MCP server for each ledger.

Whoever holds the lock binds; when it goes, the next server takes over. Only hook events come in, only from
processes of the same user, and an event proves nothing by itself: a confined command can reach the socket too,
so all it gets is what the hook would have printed.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import threading
import time
from typing import TYPE_CHECKING

from upheld.hosts import answer as answering
from upheld.hosts.diagnostics import log_diagnostic
from upheld.hosts.relay import PASSED_ON
from upheld.hosts.socket_path import MAX_PAYLOAD, PROTOCOL, find_socket_path
from upheld.storage.database import ensure_private_directory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from upheld.storage.places import Places

_SECONDS = 2.0
RETRY_SECONDS = 5.0
_MAX_HEAD = 300
_MAX_ENVIRONMENT = 256 * 1024
_MAX_AT_ONCE = 16


class HookSocket:
    """Answers hook events in threads of this process until it ends.

    Args:
        places: Of the ledger that is served.
        version: Ours; an event from another version is not answered.
        environ: Of this process; of what a hook passes on, only the hook's own values count.
        retry_seconds: How often a server looks whether the one that holds the lock is gone.
    """

    def __init__(
        self, places: Places, version: str, environ: Mapping[str, str], *, retry_seconds: float = RETRY_SECONDS
    ) -> None:
        self._places = places
        self._version = version.encode()
        self._environ = {name: value for name, value in environ.items() if os.fsencode(name) not in PASSED_ON}
        self._retry_seconds = retry_seconds
        self._path = find_socket_path(places.state)
        self._slots = threading.BoundedSemaphore(_MAX_AT_ONCE)
        self._noting = threading.Lock()

    def start(self) -> None:
        """Begin in the background; a server that can't bind serves its tools all the same."""
        threading.Thread(target=self._serve, name="hook-socket", daemon=True).start()

    def _serve(self) -> None:
        try:
            ensure_private_directory(os.path.dirname(self._path), "The directory of the hook's socket")
            lock = os.open(self._path + ".lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except Exception:  # noqa: BLE001 - a read-only home, say: the hook does the work itself then
            log_diagnostic(self._places.state, "socket_not_bound", 0)
            return
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                time.sleep(self._retry_seconds)  # another server answers; take over when it goes
        try:
            listener = self._bind()
        except OSError:
            log_diagnostic(self._places.state, "socket_not_bound", 0)
            return
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            self._slots.acquire()
            threading.Thread(target=self._answer_and_close, args=(connection,), daemon=True).start()

    def _bind(self) -> socket.socket:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        if os.path.lexists(self._path):
            os.unlink(self._path)  # a dead server's; we hold the lock
        listener.bind(self._path)
        os.chmod(self._path, 0o600)
        listener.listen(_MAX_AT_ONCE)
        return listener

    def _answer_and_close(self, connection: socket.socket) -> None:
        started = time.monotonic()
        code = ""
        try:
            with connection:
                connection.settimeout(_SECONDS)
                code = self._answer(connection)
        except Exception as error:  # noqa: BLE001 - one event that fails must not end the server
            code = f"bug_{type(error).__name__}"
        finally:
            self._slots.release()
        if code:
            log_diagnostic(self._places.state, code, int((time.monotonic() - started) * 1000))

    def _answer(self, connection: socket.socket) -> str:
        """Answer one event; return "" or the code of a failure."""
        if not _is_ours(connection):
            return "socket_of_another_user"
        request = _read_request(connection, self._version)
        if request is None:
            return "socket_request_refused"
        host, environment, payload = request
        environ = self._environ | environment
        with self._noting:
            pass  # the host sends its next event once the last one's output is out: what that noted must be there
        answered = answering.answer(host, payload, places=self._places, environ=environ)
        if answered.failed:
            # The hook tries by itself: it may reach what this process can't.
            return answered.reason
        head = b"%b OK %d\n" % (PROTOCOL, len(answered.output))
        with self._noting:
            connection.sendall(head + answered.output)
            connection.shutdown(socket.SHUT_WR)
            return answered.finish(self._places, answering.now())


def _is_ours(connection: socket.socket) -> bool:
    if not hasattr(socket, "SO_PEERCRED"):
        return True  # the socket lies in a directory that only this user may enter
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    _, uid, _ = struct.unpack("3i", raw)
    return bool(uid == os.geteuid())


def _read_request(connection: socket.socket, version: bytes) -> tuple[str, dict[str, str], bytes] | None:
    """Return host, passed environment and payload; None for another version or anything malformed."""
    data = b""
    while b"\n" not in data[:_MAX_HEAD]:
        part = connection.recv(65536)
        if not part or len(data) > _MAX_HEAD:
            return None
        data += part
    head, _, rest = data.partition(b"\n")
    fields = head.split(b" ")
    if len(fields) != 5 or fields[0] != PROTOCOL or fields[1] != version:
        return None
    if not (fields[3].isdigit() and fields[4].isdigit()):
        return None
    of_environment, of_payload = int(fields[3]), int(fields[4])
    if of_environment > _MAX_ENVIRONMENT or of_payload > MAX_PAYLOAD:
        return None
    parts = [rest]
    size = len(rest)
    while size < of_environment + of_payload:
        part = connection.recv(65536)
        if not part:
            return None
        parts.append(part)
        size += len(part)
    body = b"".join(parts)
    pairs = (entry.partition(b"=") for entry in body[:of_environment].split(b"\0") if entry)
    # Anything else could make this process, which no sandbox confines, run somebody's program.
    environment = {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs if name in PASSED_ON}
    return fields[2].decode("utf-8", "replace"), environment, body[of_environment : of_environment + of_payload]
