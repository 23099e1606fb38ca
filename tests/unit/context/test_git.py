import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from upheld.context import git

Script = Callable[[str], dict[str, str]]


def test_several_commands_answer_in_their_order(place: Any) -> None:
    repo = place.init("repo")
    first, second = git.run_all(
        [(["rev-parse", "HEAD"], str(repo)), (["rev-parse", "--show-toplevel"], str(repo))],
        20_000,
        environ=place.environ,
    )
    assert first.ok
    assert first.out.decode().strip() == place.git(repo, "rev-parse", "HEAD")
    assert second.out == os.fsencode(f"{repo}\n")


def test_a_failing_command_reports_status_and_words(tmp_path: Path) -> None:
    reply = git.run(["rev-parse", "HEAD"], str(tmp_path), 20_000, environ={"PATH": os.environ["PATH"]})
    assert reply.status == 128
    assert b"not a git repository" in reply.err
    assert not reply.ok


def test_variables_that_point_git_elsewhere_are_dropped(place: Any) -> None:
    here, elsewhere = place.init("here"), place.init("elsewhere")
    environ = place.environ | {"GIT_DIR": str(elsewhere / ".git"), "GIT_WORK_TREE": str(elsewhere)}
    reply = git.run(["rev-parse", "HEAD"], str(here), 20_000, environ=environ)
    assert reply.out.decode().strip() == place.git(here, "rev-parse", "HEAD")


def test_no_git_on_the_path_is_an_outcome(tmp_path: Path) -> None:
    reply = git.run(["status"], str(tmp_path), 20_000, environ={"PATH": str(tmp_path)})
    assert reply.status == git.NO_PROGRAM
    assert not reply.ok


def test_a_relative_entry_of_the_path_brings_no_git(script: Script, tmp_path: Path) -> None:
    script("echo hostile")
    assert git.find_git({"PATH": f"bin:.:{os.path.relpath(tmp_path / 'bin')}"}) is None


def is_running(stat: Path) -> bool:
    try:
        return stat.read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_hanging_git_is_ended_by_the_deadline_with_its_children(script: Script, tmp_path: Path) -> None:
    environ = script(f"sleep 300 & echo $! > {tmp_path}/child; echo $$ > {tmp_path}/self; wait")
    begin = time.monotonic()
    reply = git.run(["status"], str(tmp_path), 1_500, environ=environ)
    assert time.monotonic() - begin < 10
    assert reply.timed_out
    for name in ("child", "self"):
        pid = (tmp_path / name).read_text().strip()
        stat = Path(f"/proc/{pid}/stat")
        # A killed orphan may stay a zombie for a moment if nobody adopts it.
        # A process that was just killed may still show as running for a moment.
        end = time.monotonic() + 5
        while is_running(stat):
            assert time.monotonic() < end


def test_a_git_that_closes_its_output_and_stays_is_ended_too(script: Script, tmp_path: Path) -> None:
    environ = script("exec >/dev/null 2>&1; sleep 300")
    reply = git.run(["status"], str(tmp_path), 700, environ=environ)
    assert reply.timed_out
    assert reply.status == -9


def test_a_hanging_git_does_not_take_the_answer_of_another(script: Script) -> None:
    environ = script('case "$*" in *slow*) sleep 300;; *) echo quick;; esac')
    slow, quick = git.run_all([(["slow"], "/"), (["fast"], "/")], 1_500, environ=environ)
    assert slow.timed_out
    assert quick.ok
    assert quick.out == b"quick\n"


def test_endless_output_is_cut_off(script: Script, tmp_path: Path) -> None:
    reply = git.run(["log"], str(tmp_path), 60_000, environ=script("exec cat /dev/zero"))
    assert reply.too_long
    assert not reply.timed_out
    assert len(reply.out) <= git.MAX_OUT


def test_much_output_on_both_pipes_arrives_whole(script: Script, tmp_path: Path) -> None:
    environ = script("head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2; exit 3")
    reply = git.run(["log"], str(tmp_path), 60_000, environ=environ)
    assert (reply.status, len(reply.out), len(reply.err)) == (3, 3_000_000, git.MAX_ERR)


def test_no_descriptor_is_left_open(script: Script, tmp_path: Path) -> None:
    environ = script("exit 0")
    hanging = {**environ, "PATH": environ["PATH"]}
    before = len(os.listdir("/proc/self/fd"))
    git.run(["x"], str(tmp_path), 20_000, environ=environ)
    script("sleep 300")
    git.run(["x"], str(tmp_path), 300, environ=hanging)
    script("exec cat /dev/zero")
    git.run(["x"], str(tmp_path), 60_000, environ=environ)
    (tmp_path / "bin/git").write_text("no program")
    git.run(["x"], str(tmp_path), 20_000, environ=environ)
    assert len(os.listdir("/proc/self/fd")) == before
