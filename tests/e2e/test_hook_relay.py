"""The hook and a running server: what passes through the socket, and what happens when nothing useful does."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from support.hook import CONSTRAINT, Hook, make_hook, read_context
from upheld import __version__
from upheld.api import Upheld
from upheld.hosts.server_socket import HookSocket
from upheld.hosts.socket_path import PROTOCOL, find_socket_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SERVER = """
import os, sys
from upheld import __version__
from upheld.hosts.server_socket import HookSocket
from upheld.storage.places import find_places
HookSocket(find_places(os.environ), __version__, os.environ, retry_seconds=0.02).start()
sys.stdin.read()
"""
NOT_OURS = b"this came from a server that nobody should have asked"


@pytest.fixture
def hook(tmp_path: Path) -> Hook:
    hook = make_hook(tmp_path)
    hook.log()
    return hook


def wait_for(found: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not found():
        assert time.monotonic() < end, "waited in vain"


def find_holder(hook: Hook) -> int:
    """Return the process that answers on the socket, 0 if nobody does."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        try:
            connection.connect(find_socket_path(hook.places.state))
        except OSError:
            return 0
        raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        return int.from_bytes(raw[:4], sys.byteorder)


@contextmanager
def running(hook: Hook, code: str = SERVER) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process with a socket for as long as the block takes."""
    command = [sys.executable, "-I", "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=hook.environ, cwd=hook.repository) as server:
        yield server


@contextmanager
def fake_server(hook: Hook, serve: Callable[[socket.socket], None]) -> Iterator[None]:
    """Serve connections with a function of the test's, where the hook looks for its server."""
    path = find_socket_path(hook.places.state)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(path)
        listener.listen()

        def accept() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    try:
                        serve(connection)
                    except OSError:
                        continue

        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def reply(body: bytes) -> bytes:
    return b"%b OK %d\n" % (PROTOCOL, len(body)) + body


def count_injections(hook: Hook) -> int:
    if not os.path.exists(hook.places.conversations):
        return 0
    with Upheld(str(hook.repository), environ=hook.environ) as upheld:
        counts: dict[str, dict[str, int]] = upheld.status()["injections"]
    return sum(sum(count.values()) for count in counts.values())


@pytest.mark.parametrize("prompt", ["", "how many approvals do releases need?", "中文 🙂 \ud800"])
def test_both_ways_give_the_same_bytes(hook: Hook, prompt: str) -> None:
    hook.log("Only with the backend cuda 中文", scope={"match": {"backend": "cuda"}, "paths": ["code.py"]})

    def both(session: str) -> list[tuple[bytes, set[str]]]:
        return [
            hook.run_and_list(hook.payload(session=session)),
            hook.run_and_list(hook.payload("UserPromptSubmit", session=session, prompt=prompt)),
        ]

    hook.environ["UPHELD_FACTS"] = "backend=cuda"
    direct = both("s-1")
    del hook.environ["UPHELD_FACTS"]
    with hook.server() as server:
        wait_for(lambda: find_holder(hook) == server.pid)
        hook.environ["UPHELD_FACTS"] = "backend=cuda"
        relayed = both("s-2")
        server.communicate()

    assert [output for output, _ in relayed] == [output for output, _ in direct]
    assert b"backend cuda" in direct[0][0]
    assert all("upheld.hosts.answer" in modules for _, modules in direct)
    assert all("upheld.hosts.answer" not in modules for _, modules in relayed)


def test_the_facts_of_the_server_are_not_those_of_the_hook(hook: Hook) -> None:
    hook.log("Only with the backend cuda", scope={"match": {"backend": "cuda"}})
    hook.environ["UPHELD_FACTS"] = "backend=cuda"
    direct = hook.run(hook.payload(session="s-1"))
    del hook.environ["UPHELD_FACTS"]
    without = hook.run(hook.payload(session="s-2"))
    hook.environ["UPHELD_FACTS"] = "backend=cuda"
    with running(hook) as server:
        wait_for(lambda: find_holder(hook) == server.pid)
        del hook.environ["UPHELD_FACTS"]
        assert hook.run(hook.payload(session="s-3")) == without
    assert direct != without


def test_a_relayed_hook_loads_almost_nothing(hook: Hook) -> None:
    with running(hook) as server:
        wait_for(lambda: find_holder(hook) == server.pid)
        output, modules = hook.run_and_list(hook.payload())

    assert CONSTRAINT in read_context(output, "SessionStart")
    ours = {name for name in modules if name.startswith("upheld")}
    assert ours == {
        *("upheld", "upheld.hosts", "upheld.hosts.relay", "upheld.hosts.socket_path"),
        *("upheld.storage", "upheld.storage.places"),
    }
    assert not modules & {"apsw", "_json", "_blake2", "collections", "re", "typing", "json", "enum", "subprocess"}


def test_what_was_answered_over_the_socket_is_noted_once(hook: Hook) -> None:
    with running(hook) as server:
        wait_for(lambda: find_holder(hook) == server.pid)
        first = hook.run(hook.payload())
        # The server notes it once the answer is out.
        wait_for(lambda: count_injections(hook) == 1)
        second = hook.run(hook.payload(source="resume"))
        wait_for(lambda: count_injections(hook) == 2)

    assert CONSTRAINT in read_context(first, "SessionStart")
    assert second == b""


# Servers that are no use


def test_a_server_of_another_version_is_not_relied_on(hook: Hook) -> None:
    with running(hook, SERVER.replace("__version__, os", "'0.0.1', os")) as server:
        wait_for(lambda: find_holder(hook) == server.pid)
        output, modules = hook.run_and_list(hook.payload())

    assert CONSTRAINT in read_context(output, "SessionStart")
    assert "upheld.hosts.answer" in modules


def never_answer(connection: socket.socket) -> None:
    while connection.recv(65536):
        pass


def answer_byte_by_byte(connection: socket.socket) -> None:
    connection.sendall(b"%b OK 100000\n" % PROTOCOL)
    while not threading.Event().wait(0.05):
        connection.sendall(b"x")


FAKES: dict[str, Callable[[socket.socket], None]] = {
    "never answers": never_answer,
    "answers byte by byte": answer_byte_by_byte,
    "hangs up": lambda _connection: None,
    "another protocol": lambda connection: connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + NOT_OURS),
    "a later protocol": lambda connection: connection.sendall(reply(NOT_OURS).replace(PROTOCOL, b"UPHELD2")),
    "cut short": lambda connection: connection.sendall(reply(NOT_OURS)[:-1]),
    "too long": lambda connection: connection.sendall(reply(NOT_OURS) + b"x"),
    "without an end": lambda connection: connection.sendall(b"%b OK 9999999\n" % PROTOCOL + b"x" * 9_999_999),
    "no length": lambda connection: connection.sendall(b"%b OK many\n" % PROTOCOL + NOT_OURS),
    "an error": lambda connection: connection.sendall(b"%b NO 0\n" % PROTOCOL),
}


@pytest.mark.parametrize("name", FAKES)
def test_a_server_that_makes_no_sense_costs_time_and_not_the_block(hook: Hook, name: str) -> None:
    with fake_server(hook, FAKES[name]):
        begin = time.monotonic()
        output = hook.run(hook.payload())
        took = time.monotonic() - begin

    assert CONSTRAINT in read_context(output, "SessionStart")
    assert took < 2.0
    assert NOT_OURS not in output


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to be another user for a moment")
def test_a_server_of_another_user_is_not_relied_on(hook: Hook, monkeypatch: pytest.MonkeyPatch) -> None:
    listen = socket.socket.listen

    def listen_as_somebody_else(listener: socket.socket, *backlog: int) -> None:
        os.seteuid(65534)  # whose socket it is, is what the kernel notes now
        try:
            listen(listener, *backlog)
        finally:
            os.seteuid(0)

    monkeypatch.setattr(socket.socket, "listen", listen_as_somebody_else)
    with fake_server(hook, lambda connection: connection.sendall(reply(NOT_OURS))):
        output = hook.run(hook.payload())

    assert CONSTRAINT in read_context(output, "SessionStart")


def test_a_socket_that_a_killed_server_left_behind_is_passed_by_and_taken_over(hook: Hook) -> None:
    with running(hook) as server:
        wait_for(lambda: find_holder(hook) == server.pid)
        server.kill()
    assert os.path.exists(find_socket_path(hook.places.state))

    assert CONSTRAINT in read_context(hook.run(hook.payload()), "SessionStart")

    with running(hook) as server:
        wait_for(lambda: find_holder(hook) == server.pid)


# Servers and their socket


def test_the_second_server_takes_over_when_the_first_is_killed(hook: Hook) -> None:
    with running(hook) as first:
        wait_for(lambda: find_holder(hook) == first.pid)
        with running(hook) as second:
            assert find_holder(hook) == first.pid
            first.kill()
            first.wait()
            wait_for(lambda: find_holder(hook) == second.pid)
            output, modules = hook.run_and_list(hook.payload())
    assert CONSTRAINT in read_context(output, "SessionStart")
    assert "upheld.hosts.answer" not in modules


def test_the_socket_and_its_lock_are_private(hook: Hook) -> None:
    with running(hook) as server:
        wait_for(lambda: find_holder(hook) == server.pid)
        path = find_socket_path(hook.places.state)
        assert os.stat(path).st_mode & 0o777 == 0o600
        assert os.stat(path + ".lock").st_mode & 0o777 == 0o600
        assert os.stat(os.path.dirname(path)).st_mode & 0o777 == 0o700


REQUESTS = {
    "nothing": b"",
    "no line": b"x" * 5000,
    "another protocol": b"GET / HTTP/1.1\r\n\r\n",
    "no numbers": b"%b v codex many more\n" % PROTOCOL,
    "a huge payload": b"%b %b codex 0 99999999999\n" % (PROTOCOL, __version__.encode()),
    "a huge environment": b"%b %b codex 99999999999 0\n" % (PROTOCOL, __version__.encode()),
    "cut short": b"%b %b codex 0 100\n{}" % (PROTOCOL, __version__.encode()),
    "an unknown host": b"%b %b nobody 0 2\n{}" % (PROTOCOL, __version__.encode()),
    "no JSON": b"%b %b codex 0 2\n{]" % (PROTOCOL, __version__.encode()),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_that_makes_no_sense_gets_no_answer_and_harms_nobody(hook: Hook, name: str) -> None:
    HookSocket(hook.places, __version__, hook.environ).start()
    wait_for(lambda: find_holder(hook) == os.getpid())
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(find_socket_path(hook.places.state))
        connection.sendall(REQUESTS[name])
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(100) == b""

    output, modules = hook.run_and_list(hook.payload())

    assert CONSTRAINT in read_context(output, "SessionStart")
    assert "upheld.hosts.answer" not in modules


def test_a_request_cannot_make_the_server_run_somebody_elses_program(hook: Hook, tmp_path: Path) -> None:
    evil = tmp_path / "evil"
    evil.mkdir()
    (evil / "git").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    (evil / "git").chmod(0o755)
    environment = b"PATH=%b\0GIT_EXEC_PATH=%b\0LD_PRELOAD=%b/x.so" % ((os.fsencode(evil),) * 3)
    payload = hook.payload()
    HookSocket(hook.places, __version__, hook.environ).start()
    wait_for(lambda: find_holder(hook) == os.getpid())

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(find_socket_path(hook.places.state))
        head = b"%b %b codex %d %d\n" % (PROTOCOL, __version__.encode(), len(environment), len(payload))
        connection.sendall(head + environment + payload)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))

    assert CONSTRAINT.encode() in answer
    assert not (tmp_path / "ran").exists()


def test_a_long_home_gets_a_socket_of_its_own_below_tmp(tmp_path: Path) -> None:
    hook = make_hook(tmp_path / ("long" * 30))
    hook.log()
    path = find_socket_path(hook.places.state)
    assert path.startswith("/tmp/upheld-")  # noqa: S108 - where the socket is meant to be
    assert len(path) < 100
    with running(hook) as server:
        wait_for(lambda: find_holder(hook) == server.pid)
        output, modules = hook.run_and_list(hook.payload())
    for name in os.listdir(os.path.dirname(path)):
        os.unlink(os.path.join(os.path.dirname(path), name))
    os.rmdir(os.path.dirname(path))

    assert CONSTRAINT in read_context(output, "SessionStart")
    assert "upheld.hosts.answer" not in modules


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to give a directory away")
def test_a_directory_for_the_socket_that_is_somebody_elses_is_refused(tmp_path: Path) -> None:
    hook = make_hook(tmp_path / ("long" * 30))
    hook.log()
    directory = os.path.dirname(find_socket_path(hook.places.state))
    os.mkdir(directory, 0o700)
    os.chown(directory, 65534, 65534)
    try:
        with running(hook):
            wait_for(lambda: "socket_not_bound" in hook.diagnostics())
            assert os.listdir(directory) == []
            assert CONSTRAINT in read_context(hook.run(hook.payload()), "SessionStart")
    finally:
        os.rmdir(directory)
