"""A change of several files: shown first, then made as a whole or not at all.

What should be in the files is `install`'s decision; here they are compared, backed up, written one
after the other, and put back if one of them cannot be written.
"""

from __future__ import annotations

import contextlib
import difflib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from upheld.errors import UpheldError
from upheld.hosts.codex.receipt import Receipt, receipt_path, render_receipt
from upheld.hosts.edit import (
    EditRefusedError,
    Target,
    back_up,
    check_unchanged,
    read_target,
    remove_file,
    replace_file,
)
from upheld.storage.database import ensure_private_directory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from upheld.storage.places import Places


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file, as it was and as it should be.

    Args:
        target: The file as it was looked at.
        after: The new bytes, or None to delete it.
        ours: It is a file of ours: not shown line by line, not backed up.
        context: How many unchanged lines the shown difference may hold. None in a file that may hold
            secrets of others.
    """

    target: Target
    after: bytes | None
    ours: bool = False
    context: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """What install or uninstall would do.

    Args:
        changes: The files to write, in this order.
        notes: What the user should know, one sentence or two each.
        receipt: What to keep so that it can be undone; None to keep nothing.
        made: Directories to make, outermost first.
        emptied: Directories to remove if nothing else is in them, innermost first.
        hint: The step that only the user can take; empty where there is none.
    """

    changes: tuple[FileChange, ...] = ()
    notes: tuple[str, ...] = ()
    receipt: Receipt | None = None
    made: tuple[str, ...] = ()
    emptied: tuple[str, ...] = ()
    hint: str = ""

    @property
    def changed(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.changes)

    def render_diff(self) -> str:
        """Return what would change, as a unified difference; files of ours are only named."""
        return "".join(line for change in self.changes for line in _iter_diff(change))


def apply_plan(plan: Plan, places: Places, now: datetime) -> tuple[str, ...]:
    """Make the change and return the paths of the backups.

    All files are compared with what was planned before the first is written, and each again right
    before its own turn. If one cannot be written, those before it get their old bytes back.

    Args:
        plan: What `plan_install` or `plan_uninstall` returned.
        places: Our directories; created where missing.
        now: The time that names the backups.

    Raises:
        EditRefusedError: A file or directory cannot be written.
        FileChangedError: Another program wrote one of the files in the meantime.
        NotOursError: A directory of ours is a link, or belongs to somebody else.
    """
    if not plan.changed:
        return ()
    for change in plan.changes:
        check_unchanged(change.target)
    receipt, backups = _back_up_all(plan, places, now)
    done: list[FileChange] = []
    made: list[str] = []
    try:
        for directory in plan.made:
            if not os.path.isdir(directory):
                _make_directory(directory)
                made.append(directory)
        kept = _receipt_change(receipt, places)
        rest = (change for change in plan.changes if change.target.path != kept.target.path)
        for change in (kept, *rest):
            if change.target.data != change.after:
                _write(change)
                done.append(change)
    except UpheldError:
        for change in reversed(done):
            _put_back(change)
        for directory in reversed(made):
            with contextlib.suppress(OSError):
                os.rmdir(directory)
        raise
    for directory in plan.emptied:
        with contextlib.suppress(OSError):  # others use it too
            os.rmdir(directory)
    return backups


def _back_up_all(plan: Plan, places: Places, now: datetime) -> tuple[Receipt | None, tuple[str, ...]]:
    ensure_private_directory(places.data, "our data directory")
    directory = places.data
    for part in ("backups", "hosts", "codex"):
        directory = f"{directory}/{part}"
        ensure_private_directory(directory, f"our directory {part}")
    ensure_private_directory(places.data + "/install", "our directory install")
    receipt, backups = plan.receipt, []
    for change in plan.changes:
        if not change.ours and change.target.data is not None:
            backups.append(back_up(change.target, directory, now.strftime("%Y%m%dT%H%M%SZ")))
            receipt = receipt and receipt.with_backup(change.target.path, backups[-1])
    return receipt, tuple(backups)


def _receipt_change(receipt: Receipt | None, places: Places) -> FileChange:
    target = read_target(receipt_path(places), "install/codex.json")
    return FileChange(target, None if receipt is None else render_receipt(receipt), ours=True)


def _make_directory(path: str) -> None:
    try:
        os.mkdir(path, 0o700)
    except OSError as exc:
        raise EditRefusedError(
            os.path.basename(path), f"cannot be made ({exc.strerror})", "Make its parent writable for you."
        ) from exc


def _write(change: FileChange) -> None:
    if change.after is None:
        remove_file(change.target)
    else:
        replace_file(change.target, change.after)


def _put_back(change: FileChange) -> None:
    """Undo one written change, unless somebody has written the file since."""
    written = Target(change.target.name, change.target.path, change.after, change.target.mode)
    with contextlib.suppress(UpheldError):
        _write(FileChange(written, change.target.data))


def _iter_diff(change: FileChange) -> Iterator[str]:
    name = change.target.name
    if change.ours:
        verb = "removes" if change.after is None else "writes" if change.target.data is None else "updates"
        yield f"{verb} {name}\n"
        return
    old, new = ((data or b"").decode("utf-8", "replace") for data in (change.target.data, change.after))
    if change.context == 0:
        # A last line without its end would be shown as changed, and it may hold somebody's secret.
        old, new = (text if text.endswith("\n") or not text else text + "\n" for text in (old, new))
    before = name if change.target.data is not None else "/dev/null"
    after = name if change.after is not None else "/dev/null"
    lines = difflib.unified_diff(
        old.splitlines(keepends=True), new.splitlines(keepends=True), before, after, n=change.context
    )
    for line in lines:
        yield line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
