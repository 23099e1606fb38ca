"""The ledger under other processes' locks, a failing disk, and what its status says."""

from __future__ import annotations

import errno
import fcntl
import os
from typing import TYPE_CHECKING

import apsw
import pytest

from support.desk import FOR, Desk
from upheld.context.marks import read_marks
from upheld.errors import STORAGE_ERROR, StorageError
from upheld.findings import ledger as module
from upheld.findings.ledger import Ledger, as_refusals
from upheld.findings.place import Place
from upheld.findings.status import read_status

if TYPE_CHECKING:
    from pathlib import Path

    from upheld.storage.places import Places


def test_a_writer_that_waits_too_long_is_told_and_a_reader_is_not_held_up(
    desk: Desk, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.log()
    monkeypatch.setattr(module, "LOCK_SECONDS", 0.05)
    lock = os.open(places.state + "/ledger.lock", os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    with pytest.raises(StorageError, match="being written by another process"):
        desk.log("Another")
    assert len(desk.run("query_findings").data["findings"]) == 1
    os.close(lock)
    assert desk.log("Another") == "F-2"


def test_a_lock_that_is_no_file_of_ours_is_refused(desk: Desk, places: Places, tmp_path: Path) -> None:
    desk.log()
    os.unlink(places.state + "/ledger.lock")
    os.symlink(tmp_path / "elsewhere", places.state + "/ledger.lock")
    with pytest.raises(StorageError, match="state directory can't be written"):
        desk.log("Another")
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (apsw.BusyError, "another process"),
        (apsw.FullError, "disk is full"),
        (apsw.ReadOnlyError, "use the MCP tool"),
        (apsw.CantOpenError, "use the MCP tool"),
        (apsw.CorruptError, "damaged"),
        (apsw.NotADBError, "damaged"),
        (apsw.ConstraintError, "can't be used as it is"),
        (apsw.SQLError, "can't be used as it is"),
    ],
)
def test_no_error_of_the_driver_leaves(error: type[apsw.Error], said: str) -> None:
    with pytest.raises(StorageError, match=said) as refused, as_refusals():
        raise error("table findings at /home/somebody")
    assert refused.value.code == STORAGE_ERROR
    assert "/home" not in refused.value.message


def test_a_head_that_cannot_be_written_fails_no_write(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.log()

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "pwrite", full)
    assert desk.log("Written all the same") == "F-2"
    monkeypatch.undo()
    assert desk.log("And the head catches up") == "F-3"


class TestStatus:
    def read(self, desk: Desk, home: str = "") -> dict[str, object]:
        marks = read_marks(str(desk.cwd), environ=os.environ, deadline_ms=20_000)
        return read_status(desk.ledger, Place(marks, os.environ, home))

    def test_before_the_first_finding(self, desk: Desk, places: Places) -> None:
        status = self.read(desk, os.path.dirname(os.path.dirname(places.data)))
        assert (status["ledger"], status["ledger_exists"], status["project"]) == (
            "~/upheld/data/ledger.db",
            False,
            None,
        )
        assert not os.path.exists(places.data)

    def test_counts_and_revision(self, repository_desk: Desk) -> None:
        repository_desk.log(evidence=[{**FOR, "role": "contradicts"}], epistemic_state="refuted")
        repository_desk.run("supersede_finding", finding_id="F-1", claim="Newer", reason="better")
        status = self.read(repository_desk)
        project = status["project"]
        assert isinstance(project, dict)
        assert {name: project[name] for name in ("total", "current", "dead_ends")} == {
            "total": 2,
            "current": 1,
            "dead_ends": 0,
        }
        assert (status["revision"], status["git"], status["last_injection"]) == (2, "present", None)

    def test_another_project_has_none_of_it(self, desk: Desk, tmp_path: Path, ledger: Ledger) -> None:
        desk.log()
        (tmp_path / "next door").mkdir()
        status = self.read(Desk(tmp_path / "next door", ledger=ledger))
        assert (status["project"], status["findings_in_all_projects"]) == (None, 1)
