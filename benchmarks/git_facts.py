"""What asking git and reading anchored code costs in big repositories, beside a bare interpreter of the same run.

This is why only facts that a scope names are read, and why an anchor is bounded: docs/decisions/0003-git-facts.md.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any

from upheld.context.code import read_code
from upheld.context.facts import read_facts
from upheld.context.marks import read_marks

if TYPE_CHECKING:
    from collections.abc import Callable

PREFIX = "house.git"
ROUNDS = 7
SIZES = (20_000, 100_000)
DEADLINE_MS = 60_000


def rows() -> list[dict[str, Any]]:
    """Return the median of 7 for each question, in a repository of 20,000 and one of 100,000 files."""
    found: list[dict[str, Any]] = []
    for size in SIZES:
        with tempfile.TemporaryDirectory() as top:
            environ = {"HOME": top, "PATH": os.environ["PATH"]}
            repository = _make_repository(top, size, environ)
            bare = _median(lambda: subprocess.run([sys.executable, "-I", "-S", "-c", "pass"], check=True, env={}))
            for name, ask in _questions(repository, environ).items():
                value = _median(ask)
                found.append({"name": f"{PREFIX}.{name}.{size}", "value": value, "unit": "ms", "limit": bare})
    return found


def _questions(repository: str, environ: dict[str, str]) -> dict[str, Callable[[], object]]:
    marks = read_marks(repository, environ=environ, deadline_ms=DEADLINE_MS)

    def code(*patterns: str) -> Callable[[], object]:
        return lambda: read_code(repository, patterns, git=True, environ=environ, deadline_ms=DEADLINE_MS)

    return {
        "marks": lambda: read_marks(repository, environ=environ, deadline_ms=DEADLINE_MS),
        "dirty": lambda: read_facts(
            marks, ["git.dirty"], declared={}, environ=environ, host={}, deadline_ms=DEADLINE_MS
        ),
        "one-file": code("pkg3/mod0/f3000.py"),
        "fifty-files": code("pkg3/mod0/*.py"),
        "thousand-files": code("pkg3/**"),
        "whole-tree": code("**/f3000.py"),
    }


def _make_repository(top: str, size: int, environ: dict[str, str]) -> str:
    repository = top + "/repository"
    os.mkdir(repository)
    for number in range(size):
        directory = f"{repository}/pkg{number // 1000}/mod{number % 1000 // 50}"
        if number % 50 == 0:
            os.makedirs(directory, exist_ok=True)
        with open(f"{directory}/f{number}.py", "w", encoding="utf-8") as file:
            file.write(f"x = {number}\n" * 20)
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "all"]):
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "gc.auto=0", *arguments]
        subprocess.run(command, cwd=repository, env=environ, check=True, capture_output=True)
    return repository


def _median(ask: Callable[[], object]) -> float:
    times = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        ask()
        times.append((time.perf_counter() - begin) * 1000)
    return statistics.median(times)
