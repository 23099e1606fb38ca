"""The installed hook file as a process: whatever it meets, it exits 0, in time, with valid output or none."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from support.hook import CONSTRAINT, PAYLOADS, Hook, make_hook, read_context
from upheld.storage import database

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FIXTURES = sorted(name for name in os.listdir(PAYLOADS) if name.endswith(".json"))
LATEST = 2.0 + 1.0
"""The deadline, and what starting and ending a process may take on a busy machine."""

COSTLY = {
    *("typing", "re", "json", "enum", "dataclasses", "subprocess", "collections", "functools", "hashlib", "pathlib"),
    *("datetime", "contextlib", "logging", "threading", "socket", "signal", "tempfile", "shutil", "sqlite3"),
}


@pytest.fixture
def hook(tmp_path: Path) -> Hook:
    hook = make_hook(tmp_path)
    hook.log()
    return hook


# What comes in


@pytest.mark.parametrize("name", FIXTURES)
def test_what_codex_really_sends_is_answered_or_let_pass(hook: Hook, name: str) -> None:
    with open(os.path.join(PAYLOADS, name), encoding="utf-8") as file:
        sent = json.load(file)
    sent["cwd"] = str(hook.repository)

    context = read_context(hook.run(json.dumps(sent).encode()), sent["hook_event_name"])

    assert (CONSTRAINT in context) == sent["hook_event_name"].startswith(("SessionStart", "SubagentStart"))
    assert hook.diagnostics() == ""


MALFORMED: dict[str, bytes | Callable[[bytes], bytes]] = {
    "nothing": b"",
    "no JSON": b"hello",
    "cut off": lambda payload: payload[:-9],
    "two documents": lambda payload: payload + payload,
    "no UTF-8": lambda payload: payload.replace(b"s-1", b"s-\xff\xfe"),
    "a NUL byte": lambda payload: payload.replace(b"s-1", b"s\x00"),
    "NUL bytes alone": b"\0" * 4096,
    "a list": b"[]",
    "null": b"null",
    "a number of a million digits": b"1" * 1_000_000,
    "deep nesting": b'{"hook_event_name":' + b"[" * 200_000,
    "deep objects": b'{"a":' * 100_000,
    "20 MB": lambda payload: payload[:-1] + b',"x":"' + b"y" * 20_000_000 + b'"}',
    "no event": b'{"session_id":"s-1"}',
    "an event of another type": b'{"hook_event_name":7}',
    "no session": b'{"hook_event_name":"SessionStart","source":"startup","cwd":"/"}',
    "a session of another type": b'{"hook_event_name":"SessionStart","source":"startup","cwd":"/","session_id":[1]}',
    "no directory": b'{"hook_event_name":"SessionStart","source":"startup","session_id":"s-1"}',
    "a directory with a NUL": (
        b'{"hook_event_name":"SessionStart","source":"startup","cwd":"/\\u0000","session_id":"s"}'
    ),
    "a directory that is half a pair": (
        b'{"hook_event_name":"SessionStart","source":"startup","cwd":"/\\ud800","session_id":"s"}'
    ),
    "a directory that is gone": b'{"hook_event_name":"SessionStart","source":"startup","cwd":"/no/x","session_id":"s"}',
    "a prompt of another type": b'{"hook_event_name":"UserPromptSubmit","prompt":{},"cwd":"/","session_id":"s"}',
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_input_is_silence_and_a_line_in_the_log(hook: Hook, case: str) -> None:
    given = MALFORMED[case]
    payload = given if isinstance(given, bytes) else given(hook.payload())

    assert hook.run(payload) == b""

    assert len(hook.diagnostics().splitlines()) == 1
    assert "bug" not in hook.diagnostics()


@pytest.mark.parametrize(
    "payload",
    [
        b'{"hook_event_name":"Stop","session_id":"s","cwd":"/"}',
        b'{"hook_event_name":"SessionStart","source":"dawn","session_id":"s","cwd":"/"}',
        b'{"hook_event_name":"SessionStart","session_id":"s","cwd":"/"}',
        b'{"hook_event_name":""}',
    ],
)
def test_an_event_that_we_do_not_know_is_nobodys_mistake(hook: Hook, payload: bytes) -> None:
    assert hook.run(payload) == b""
    assert hook.diagnostics() == ""


@pytest.mark.parametrize("prompt", ["half \ud800 a pair", "\0\x1b[2J", "中文 🙂" * 20_000, "x" * 1_000_000, ""])
def test_any_prompt_is_looked_at(hook: Hook, prompt: str) -> None:
    read_context(hook.run(hook.payload("UserPromptSubmit", prompt=prompt)), "UserPromptSubmit")

    assert hook.diagnostics() == ""


@pytest.mark.parametrize("arguments", [[], ["nobody"], ["codex", "more"], [os.fsdecode(b"\xff")]])
def test_any_arguments_are_survived(hook: Hook, arguments: list[str]) -> None:
    output = hook.run(hook.payload(), command=[*hook.command[:-1], *arguments])

    assert (CONSTRAINT.encode() in output) == (arguments[:1] == ["codex"])


# What goes out


def test_the_output_is_one_write(hook: Hook) -> None:
    for number in range(40):
        hook.log(f"Constraint number {number} about the service, and why it must hold for each of us")
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)  # keeps each write apart
    with near, far:
        subprocess.run(hook.command, input=hook.payload(), env=hook.environ, stdout=far.fileno(), check=True)
        far.close()
        near.setblocking(False)
        first = near.recv(1_000_000)
        with pytest.raises(BlockingIOError):
            near.recv(1)
    assert len(read_context(first, "SessionStart").encode()) > 4096


def test_a_reader_that_is_gone_leaves_nothing_noted(hook: Hook) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as gone:
        done = subprocess.run(
            hook.command, input=hook.payload(), env=hook.environ, stdout=gone, stderr=subprocess.PIPE, check=False
        )
    assert (done.returncode, done.stderr) == (0, b"")
    assert "output_not_taken" in hook.diagnostics()
    assert not os.path.exists(hook.places.conversations)


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_survived(hook: Hook, closed: str) -> None:
    command = ["/bin/sh", "-c", f'exec "$@" {closed}', "sh", *hook.command]

    assert bool(hook.run(hook.payload(), command=command)) == (closed == "2>&-")


def test_a_package_that_is_gone_is_silence(hook: Hook) -> None:
    with open(hook.path, encoding="utf-8") as file:
        text = file.read()
    with open(hook.path, "w", encoding="utf-8") as file:
        file.write(re.sub(r"ROOTS = .*", "ROOTS = ['/nowhere']", text))

    assert hook.run(hook.payload()) == b""


# Time


def hang_git(hook: Hook, top: Path, when: str) -> dict[str, str]:
    """Put a git on the path that hangs where a shell pattern matches its arguments, and notes its process."""
    folder = top / "bin"
    folder.mkdir()
    program = folder / "git"
    program.write_text(
        "#!/bin/sh\n"
        f'case "$*" in {when}) echo $$ >> "{folder}/pids"; sleep 100 & echo $! >> "{folder}/pids"; wait;; esac\n'
        f'exec {shutil.which("git")} "$@"\n'
    )
    program.chmod(0o755)
    return {"PATH": f"{folder}:{hook.environ['PATH']}"}


def assert_gone(pids: Path) -> None:
    numbers = [int(line) for line in pids.read_text().split()]
    assert numbers
    end = time.monotonic() + 5
    for number in numbers:
        while is_alive(number):
            assert time.monotonic() < end, "a process that the hook started is still there"


def is_alive(pid: int) -> bool:
    """Say whether a process runs; one that only waits to be reaped does not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="looks at Linux's processes")
@pytest.mark.parametrize("when", ["*", "*status*|*ls-files*|*hash-object*|*ls-tree*|*diff*"])
def test_a_hung_git_ends_by_the_deadline_and_leaves_no_process(hook: Hook, tmp_path: Path, when: str) -> None:
    hook.log("Only on a clean tree", scope={"match": {"git.dirty": "false"}, "paths": ["code.py"]})
    environ = hang_git(hook, tmp_path, when)

    begin = time.monotonic()
    output = hook.run(hook.payload(), environ=environ)

    assert time.monotonic() - begin < LATEST
    read_context(output, "SessionStart")
    assert_gone(tmp_path / "bin" / "pids")


def test_an_input_that_never_ends_is_left_at_the_deadline(hook: Hook) -> None:
    begin = time.monotonic()
    with subprocess.Popen(hook.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=hook.environ) as process:
        assert process.wait(timeout=20) == 0
        assert process.stdout is not None
        assert process.stdout.read() == b""
    assert 1.5 < time.monotonic() - begin < LATEST
    assert "deadline" in hook.diagnostics()


def test_a_writer_that_holds_its_lock_keeps_nobody_from_reading(hook: Hook) -> None:
    with closing(apsw.Connection(hook.places.ledger)) as other:
        other.execute("begin exclusive")
        assert CONSTRAINT in read_context(hook.run(hook.payload()), "SessionStart")


def test_a_ledger_that_nobody_may_read_is_silence_within_the_lock_budget(hook: Hook) -> None:
    with closing(apsw.Connection(hook.places.ledger)) as other:
        other.execute("pragma locking_mode = exclusive").get  # noqa: B018 - a row that must be read
        other.execute("begin immediate; pragma user_version = 1; commit")
        begin = time.monotonic()
        output = hook.run(hook.payload())
        took = time.monotonic() - begin
    assert output == b""
    assert took < 0.2 + 1.0
    assert len(hook.diagnostics().splitlines()) == 1


def test_a_locked_database_of_conversations_costs_the_note_and_not_the_block(hook: Hook) -> None:
    hook.run(hook.payload())
    with closing(apsw.Connection(hook.places.conversations)) as other:
        other.execute("begin exclusive")
        begin = time.monotonic()
        output = hook.run(hook.payload(session="s-2"))
        took = time.monotonic() - begin
    assert CONSTRAINT in read_context(output, "SessionStart")
    assert took < 0.2 + 1.0
    assert re.search("conversations_(unavailable|not_written)", hook.diagnostics())


# The ledger


def damage(path: str) -> None:
    with open(path, "r+b") as file:
        file.write(b"no database at all, just text" * 10)


def make_foreign(path: str) -> None:
    os.unlink(path)
    with closing(apsw.Connection(path)) as db:
        db.execute("create table theirs (x); pragma application_id = 7")


def make_newer(path: str) -> None:
    with closing(apsw.Connection(path)) as db:
        db.execute("pragma user_version = 999")


def make_directory(path: str) -> None:
    os.unlink(path)
    os.mkdir(path)


def make_link(path: str) -> None:
    os.rename(path, path + ".real")
    os.symlink(path + ".real", path)


@pytest.mark.parametrize("spoil", [damage, make_foreign, make_newer, make_directory, make_link])
def test_a_ledger_that_is_not_ours_to_read_is_silence_and_stays_as_it_is(
    hook: Hook, spoil: Callable[[str], None]
) -> None:
    spoil(hook.places.ledger)
    before = content(hook.places.ledger)

    assert hook.run(hook.payload()) == b""

    assert content(hook.places.ledger) == before
    assert len(hook.diagnostics().splitlines()) == 1
    assert "bug" not in hook.diagnostics()


def content(path: str) -> bytes | list[str]:
    if os.path.isdir(path):
        return os.listdir(path)
    with open(path, "rb") as file:
        return file.read()


def test_a_missing_ledger_is_silence_and_is_not_made(hook: Hook) -> None:
    os.unlink(hook.places.ledger)

    assert hook.run(hook.payload()) == b""

    assert not os.path.exists(hook.places.ledger)
    assert hook.diagnostics() == ""


@pytest.mark.parametrize("spoil", [damage, make_foreign, make_newer, make_directory])
def test_a_spoilt_database_of_conversations_costs_only_what_it_knew(hook: Hook, spoil: Callable[[str], None]) -> None:
    hook.run(hook.payload())
    spoil(hook.places.conversations)
    before = content(hook.places.conversations)

    assert CONSTRAINT in read_context(hook.run(hook.payload(session="s-2")), "SessionStart")

    assert content(hook.places.conversations) == before
    assert "conversations_unavailable" in hook.diagnostics()


CAN_MOUNT = (
    os.geteuid() == 0
    and shutil.which("unshare") is not None
    and subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode == 0
)


@pytest.mark.skipif(not CAN_MOUNT, reason="needs a mount namespace")
@pytest.mark.parametrize("in_use", [False, True])
def test_a_read_only_home_still_serves_reads(hook: Hook, in_use: bool) -> None:
    script = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"'
    command = ["unshare", "-m", "/bin/sh", "-c", script, "sh", str(hook.home), *hook.command]
    user = database.open_for_writing(hook.places.ledger, database.LEDGER) if in_use else None
    if user is not None:
        user.execute("select count(*) from sqlite_schema").get  # noqa: B018 - reads, so that the WAL is there

    output = hook.run(hook.payload(), command=command)

    if user is not None:
        user.close()
    assert CONSTRAINT in read_context(output, "SessionStart")


# What it loads


def test_the_direct_way_loads_nothing_costly(hook: Hook) -> None:
    hook.log("Needs every kind of fact", scope={"match": {"os": "linux", "git.dirty": "false"}, "paths": ["code.py"]})

    output, modules = hook.run_and_list(hook.payload())

    assert "every kind of fact" in read_context(output, "SessionStart")
    assert "apsw" in modules
    # The driver of the database brings it.
    assert modules & COSTLY <= {"collections"}


# The log


def test_the_diagnostics_log_is_bounded_and_holds_no_payload_session_or_path(hook: Hook) -> None:
    os.makedirs(hook.places.state, mode=0o700, exist_ok=True)
    log = hook.places.state + "/diagnostics.log"
    with open(log, "w", encoding="ascii") as file:
        file.write("2026-11-30T00:00:00Z old 1ms\n" * 6000)
    secret: dict[str, Any] = {"session": "secret-session", "prompt": {"secret-prompt": 1}}

    assert hook.run(hook.payload("UserPromptSubmit", **secret), environ={"TOKEN": "secret-token"}) == b""
    assert hook.run(b"secret-payload") == b""

    text = hook.diagnostics()
    assert os.path.getsize(log) < 128 * 1024
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ [a-z_]+ \d+ms", line) for line in text.splitlines())
    assert "secret" not in text
    assert text.splitlines()[-1].split()[1] == "payload_is_no_json"


def test_a_log_that_is_a_link_is_not_followed(hook: Hook, tmp_path: Path) -> None:
    target = tmp_path / "theirs"
    target.write_text("")
    os.makedirs(hook.places.state, mode=0o700, exist_ok=True)
    with open(hook.places.state + "/ledger.lock", "a", encoding="ascii"):
        os.symlink(target, hook.places.state + "/diagnostics.log")

    hook.run(b"no JSON")

    assert target.read_text() == ""
