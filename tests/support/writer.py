"""One process that logs findings, and tells each one that was acknowledged: what the two-process tests start.

python writer.py DIRECTORY NAME COUNT SYNC_MS
"""

from __future__ import annotations

import os
import sys
import time

import apsw

from upheld.context.marks import read_marks
from upheld.findings.ledger import Caller, Ledger
from upheld.findings.operations import get_operation
from upheld.findings.place import Place
from upheld.findings.service import Findings
from upheld.storage.places import find_places


class SlowFile(apsw.VFSFile):
    """A file whose syncs take as long as those of a slow disk."""

    def __init__(self, name: str | apsw.URIFilename | None, flags: list[int], seconds: float) -> None:
        super().__init__("", name, flags)
        self._seconds = seconds

    def xSync(self, flags: int) -> None:  # noqa: N802 - apsw's name
        time.sleep(self._seconds)
        super().xSync(flags)


class SlowDisk(apsw.VFS):
    """SQLite's own file system layer with slow syncs."""

    def __init__(self, seconds: float) -> None:
        super().__init__("slow", "")
        self._seconds = seconds

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> SlowFile:  # noqa: N802 - apsw's name
        return SlowFile(name, flags, self._seconds)


def main(directory: str, name: str, count: int, sync_ms: float) -> None:
    disk = SlowDisk(sync_ms / 1000) if sync_ms else None
    ledger = Ledger(find_places(os.environ), vfs="slow" if disk else None)
    marks = read_marks(directory, environ=os.environ, deadline_ms=20_000)
    findings = Findings(ledger, Place(marks, os.environ, ""), Caller("agent", "test", name))
    log = get_operation("log_finding")
    for number in range(count):
        given = {
            "claim": f"Writer {name} saw number {number}",
            "claim_kind": "observation",
            "scope": {"everywhere": True},
            "evidence": [{"source_kind": "log", "source_ref": f"run-{number}"}],
        }
        told = log.run(findings, given).data["finding_id"]
        os.write(1, f"{told} {name} {number}\n".encode())
    ledger.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
