"""A ledger that vanished is not begun anew in silence."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from upheld import Upheld
from upheld.findings.ledger import Caller
from upheld.storage.chain import LedgerGoneError

if TYPE_CHECKING:
    from pathlib import Path


def _lose(tmp_path: Path) -> Upheld:
    environ = {"UPHELD_HOME": str(tmp_path / "home"), "HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    upheld = Upheld(str(tmp_path), caller=Caller("user"), environ=environ)
    upheld.log_finding(claim="the cache is never read", claim_kind="observation")
    upheld.close()
    for suffix in ("", "-wal", "-shm"):
        if os.path.exists(upheld.ledger.places.ledger + suffix):
            os.unlink(upheld.ledger.places.ledger + suffix)
    return Upheld(str(tmp_path), caller=Caller("user"), environ=environ)


def test_a_write_is_refused_while_the_ledger_that_was_written_is_gone(tmp_path: Path) -> None:
    upheld = _lose(tmp_path)

    with pytest.raises(LedgerGoneError, match="1 events were written"):
        upheld.log_finding(claim="another claim", claim_kind="observation")

    assert not os.path.exists(upheld.ledger.places.ledger)
    report = upheld.check()
    assert not report.ok
    assert [problem.where for problem in report.problems] == ["the ledger"]


def test_a_person_may_begin_a_new_ledger_where_the_old_one_is_gone(tmp_path: Path) -> None:
    upheld = _lose(tmp_path)

    assert upheld.accept_ledger("the disk is gone").ok

    assert upheld.log_finding(claim="another claim", claim_kind="observation").data["finding_id"] == "F-1"
    assert upheld.check().ok
