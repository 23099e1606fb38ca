"""What the hook file runs: pass the event to a running server, else do the work here. Always exits 0.

Passing on costs little more than the interpreter's own start, so this module imports only C modules until
it knows that it must act itself. The output is one write, or none. A watchdog thread ends the process at the
deadline, whatever git or a lock does; signals would be the host's to handle.
"""

from __future__ import annotations

import _socket
import _thread
import posix
import sys
import time

from upheld.hosts.socket_path import MAX_PAYLOAD, PROTOCOL, find_socket_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

DEADLINE_SECONDS = 2.0
RELAY_SECONDS = 0.8
"""How long a server may take, from connecting to its last byte, before the hook does the work itself."""

PASSED_ON = (b"UPHELD_FACTS",)
"""What of the environment goes along. A confined command can reach the socket too, so the server runs programs
only by its own environment."""

_CHUNK = 65536
_MAX_ANSWER = 1024 * 1024


def main(arguments: list[str], version: str) -> NoReturn:
    """Answer the event on standard input and exit 0.

    Args:
        arguments: The host's name.
        version: Ours; a server of another version is not asked.
    """
    started = time.monotonic()
    writing = _thread.allocate_lock()
    _thread.start_new_thread(_watch, (writing,))
    code = "bug"
    try:
        code = _run(arguments[0] if arguments else "", version, writing)
    except BaseException as error:  # noqa: BLE001 - nothing here may ever harm the host's run
        code = f"bug_{type(error).__name__}"
    if code:
        _diagnose(code, started)
    posix._exit(0)  # noqa: SLF001 - the interpreter's clean-up would wait for the watchdog


def _run(host: str, version: str, writing: _thread.LockType) -> str:
    """Return "" or the code of a failure."""
    payload = _read_payload()
    if payload is None:
        return "payload_too_large"
    state = _state_directory()
    output = _ask_server(find_socket_path(state), host, version, payload)
    if output is not None:
        return _write(output, writing)
    # From here on the work is ours, with everything that takes.
    from upheld.hosts import answer
    from upheld.storage.places import find_places

    environ = _environ()
    places = find_places(environ)
    answered = answer.answer(host, payload, places=places, environ=environ)
    problem = _write(answered.output, writing) or answered.finish(places, answer.now())
    return problem or (answered.reason if answered.failed else "")


def _read_payload() -> bytes | None:
    parts: list[bytes] = []
    size = 0
    while part := posix.read(0, _CHUNK):
        parts.append(part)
        size += len(part)
        if size > MAX_PAYLOAD:
            return None
    return b"".join(parts)


def _environ() -> dict[str, str]:
    return {_decode(name): _decode(value) for name, value in posix.environ.items()}


def _decode(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")


def _state_directory() -> str:
    """Return the state directory: `UPHELD_HOME` and the XDG variables decide."""
    from upheld.storage.places import find_places

    return find_places(_environ()).state


def _ask_server(path: str, host: str, version: str, payload: bytes) -> bytes | None:
    """Return the server's answer, None if there is none or it can't be trusted."""
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    end = time.monotonic() + RELAY_SECONDS
    try:
        connection.settimeout(RELAY_SECONDS)
        connection.connect(path)
        if not _is_ours(connection):
            return None
        environment = b"\0".join(name + b"=" + posix.environ[name] for name in PASSED_ON if name in posix.environ)
        head = b"%b %b %b %d %d\n" % (
            PROTOCOL,
            version.encode(),
            host.encode("utf-8", "replace").replace(b" ", b"_") or b"-",
            len(environment),
            len(payload),
        )
        connection.sendall(head + environment + payload)
        answer = b""
        while part := connection.recv(_CHUNK):
            answer += part
            left = end - time.monotonic()
            if left <= 0 or len(answer) > _MAX_ANSWER:
                return None
            connection.settimeout(left)
    except OSError:
        return None
    finally:
        connection.close()
    head, newline, output = answer.partition(b"\n")
    fields = head.split(b" ")
    if not newline or len(fields) != 3 or fields[0] != PROTOCOL or fields[1] != b"OK":
        return None
    return output if fields[2] == str(len(output)).encode() else None


def _is_ours(connection: _socket.socket) -> bool:
    """Say whether the process behind the socket runs as the same user."""
    if not hasattr(_socket, "SO_PEERCRED"):
        return posix.stat(connection.getpeername()).st_uid == posix.geteuid()
    # struct ucred: pid, uid, gid, each four bytes.
    raw = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    return int.from_bytes(raw[4:8], sys.byteorder) == posix.geteuid()


def _write(output: bytes, writing: _thread.LockType) -> str:
    """Write everything, or nothing at all if the watchdog was first. Returns "" or the code of a failure."""
    if not output:
        return ""
    writing.acquire()
    try:
        while output:
            output = output[posix.write(1, output) :]
    except OSError:
        return "output_not_taken"
    finally:
        writing.release()
    return ""


def _watch(writing: _thread.LockType) -> None:
    """End the process at the deadline, with whatever git it waits for."""
    time.sleep(DEADLINE_SECONDS)
    # An output that is on its way is let out; the host reads it or closes the pipe.
    writing.acquire(True, 0.5)
    git = sys.modules.get("upheld.context.git")
    if git is not None:
        git.kill_all()
    _diagnose("deadline", time.monotonic() - DEADLINE_SECONDS)
    posix._exit(0)  # noqa: SLF001 - a thread can't end the process otherwise


def _diagnose(code: str, started: float) -> None:
    try:
        from upheld.hosts.diagnostics import log_diagnostic

        log_diagnostic(_state_directory(), code, int((time.monotonic() - started) * 1000))
    except BaseException:  # noqa: BLE001, S110 - a log that can't be written is no reason to fail
        pass
