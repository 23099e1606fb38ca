import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from upheld.context.marks import Marks, read_marks, read_root_commits
from upheld.context.projects import Project, ensure_project, find_project

SCHEMA = Path(__file__).parents[3] / "src/upheld/storage/migrations/ledger/0001_ledger.sql"
NOW = "2026-11-30T12:00:00Z"


class Place:
    """Real git repositories below one temporary directory, and a ledger to resolve them in."""

    def __init__(self, top: Path, db: apsw.Connection) -> None:
        self.top = top
        self.db = db
        self.count = 0
        home = top / "home"
        home.mkdir()
        self.environ = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "a",
            "GIT_AUTHOR_EMAIL": "a@example.org",
            "GIT_COMMITTER_NAME": "a",
            "GIT_COMMITTER_EMAIL": "a@example.org",
        }

    def git(self, where: Path, *arguments: str) -> str:
        return subprocess.run(
            ["git", "-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main", *arguments],
            cwd=where,
            env=self.environ,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()

    def init(self, name: str, *, remote: str = "", commits: int = 1) -> Path:
        where = self.top / name
        where.mkdir(parents=True)
        self.git(where, "init", "-q")
        if remote:
            self.git(where, "remote", "add", "origin", remote)
        for _ in range(commits):
            self.commit(where)
        return where

    def commit(self, where: Path) -> None:
        # Each repository gets a history of its own.
        self.count += 1
        (where / "file.txt").write_text(f"{self.count}\n")
        self.git(where, "add", "-A")
        self.git(where, "commit", "-q", "-m", f"Change {self.count}")

    def clone(self, source: str | Path, name: str, *options: str) -> Path:
        self.git(self.top, "clone", "-q", *options, str(source), name)
        return self.top / name

    def marks(self, where: Path) -> Marks:
        return read_marks(str(where), environ=self.environ, deadline_ms=20_000)

    def roots(self, marks: Marks) -> Callable[[], tuple[str, ...]]:
        return lambda: read_root_commits(marks, environ=self.environ, deadline_ms=20_000)

    def find(self, where: Path) -> Project | None:
        marks = self.marks(where)
        return find_project(self.db, marks, root_commits=self.roots(marks))

    def new_uid(self) -> str:
        self.count += 1
        return f"uid-{self.count}"

    def ensure(self, where: Path) -> Project:
        marks = self.marks(where)
        with self.db:
            found = ensure_project(self.db, marks, root_commits=self.roots(marks), now=NOW, new_uid=self.new_uid)
        assert self.find(where) == found, "reads and writes must agree"
        return found


@pytest.fixture
def place(tmp_path: Path) -> Place:
    db = apsw.Connection(":memory:")
    db.execute("pragma foreign_keys = on")
    db.execute(SCHEMA.read_text())
    return Place(tmp_path.resolve(), db)


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], dict[str, str]]:
    """Put a git of our own first on the path and return the environment for it."""

    def write(body: str) -> dict[str, str]:
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        program = folder / "git"
        program.write_text(f"#!/bin/sh\n{body}\n")
        program.chmod(0o755)
        return {"PATH": f"{folder}:{os.environ['PATH']}", "HOME": str(tmp_path)}

    return write
