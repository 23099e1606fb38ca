"""What a query in words costs over 100,000 findings, beside the bare full-text statement of the same words.

Words are drawn by how many findings hold them: `rare` (a handful), `median` and `top20` (the twenty commonest), one to
three words a query. Ours is `search`, from the text to a page of loaded findings: exact names, all words, any word,
pieces inside words. Bare is one `MATCH ... LIMIT` over the same index for as many rows, each loaded whole: what the
least that answers the question costs. It takes any of the words in no order, which is the least that full text can do:
`order by rank` takes about three hundred times as long for common words, and would be a limit that anything meets.
`.operation` is all of `query_findings` for mixed words, judging included; it has no limit.
"""

from __future__ import annotations

import os
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from upheld.context.marks import read_marks
from upheld.context.store import Project
from upheld.findings.ledger import Caller, Ledger
from upheld.findings.operations import get_operation
from upheld.findings.place import Place
from upheld.findings.search import Found, search
from upheld.findings.service import Findings
from upheld.findings.store import reading
from upheld.storage.places import Places
from upheld.text.words import spell_query

TESTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests")
sys.path.insert(0, TESTS)

from support import ledgers  # noqa: E402 - found by the line above

if TYPE_CHECKING:
    import apsw

PREFIX = "findings.query"
FINDINGS = 100_000
QUERIES = 60
PAGE = 20
GOAL = 2


def rows() -> list[dict[str, Any]]:
    """Return a row for each kind of words, and one for the whole operation over all kinds."""
    top = tempfile.mkdtemp(prefix="upheld-bench-")
    try:
        places = Places(top + "/data", top + "/state", top + "/cache")
        os.mkdir(top + "/project")
        place = Place(read_marks(top + "/project", environ=os.environ), os.environ, "")
        findings = Findings(Ledger(places), place, Caller("agent", "bench", "session"))
        # The first finding makes the ledger and its project.
        get_operation("log_finding").run(
            findings, {"claim": "First", "claim_kind": "observation", "scope": {"everywhere": True}}
        )
        findings.ledger.close()
        counts = _fill(places.ledger)
        return _measure(findings, counts)
    finally:
        shutil.rmtree(top)


def _fill(path: str) -> Counter[str]:
    """Put the findings into the first project of a ledger; return how many of them hold each word."""
    db = ledgers.open_ledger(path)
    db.execute("pragma synchronous = off; pragma cache_size = -200000")
    uid, name = db.execute("select uid, name from projects").get
    project = Project(1, uid, name)
    counts: Counter[str] = Counter()
    with db:
        for claim in ledgers.Zipf(3).claims(FINDINGS):
            ledgers.put(db, project, claim)
            counts.update(set(claim.split()))
        db.execute("delete from finding_texts; delete from finding_pieces")
        ledgers.index_texts(db)
    db.execute("pragma wal_checkpoint(truncate)")
    db.close()
    return counts


def _measure(findings: Findings, counts: Counter[str]) -> list[dict[str, Any]]:
    ranked = [word for word, _ in counts.most_common()]
    median = len(ranked) // 2
    kinds = {
        "rare": [word for word in ranked if counts[word] <= 5],
        "median": ranked[median - 200 : median + 200],
        "top20": ranked[:20],
    }
    kinds["mixed"] = kinds["rare"][:20] + kinds["median"][:20] + kinds["top20"]
    db, project = findings.read()
    assert db is not None
    assert project is not None
    rows = [_row(db, project, kind, words) for kind, words in kinds.items()]
    whole: list[float] = []
    for query in _draw("operation", kinds["mixed"]):
        begin = time.perf_counter()
        get_operation("query_findings").run(findings, {"words": query})
        whole.append(time.perf_counter() - begin)
    findings.ledger.close()
    return [*rows, {"name": f"{PREFIX}.operation", "value": statistics.median(whole) * 1000, "unit": "ms"}]


def _draw(kind: str, words: list[str]) -> list[str]:
    draw = random.Random(kind)  # noqa: S311 - a benchmark's words
    return [" ".join(draw.sample(words, 1 + number % 3)) for number in range(QUERIES)]


def _row(db: apsw.Connection, project: Project, kind: str, words: list[str]) -> dict[str, Any]:
    queries = _draw(kind, words)
    ours: list[float] = []
    bare: list[float] = []
    for query in [queries[0], *queries]:
        begin = time.perf_counter()
        with db:  # both in one transaction each
            found = _ask(db, project, query)
        between = time.perf_counter()
        with db:
            _ask_bare(db, project, query, max(1, found))
        bare.append(time.perf_counter() - between)
        ours.append(between - begin)
    return {
        "name": f"{PREFIX}.{kind}",
        "value": statistics.median(ours[1:]) * 1000,
        "unit": "ms",
        "limit": statistics.median(bare[1:]) * 1000,
        "goal": GOAL,
    }


def _ask(db: apsw.Connection, project: Project, query: str) -> int:
    count = 0
    for batch in search(db, project.id, query, lambda _: True, Found(), wanted=PAGE + 1):
        count += len(batch)
        if count > PAGE:
            break
    return count


def _ask_bare(db: apsw.Connection, project: Project, query: str, limit: int) -> None:
    match = " OR ".join(spell_query(query))
    ids = [
        row[0]
        for row in db.execute("select rowid from finding_texts where finding_texts match ? limit ?", (match, limit))
    ]
    assert len(reading.find_findings(db, project.id, ids)) == limit
