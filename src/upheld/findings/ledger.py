"""The ledger as one thing to read and to write: locks, one transaction for each write, and the chain.

A write takes the writers' lock (a file, so that waiting is fair and quiet), looks whether the ledger
still continues what was last written, runs everything in one transaction with one synced commit, and
moves the head forward. Reading never takes a lock.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import apsw

from upheld.errors import StorageError
from upheld.findings.store import reading, searching, writing
from upheld.storage import database
from upheld.storage.chain import (
    GENESIS,
    Head,
    KeyMissingError,
    LedgerGoneError,
    RolledBackError,
    Row,
    Seal,
    count_written,
    hash_row,
    hash_text,
    same,
)
from upheld.text import jsontext

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from upheld.storage.places import Places

LOCK_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class _Opened:
    """A connection and which file it has open: a restored backup is another file under the same name."""

    db: apsw.Connection
    file: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: `user`, `agent` or `system`, and where known the host, its session and the subagent in it."""

    actor: str
    host: str = ""
    session: str = ""
    agent: str = ""


@dataclass(slots=True)
class Write:
    """One open write: a transaction that also appends to the audit trail.

    Args:
        db: The connection, inside its transaction.
        now: The time of this write: never before that of the last event, even if the clock was set back.
        caller: Who writes.
        entropy: Random bytes.
    """

    db: apsw.Connection
    now: str
    caller: Caller
    entropy: Callable[[int], bytes]
    _key: bytes
    _head: Head
    _count: int
    _last_hash: str
    warnings: list[str] = field(default_factory=list)

    def new_uid(self) -> str:
        """Return a new stable uid: 32 hex digits."""
        return self.entropy(16).hex()

    def next_event(self) -> int:
        """Return the seq that the next event will have."""
        return self._count + 1

    def add_event(
        self,
        finding_id: int,
        kind: str,
        *,
        reason: str,
        before: Mapping[str, object] | None,
        after: Mapping[str, object],
    ) -> None:
        """Append one event: what changed, from what to what, and why. Nothing changes without one."""
        text = jsontext.dumps_canonical({"reason": reason, "before": before, "after": after})
        salt = self.entropy(16).hex()
        caller = self.caller
        row = Row(
            seq=self._count + 1,
            finding_id=finding_id,
            kind=kind,
            actor=caller.actor,
            host=caller.host,
            session=caller.session,
            at=self.now,
            text_hash=hash_text(salt, text),
        )
        self._last_hash = hash_row(self._key, self._last_hash, row)
        self._count += 1
        writing.add_event(self.db, row, self._last_hash, salt, text)
        # Whatever changed, it has an event: so none is forgotten here.
        searching.refresh_text(self.db, finding_id)

    @property
    def reached(self) -> Head:
        """Return the head of the chain after this write."""
        return replace(self._head, count=self._count, last_hash=self._last_hash)


class Ledger:
    """The ledger database of one installation.

    Args:
        places: Its directories.
        clock: Seconds since the epoch.
        entropy: Random bytes.
        vfs: Another SQLite file system layer, for tests.
    """

    def __init__(
        self,
        places: Places,
        *,
        clock: Callable[[], float] = time.time,
        entropy: Callable[[int], bytes] = os.urandom,
        vfs: str | None = None,
    ) -> None:
        self.places = places
        self._clock = clock
        self._entropy = entropy
        self._vfs = vfs
        self._writer: _Opened | None = None
        self._reader: _Opened | None = None

    def now(self) -> str:
        """Return the time, ISO 8601 in UTC with milliseconds."""
        return format_time(self._clock())

    def read(self) -> apsw.Connection | None:
        """Return a connection for reading, None while there is no ledger.

        Raises:
            StorageError: The ledger is damaged, foreign, newer or unreadable.
        """
        if self._reader is not None and self._reader.file != _identify(self.places.ledger):
            _let_go(self._reader)
            self._reader = None
        if self._reader is None:
            db = database.open_for_reading(self.places.ledger, database.LEDGER, timeout_ms=database.WRITE_TIMEOUT_MS)
            if db is None:
                return None
            self._reader = _Opened(db, _identify(self.places.ledger))
        return self._reader.db

    def read_afresh(self) -> apsw.Connection | None:
        """Return a new connection for reading, the caller's to close; None while there is no ledger.

        For the check: SQLite's own look at a full-text index trusts what a connection remembers of it, which may be
        older than the file, and then calls a sound index damaged.

        Raises:
            StorageError: The ledger is damaged, foreign, newer or unreadable.
        """
        return database.open_for_reading(self.places.ledger, database.LEDGER, timeout_ms=database.WRITE_TIMEOUT_MS)

    @contextmanager
    def write(self, caller: Caller) -> Iterator[Write]:
        """Open one write; it is committed, synced and covered by the head when the block ends.

        Raises:
            StorageError: Nothing was written.
        """
        with self._locked():
            with as_refusals(), database.Transaction(db := self._open_writer()):
                opened = self._begin(db, caller)
                start = opened.reached
                yield opened
                if opened.reached != start:
                    writing.advance_revision(db)
            if opened.reached != start:
                # A head that stays behind is no alarm, so a failure here is none either.
                with suppress(OSError):
                    self.seal(db).advance(opened.reached)

    def squeeze(self) -> bool:
        """Write the file anew without what was deleted, and empty the log beside it; say whether that could be done."""
        with self._locked():
            db = self._open_writer()
            if self._reader is not None:
                self._reader.db.close()
                self._reader = None
            try:
                db.execute("pragma secure_delete = on").get  # noqa: B018 - reading the answer is what runs it
                db.execute("vacuum")
                busy = db.execute("pragma wal_checkpoint(truncate)").get[0]
            except apsw.BusyError:
                return False
        return not busy

    def close(self) -> None:
        """Close both connections."""
        # The writer last: it can empty the WAL and leave one whole file behind, a reader can't.
        for opened in (self._reader, self._writer):
            if opened is not None:
                opened.db.close()
        self._writer = self._reader = None

    def seal(self, db: apsw.Connection) -> Seal:
        """Return the key and head of this ledger."""
        return Seal(self.places.state, reading.get_ledger_uid(db))

    @contextmanager
    def repair(self) -> Iterator[apsw.Connection]:
        """Hold the writers' lock and a transaction without looking at the chain: for accepting the ledger as it is."""
        with self._locked(), as_refusals(), database.Transaction(db := self._open_writer()):
            yield db

    def new_key(self) -> bytes:
        """Return random bytes for a chain's key."""
        return self._entropy(32)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        database.ensure_private_directory(self.places.state, "The state directory")
        path = self.places.state + "/ledger.lock"
        try:
            lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StorageError(
                "The state directory can't be written. A process confined by a sandbox can't log: use the MCP tool "
                "of the same name. Nothing was written."
            ) from error
        try:
            _wait_for(lock)
            yield
        finally:
            os.close(lock)

    def _open_writer(self) -> apsw.Connection:
        if self._writer is not None and self._writer.file != _identify(self.places.ledger):
            _let_go(self._writer)
            self._writer = None
        if self._writer is None:
            if not os.path.lexists(self.places.ledger) and (lost := count_written(self.places.state)):
                raise LedgerGoneError(lost)
            db = database.open_for_writing(self.places.ledger, database.LEDGER, vfs=self._vfs)
            if not reading.get_ledger_uid(db):
                with database.Transaction(db):
                    writing.ensure_ledger(db, self._entropy(16).hex(), self.now())
            self._writer = _Opened(db, _identify(self.places.ledger))
        return self._writer.db

    def _begin(self, db: apsw.Connection, caller: Caller) -> Write:
        count, last_hash = writing.get_last_event(db)
        key, head = self._check_continues(db, self.seal(db), count)
        now = self.now()
        last_at = reading.get_last_time(db)
        write = Write(db, max(now, last_at), caller, self._entropy, key, head, count, last_hash)
        if last_at > now:
            write.warnings.append(
                f"The clock is behind the last event ({last_at}); this write carries that time instead."
            )
        return write

    def _check_continues(self, db: apsw.Connection, seal: Seal, count: int) -> tuple[bytes, Head]:
        """Return key and head, after looking whether the ledger still continues what the head says was written."""
        key, head = seal.find_key(), seal.find_head()
        if key is None or head is None:
            if count:
                raise KeyMissingError
            key, head = self.new_key(), Head(0, GENESIS)
            seal.create_key(key, head)
            return key, head
        if count < head.count:
            raise RolledBackError(f"it holds {count} events, and {head.count} were written")
        if head.count and not same(writing.find_event_hash(db, head.count) or "", head.last_hash):
            raise RolledBackError(f"event {head.count} is not the one that was written")
        check_rows(db, key, head.count, head.last_hash)
        return key, head


def check_rows(db: apsw.Connection, key: bytes, after: int, hash_before: str) -> None:
    """Refuse rows past the head whose hashes don't continue the chain.

    Raises:
        RolledBackError: Somebody without the key added an event.
    """
    for event in reading.iter_events_after(db, after):
        row = Row(*event[:8])
        hash_before = hash_row(key, hash_before, row)
        if not same(hash_before, event[8]):
            raise RolledBackError(f"event {row.seq} was added without the key")


def format_time(seconds: float) -> str:
    """Return a time as ISO 8601 in UTC with milliseconds."""
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{int(seconds * 1000) % 1000:03d}Z"


def _wait_for(lock: int) -> None:
    """Take the writers' lock; waits are short and grow, so that many writers do not starve one."""
    end = time.monotonic() + LOCK_SECONDS
    pause = 0.001
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise StorageError(
                    "The writers' lock can't be taken on this file system. Nothing was written."
                ) from error
            if time.monotonic() > end:
                raise database.BusyError("The ledger") from error
            time.sleep(pause)
            pause = min(0.02, pause * 1.5)
        else:
            return


@contextmanager
def as_refusals() -> Iterator[None]:
    """Let no error of the driver leave: each becomes a `StorageError` that says what to do."""
    try:
        yield
    except apsw.Error as error:
        raise _as_storage_error(error) from error


def _identify(path: str) -> tuple[int, int] | None:
    try:
        seen = os.stat(path, follow_symlinks=False)
    except OSError:
        return None
    return seen.st_dev, seen.st_ino


def _let_go(opened: _Opened) -> None:
    """Close a connection to a file that is no longer the ledger.

    Without the option SQLite would remove the WAL by its name, which is the new file's by now.
    """
    opened.db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    opened.db.close()


def _as_storage_error(error: apsw.Error) -> StorageError:
    if isinstance(error, apsw.BusyError):
        return database.BusyError("The ledger")
    if isinstance(error, apsw.FullError):
        return StorageError("The disk is full. Nothing was written.")
    if isinstance(error, (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError)):
        return StorageError(
            "The ledger can't be written from here. A process confined by a sandbox can't log: use the MCP tool of the "
            "same name. Nothing was written."
        )
    if isinstance(error, (apsw.CorruptError, apsw.NotADBError)):
        return StorageError("The ledger is damaged. `upheld check` says where; restore a backup. Nothing was written.")
    return StorageError(
        "The ledger can't be used as it is. `upheld check` says what is wrong with it. Nothing was written."
    )
