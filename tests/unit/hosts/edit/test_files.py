"""A file is replaced whole or not at all."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from upheld.hosts.edit import (
    EditRefusedError,
    FileChangedError,
    back_up,
    read_target,
    remove_file,
    replace_file,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_a_replaced_file_keeps_its_mode_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "中文 file.json"
    path.write_bytes(b"old")
    path.chmod(0o640)

    replace_file(read_target(str(path), "x"), b"new")

    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_replaced_file_keeps_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"old")
    os.chown(path, 12345, 54321)

    replace_file(read_target(str(path), "x"), b"new")

    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 54321)


def test_a_link_stays_a_link_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target = tmp_path / "real" / "config.toml"
    target.write_bytes(b"old")
    link = tmp_path / "config.toml"
    link.symlink_to(target)

    replace_file(read_target(str(link), "x"), b"new")

    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_new_file_is_private(tmp_path: Path) -> None:
    target = read_target(str(tmp_path / "f"), "x")
    assert target.data is None
    assert target.sha256 is None

    replace_file(target, b"new")

    assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == 0o600


def test_a_file_written_in_between_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"old")
    target = read_target(str(path), "f")
    path.write_bytes(b"theirs")

    with pytest.raises(FileChangedError, match="run the command again"):
        replace_file(target, b"new")
    with pytest.raises(FileChangedError):
        remove_file(target)

    assert path.read_bytes() == b"theirs"
    assert os.listdir(tmp_path) == ["f"]


def test_a_file_that_appeared_in_between_is_left_as_it_is(tmp_path: Path) -> None:
    target = read_target(str(tmp_path / "f"), "f")
    (tmp_path / "f").write_bytes(b"theirs")

    with pytest.raises(FileChangedError):
        replace_file(target, b"new")


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(EditRefusedError, match="a directory"):
        read_target(str(tmp_path), "x")
    with pytest.raises(EditRefusedError, match="no regular file"):
        read_target(str(tmp_path / "pipe"), "x")


def test_a_missing_directory_is_a_refusal(tmp_path: Path) -> None:
    with pytest.raises(EditRefusedError, match="cannot be written"):
        replace_file(read_target(str(tmp_path / "none" / "f"), "x"), b"new")


def test_backups_of_one_second_do_not_overwrite_each_other(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"one")
    first = back_up(read_target(str(tmp_path / "f"), "f"), str(tmp_path), "20261130T230000Z")
    (tmp_path / "f").write_bytes(b"two")
    second = back_up(read_target(str(tmp_path / "f"), "f"), str(tmp_path), "20261130T230000Z")

    with open(first, "rb") as a, open(second, "rb") as b:
        assert (a.read(), b.read()) == (b"one", b"two")
    assert stat.S_IMODE(os.stat(first).st_mode) == 0o600
