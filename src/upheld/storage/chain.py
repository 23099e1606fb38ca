"""The keyed chain over the audit trail, and the head that says how far it reaches.

Each event's hash covers the row and the hash of the row before it, under a key that lies in the
state directory. Beside it lies the head: ledger uid, count and last hash, written after each commit
and only forward. Somebody who has the ledger file but not the account can therefore neither change,
remove, reorder, forge or replay a row nor roll the file back without being noticed.

A crash between commit and head is no alarm: rows past the head must carry valid hashes, no more.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from dataclasses import dataclass

from upheld.errors import StorageError
from upheld.storage.database import check_owned, ensure_private_directory
from upheld.text import jsontext

_HEX = frozenset("0123456789abcdef")
_HEAD_BYTES = 300
"""Every head has this length, so that a shorter one leaves nothing of a longer one behind."""

GENESIS = ""
"""The "hash before" of the first row."""


class KeyMissingError(StorageError):
    """The ledger has events, but the key that vouches for them is not in the state directory."""

    def __init__(self) -> None:
        super().__init__(
            "The ledger's key is missing from the state directory, so nobody can say whether its events are whole. "
            "Put the state directory back, or look at `upheld check` and accept the ledger as it is with "
            "`upheld check --accept`. Nothing was written."
        )


class LedgerGoneError(StorageError):
    """There is no ledger, but its head says that events were written."""

    def __init__(self, count: int) -> None:
        super().__init__(
            f"The ledger is gone: {count} events were written to it. Restore a backup, or begin a new one with "
            "`upheld check --accept`. Nothing was written."
        )


class RolledBackError(StorageError):
    """The ledger does not continue what was last written to it."""

    def __init__(self, problem: str) -> None:
        super().__init__(
            f"The ledger was changed behind Upheld's back: {problem}. `upheld check` says what differs; restore a "
            "backup, or accept the ledger as it is with `upheld check --accept`. Nothing was written."
        )


@dataclass(frozen=True, slots=True)
class Row:
    """One event as the chain covers it; `text_hash` stands for its words."""

    seq: int
    finding_id: int
    kind: str
    actor: str
    host: str
    session: str
    at: str
    text_hash: str


@dataclass(frozen=True, slots=True)
class Head:
    """How far the chain was written: the number of events and the hash of the last one.

    `start` is the event after which this key vouches row by row, 0 from the beginning. What a person accepted
    up to there is vouched for by `start_digest`, the chain of this key over those rows from the first on.
    """

    count: int
    last_hash: str
    start: int = 0
    start_hash: str = GENESIS
    start_digest: str = GENESIS


def hash_text(salt: str, text: str) -> str:
    """Return the salted hash of an event's text, 64 hex digits."""
    return hashlib.blake2b(f"{salt}\n{text}".encode("utf-8", "surrogatepass"), digest_size=32).hexdigest()


def hash_row(key: bytes, before: str, row: Row) -> str:
    """Return the keyed hash of a row over the hash before it, 64 hex digits."""
    covered = [before, row.seq, row.finding_id, row.kind, row.actor, row.host, row.session, row.at, row.text_hash]
    text = jsontext.dumps_ascii(covered).encode("ascii")
    return hashlib.blake2b(text, key=key, digest_size=32).hexdigest()


class Seal:
    """The key and the head of one ledger, in the state directory.

    Args:
        state: The state directory.
        ledger_uid: Whose key and head; several ledgers may share a state directory.
    """

    def __init__(self, state: str, ledger_uid: str) -> None:
        if len(ledger_uid) != 32 or not set(ledger_uid) <= _HEX:  # it comes from the file and names paths
            raise RolledBackError("its uid is damaged")
        self._directory = state + "/chain"
        self._key_path = f"{self._directory}/{ledger_uid}.key"
        self._head_path = f"{self._directory}/{ledger_uid}.head"
        self._accepted_path = f"{self._directory}/{ledger_uid}.accepted"

    def find_key(self) -> bytes | None:
        """Return the key, None if there is none."""
        text = self._read(self._key_path)
        if text is None:
            return None
        text = text.strip()
        if len(text) != 64 or not set(text) <= _HEX:
            raise RolledBackError("its key is damaged")
        return bytes.fromhex(text)

    def find_head(self) -> Head | None:
        """Return the head, None if there is none."""
        text = self._read(self._head_path)
        if text is None:
            return None
        try:
            count, last, start, start_hash, digest = jsontext.loads(text)
            return Head(int(count), str(last), int(start), str(start_hash), str(digest))
        except (ValueError, TypeError):
            raise RolledBackError("the head beside its key is damaged") from None

    def create_key(self, key: bytes, head: Head) -> None:
        """Write a new key and where its chain begins; an old pair is replaced.

        The key comes first: whoever is stopped between the two finds a head that does not fit and is asked again.
        """
        ensure_private_directory(os.path.dirname(self._directory), "The state directory")
        ensure_private_directory(self._directory, "The directory of the chain's key")
        self._write(self._key_path, key.hex() + "\n")
        self._write(self._head_path, _head_text(head))

    def advance(self, head: Head) -> None:
        """Move the head forward. The caller holds the write lock; the ledger itself is already synced.

        One block of the file is overwritten in place: no second sync, and a power cut leaves the old head or the new.
        """
        descriptor = os.open(self._head_path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.pwrite(descriptor, _head_text(head).encode("ascii"), 0)
        finally:
            os.close(descriptor)

    def _read(self, path: str) -> str | None:
        try:
            check_owned(path, "The chain's key or head", directory=False)
            with open(path, encoding="ascii") as file:
                return file.read()
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError):
            raise RolledBackError("its key or head can't be read") from None

    def set_aside(self) -> None:
        """Rename the head, so that it counts no more and can be looked at."""
        os.replace(self._head_path, self._head_path + ".aside")

    def keep_acceptance(self, line: str) -> None:
        """Append one line to the record of who accepted the ledger as it was, and why."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(self._accepted_path, flags, 0o600), "a", encoding="utf-8") as file:
            file.write(line + "\n")

    def find_acceptances(self) -> list[str]:
        """Return the lines of that record, oldest first."""
        try:
            check_owned(self._accepted_path, "The record of acceptances", directory=False)
            with open(self._accepted_path, encoding="utf-8") as file:
                return file.read().splitlines()
        except (OSError, UnicodeDecodeError):
            return []

    def _write(self, path: str, text: str) -> None:
        beside = path + ".new"
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(descriptor, "w", encoding="ascii") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)


def count_written(state: str) -> int:
    """Return how many events the heads in a state directory speak of: what is lost when the ledger is gone."""
    return sum(head.count for seal in _find_seals(state) if (head := seal.find_head()) is not None)


def forget_written(state: str) -> None:
    """Set the heads in a state directory aside, so that a new ledger may begin."""
    for seal in _find_seals(state):
        seal.set_aside()


def _find_seals(state: str) -> list[Seal]:
    try:
        names = sorted(os.listdir(state + "/chain"))
    except FileNotFoundError:
        return []
    return [Seal(state, name.removesuffix(".head")) for name in names if name.endswith(".head")]


def _head_text(head: Head) -> str:
    text = jsontext.dumps([head.count, head.last_hash, head.start, head.start_hash, head.start_digest])
    return text.ljust(_HEAD_BYTES) + "\n"


def same(one: str, other: str) -> bool:
    """Compare two hashes without telling by time where they differ."""
    return hmac.compare_digest(one, other)
