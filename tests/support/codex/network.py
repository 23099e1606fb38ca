"""A network of its own: loopback and nothing else, shared by the scripted model and all Codexes of a run.

A small process holds the network namespace and hands out listening sockets in it, so that the model can live
in the test's own process (its scripts are Python) while no packet of Codex can leave. Each command gets its
own process namespace besides: whatever it leaves running ends with it.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Sequence

# Brings loopback up (SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP), then answers each byte with a listening socket.
_KEEPER = """
import fcntl, socket, struct
line = socket.socket(fileno=0)
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
    name = b"lo"
    flags, = struct.unpack_from("h", fcntl.ioctl(probe, 0x8913, struct.pack("16sh14x", name, 0)), 16)
    fcntl.ioctl(probe, 0x8914, struct.pack("16sh14x", name, flags | 1))
while line.recv(1):
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        socket.send_fds(line, [b"x"], [listener.fileno()])
"""


class PrivateNetwork:
    """A network namespace. Use it as a context manager."""

    def __init__(self) -> None:
        self._line, theirs = socket.socketpair()
        command = [*_unshare("--net"), sys.executable, "-I", "-c", _KEEPER]
        self._keeper = subprocess.Popen(command, stdin=theirs.fileno(), stderr=subprocess.PIPE)
        theirs.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._line.close()
        self._keeper.communicate()

    def listen(self) -> socket.socket:
        """Return a socket that listens on the loopback of this network."""
        self._line.send(b"l")
        _, descriptors, _, _ = socket.recv_fds(self._line, 1, 1)
        if not descriptors:
            _, problem = self._keeper.communicate()
            raise RuntimeError(f"no private network: {problem.decode(errors='replace').strip()}")
        return socket.socket(fileno=descriptors[0])

    def inside(self, command: Sequence[str], read_only: Sequence[str] = ()) -> list[str]:
        """Return the command line that runs a command in this network.

        Args:
            command: What to run.
            read_only: Paths that nobody can write during that run, root included.
        """
        user = () if os.geteuid() == 0 else ("--user", "--preserve-credentials")
        enter = ["nsenter", f"--target={self._keeper.pid}", "--net", *user]
        processes = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
        return [*enter, *processes, "--", *_with_read_only(read_only), *command]


def why_no_network() -> str | None:
    """Return why a private network cannot be made here, or None."""
    for tool in ("unshare", "nsenter"):
        if shutil.which(tool) is None:
            return f"{tool} is not installed"
    probe = [*_unshare("--net"), "unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "true"]
    tried = subprocess.run(probe, capture_output=True, text=True, check=False)
    return None if tried.returncode == 0 else f"no private namespaces here: {tried.stderr.strip()}"


def _unshare(*namespaces: str) -> list[str]:
    user = () if os.geteuid() == 0 else ("--map-root-user",)
    return ["unshare", *user, *namespaces, "--"]


def _with_read_only(paths: Sequence[str]) -> list[str]:
    if not paths:
        return []
    bind = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" || exit 125'
    script = f'until [ "$1" = -- ]; do {bind}; shift; done; shift; exec "$@"'
    return ["sh", "-c", script, "sh", *paths, "--"]
