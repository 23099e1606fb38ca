"""Export and import of many findings beside a tenth of them: linear in time, flat in memory.

Each step runs in a process of its own, so that its peak memory is its own. The export that is read is written by the
benchmark, one piece of evidence for each finding; the one that is measured is of what came. `UPHELD_BENCH_FULL=1` takes
10,000 and 100,000 findings, which takes five minutes; without, a quarter of that.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from typing import Any

from upheld.context.marks import read_marks
from upheld.findings.exporting import export_findings
from upheld.findings.importing import import_findings
from upheld.findings.ledger import Caller, Ledger
from upheld.findings.place import Place
from upheld.findings.service import Findings
from upheld.storage.places import Places
from upheld.text import jsontext

PREFIX = "findings.transfer"
SIZES = (10_000, 100_000) if os.environ.get("UPHELD_BENCH_FULL") else (2_500, 25_000)
TESTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests")
sys.path.insert(0, TESTS)

from support.ledgers import Zipf  # noqa: E402 - found by the line above


def rows() -> list[dict[str, Any]]:
    """Return the rows: the time of a finding, and the peak memory, of the large size beside the small one's."""
    measured = [_measure(size) for size in SIZES]
    small, large = measured
    found = []
    for what in ("import", "export"):
        found += [
            {
                "name": f"{PREFIX}.{what}-time",
                "value": large[what]["seconds"] / SIZES[1] * 1e6,
                "unit": "us a finding",
                "limit": small[what]["seconds"] / SIZES[0] * 1e6,
                "goal": 1.5,
            },
            {
                "name": f"{PREFIX}.{what}-memory",
                "value": large[what]["peak_mb"],
                "unit": "MB",
                "limit": small[what]["peak_mb"],
                "goal": 1.5,
            },
        ]
    return found


def _measure(size: int) -> dict[str, dict[str, float]]:
    """Write an export of that many findings by hand, import it, and export what came, each in its own process."""
    top = tempfile.mkdtemp(prefix="upheld-bench-")
    try:
        os.mkdir(top + "/project")
        _write_export(top + "/given.jsonl", size)
        return {what: json.loads(_run(what, top)) for what in ("import", "export")}
    finally:
        shutil.rmtree(top)


def _run(what: str, top: str) -> str:
    done = subprocess.run([sys.executable, __file__, what, top], capture_output=True, text=True, check=True)
    return done.stdout


def _write_export(path: str, size: int) -> None:
    """Write what an export looks like: one real finding's line under other words and uids."""
    import hashlib

    digest = hashlib.blake2b(digest_size=32)
    project = {"uid": "p", "name": "bench", "remotes": [], "root_commits": []}
    header = {"format": "upheld-findings", "version": 1, "exported_at": "", "findings": size, "project": project}
    claims = Zipf(9).claims(size)
    with open(path, "wb") as file:

        def write(data: dict[str, Any]) -> None:
            line = (jsontext.dumps_canonical(data) + "\n").encode()
            digest.update(line)
            file.write(line)

        write(header)
        for number, claim in enumerate(claims, 1):
            write(_finding(number, claim))
        file.write((jsontext.dumps_canonical({"lines": size + 1, "digest": digest.hexdigest()}) + "\n").encode())


def _finding(number: int, claim: str) -> dict[str, Any]:
    source = {
        "uid": f"e{number}", "source_kind": "log", "source_ref": "run-1", "locator": "", "revision": "", "excerpt": "",
        "content_hash": "", "resolution": "unresolved", "observed_at": "2026-12-01T00:00:00Z", "actor": "agent",
    }  # fmt: skip
    link = {"role": "supports", "method": "experiment", "rationale": "", "source": source, "after_decision": False}
    return {
        "number": number,
        "finding": {
            "uid": f"f{number}", "claim": claim, "claim_kind": "observation", "epistemic_state": "supported",
            "lifecycle_state": "current", "retrieval_policy": "relevant", "scope": {"everywhere": True}, "tags": [],
            "aliases": [], "task": "", "promotion_state": "none", "muted_until": "",
            "created_at": "2026-12-01T00:00:00Z", "actor": "agent", "host": "",
        },
        "decided": True,
        "evidence": [link],
        "contexts": [{"kind": "logged", "facts": {}, "anchor": {}, "basis": [], "sources": {}}],
        "relations": [["related_to", f"f{number}", f"f{number - 1}"]] if number % 10 == 0 else [],
        "rule": None,
        "doc_links": [],
        "history": [{"seq": number, "kind": "logged", "actor": "agent", "host": "", "at": "2026-12-01T00:00:00Z"}],
    }  # fmt: skip


def _work(what: str, top: str) -> None:
    place = Place(read_marks(top + "/project", environ=os.environ), os.environ, "")
    ledger = Ledger(Places(top + "/data", top + "/state", top + "/cache"))
    findings = Findings(ledger, place, Caller("user"))
    begin = time.perf_counter()
    if what == "import":
        with open(top + "/given.jsonl", "rb") as given:
            came = import_findings(findings, given, into_this_project=True)
        assert came["known"] == 0
    else:
        with open(top + "/out.jsonl", "wb") as out:
            export_findings(findings, out.write)
    seconds = time.perf_counter() - begin
    ledger.close()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "peak_mb": peak}))


if __name__ == "__main__":
    _work(sys.argv[1], sys.argv[2])
