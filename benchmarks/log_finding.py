"""`log_finding` at 100,000 findings beside the same rows through bare SQLite, and how often each syncs."""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import apsw

from upheld.context.marks import read_marks
from upheld.findings.ledger import Caller, Ledger
from upheld.findings.operations import get_operation
from upheld.findings.place import Place
from upheld.findings.service import Findings
from upheld.storage.places import Places
from upheld.text.words import fold, spell

TESTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests")
sys.path.insert(0, TESTS)

from support.ledgers import Zipf, index_texts  # noqa: E402 - found by the line above

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = "slice.log-finding"
FINDINGS = 100_000
ROUNDS = 50
GOAL = 4


class CountingFile(apsw.VFSFile):
    def __init__(self, name: str | apsw.URIFilename | None, flags: list[int], disk: CountingDisk) -> None:
        super().__init__("", name, flags)
        self._disk = disk

    def xSync(self, flags: int) -> None:  # noqa: N802 - apsw's name
        self._disk.syncs += 1
        super().xSync(flags)


class CountingDisk(apsw.VFS):
    """SQLite's own file system layer, counting the syncs of every file."""

    def __init__(self) -> None:
        super().__init__("counting", "")
        self.syncs = 0

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> CountingFile:  # noqa: N802 - apsw's name
        return CountingFile(name, flags, self)


def _arguments(claims: Iterator[str]) -> dict[str, Any]:
    return {
        "claim": next(claims),
        "claim_kind": "observation",
        "scope": {"everywhere": True},
        "evidence": [{"source_kind": "log", "source_ref": "run-1", "rationale": "It was in the log."}],
    }


def _fill(places: Places, findings: Findings, claims: Iterator[str]) -> None:
    """Log one finding through the service and copy its rows under other words until there are 100,000.

    The copies are chained to nothing: a writer looks at what the head says and at what comes after it.
    """
    log = get_operation("log_finding")
    log.run(findings, _arguments(claims))
    findings.ledger.close()
    template = apsw.Connection(places.ledger)
    template.execute("pragma synchronous = off; pragma foreign_keys = off; pragma cache_size = -200000")
    template.execute("begin")
    number = 1
    words: list[tuple[str, int]] = []
    for claim in claims:
        number += 1
        if number > FINDINGS:
            break
        template.execute(
            """insert into findings (uid, project_id, claim, claim_kind, epistemic_state, lifecycle_state,
                 retrieval_policy, scope, tags, aliases, version, decided_event, created_at, updated_at, actor, host)
               select ?1 || substr(uid, 9), 1, ?2, claim_kind, epistemic_state, lifecycle_state, retrieval_policy,
                 scope, tags, aliases, 1, 0, created_at, updated_at, actor, host from findings where id = 1""",
            (f"{number:08x}", claim),
        )
        template.execute(
            """insert into evidence (uid, project_id, source_kind, source_ref, resolution, observed_at, created_at,
                 actor) select ?1 || substr(uid, 9), 1, source_kind, source_ref, resolution, observed_at, created_at,
                 actor from evidence where id = 1""",
            (f"{number:08x}",),
        )
        template.execute(
            """insert into finding_evidence (finding_id, evidence_id, role, method, rationale, created_at, event)
               select ?1, ?1, role, method, rationale, created_at, ?1 from finding_evidence where id = 1""",
            (number,),
        )
        template.execute(
            "insert into finding_contexts (finding_id, facts, anchor, recorded_at) values (?, '{}', '{}', '')",
            (number,),
        )
        template.execute(
            """insert into finding_events select ?1, ?1, kind, actor, host, session, at, text_hash, hash
               from finding_events where seq = 1""",
            (number,),
        )
        template.execute("insert into event_texts select ?1, salt, text from event_texts where seq = 1", (number,))
        words += [(word, number) for word in set(claim.split())]
    # In the order of the index, which is many times quicker.
    words.sort()
    template.executemany("insert into finding_words values (1, 'c', ?, ?)", words)
    template.executemany(
        "insert into project_words values (1, ?, ?) on conflict do update set findings = findings + excluded.findings",
        [("", FINDINGS - 1), *Counter(word for word, _ in words).items()],
    )
    template.execute("delete from finding_texts; delete from finding_pieces")
    index_texts(template)
    template.execute("commit; pragma wal_checkpoint(truncate)")
    template.close()
    _vouch(places)


def _vouch(places: Places) -> None:
    """Give the filled ledger a head that ends where it does, as its writer would have left it."""
    from upheld.storage.chain import Head, Seal

    db = apsw.Connection(places.ledger, flags=apsw.SQLITE_OPEN_READONLY)
    seal = Seal(places.state, str(db.execute("select uid from ledger").get))
    count, last_hash = db.execute("select seq, hash from finding_events order by seq desc limit 1").get
    db.close()
    seal.advance(Head(count, last_hash))


def _rows_of_last(db: apsw.Connection) -> list[tuple[str, list[tuple[Any, ...]]]]:
    """The rows that the last `log_finding` wrote, table by table."""
    last = db.execute("select max(id) from findings").get
    keys = {
        "findings": "id", "evidence": "id", "finding_evidence": "finding_id", "finding_contexts": "finding_id",
        "finding_events": "seq", "event_texts": "seq", "finding_words": "finding_id",
    }  # fmt: skip
    found = [
        (table, list(db.execute(f"select * from {table} where {key} = ?", (last,)))) for table, key in keys.items()
    ]
    words = [(1, row[2], 1) for row in found[-1][1]]
    says = db.execute("select claim, names, evidence from finding_says where id = ?", (last,)).get
    return [
        *found,
        ("project_words", [(1, "", 1), *words]),
        ("finding_texts (rowid, claim, names, evidence)", [(last, *map(spell, says))]),
        ("finding_pieces (rowid, says)", [(last, fold("\n".join(says)))]),
    ]


def _write_bare(db: apsw.Connection, rows: list[tuple[str, list[tuple[Any, ...]]]]) -> None:
    db.execute("begin immediate")
    for table, values in rows:
        places = ", ".join("?" * len(values[0]))
        more = " on conflict do update set findings = findings + 1" if table == "project_words" else ""
        db.executemany(f"insert into {table} values ({places}){more}", values)
    db.execute("update ledger set revision = revision + 1")
    db.execute("commit")


def rows() -> list[dict[str, Any]]:
    """Return the median of 50 calls and of the same rows written bare, interleaved, and the syncs of each."""
    top = tempfile.mkdtemp(prefix="upheld-bench-")
    disk = CountingDisk()
    try:
        places = Places(top + "/data", top + "/state", top + "/cache")
        os.mkdir(top + "/project")
        place = Place(read_marks(top + "/project", environ=os.environ), os.environ, "")
        ledger = Ledger(places, vfs="counting")
        findings = Findings(ledger, place, Caller("agent", "bench", "session"))
        zipf = Zipf(7)
        _fill(places, findings, zipf.claims(FINDINGS + 1))
        shutil.copy(places.ledger, top + "/bare.db")
        bare = apsw.Connection(top + "/bare.db", vfs="counting")
        bare.execute("pragma foreign_keys = on; pragma recursive_triggers = on; pragma synchronous = full")
        assert bare.execute("pragma journal_mode").get == "wal"
        reader = apsw.Connection(places.ledger, flags=apsw.SQLITE_OPEN_READONLY)
        taken: dict[str, list[float]] = {"ours": [], "bare": []}
        syncs: dict[str, list[int]] = {"ours": [], "bare": []}
        log = get_operation("log_finding")
        claims = zipf.claims(ROUNDS + 5)
        for turn in range(ROUNDS + 5):
            arguments = _arguments(claims)
            for name in ("ours", "bare"):
                # What the last call wrote is read before the clock starts.
                written = _rows_of_last(reader) if name == "bare" else []
                before, begin = disk.syncs, time.perf_counter()
                if name == "ours":
                    log.run(findings, arguments)
                else:
                    _write_bare(bare, written)
                if turn >= 5:
                    taken[name].append((time.perf_counter() - begin) * 1000)
                    syncs[name].append(disk.syncs - before)
        reader.close()
        bare.close()
        ledger.close()
    finally:
        disk.unregister()
        shutil.rmtree(top)
    return [
        {
            "name": PREFIX,
            "value": statistics.median(taken["ours"]),
            "unit": "ms",
            "limit": statistics.median(taken["bare"]),
            "goal": GOAL,
        },
        {
            "name": f"{PREFIX}-syncs",
            "value": statistics.median(syncs["ours"]),
            "unit": "syncs",
            "limit": statistics.median(syncs["bare"]),
            "goal": 1,
        },
    ]
