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

    `start` and `start_hash` name the event after which this key vouches; 0 and "" from the beginning.
    """

    count: int
    last_hash: str
    start: int = 0
    start_hash: str = GENESIS


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
        self._directory = state + "/chain"
        self._key_path = f"{self._directory}/{ledger_uid}.key"
        self._head_path = f"{self._directory}/{ledger_uid}.head"

    def find_key(self) -> bytes | None:
        """Return the key, None if there is none."""
        text = self._read(self._key_path)
        return None if text is None else bytes.fromhex(text.strip())

    def find_head(self) -> Head | None:
        """Return the head, None if there is none."""
        text = self._read(self._head_path)
        if text is None:
            return None
        try:
            count, last, start, start_hash = jsontext.loads(text)
            return Head(int(count), str(last), int(start), str(start_hash))
        except (ValueError, TypeError):
            raise RolledBackError("the head beside its key is damaged") from None

    def create_key(self, key: bytes, head: Head) -> None:
        """Write a new key and where its chain begins; an old pair is replaced."""
        ensure_private_directory(os.path.dirname(self._directory), "The state directory")
        ensure_private_directory(self._directory, "The directory of the chain's key")
        self._write(self._head_path, _head_text(head), sync=True)
        self._write(self._key_path, key.hex() + "\n", sync=True)

    def advance(self, head: Head) -> None:
        """Move the head forward. The caller holds the write lock; the ledger itself is already synced."""
        self._write(self._head_path, _head_text(head), sync=False)

    def _read(self, path: str) -> str | None:
        try:
            check_owned(path, "The chain's key or head", directory=False)
            with open(path, encoding="ascii") as file:
                return file.read()
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError):
            raise RolledBackError("its key or head can't be read") from None

    def _write(self, path: str, text: str, *, sync: bool) -> None:
        beside = path + ".new"
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(descriptor, "w", encoding="ascii") as file:
            file.write(text)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        os.replace(beside, path)


def _head_text(head: Head) -> str:
    return jsontext.dumps([head.count, head.last_hash, head.start, head.start_hash]) + "\n"


def same(one: str, other: str) -> bool:
    """Compare two hashes without telling by time where they differ."""
    return hmac.compare_digest(one, other)
