"""What a server notes about one event is there for the next: hosts ask again as soon as they have an answer."""

from __future__ import annotations

import json
import os
import socket
import time
from typing import TYPE_CHECKING

import apsw
import pytest

from support.desk import Desk, make_repository
from upheld.hosts import answer as answering
from upheld.hosts.server_socket import HookSocket
from upheld.hosts.socket_path import PROTOCOL, find_socket_path
from upheld.storage.places import Places, find_places

if TYPE_CHECKING:
    from pathlib import Path

VERSION = "1"


@pytest.fixture
def places() -> Places:
    return find_places(os.environ)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A project with one constraint, which every new context is told."""
    where = make_repository(tmp_path / "project")
    Desk(where).log("Never fuse the kernels", claim_kind="constraint")
    return where


def resumed(where: Path) -> bytes:
    payload = {"hook_event_name": "SessionStart", "source": "resume", "session_id": "s", "cwd": str(where)}
    return json.dumps(payload).encode()


def connect(path: str) -> socket.socket:
    """Return a connection to a server that has just been started, as soon as it listens."""
    end = time.monotonic() + 20
    while True:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(20)
        try:
            connection.connect(path)
        except OSError:
            connection.close()
            assert time.monotonic() < end
            time.sleep(0.01)
        else:
            return connection


def ask(places: Places, payload: bytes) -> socket.socket:
    """Send an event as the hook does; the answer is still to be read."""
    connection = connect(find_socket_path(places.state))
    environment = b"PATH=" + os.environb[b"PATH"]
    head = b"%b %b codex %d %d\n" % (PROTOCOL, VERSION.encode(), len(environment), len(payload))
    connection.sendall(head + environment + payload)
    return connection


def read(connection: socket.socket) -> bytes:
    """Return the output that a server sent."""
    with connection:
        data = b""
        while part := connection.recv(65536):
            data += part
    head, _, output = data.partition(b"\n")
    assert head.split(b" ")[:2] == [PROTOCOL, b"OK"]
    return output


def test_an_event_that_follows_at_once_finds_what_the_one_before_it_noted(places: Places, repository: Path) -> None:
    first = answering.answer("codex", resumed(repository), places=places, environ=os.environ)
    assert first.finish(places, answering.now()) == ""  # makes the database of conversations
    again = resumed(repository).replace(b'"s"', b'"other"')
    HookSocket(places, VERSION, os.environ).start()
    holder = apsw.Connection(places.conversations)
    try:
        holder.execute("begin immediate")  # the server's note waits for this
        before = read(ask(places, again))
        following = ask(places, again)
    finally:
        holder.execute("commit")
        holder.close()

    assert b"Never fuse the kernels" in before
    assert read(following) == b""
