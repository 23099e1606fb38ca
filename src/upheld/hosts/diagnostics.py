"""A bounded log of what went wrong where nobody may be told: codes, counts and times.

No payload, no environment, no session id, no path.
"""

from __future__ import annotations

import os
import time

MAX_BYTES = 128 * 1024
"""Above this the older half is dropped."""


def log_diagnostic(state: str, code: str, milliseconds: int) -> None:
    """Append one line: time, code, duration. Never fails."""
    path = state + "/diagnostics.log"
    line = f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {code[:60]} {milliseconds}ms\n"
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
    except OSError:
        return
    try:
        size = os.fstat(file).st_size
        if size > MAX_BYTES:
            kept = os.pread(file, MAX_BYTES // 2, size - MAX_BYTES // 2).partition(b"\n")[2]
            os.ftruncate(file, 0)
            os.write(file, kept)
        os.write(file, line.encode("ascii", "replace"))
    except OSError:
        pass
    finally:
        os.close(file)
