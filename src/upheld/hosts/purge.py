"""Delete everything that Upheld keeps, after the hosts have been unwired.

Only files with names of ours, only in directories that are ours; what else is in there stays and is
named. A link is deleted, never followed.
"""

from __future__ import annotations

import contextlib
import fnmatch
import os
from typing import TYPE_CHECKING

from upheld.errors import StorageError
from upheld.storage.database import check_owned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from upheld.storage.places import Places

_OURS = (
    "ledger.db*",
    "conversations.db*",
    "session-index.db*",
    "hook.py",
    "*.lock",
    "*.sock",
    "*.log",
    "*.log.[0-9]",
)
_OUR_FOLDERS = ("backups", "chain", "install")


def purge(places: Places) -> tuple[str, ...]:
    """Delete our files and empty directories, and return the names of what is left in them.

    Raises:
        NotOursError: One of the directories is a link, no directory or somebody else's. Nothing was
            deleted.
        StorageError: A file could not be deleted; the others may be gone.
    """
    directories = [d for d in dict.fromkeys((places.cache, places.state, places.data)) if os.path.lexists(d)]
    for directory in directories:
        check_owned(directory, "one of our directories", directory=True)
    try:
        for directory in directories:
            for path in _iter_ours(directory):
                os.unlink(path)
            _remove_empty(directory)
    except OSError as exc:
        raise StorageError(f"A file of ours could not be deleted ({exc.strerror}). Run this again.") from exc
    return tuple(sorted(name for d in directories if os.path.isdir(d) for name in os.listdir(d)))


def _iter_ours(directory: str) -> Iterator[str]:
    """Yield the files to delete."""
    for entry in list(os.scandir(directory)):
        if entry.name in _OUR_FOLDERS and entry.is_dir(follow_symlinks=False):
            for folder, _, files in os.walk(entry.path):
                yield from (os.path.join(folder, name) for name in files)
        elif any(fnmatch.fnmatchcase(entry.name, pattern) for pattern in _OURS) and not entry.is_dir(
            follow_symlinks=False
        ):
            yield entry.path


def _remove_empty(directory: str) -> None:
    for folder, _, _ in os.walk(directory, topdown=False):
        if folder == directory or os.path.relpath(folder, directory).split(os.sep)[0] in _OUR_FOLDERS:
            with contextlib.suppress(OSError):  # somebody keeps something in it
                os.rmdir(folder)
