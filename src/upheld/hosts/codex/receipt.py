"""What install did, kept so that uninstall can undo exactly that.

One JSON file in our data directory. It is a convenience, not the truth: where it is missing, damaged
or outdated, uninstall recognises our entries by what they are.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from upheld.hosts.edit import Splice

if TYPE_CHECKING:
    from upheld.storage.places import Places

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class FileRecord:
    """One file that install wrote.

    Args:
        role: `hooks`, `config`, `agents` or `skill`.
        path: Where its bytes are.
        after: The hash of what install wrote.
        restorable: Whether undoing may put back what was there before as a whole.
        before: The hash of what was there, or None where there was no file.
        backup: The copy of what was there.
        splices: What was inserted, by event, in the order of insertion.
        added: The text that was appended, where text was appended.
    """

    role: str
    path: str
    after: str
    restorable: bool
    before: str | None = None
    backup: str | None = None
    splices: tuple[tuple[str, Splice], ...] = ()
    added: str | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """Everything that install wrote into others' directories.

    Args:
        files: One record for each file.
        directories: Those that install made, outermost first.
    """

    files: tuple[FileRecord, ...] = ()
    directories: tuple[str, ...] = ()

    def find(self, role: str) -> FileRecord | None:
        """Return the record of a role, if there is one."""
        return next((record for record in self.files if record.role == role), None)

    def with_backup(self, path: str, backup: str) -> Receipt:
        """Return the receipt with the place of a file's copy, where that file had none yet."""
        return replace(
            self,
            files=tuple(
                replace(record, backup=backup)
                if record.path == path and record.restorable and record.before and record.backup is None
                else record
                for record in self.files
            ),
        )


def receipt_path(places: Places) -> str:
    """Return where the receipt is."""
    return places.data + "/install/codex.json"


def render_receipt(receipt: Receipt) -> bytes:
    """Return the receipt as it is kept."""
    return (json.dumps({"format": _FORMAT, **asdict(receipt)}, ensure_ascii=False, indent=1) + "\n").encode()


def find_receipt(places: Places) -> Receipt | None:
    """Return the receipt, or None where there is none that can be read."""
    try:
        with open(receipt_path(places), encoding="utf-8") as file:
            values = json.load(file)
        if values["format"] != _FORMAT:
            return None
        return Receipt(
            tuple(_record(entry) for entry in values["files"]),
            tuple(path for path in values["directories"] if os.path.isabs(path)),
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _record(values: dict[str, Any]) -> FileRecord:
    splices = tuple((event, Splice(**splice)) for event, splice in values.pop("splices"))
    return FileRecord(**values, splices=splices)
