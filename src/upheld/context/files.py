"""Reading a file of the project: bounded, never out of the project, never hanging.

A repository can hold symbolic links that leave it, pipes that block and files of any size. Everything in this
package that opens a file of the project does it here.
"""

from __future__ import annotations

import os
import stat


class UnreadableError(Exception):
    """A file that is there but may not or cannot be read; the text says why, without a path."""


class OutsideError(UnreadableError):
    """The path leaves the project."""

    def __init__(self) -> None:
        super().__init__("leaves the project")


class TooBigError(UnreadableError):
    """The file is bigger than the caller takes."""

    def __init__(self) -> None:
        super().__init__("is too big")


def is_inside(root: str, path: str) -> bool:
    """Say whether a canonical path is `root`, itself canonical, or stands below it."""
    return path == root or path.startswith(root if root.endswith("/") else root + "/")


def read_file(root: str, relative: str, limit: int) -> bytes | None:
    """Return the content of one regular file below `root`, or None if nothing stands there.

    Args:
        root: The project's canonical directory.
        relative: A path from there; symbolic links are followed as long as they stay inside.
        limit: How many bytes are too many.

    Raises:
        UnreadableError: It leaves the project, is no regular file, is too big or cannot be read.
    """
    path = os.path.realpath(root + "/" + relative)
    if not is_inside(root, path):
        raise OutsideError
    try:
        # O_NONBLOCK: opening a named pipe would wait for its other end.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as exc:
        raise UnreadableError("cannot be read") from exc
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise UnreadableError("is no regular file")
        if found.st_size > limit:
            raise TooBigError
        return _read_all(handle, limit)
    except OSError as exc:
        raise UnreadableError("cannot be read") from exc
    finally:
        os.close(handle)


def _read_all(handle: int, limit: int) -> bytes:
    parts = []
    size = 0
    while data := os.read(handle, 1 << 20):
        size += len(data)
        if size > limit:
            raise TooBigError
        parts.append(data)
    return b"".join(parts)
