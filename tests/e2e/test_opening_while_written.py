"""Opening the ledger while others write it: never an error, whatever a checkpoint is doing."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from upheld.storage import database

if TYPE_CHECKING:
    from pathlib import Path

# Each opening and closing of a lone writer ends in a checkpoint, which moves pages in the main file.
WRITER = """
import sys
from upheld.api import Upheld
for number in range(int(sys.argv[3])):
    environ = {"UPHELD_HOME": sys.argv[2], "HOME": sys.argv[2], "PATH": "/usr/bin:/bin"}
    with Upheld(sys.argv[1], environ=environ) as upheld:
        upheld.log_finding(claim=f"claim {number} " + "x" * 300, claim_kind="observation")
"""
WRITES = 120


def test_a_ledger_that_is_written_and_checkpointed_opens_every_time(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    command = [sys.executable, "-c", WRITER, str(tmp_path / "project"), str(tmp_path / "home"), str(WRITES)]
    writers = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(2)]
    opened = 0
    while any(writer.poll() is None for writer in writers):
        db = database.open_for_reading(f"{tmp_path}/home/data/ledger.db", database.LEDGER, timeout_ms=5000)
        if db is not None:
            db.close()
            opened += 1

    errors = [writer.communicate()[1] for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0], errors
    assert opened > WRITES
