"""The protocol's two streams, kept from everybody else in the process.

A stray print, a library's warning or a child process that reads its standard input would otherwise
break the conversation.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO


def take_stdio() -> tuple[BinaryIO, BinaryIO]:
    """Return the protocol's input and output, and point the standard ones elsewhere, for good.

    From then on standard input is empty and standard output is standard error, for children too. The
    output is unbuffered: nothing is left to flush, and to fail, when the other side is gone.
    """
    lines_in, lines_out = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    os.set_blocking(lines_in, True)  # some hosts hand over pipes that do not block
    os.set_blocking(lines_out, True)
    return os.fdopen(lines_in, "rb"), os.fdopen(lines_out, "wb", buffering=0)
