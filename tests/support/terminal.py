"""Commands as a person at a terminal runs them: standard input is one, and no host has opened it."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def run_as_person(
    arguments: Sequence[str], *, cwd: str, environ: Mapping[str, str], types: str = ""
) -> subprocess.CompletedProcess[bytes]:
    """Run `upheld` with a terminal as its input, at which a person types, and return what it printed to pipes."""
    ours, theirs = pty.openpty()
    try:
        os.write(ours, types.encode())
        return subprocess.run(
            [sys.executable, "-I", "-m", "upheld", *arguments],
            cwd=cwd,
            env=dict(environ),
            capture_output=True,
            stdin=theirs,
            start_new_session=True,
            check=False,
        )
    finally:
        os.close(ours)
        os.close(theirs)
