"""Many writers and a reader on one ledger, and writers that are killed: nothing acknowledged is lost."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.desk import Desk, make_repository
from upheld.findings.check import check_ledger
from upheld.findings.ledger import Ledger
from upheld.storage.places import find_places

if TYPE_CHECKING:
    from collections.abc import Iterator

WRITER = Path(__file__).parents[1] / "support" / "writer.py"
WRITERS = 8


@pytest.fixture
def ledger(own_home: Path) -> Iterator[Ledger]:  # noqa: ARG001 - moves UPHELD_HOME
    ledger = Ledger(find_places(os.environ))
    yield ledger
    ledger.close()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "repository")


@contextmanager
def _running(*writers: subprocess.Popen[bytes]) -> Iterator[None]:
    """End what a failing test leaves behind."""
    with ExitStack() as stack:
        for writer in writers:
            stack.enter_context(writer)
            stack.callback(writer.kill)
        yield


def _start(repository: Path, name: str, count: int, sync_ms: int = 0) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(WRITER), str(repository), name, str(count), str(sync_ms)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def _claims(ledger: Ledger) -> dict[str, str]:
    db = ledger.read()
    assert db is not None
    return {f"F-{number}": claim for number, claim in db.execute("select id, claim from findings")}


@pytest.mark.parametrize(("each", "sync_ms"), [(250, 0), (250, 10)], ids=["8 x 250", "8 x 250 with syncs of 10 ms"])
def test_eight_writers_lose_nothing_and_block_no_reader(
    ledger: Ledger, repository: Path, each: int, sync_ms: int
) -> None:
    began = time.monotonic()
    writers = [_start(repository, f"w{number}", each, sync_ms) for number in range(WRITERS)]
    with _running(*writers):
        reader = Desk(repository, ledger=ledger)
        reads: list[float] = []
        while any(writer.poll() is None for writer in writers):
            start = time.monotonic()
            reader.run("query_findings", words="writer saw", limit=5)
            reads.append(time.monotonic() - start)
            time.sleep(0.02)  # the pace of a reader, and nothing waited for
        took = time.monotonic() - began
        acknowledged = []
        for writer in writers:
            out, err = writer.communicate()
            assert (writer.returncode, err) == (0, b"")
            acknowledged += out.decode().splitlines()
    claims = _claims(ledger)
    assert len(claims) == WRITERS * each
    for line in acknowledged:
        finding, name, number = line.split()
        assert claims[finding] == f"Writer {name} saw number {number}"
    assert len(acknowledged) == WRITERS * each
    assert check_ledger(ledger).ok
    assert len(reads) > 20
    assert sorted(reads)[len(reads) // 2] < took / 20
    assert max(reads) < took / 3


def test_writers_that_are_killed_lose_nothing_that_was_acknowledged(ledger: Ledger, repository: Path) -> None:
    chance = random.Random(7)  # noqa: S311 - when to strike
    acknowledged: list[str] = []
    for strike in range(20):
        writer = _start(repository, f"k{strike}", 10_000)
        with _running(writer):
            assert writer.stdout is not None
            # Wait for some answers, so that it is at work, and then for part of a write.
            acknowledged += [writer.stdout.readline().decode() for _ in range(chance.randrange(1, 6))]
            time.sleep(chance.random() * 0.01)
            writer.kill()
            out, err = writer.communicate()
        assert err == b""
        acknowledged += out.decode().splitlines(keepends=True)
    whole = [line for line in acknowledged if line.endswith("\n")]
    claims = _claims(ledger)
    for line in whole:
        finding, name, number = line.split()
        assert claims[finding] == f"Writer {name} saw number {number}"
    assert len(whole) <= len(claims) <= len(whole) + 20
    assert check_ledger(ledger).ok
    Desk(repository, ledger=ledger).log("And after all that")
    assert check_ledger(ledger).ok


def test_two_processes_may_make_the_ledger_at_once(ledger: Ledger, repository: Path) -> None:
    writers = [_start(repository, f"m{number}", 1) for number in range(6)]
    for writer in writers:
        _, err = writer.communicate()
        assert (writer.returncode, err) == (0, b"")
    assert len(_claims(ledger)) == 6
    db = ledger.read()
    assert db is not None
    assert db.execute("select count(*) from projects").get == 1
    assert check_ledger(ledger).ok
