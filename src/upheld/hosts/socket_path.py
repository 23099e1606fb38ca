"""Where the hook finds a running server: one socket for each state directory, on a short path."""

from __future__ import annotations

import posix

PROTOCOL = b"UPHELD1"
"""First bytes of every request; another number is another language, and the hook does the work itself."""

MAX_PAYLOAD = 16 * 1024 * 1024

_LONGEST = 100
"""A Unix socket's path has room for 104 to 108 bytes."""


def find_socket_path(state: str) -> str:
    """Return the socket's path; a state directory with too long a name gets one under /tmp."""
    path = state + "/hook.sock"
    if len(path.encode("utf-8", "surrogateescape")) <= _LONGEST:
        return path
    import _blake2

    digest = _blake2.blake2b(state.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
    return f"/tmp/upheld-{posix.getuid()}-{digest}/hook.sock"  # noqa: S108 - the server checks who owns it
