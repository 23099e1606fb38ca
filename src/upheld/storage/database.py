"""Open our databases, check that they are ours, migrate them, and make transactions.

Every database has its own `application_id`, schema version and migrations, and a file that is not
ours is refused and left as it is. The driver is apsw: one known SQLite on every machine. The hook
imports this module, so it stays small.
"""

from __future__ import annotations

import os
import stat

import apsw

from upheld.errors import StorageError
from upheld.text.words import fold, spell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

LEDGER = "ledger"
CONVERSATIONS = "conversations"

APPLICATION_IDS = {LEDGER: 0x55504C44, CONVERSATIONS: 0x55504356}
"""What `pragma application_id` of each database says: "UPLD" and "UPCV"."""

VERSIONS = {LEDGER: 2, CONVERSATIONS: 1}
"""The newest schema of each database: the number of its last migration."""

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100

WRITE_TIMEOUT_MS = 10_000
HOOK_TIMEOUT_MS = 200

_NETWORK_FILE_SYSTEMS = ("nfs", "cifs", "smb", "fuse.sshfs", "9p", "afs", "ceph", "glusterfs", "lustre")


class NotOursError(StorageError):
    """A path that must be ours and private is not; it is left as it is."""

    def __init__(self, what: str, problem: str, do: str) -> None:
        super().__init__(f"{what} {problem}. {do} It was left as it is; nothing was written.")


class NewerSchemaError(StorageError):
    """A database written by a newer Upheld."""

    def __init__(self, what: str, found: int, known: int) -> None:
        super().__init__(
            f"{what} has schema {found}, this Upheld knows {known}. Upgrade Upheld to use it, or restore the "
            "backup made before the upgrade. It was left as it is; nothing was written."
        )


class UnreadableDatabaseError(StorageError):
    """A database that SQLite can't open or read."""

    def __init__(self, what: str, reason: str) -> None:
        super().__init__(f"{what} can't be used: {reason}. It was left as it is; nothing was written.")


class BusyError(StorageError):
    """Another process holds the write lock for longer than we wait."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is being written by another process. Try again; nothing was written.")


class Transaction:
    """`with Transaction(db):` commits at the end, rolls back on any exception.

    The outermost takes the write lock at once (`begin immediate`); one inside it is a savepoint.
    """

    __slots__ = ("_db", "_savepoint")

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._savepoint = db.in_transaction

    def __enter__(self) -> apsw.Connection:
        """Begin."""
        self._db.execute("savepoint inner_write" if self._savepoint else "begin immediate")
        return self._db

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Commit, or roll back without hiding the exception."""
        if kind is None:
            try:
                self._db.execute("release inner_write" if self._savepoint else "commit")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("rollback")
                raise
        elif self._savepoint:
            self._db.execute("rollback to inner_write; release inner_write")
        elif self._db.in_transaction:  # some errors end the transaction by themselves
            self._db.execute("rollback")


def ensure_private_directory(path: str, what: str) -> None:
    """Create our directory with mode 0700, or make sure that it is ours and private.

    Raises:
        NotOursError: It is a symlink, no directory, somebody else's, or stands in a directory in which
            anybody could replace it.
    """
    parent = os.path.dirname(path)
    try:
        os.makedirs(parent, exist_ok=True)
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            pass
        check_owned(path, what, directory=True)
        mode = os.lstat(path).st_mode
        if stat.S_IMODE(mode) & 0o077:
            os.chmod(path, 0o700)
    except OSError as error:
        raise NotOursError(what, f"can't be created ({_reason(error)})", "Make its parent writable.") from error


def check_owned(path: str, what: str, *, directory: bool) -> None:
    """Refuse a path that is a symlink, of another kind, or another user's.

    Raises:
        NotOursError: With what is wrong and what to do.
        OSError: The path can't be looked at.
    """
    seen = os.lstat(path)
    if stat.S_ISLNK(seen.st_mode):
        raise NotOursError(what, "is a symbolic link", "Replace it by what it points to.")
    if directory and not stat.S_ISDIR(seen.st_mode):
        raise NotOursError(what, "is no directory", "Move it away.")
    if not directory and not stat.S_ISREG(seen.st_mode):
        raise NotOursError(what, "is no regular file", "Move it away.")
    if seen.st_uid != os.geteuid():
        raise NotOursError(what, "belongs to another user", "Use a directory of your own (UPHELD_HOME).")
    if directory:
        above = path
        while above != (above := os.path.dirname(above)):
            mode = os.stat(above).st_mode
            if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
                raise NotOursError(
                    what, "stands below a directory that anybody may change", "Take the write bit for others off it."
                )
    elif seen.st_mode & 0o022:
        raise NotOursError(what, "may be written by other users", "Run `chmod 600` on it.")


def open_for_writing(
    path: str, kind: str, *, timeout_ms: int = WRITE_TIMEOUT_MS, vfs: str | None = None
) -> apsw.Connection:
    """Open a database of ours for reading and writing; create and migrate it where needed.

    Args:
        path: Absolute path of the file. Its directory is created with mode 0700.
        kind: `LEDGER` or `CONVERSATIONS`.
        timeout_ms: How long a statement waits for another process's lock.
        vfs: Another SQLite file system layer; the tests use one whose syncs are slow.

    Raises:
        StorageError: One of the cases of this module; the file is left as it was.
    """
    what = _name(kind)
    ensure_private_directory(os.path.dirname(path), f"The directory of {what}")
    db: apsw.Connection | None = None
    try:
        if not os.path.lexists(path):
            _create(path, kind, vfs)
        check_owned(path, what[0].upper() + what[1:], directory=False)
        _peek(path, kind)
        db = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE, vfs=vfs)
        db.set_busy_timeout(timeout_ms)
        if _is_blank(db):
            _prepare(db, path, kind)
        _check_kind(db, kind)
        _tune(db, kind)
        if _version(db) < VERSIONS[kind]:
            migrate(db, kind)
    except apsw.BusyError as error:
        _close(db)
        raise BusyError(what) from error
    except apsw.Error as error:
        _close(db)
        raise UnreadableDatabaseError(what, _sqlite_reason(error)) from error
    except OSError as error:
        _close(db)
        raise UnreadableDatabaseError(what, _reason(error)) from error
    except StorageError:
        _close(db)
        raise
    return db


def _create(path: str, kind: str, vfs: str | None) -> None:
    """Make a new database beside its place and put it there whole: nobody sees one half made."""
    beside = f"{path}.{os.urandom(8).hex()}.new"
    os.close(os.open(beside, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
    try:
        db = apsw.Connection(beside, flags=apsw.SQLITE_OPEN_READWRITE, vfs=vfs)
        try:
            _prepare(db, path, kind)
            _tune(db, kind)
            migrate(db, kind)
        finally:
            db.close()
        try:
            os.link(beside, path)
        except FileExistsError:
            pass  # another process was first, and its file is as good
        except OSError:
            if not os.path.lexists(path):  # a file system without hard links
                os.rename(beside, path)
    finally:
        if os.path.exists(beside):
            os.unlink(beside)


def open_for_reading(path: str, kind: str, *, timeout_ms: int = HOOK_TIMEOUT_MS) -> apsw.Connection | None:
    """Open a database of ours without ever changing it; None if there is none.

    Where nothing can be written beside the file, a WAL database opens read-only only while its `-shm` and
    `-wal` are there or not needed; if no `-wal` exists before and after, its content can't change under us and
    the immutable way is safe.

    Raises:
        StorageError: One of the cases of this module.
    """
    what = _name(kind)
    try:
        check_owned(path, what[0].upper() + what[1:], directory=False)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnreadableDatabaseError(what, _reason(error)) from error
    db: apsw.Connection | None = None
    try:
        if os.path.getsize(path) == 0:
            return None
        _peek(path, kind)
        db = _open_read_only(path, timeout_ms)
        _check_kind(db, kind)
        if _version(db) < VERSIONS[kind]:
            raise UnreadableDatabaseError(what, "its schema is older; any writing command upgrades it")
    except apsw.BusyError as error:
        _close(db)
        raise BusyError(what) from error
    except apsw.Error as error:
        _close(db)
        raise UnreadableDatabaseError(what, _sqlite_reason(error)) from error
    except OSError as error:  # it went away since we looked
        _close(db)
        raise UnreadableDatabaseError(what, _reason(error)) from error
    except StorageError:
        _close(db)
        raise
    return db


def _close(db: apsw.Connection | None) -> None:
    if db is not None:
        db.close()


def _peek(path: str, kind: str) -> None:
    """Refuse a file that is not ours before anything is opened that could change it.

    SQLite rolls a foreign file's journal back and empties its WAL, so only the header is read: through SQLite's own
    file layer, since closing a file of our own would drop the locks that another connection of this process has.
    """
    if os.path.getsize(path) == 0:
        return
    file = apsw.VFSFile("", path, [apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB, 0])
    try:
        header = file.xRead(_HEADER_BYTES, 0)
    finally:
        file.xClose()
    if not header.startswith(_MAGIC):
        raise UnreadableDatabaseError(_name(kind), "it is no SQLite database")
    # Offsets of user_version and application_id: sqlite.org/fileformat.html, "The Database Header".
    version, application = int.from_bytes(header[60:64]), int.from_bytes(header[68:72])
    _check_ids(kind, version, application)


def _open_immutable(path: str) -> apsw.Connection:
    return apsw.Connection(
        "file:" + _uri_path(path) + "?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    )


def _open_read_only(path: str, timeout_ms: int) -> apsw.Connection:
    wal = path + "-wal"
    had_wal = os.path.exists(wal)
    try:
        db = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
        db.set_busy_timeout(timeout_ms)
        db.execute("select 1 from sqlite_schema").get  # noqa: B018 - the first read is what can fail
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        if had_wal or os.path.exists(wal):
            raise
        db = _open_immutable(path)
        if os.path.exists(wal):
            db.close()
            raise
    return db


def migrate(db: apsw.Connection, kind: str, *, stop_before: int | None = None) -> None:
    """Run the migrations that a database lacks, one transaction each.

    Two processes may start at once: each migration looks again at the version once it holds the lock.
    """
    directory = os.path.join(os.path.dirname(os.path.abspath(__file__)), "migrations", kind)
    for name in sorted(os.listdir(directory)):
        if not name.endswith(".sql"):
            continue
        number = int(name.split("_")[0])
        if stop_before is not None and number >= stop_before:
            return
        with open(os.path.join(directory, name), encoding="utf-8") as file:
            script = file.read()
        with Transaction(db):
            if _version(db) < number:
                # What is stored already is indexed by the same spelling as what comes.
                db.create_scalar_function("spell", lambda *texts: spell(str(texts[0])), 1)
                db.create_scalar_function("fold", lambda *texts: fold(str(texts[0])), 1)
                db.execute(script)
                db.create_scalar_function("spell", None, 1)
                db.create_scalar_function("fold", None, 1)
                db.execute(f"pragma user_version = {number}")


def _name(kind: str) -> str:
    return "the ledger" if kind == LEDGER else "the database of conversations"


def _is_blank(db: apsw.Connection) -> bool:
    return bool(db.execute("select not exists (select 1 from sqlite_schema)").get) and _version(db) == 0


def _version(db: apsw.Connection) -> int:
    return int(db.execute("pragma user_version").get)


def _prepare(db: apsw.Connection, path: str, kind: str) -> None:
    """Make a blank file ours. The journal mode is kept in the file, so it is chosen once."""
    # The id first: with a WAL it would stay there, and a file must say whose it is without its WAL.
    db.execute(f"pragma application_id = {APPLICATION_IDS[kind]}")
    mode = "truncate" if on_network_file_system(path) else "wal"
    db.execute(f"pragma journal_mode = {mode}").get  # noqa: B018 - reading the answer is what runs it


def _check_kind(db: apsw.Connection, kind: str) -> None:
    _check_ids(kind, _version(db), int(db.execute("pragma application_id").get))


def _check_ids(kind: str, version: int, application: int) -> None:
    what = _name(kind)
    if application != APPLICATION_IDS[kind]:
        raise NotOursError(
            what[0].upper() + what[1:], "is a database of another program", "Move it away, or set UPHELD_HOME."
        )
    if version > VERSIONS[kind]:
        raise NewerSchemaError(what[0].upper() + what[1:], version, VERSIONS[kind])


def _tune(db: apsw.Connection, kind: str) -> None:
    db.execute("pragma foreign_keys = on; pragma recursive_triggers = on; pragma trusted_schema = off")
    # What was acknowledged to an agent must be there after a power cut; what was shown where need not.
    db.execute(f"pragma synchronous = {'full' if kind == LEDGER else 'normal'}")


def on_network_file_system(path: str, *, table: str = "/proc/self/mounts") -> bool:
    """Say whether a path lies on a file system where WAL's shared memory can't work.

    Args:
        path: Absolute.
        table: The kernel's list of what is mounted where.
    """
    try:
        with open(table, encoding="utf-8", errors="replace") as file:
            mounts = [line.split(" ")[1:3] for line in file]
    except OSError:
        return False
    best, system = "", ""
    for point, kind in mounts:
        point = point.replace("\\040", " ")  # noqa: PLW2901 - the kernel's escape for a space
        under = point in ("/", path) or path.startswith(point + "/")
        if under and len(point) >= len(best):
            best, system = point, kind
    return system.startswith(_NETWORK_FILE_SYSTEMS)


def _uri_path(path: str) -> str:
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def _reason(error: OSError) -> str:
    return (error.strerror or "the system refused").lower()


def _sqlite_reason(error: apsw.Error) -> str:
    if isinstance(error, apsw.NotADBError):
        return "it is no SQLite database"
    if isinstance(error, apsw.CorruptError):
        return "it is damaged; restore a backup"
    if isinstance(error, apsw.FullError):
        return "the disk is full"
    return str(error).split(":")[-1].strip() or type(error).__name__
