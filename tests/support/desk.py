"""A caller at work in a real directory with a real ledger: what tests of findings begin with."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Any

from upheld.context.marks import read_marks
from upheld.findings.ledger import Caller, Ledger
from upheld.findings.operations import get_operation
from upheld.findings.place import Place
from upheld.findings.service import Answer, Findings
from upheld.storage.places import find_places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

AGENT = Caller("agent", "codex", "session-1")
PERSON = Caller("user")
FOR = {"source_kind": "log", "source_ref": "run-1", "role": "supports"}
AGAINST = {"source_kind": "log", "source_ref": "run-2", "role": "contradicts"}


class Desk:
    """One caller in one directory. `run` takes raw arguments, as every face does."""

    def __init__(self, cwd: Path, *, caller: Caller = AGENT, ledger: Ledger | None = None, home: str = "") -> None:
        self.cwd = cwd
        self.ledger = ledger or Ledger(find_places(os.environ))
        marks = read_marks(str(cwd), environ=os.environ, deadline_ms=20_000)
        self.findings = Findings(self.ledger, Place(marks, os.environ, home), caller)

    def run(self, name: str, **given: Any) -> Answer:
        return get_operation(name).run(self.findings, given)

    def log(self, claim: str = "The sky is blue", **given: Any) -> str:
        """Log a finding and return its id."""
        given = {"claim_kind": "observation", "scope": {"everywhere": True}, **given}
        return str(self.run("log_finding", claim=claim, **given).data["finding_id"])

    def get(self, finding_id: str) -> dict[str, Any]:
        return self.run("get_finding", finding_id=finding_id).data

    def count(self, table: str) -> int:
        db = self.ledger.read()
        return 0 if db is None else int(db.execute(f"select count(*) from {table}").get)

    def revision(self) -> int:
        db = self.ledger.read()
        return 0 if db is None else int(db.execute("select coalesce(max(revision), 0) from ledger").get)


def git(where: Path, *arguments: str) -> str:
    """Run git there and return what it printed."""
    ran = subprocess.run(
        ["git", "-c", "init.defaultBranch=main", *arguments], cwd=where, check=True, capture_output=True, text=True
    )
    return ran.stdout.strip()


def make_repository(where: Path) -> Path:
    """Make a git repository with one commit, of a history of its own."""
    where.mkdir(parents=True)
    git(where, "init", "-q")
    (where / "engine.py").write_text(f"# {where.name}\nspeed = 3\n")
    git(where, "add", "-A")
    git(where, "commit", "-q", "-m", f"Begin {where.name}")
    return where


def ticking(start: float = 1_700_000_000.0, step: float = 1.0) -> Callable[[], float]:
    """Return a clock that goes on by a step whenever it is asked."""

    def times() -> Iterator[float]:
        now = start
        while True:
            yield now
            now += step

    clock = times()
    return lambda: next(clock)
