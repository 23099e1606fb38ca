"""Backups of the ledger beside it, by SQLite's own online copy: whole at one moment, whoever writes meanwhile."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import apsw

from upheld.errors import StorageError
from upheld.storage import database

if TYPE_CHECKING:
    from collections.abc import Callable

    from upheld.storage.places import Places

    Progress = Callable[[str, int, int], None]

FOLDER = "backups"
KEPT = 7
_PAGES = 2000


@dataclass(frozen=True, slots=True)
class Backup:
    """One backup.

    Args:
        name: Its file name, which begins with the time it was made at.
        bytes: Its size.
    """

    name: str
    bytes: int


def make_backup(places: Places, now: str, *, keep: int = KEPT, progress: Progress | None = None) -> Backup:
    """Copy the ledger into the backups folder, check the copy, and delete the oldest beyond `keep`.

    Args:
        places: Whose ledger.
        now: The time, ISO 8601 in UTC: the name.
        keep: How many stay, this one included.
        progress: Told how many pages are copied and how many there are.

    Raises:
        StorageError: There is no ledger, or the copy could not be made or is not whole; nothing was deleted.
    """
    folder = f"{places.data}/{FOLDER}"
    database.ensure_private_directory(folder, "The directory of backups")
    source = database.open_for_reading(places.ledger, database.LEDGER, timeout_ms=database.WRITE_TIMEOUT_MS)
    if source is None:
        raise StorageError("There is no ledger to back up. Nothing was written.")
    name = _name(now)
    beside = f"{folder}/{name}.new"
    try:
        os.close(os.open(beside, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
        _copy(source, beside, progress)
        os.rename(beside, f"{folder}/{name}")
    except (OSError, apsw.Error) as error:
        raise StorageError(f"The backup could not be made ({_reason(error)}). Nothing was deleted.") from error
    finally:
        source.close()
        for suffix in ("", "-journal", "-wal", "-shm"):
            if os.path.exists(beside + suffix):
                os.unlink(beside + suffix)
    for old in list_backups(places)[max(1, keep) :]:
        os.unlink(f"{folder}/{old.name}")
    return Backup(name, os.path.getsize(f"{folder}/{name}"))


def list_backups(places: Places) -> list[Backup]:
    """Return the backups, newest first."""
    folder = f"{places.data}/{FOLDER}"
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    ours = sorted((name for name in names if _is_ours(folder, name) and name.endswith(".db")), reverse=True)
    return [Backup(name, os.path.getsize(f"{folder}/{name}")) for name in ours]


def delete_backups(places: Places, *, before: str = "") -> int:
    """Delete backups and return how many; with them goes what an interrupted one left.

    A backup that is being made meanwhile fails and leaves nothing: what it copied may be what has to go.

    Args:
        places: Whose.
        before: Only those made before this time, ISO 8601 in UTC; "" for all.
    """
    folder = f"{places.data}/{FOLDER}"
    old = [one for one in list_backups(places) if not before or one.name < _name(before)]
    for one in old:
        os.unlink(f"{folder}/{one.name}")
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        if _is_ours(folder, name) and ".db.new" in name:
            with suppress(FileNotFoundError):  # its maker took it away just now
                os.unlink(f"{folder}/{name}")
    return len(old)


def _is_ours(folder: str, name: str) -> bool:
    return name.startswith("ledger-") and os.path.isfile(f"{folder}/{name}")


def _name(at: str) -> str:
    return f"ledger-{at.replace(':', '').replace('.', '')}.db"


def _copy(source: apsw.Connection, path: str, progress: Progress | None) -> None:
    target = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        with target.backup("main", source, "main") as copying:
            while not copying.done:
                copying.step(_PAGES)
                if progress is not None:
                    progress("pages", copying.page_count - copying.remaining, copying.page_count)
        # One file that needs no other beside it.
        target.execute("pragma journal_mode = delete").get  # noqa: B018 - reading the answer is what runs it
        said = [str(row[0]) for row in target.execute("pragma integrity_check(1)")]
        if said != ["ok"]:
            raise StorageError("The copy is not whole: the ledger itself may be damaged. Run `upheld check`.")
    finally:
        target.close()


def _reason(error: Exception) -> str:
    if isinstance(error, apsw.FullError):
        return "the disk is full"
    return (getattr(error, "strerror", "") or type(error).__name__).lower()
