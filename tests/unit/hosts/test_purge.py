"""Purging deletes what is ours and nothing else."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from upheld.hosts.purge import purge
from upheld.storage.database import NotOursError
from upheld.storage.places import Places

if TYPE_CHECKING:
    from pathlib import Path


def make(tmp_path: Path) -> Places:
    places = Places(f"{tmp_path}/data", f"{tmp_path}/state", f"{tmp_path}/cache")
    for path in ("data/backups/hosts/codex/x", "data/install/codex.json", "state/chain/a.key", "data/ledger.db-wal"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x")
    for path in (
        "data/ledger.db",
        "data/hook.py",
        "state/conversations.db",
        "state/hook.sock",
        "state/diagnostics.log",
    ):
        (tmp_path / path).write_text("x")
    return places


def test_everything_of_ours_goes(tmp_path: Path) -> None:
    assert purge(make(tmp_path)) == ()

    assert os.listdir(tmp_path) == []
    assert purge(Places(f"{tmp_path}/data", f"{tmp_path}/state", f"{tmp_path}/cache")) == ()


def test_what_is_not_ours_stays_and_is_named(tmp_path: Path) -> None:
    places = make(tmp_path)
    (tmp_path / "data" / "my notes.txt").write_text("mine")
    (tmp_path / "data" / "ledger.db.d").mkdir()

    assert purge(places) == ("ledger.db.d", "my notes.txt")
    assert sorted(os.listdir(tmp_path / "data")) == ["ledger.db.d", "my notes.txt"]


def test_a_link_is_deleted_and_not_followed(tmp_path: Path) -> None:
    places = make(tmp_path)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "ledger.db").write_text("theirs")
    (tmp_path / "data" / "ledger.db").unlink()
    (tmp_path / "data" / "ledger.db").symlink_to(outside / "ledger.db")
    (tmp_path / "data" / "backups" / "link").symlink_to(outside)

    purge(places)

    assert (outside / "ledger.db").read_text() == "theirs"


def test_a_linked_directory_is_refused_and_nothing_is_deleted(tmp_path: Path) -> None:
    places = make(tmp_path)
    os.rename(places.state, tmp_path / "elsewhere")
    os.symlink(tmp_path / "elsewhere", places.state)

    with pytest.raises(NotOursError, match="symbolic link"):
        purge(places)

    assert os.path.exists(places.ledger)
    assert (tmp_path / "elsewhere" / "conversations.db").exists()
