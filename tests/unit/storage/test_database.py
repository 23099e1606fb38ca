"""Opening our databases: what is refused is left byte for byte, what is ours is private."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import apsw
import pytest

from upheld.errors import StorageError
from upheld.storage import database
from upheld.storage.database import LEDGER, Transaction, on_network_file_system, open_for_reading, open_for_writing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

IS_ROOT = os.geteuid() == 0
needs_root = pytest.mark.skipif(not IS_ROOT, reason="only root can give files away and mount")


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path.resolve() / "data" / "ledger.db")


def _make(path: str) -> None:
    open_for_writing(path, LEDGER).close()


def _foreign(path: str) -> None:
    db = apsw.Connection(path)
    db.execute("pragma journal_mode = wal; create table theirs (x); insert into theirs values (1)")
    db.close()


def _foreign_with_wal(path: str) -> None:
    """As their program left it when it was killed: half of it still in the WAL."""
    script = f"""import apsw, os
db = apsw.Connection({path!r})
db.execute("pragma journal_mode = wal; pragma wal_autocheckpoint = 0; create table theirs (x)")
os._exit(0)"""
    subprocess.run([sys.executable, "-c", script], check=True)


def _newer(path: str) -> None:
    _make(path)
    db = apsw.Connection(path)
    db.execute("pragma user_version = 999")
    db.close()


def _damaged(path: str) -> None:
    _make(path)
    with open(path, "r+b") as file:
        file.seek(100)
        file.write(b"\xff" * 4000)


def _text(path: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write("Dear diary, " * 100)


def _folder(path: str) -> None:
    os.mkdir(path)


def _link(path: str) -> None:
    _make(path + ".real")
    os.symlink(path + ".real", path)


def _pipe(path: str) -> None:
    os.mkfifo(path)


def _writable_by_others(path: str) -> None:
    _make(path)
    os.chmod(path, 0o622)  # noqa: S103 - that it is too open is the case


def _somebody_elses(path: str) -> None:
    _make(path)
    os.chown(path, 12345, 12345)


REFUSED = [
    (_foreign, "is a database of another program"),
    (_foreign_with_wal, "is a database of another program"),
    (_newer, "has schema 999"),
    (_damaged, "damaged"),
    (_text, "no SQLite database"),
    (_folder, "is no regular file"),
    (_link, "is a symbolic link"),
    (_pipe, "is no regular file"),
    (_writable_by_others, "may be written by other users"),
    pytest.param(_somebody_elses, "belongs to another user", marks=needs_root),
]


def _snapshot(folder: str) -> dict[str, tuple[int, int, bytes]]:
    found = {}
    for name in sorted(os.listdir(folder)):
        seen = os.lstat(f"{folder}/{name}")
        content = b""
        if stat.S_ISREG(seen.st_mode):
            with open(f"{folder}/{name}", "rb") as file:
                content = file.read()
        found[name] = (seen.st_mode, seen.st_uid, content)
    return found


@pytest.mark.parametrize("kind", [LEDGER, database.CONVERSATIONS])
@pytest.mark.parametrize("way", ["read", "write"])
@pytest.mark.parametrize(("make", "problem"), REFUSED)
def test_what_is_not_ours_is_refused_and_left_as_it_is(
    path: str, make: Callable[[str], None], problem: str, way: str, kind: str
) -> None:
    if kind != LEDGER and make in {_newer, _damaged}:
        problem = "another program|damaged"  # a ledger is no database of conversations
    os.mkdir(os.path.dirname(path), 0o700)
    make(path)
    before = _snapshot(os.path.dirname(path))
    with pytest.raises(StorageError, match=problem) as refused:
        open_for_writing(path, kind) if way == "write" else open_for_reading(path, kind)
    assert os.path.dirname(path) not in refused.value.message
    after = _snapshot(os.path.dirname(path))
    # A reader of a damaged file of ours may leave SQLite's side files; what was there is what it was.
    assert {name: after[name] for name in before} == before
    assert not {name.removesuffix("-shm").removesuffix("-wal") for name in after} - set(before)


def test_directory_and_files_are_private(path: str) -> None:
    old = os.umask(0)
    try:
        db = open_for_writing(path, LEDGER)
        db.execute("insert into ledger values (1, 'u', '', 0)")
    finally:
        os.umask(old)
    folder = os.path.dirname(path)
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    assert sorted(os.listdir(folder)) == ["ledger.db", "ledger.db-shm", "ledger.db-wal"]
    for name in os.listdir(folder):
        assert stat.S_IMODE(os.stat(f"{folder}/{name}").st_mode) == 0o600, name
    db.close()
    assert os.listdir(folder) == ["ledger.db"]


def test_a_directory_of_ours_is_made_private_again(path: str) -> None:
    os.mkdir(os.path.dirname(path), 0o755)
    _make(path)
    assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700


@pytest.mark.parametrize("levels", [1, 2])
def test_a_parent_that_anybody_may_change_is_refused(tmp_path: Path, levels: int) -> None:
    open_to_all = tmp_path.resolve() / "open"
    below = open_to_all.joinpath(*["between"] * (levels - 1))
    below.mkdir(parents=True)
    open_to_all.chmod(0o777)
    with pytest.raises(StorageError, match="anybody may change"):
        _make(str(below / "data" / "ledger.db"))
    open_to_all.chmod(0o1777)
    _make(str(below / "data" / "ledger.db"))


@pytest.mark.parametrize("what", ["link", "file", pytest.param("stranger", marks=needs_root)])
def test_a_directory_that_is_not_ours_is_refused(tmp_path: Path, what: str) -> None:
    place = tmp_path.resolve() / "data"
    if what == "link":
        (tmp_path / "elsewhere").mkdir()
        place.symlink_to(tmp_path / "elsewhere")
    elif what == "file":
        place.write_text("x")
    else:
        place.mkdir()
        os.chown(place, 12345, 12345)
    with pytest.raises(StorageError, match=r"symbolic link|no directory|another user"):
        _make(str(place / "ledger.db"))


def test_an_empty_file_is_taken_for_a_new_ledger(path: str) -> None:
    os.mkdir(os.path.dirname(path), 0o700)
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    assert open_for_reading(path, LEDGER) is None
    _make(path)
    db = open_for_reading(path, LEDGER)
    assert db is not None
    assert db.execute("pragma user_version").get == database.VERSIONS[LEDGER]
    db.close()


def test_no_file_is_no_database(path: str) -> None:
    assert open_for_reading(path, LEDGER) is None


def test_the_writer_is_tuned_as_the_ledger_needs(path: str) -> None:
    db = open_for_writing(path, LEDGER)
    asked = ("journal_mode", "synchronous", "foreign_keys", "recursive_triggers", "trusted_schema")
    assert [db.execute(f"pragma {name}").get for name in asked] == ["wal", 2, 1, 1, 0]
    db.close()


def test_a_locked_database_is_waited_for_and_then_told(path: str) -> None:
    _make(path)
    holder = apsw.Connection(path)
    holder.execute("begin immediate")
    db = open_for_writing(path, LEDGER, timeout_ms=50)
    with pytest.raises(apsw.BusyError), Transaction(db):
        pass
    reader = open_for_reading(path, LEDGER)
    assert reader is not None
    assert reader.execute("select count(*) from findings").get == 0
    holder.execute("rollback")
    with Transaction(db):
        pass
    for one in (holder, reader, db):
        one.close()


def test_a_transaction_inside_another_is_undone_alone(path: str) -> None:
    db = open_for_writing(path, LEDGER)
    with Transaction(db):
        db.execute("insert into ledger values (1, 'kept', '', 0)")
        with pytest.raises(apsw.ConstraintError), Transaction(db):
            db.execute("update ledger set uid = 'lost'; update ledger set id = 2")
        with Transaction(db):
            db.execute("update ledger set revision = 5")
    assert db.execute("select uid, revision from ledger").get == ("kept", 5)
    db.close()


MOUNTS = """/dev/sda1 / ext4 rw 0 0
server:/home /home nfs4 rw 0 0
/dev/sdb1 /home/me/local\\040disk xfs rw 0 0
host:/x /mnt/x fuse.sshfs rw 0 0
"""


@pytest.mark.parametrize(
    ("path", "network"),
    [
        ("/var/lib/ledger.db", False),
        ("/home/me/ledger.db", True),
        ("/homestead/ledger.db", False),
        ("/home/me/local disk/ledger.db", False),
        ("/mnt/x", True),
    ],
)
def test_a_network_file_system_is_known_by_its_mount(tmp_path: Path, path: str, network: bool) -> None:
    table = tmp_path / "mounts"
    table.write_text(MOUNTS)
    assert on_network_file_system(path, table=str(table)) is network


def test_without_a_table_of_mounts_nothing_is_known(tmp_path: Path) -> None:
    assert not on_network_file_system("/home/me", table=str(tmp_path / "none"))


def _in_read_only_mount(folder: str, script: str) -> subprocess.CompletedProcess[str]:
    """Run Python where a folder is mounted read-only: root does not mind modes, but minds that."""
    shell = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
    return subprocess.run(
        ["unshare", "-m", "sh", "-c", shell, folder, sys.executable, "-c", script],
        check=False,
        capture_output=True,
        text=True,
    )


READ = """
from upheld.storage.database import *
db = open_for_reading({path!r}, LEDGER)
print(db.execute("select uid from ledger").get)
"""
WRITE = """
from upheld.storage.database import *
from upheld.errors import StorageError
try:
    db = open_for_writing({path!r}, LEDGER)
    with Transaction(db):
        db.execute("update ledger set uid = 'x'")
except (StorageError, apsw.Error) as error:
    print(type(error).__name__)
"""


@needs_root
@pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare is not there")
@pytest.mark.parametrize("open_elsewhere", [False, True], ids=["nobody has it open", "a writer has it open"])
def test_a_read_only_directory_still_serves_reads(path: str, open_elsewhere: bool) -> None:
    writer = open_for_writing(path, LEDGER)
    writer.execute("insert into ledger values (1, 'the ledger', '', 0)")
    if not open_elsewhere:
        writer.close()
    folder = os.path.dirname(path)
    if _in_read_only_mount(folder, "").returncode:
        pytest.skip("this machine lets nobody mount")
    before = _snapshot(folder) if not open_elsewhere else None
    ran = _in_read_only_mount(folder, READ.format(path=path))
    assert (ran.stdout, ran.stderr) == ("the ledger\n", "")
    ran = _in_read_only_mount(folder, WRITE.format(path=path))
    assert (ran.stdout.strip() in {"ReadOnlyError", "CantOpenError", "UnreadableDatabaseError"}, ran.stderr) == (
        True,
        "",
    ), ran.stdout
    if before is not None:
        assert _snapshot(folder) == before
    writer.close()


def test_a_full_disk_makes_no_half_ledger(path: str) -> None:
    class FullFile(apsw.VFSFile):
        def __init__(self, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
            super().__init__("", name, flags)

        def xWrite(self, data: bytes, offset: int) -> None:  # noqa: ARG002, N802 - apsw's name
            raise apsw.FullError("disk full")

    class FullDisk(apsw.VFS):
        def __init__(self) -> None:
            super().__init__("full", "")

        def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> FullFile:  # noqa: N802 - apsw's name
            return FullFile(name, flags)

    disk = FullDisk()
    with pytest.raises(StorageError, match="disk is full"):
        open_for_writing(path, LEDGER, vfs="full")
    disk.unregister()
    assert os.listdir(os.path.dirname(path)) == []
