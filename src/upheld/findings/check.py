"""Check the ledger: the file, the chain over its events, and whether the tables are what the events say.

Nothing here writes but `accept_ledger`, which gives a ledger whose key was lost, or whose chain is broken, a new key.
The check works on a read-only ledger, sees one moment of it, and holds one finding in memory at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import apsw

from upheld.errors import StorageError
from upheld.findings.arguments import MAX_CLAIM, check_text
from upheld.findings.cleaning import Cleaner
from upheld.findings.ledger import as_refusals
from upheld.findings.model import scope_from_data
from upheld.findings.refusals import PersonRequiredError
from upheld.findings.replay import BrokenTrailError, Event, Replayed, replay
from upheld.findings.store import auditing, reading, searching, writing
from upheld.findings.work import list_words
from upheld.storage.chain import (
    GENESIS,
    Head,
    RolledBackError,
    Row,
    count_written,
    forget_written,
    hash_row,
    hash_text,
    same,
)
from upheld.storage.database import NotOursError
from upheld.text import jsontext

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from upheld.findings.ledger import Caller, Ledger

    Progress = Callable[[str, int, int], None]

MAX_PROBLEMS = 100
_RESTORE = "Restore a backup."
_ACCEPT = "Restore a backup, or accept the ledger as it is with `upheld check --accept`."


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is not as it was written.

    Args:
        where: `event 12`, `F-3`, `E-4`, or a part of the ledger.
        what: What is wrong with it, continuing the sentence "WHERE ...".
        do: What to do about it.
    """

    where: str
    what: str
    do: str


@dataclass(frozen=True, slots=True)
class Report:
    """What a check found.

    Args:
        problems: The first 100 of them.
        more: How many there are beyond those.
        counts: Events, findings, evidence, and events whose words were purged.
        accepted: When a person accepted the ledger as it was, who and why: JSON lines, oldest first.
    """

    problems: tuple[Problem, ...]
    more: int
    counts: dict[str, int]
    accepted: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Say whether everything is as it was written."""
        return not self.problems


class _Check:
    def __init__(self, progress: Progress | None) -> None:
        self.problems: list[Problem] = []
        self.more = 0
        self.counts = {"events": 0, "findings": 0, "evidence": 0, "purged": 0}
        self._progress = progress

    def found(self, where: str, what: str, do: str = _RESTORE) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(where, what, do))
        else:
            self.more += 1

    def tell(self, step: str, done: int, total: int) -> None:
        if self._progress is not None and (done % 1000 == 0 or done == total):
            self._progress(step, done, total)

    def report(self, accepted: list[str]) -> Report:
        return Report(tuple(self.problems), self.more, self.counts, tuple(accepted))


@as_refusals()
def check_ledger(ledger: Ledger, *, progress: Progress | None = None) -> Report:
    """Look at everything in the ledger and say what is not as it was written. Never changes it.

    Args:
        ledger: Which one.
        progress: Called with a step (`events`, `findings`), how many are done and how many there are.

    Raises:
        StorageError: The file can't be opened as our ledger at all.
    """
    check = _Check(progress)
    db = ledger.read_afresh()
    if db is None:
        if lost := count_written(ledger.places.state):
            check.found("the ledger", f"is gone; {lost} events were written to it")
        return check.report([])
    accepted: list[str] = []
    try:
        # The head is read first: an event written meanwhile is one past the head, never one that is missing.
        key, head, accepted = _read_seal(check, ledger, db)
        db.execute("begin")
        try:
            if _check_file(check, db):
                check.counts |= auditing.count_rows(db)
                _check_chain(check, db, key, head)
                _check_findings(check, db)
                _check_rest(check, db)
        finally:
            db.execute("rollback")
    except (apsw.CorruptError, apsw.NotADBError):
        check.found("the file", "is damaged where it was read")
    finally:
        db.close()
    return check.report(accepted)


def accept_ledger(ledger: Ledger, caller: Caller, reason: str, *, home: str) -> Report:
    """Take the ledger as it is, under a new key, after its key was lost or its chain broken; for people only.

    From now on the new key vouches for what is there; what came before is not made true by it. Tables that
    differ from their events still do, and stay in the report. A chain that is whole is left alone.

    Args:
        ledger: Which one.
        caller: Who; must be a person.
        reason: Why, kept beside the key.
        home: The user's home directory, which becomes `~` in what is kept.

    Raises:
        PersonRequiredError: An agent asks.
        StorageError: There is no ledger, or its file is damaged.
    """
    if caller.actor != "user":
        raise PersonRequiredError("Accepting the ledger as it is")
    why = Cleaner(home).text(check_text("reason", reason, MAX_CLAIM))
    if ledger.read() is None:
        if not count_written(ledger.places.state):
            raise StorageError("There is no ledger to accept. Nothing was written.")
        forget_written(ledger.places.state)
        return check_ledger(ledger)
    with ledger.repair() as db:
        if auditing.find_file_problems(db, 1):
            raise StorageError("The ledger's file is damaged; restore a backup. Nothing was written.")
        check = _Check(None)
        key, head, _ = _read_seal(check, ledger, db)
        _check_chain(check, db, key, head)
        if check.problems:
            _give_new_key(ledger, db, {"at": ledger.now(), "reason": why, "problems": len(check.problems) + check.more})
    return check_ledger(ledger)


def _give_new_key(ledger: Ledger, db: apsw.Connection, record: dict[str, Any]) -> None:
    count, last_hash = writing.get_last_event(db)
    key, digest = ledger.new_key(), GENESIS
    for event in reading.iter_events_after(db, 0):
        digest = hash_row(key, digest, Row(*event[:8]))
    seal = ledger.seal(db)
    seal.create_key(key, Head(count, last_hash, count, last_hash, digest))
    seal.keep_acceptance(jsontext.dumps({**record, "events": count}))


def _read_seal(check: _Check, ledger: Ledger, db: apsw.Connection) -> tuple[bytes | None, Head | None, list[str]]:
    """Return key and head, None where they are missing although there are events, and who accepted what."""
    try:
        if not reading.get_ledger_uid(db) and not writing.get_last_event(db)[0]:
            return None, None, []
        seal = ledger.seal(db)
        key, head = seal.find_key(), seal.find_head()
    except (RolledBackError, NotOursError) as error:
        check.found("the key", f"cannot be used: {error.message}", _ACCEPT)
        return None, None, []
    if (key is None or head is None) and writing.get_last_event(db)[0]:
        missing = "the key" if key is None else "the head"
        do = f"Put the state directory back. {_ACCEPT}"
        check.found(missing, "is missing from the state directory, so nobody can vouch for the events", do)
    return key, head, seal.find_acceptances()


def _check_file(check: _Check, db: apsw.Connection) -> bool:
    """Look at the file itself; False if reading on makes no sense."""
    said = auditing.find_file_problems(db, MAX_PROBLEMS)
    for line in said:
        check.found("the file", f"is damaged: {line}")
    for table, row, parent in auditing.iter_broken_references(db):
        check.found(f"{table} row {row}", f"refers to a row of {parent} that is not there")
    for name in auditing.find_schema_changes(db):
        check.found(name, "is not as this schema has it")
    return not said


def _check_chain(check: _Check, db: apsw.Connection, key: bytes | None, head: Head | None) -> None:
    """Follow the chain from the first event to the last, and hold it against the head."""
    head = head or Head(0, GENESIS)
    before = digest = GENESIS
    last = 0
    for done, (*covered, hash_, salt, text) in enumerate(reading.iter_events(db), 1):
        check.tell("events", done, check.counts["events"])
        row = Row(*covered)  # type: ignore[arg-type]  # the columns in the order of Row
        where = f"event {row.seq}"
        _check_words(check, db, row, salt, text)
        if row.seq > last + 1 and row.seq > head.start:
            gone = f"event {last + 1}" if row.seq == last + 2 else f"events {last + 1} to {row.seq - 1}"
            check.found(gone, "was removed" if row.seq == last + 2 else "were removed", _ACCEPT)
        if key is not None and row.seq <= head.start:
            digest = hash_row(key, digest, row)
            if row.seq == head.start and not same(digest, head.start_digest):
                check.found(f"events 1 to {row.seq}", "are not those that were accepted", _ACCEPT)
        elif key is not None and not same(hash_row(key, before, row), str(hash_)):
            check.found(where, "does not continue the chain: it, or the one before it, was changed or put in", _ACCEPT)
        if row.seq == head.count and not same(str(hash_), head.last_hash):
            check.found(where, "is not the one that was written last", _ACCEPT)
        before, last = str(hash_), row.seq
    if last < head.count:
        check.found("the ledger", f"ends at event {last}, and {head.count} were written: it was rolled back", _ACCEPT)


def _check_words(check: _Check, db: apsw.Connection, row: Row, salt: object, text: object) -> None:
    if text is None:
        if auditing.is_purged_after(db, row.finding_id, row.seq) or row.kind == "purged":
            check.counts["purged"] += 1
        else:
            check.found(f"event {row.seq}", "has lost its words without a purge")
    elif not same(hash_text(str(salt), str(text)), row.text_hash):
        check.found(f"event {row.seq}", "has other words than were written")


def _check_findings(check: _Check, db: apsw.Connection) -> None:
    """Replay each finding and compare it with its rows."""
    projects = auditing.find_project_uids(db)
    groups = groupby(auditing.iter_events_by_finding(db), key=lambda event: int(event[0]))
    for done, (finding_id, events) in enumerate(groups, 1):
        check.tell("findings", done, check.counts["findings"])
        try:
            wanted = replay(Event(*event[1:]) for event in events)
        except BrokenTrailError as error:
            check.found(f"event {error.seq}", error.problem)
            continue
        try:
            differences = [] if wanted is None else list(_compare(db, finding_id, wanted, projects))
        except (ValueError, TypeError, AttributeError):
            differences = [(f"F-{finding_id}", "holds JSON that cannot be read")]
        for where, what in differences:
            check.found(where, what)
    for finding_id in auditing.find_unlogged_findings(db, MAX_PROBLEMS):
        check.found(f"F-{finding_id}", "is there without any event")


def _compare(
    db: apsw.Connection, finding_id: int, wanted: Replayed, projects: dict[int, str]
) -> Iterator[tuple[str, str]]:
    name = f"F-{finding_id}"
    row = auditing.find_row(db, finding_id)
    if row is None:
        yield name, "has events and is gone"
        return
    project = row.pop("project_id")
    row["project"] = projects.get(project)
    different = sorted(column for column in row.keys() | wanted.row.keys() if row.get(column) != wanted.row.get(column))
    if different:
        yield name, f"was changed without an event: {', '.join(different)}"
    if auditing.find_links(db, finding_id) != wanted.links:
        yield name, "has other evidence than its events say"
    for evidence_id, source in wanted.sources.items():
        if auditing.find_source(db, evidence_id) != (project, source):
            yield f"E-{evidence_id}", "was changed without an event, or is gone"
    if auditing.find_contexts(db, finding_id) != wanted.contexts:
        yield name, "is known to hold in other contexts than its events say"
    if auditing.find_own_relations(db, finding_id) != wanted.relations:
        yield name, "has other relations than its events say"
    if auditing.find_rule(db, finding_id) != wanted.rule:
        yield name, "is proposed to become another rule than its events say"
    if auditing.find_doc_links(db, finding_id) != wanted.doc_links:
        yield name, "has other document links than its events say"
    words = list_words(row["claim"], row["tags"], row["aliases"], scope_from_data(row["scope"]).paths)
    if auditing.find_words(db, finding_id) != {(project, part, word) for part, held in words.items() for word in held}:
        yield name, "is indexed under other words than it has"


def _check_rest(check: _Check, db: apsw.Connection) -> None:
    for evidence_id in auditing.find_unlinked_evidence(db, MAX_PROBLEMS):
        check.found(f"E-{evidence_id}", "is there without any event")
    for uid in auditing.find_double_uids(db, MAX_PROBLEMS):
        check.found(f"uid {uid}", "is given twice")
    for name in searching.find_text_problems(db, MAX_PROBLEMS):
        check.found(name, "is not in the full-text index as it should be")
    for word in auditing.find_wrong_counts(db, MAX_PROBLEMS):
        check.found(
            "the word index", f"counts {word!r} wrongly" if word else "counts the findings of a project wrongly"
        )
