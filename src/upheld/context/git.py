"""Running git: the one place that starts it.

The hook asks git on every prompt, so this works without `subprocess`: processes are spawned directly, several at
once, and all of them end at one deadline. A missing, hung or failing git is an outcome here, never an exception;
what its words mean is decided by the callers. Nothing here changes a repository: git runs without optional locks,
without its file-system monitor and without hooks, and no variable of the caller points it elsewhere.
"""

from __future__ import annotations

import errno
import os
import select
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NO_PROGRAM = -1000
"""The status of a reply when no git could be started."""

MAX_OUT = 32 * 1024 * 1024
MAX_ERR = 64 * 1024

# Numbers instead of `import signal`, which pulls in enum; POSIX fixes both.
_KILL = 9
_PIPE = 13
_CHUNK = 1 << 16

_SETTINGS = ("--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")


_running: set[int] = set()
"""Process groups that this process started and has not reaped."""


_HEX = frozenset("0123456789abcdef")
_IDS_AT_ONCE = 500


class Reply:
    """What one git process answered.

    Args:
        status: Its exit status; negative for a signal; `NO_PROGRAM` when none could be started.
        out: Standard output, at most `MAX_OUT` bytes.
        err: The beginning of standard error.
        timed_out: The deadline ended it.
        too_long: It said more than `MAX_OUT` bytes and was ended.
    """

    __slots__ = ("err", "out", "status", "timed_out", "too_long")

    def __init__(
        self, status: int, out: bytes = b"", err: bytes = b"", *, timed_out: bool = False, too_long: bool = False
    ) -> None:
        self.status = status
        self.out = out
        self.err = err
        self.timed_out = timed_out
        self.too_long = too_long

    @property
    def ok(self) -> bool:
        """Whether git ended by itself and reported success."""
        return self.status == 0 and not self.timed_out and not self.too_long


class _Child:
    """One running git and the pipes that it fills."""

    __slots__ = ("err", "out", "pid", "pipes", "size", "timed_out", "too_long")

    def __init__(self, pid: int, out: int, err: int) -> None:
        self.pid = pid
        self.pipes = {out: True, err: False}
        self.out: list[bytes] = []
        self.err = bytearray()
        self.size = 0
        self.timed_out = False
        self.too_long = False


def find_git(environ: Mapping[str, str]) -> str | None:
    """Return the first git on the absolute entries of `PATH`, or None.

    Relative entries are passed over: a repository must not bring its own git.
    """
    for directory in environ.get("PATH", os.defpath).split(":"):
        if directory.startswith("/"):
            program = directory + "/git"
            if os.path.isfile(program) and os.access(program, os.X_OK):
                return program
    return None


def clean_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the caller's environment without what would point git elsewhere, and with plain messages.

    Every `GIT_*` goes but `GIT_EXEC_PATH`, which relocated installations need to find their own commands.
    """
    clean = {
        name: value
        for name, value in environ.items()
        if (not name.startswith("GIT_") or name == "GIT_EXEC_PATH") and name not in {"LANGUAGE", "LANG"}
    }
    clean["LC_ALL"] = "C"
    clean["GIT_TERMINAL_PROMPT"] = "0"
    return clean


def run(arguments: Sequence[str], cwd: str, deadline_ms: int, *, environ: Mapping[str, str]) -> Reply:
    """Run one git command in `cwd`. See `run_all`."""
    return run_all([(arguments, cwd)], deadline_ms, environ=environ)[0]


def find_commits(root: str, ids: Sequence[str], deadline_ms: int, *, environ: Mapping[str, str]) -> set[str] | None:
    """Return those of the given commit ids that the repository has, None if git could not say.

    Args:
        root: The top of the work tree.
        ids: Whole ids, 40 or 64 hex digits; anything else is in no repository.
        deadline_ms: How long git may take.
        environ: Where git is found.
    """
    asked = [one for one in dict.fromkeys(ids) if len(one) in (40, 64) and set(one) <= _HEX]
    if not asked:
        return set()
    found: set[str] = set()
    for start in range(0, len(asked), _IDS_AT_ONCE):
        some = asked[start : start + _IDS_AT_ONCE]
        # One that is missing ends the walk in old versions and is passed over in new ones: both are asked for.
        reply = run(["rev-list", "--no-walk", "--ignore-missing", *some, "--"], root, deadline_ms, environ=environ)
        if not reply.ok:
            return None
        found.update(reply.out.decode("ascii", "replace").split())
    return found


def run_all(
    commands: Sequence[tuple[Sequence[str], str]], deadline_ms: int, *, environ: Mapping[str, str]
) -> list[Reply]:
    """Run several git commands at once and return their replies in the same order.

    Args:
        commands: Pairs of arguments (without `git`) and directory.
        deadline_ms: When the last of them ends at the latest, from now.
        environ: The environment to find git in and to derive git's own from.
    """
    program = find_git(environ)
    if program is None:
        return [Reply(NO_PROGRAM) for _ in commands]
    end = time.monotonic() + deadline_ms / 1000
    clean = clean_environment(environ)
    children = [_start(program, arguments, cwd, clean) for arguments, cwd in commands]
    try:
        _collect([child for child in children if child is not None], end)
    except BaseException:
        for child in children:
            if child is not None:
                _kill(child)
        raise
    return [Reply(NO_PROGRAM) if child is None else _finish(child, end) for child in children]


def kill_all() -> None:
    """End every git that still runs: for a process that is about to end itself."""
    for pid in tuple(_running):
        try:
            os.killpg(pid, _KILL)
        except OSError:
            pass


def _start(program: str, arguments: Sequence[str], cwd: str, environ: dict[str, str]) -> _Child | None:
    # There is no portable way to spawn in a directory; git changes into it itself.
    out_read, out_write = os.pipe()
    err_read, err_write = os.pipe()
    try:
        pid = os.posix_spawn(
            program,
            ["git", "-C", cwd, *_SETTINGS, *arguments],
            environ,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, out_write, 1),
                (os.POSIX_SPAWN_DUP2, err_write, 2),
            ],
            # A group of its own, so that the children of a wrapper script end with it.
            setpgroup=0,
            # Python ignores SIGPIPE, and git would inherit that.
            setsigdef=(_PIPE,),
        )
    except (OSError, ValueError):
        os.close(out_read)
        os.close(err_read)
        return None
    finally:
        os.close(out_write)
        os.close(err_write)
    _running.add(pid)
    return _Child(pid, out_read, err_read)


def _collect(children: list[_Child], end: float) -> None:
    poll = select.poll()
    owners: dict[int, _Child] = {}
    for child in children:
        for pipe in child.pipes:
            os.set_blocking(pipe, False)
            poll.register(pipe, select.POLLIN)
            owners[pipe] = child
    while owners:
        remaining = end - time.monotonic()
        if remaining <= 0:
            break
        for pipe, _ in poll.poll(int(remaining * 1000) + 1):
            if pipe in owners and not _read(owners[pipe], pipe):
                child = owners[pipe]
                closing = list(child.pipes) if child.too_long else [pipe]
                for closed in closing:
                    poll.unregister(closed)
                    del owners[closed]
                    del child.pipes[closed]
                    os.close(closed)
    for child in children:
        child.timed_out = bool(child.pipes)


def _read(child: _Child, pipe: int) -> bool:
    """Take what stands in a pipe; False when it is at its end or past its bound."""
    try:
        data = os.read(pipe, _CHUNK)
    except BlockingIOError:
        return True
    if not child.pipes[pipe]:
        child.err += data[: MAX_ERR - len(child.err)]
        return bool(data)
    child.size += len(data)
    if child.size > MAX_OUT:
        child.too_long = True
        return False
    child.out.append(data)
    return bool(data)


def _finish(child: _Child, end: float) -> Reply:
    status = None if child.timed_out or child.too_long else _reap(child.pid, end)
    if status is None:
        child.timed_out = not child.too_long
        status = _kill(child)
    _running.discard(child.pid)
    return Reply(
        status,
        b"".join(child.out),
        bytes(child.err),
        timed_out=child.timed_out,
        too_long=child.too_long,
    )


def _reap(pid: int, end: float) -> int | None:
    """Wait for a process that has closed its output; None if it is still there at the deadline."""
    pause = 0.0001
    while True:
        try:
            found, status = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            return NO_PROGRAM
        if found:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() >= end:
            return None
        time.sleep(pause)
        pause = min(pause * 2, 0.005)


def _kill(child: _Child) -> int:
    for pipe in child.pipes:
        os.close(pipe)
    child.pipes.clear()
    try:
        os.killpg(child.pid, _KILL)
    except OSError as exc:
        if exc.errno not in {errno.ESRCH, errno.EPERM}:
            raise
    try:
        return os.waitstatus_to_exitcode(os.waitpid(child.pid, 0)[1])
    except ChildProcessError:
        return NO_PROGRAM
