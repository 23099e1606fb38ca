"""Read and replace one file of somebody else: whole or not at all.

A new file is written beside the old one, synced, given its mode and owner, and moved over it. A
symbolic link is followed and stays a link, since people keep their configuration in one repository
and link to it. What is in the file is not looked at here.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from dataclasses import dataclass

from upheld.hosts.edit.errors import EditRefusedError, FileChangedError

_LARGEST = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Target:
    """One file as it was when it was looked at.

    Args:
        name: The file as the user knows it, for messages.
        path: Where the bytes are: links are followed.
        data: Its bytes, or None where there is no file.
        mode: Its permission bits, or those that a new file gets.
    """

    name: str
    path: str
    data: bytes | None
    mode: int

    @property
    def sha256(self) -> str | None:
        """The hash of its bytes, or None where there is no file."""
        return None if self.data is None else hashlib.sha256(self.data).hexdigest()


def read_target(path: str, name: str, *, new_mode: int = 0o600) -> Target:
    """Return a file's state; a missing file is a state too.

    Raises:
        EditRefusedError: It is a directory or another thing that is no file, too large, or unreadable.
    """
    real = os.path.realpath(path)
    try:
        status = os.stat(real)
    except FileNotFoundError:
        return Target(name, real, None, new_mode)
    except OSError as exc:
        raise EditRefusedError(name, f"cannot be read ({exc.strerror})", "Check it and its directory.") from exc
    if not stat.S_ISREG(status.st_mode):
        what = "a directory" if stat.S_ISDIR(status.st_mode) else "no regular file"
        raise EditRefusedError(name, f"is {what}", "Move it away first.")
    if status.st_size > _LARGEST:
        raise EditRefusedError(name, "is larger than 16 MB", "Check what it is.")
    try:
        with open(real, "rb") as file:
            data = file.read()
    except OSError as exc:
        raise EditRefusedError(name, f"cannot be read ({exc.strerror})", "Check its permissions.") from exc
    return Target(name, real, data, stat.S_IMODE(status.st_mode))


def decode(target: Target) -> tuple[str, str]:
    """Return a text file's byte order mark, or an empty string, and the text behind it.

    Raises:
        EditRefusedError: It is not UTF-8.
    """
    try:
        text = (target.data or b"").decode()
    except UnicodeDecodeError as exc:
        raise EditRefusedError(target.name, f"is not UTF-8 (byte {exc.start})", "Save it as UTF-8 first.") from exc
    return (text[:1], text[1:]) if text.startswith("\ufeff") else ("", text)


def check_unchanged(target: Target) -> None:
    """Refuse if the file is no longer as it was when it was looked at.

    Raises:
        FileChangedError: Another program wrote, made or removed it.
    """
    if read_target(target.path, target.name).data != target.data:
        raise FileChangedError(target.name)


def replace_file(target: Target, data: bytes) -> None:
    """Put new bytes in a file's place in one step, keeping its mode and owner.

    The file is compared with what was looked at right before the step; a program that writes in the
    instant between still loses, since no file system offers a compare-and-swap.

    Raises:
        FileChangedError: Another program wrote it in the meantime.
        EditRefusedError: Its directory cannot be written, or its owner cannot be kept.
    """
    directory, base = os.path.split(target.path)
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{base}.upheld-", dir=directory)
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            _keep_owner(file.fileno(), target)
            os.fchmod(file.fileno(), target.mode)
            os.fsync(file.fileno())
        check_unchanged(target)
        os.replace(temporary, target.path)
        temporary = None
        _sync_directory(directory)
    except OSError as exc:
        raise EditRefusedError(
            target.name, f"cannot be written ({exc.strerror})", "Make its directory writable for you."
        ) from exc
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def remove_file(target: Target) -> None:
    """Delete a file that is still as it was when it was looked at.

    Raises:
        FileChangedError: Another program wrote it in the meantime.
        EditRefusedError: Its directory cannot be written.
    """
    check_unchanged(target)
    try:
        os.unlink(target.path)
        _sync_directory(os.path.dirname(target.path))
    except OSError as exc:
        raise EditRefusedError(
            target.name, f"cannot be removed ({exc.strerror})", "Make its directory writable for you."
        ) from exc


def back_up(target: Target, directory: str, stamp: str) -> str:
    """Keep a file's bytes beside our data and return the copy's path.

    Args:
        target: A file that exists.
        directory: An existing directory of ours.
        stamp: The time, as it should stand in the copy's name.

    Raises:
        EditRefusedError: The copy could not be written.
    """
    base = os.path.basename(target.path)
    for attempt in range(1000):
        path = os.path.join(directory, f"{stamp}-{attempt}-{base}" if attempt else f"{stamp}-{base}")
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        except FileExistsError:
            continue
        except OSError as exc:
            raise EditRefusedError(
                target.name, f"cannot be backed up ({exc.strerror})", "Make room in our data directory."
            ) from exc
        with open(handle, "wb") as file:
            file.write(target.data or b"")
            file.flush()
            os.fsync(file.fileno())
        return path
    raise EditRefusedError(target.name, "has a thousand backups of this second", "Wait a second.")


def _keep_owner(descriptor: int, target: Target) -> None:
    if target.data is None:
        return
    old, new = os.stat(target.path), os.fstat(descriptor)
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        os.fchown(descriptor, old.st_uid, old.st_gid)


def _sync_directory(directory: str) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
