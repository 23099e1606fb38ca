"""The marks of a place: what git and the files of a directory say about which project it is.

One round of two git processes side by side, because the hook asks at every prompt. Marks are observations; which
project they mean is decided in `projects.py`. Where git refuses to answer, nothing is guessed from the path.
"""

from __future__ import annotations

import os

from upheld.context import git
from upheld.context.files import UnreadableError, read_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

PRESENT = "present"
ABSENT = "absent"
REFUSED = "refused"

DEADLINE_MS = 1000
PROJECT_FILE = ".upheld/project.toml"
MAX_PROJECT_FILE = 64 * 1024
MAX_ID = 64
_ID_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_HEX = frozenset("0123456789abcdef")


class Marks:
    """What is known about where a task runs. Paths are canonical.

    Args:
        state: `present`: a repository. `absent`: no repository, or no git program. `refused`: git would not or could
            not say, so the identity is unknown.
        cwd: The directory that was asked about.
        root: The top of the work tree; without git the nearest directory above that holds
            `.upheld/project.toml`, else `cwd`; of a bare repository the repository itself.
        git_dir: The git directory of this work tree, or "".
        common_dir: The git directory that all worktrees share, or "".
        file_id: What stands at `place` now, so that another repository in the same place is noticed, or "".
        bare: There is no work tree here.
        shallow: History is cut off, so root commits say nothing.
        branch: The branch, or None when detached or without a commit.
        commit: The full commit id, or None before the first commit.
        remotes: Names and raw URLs, in the order of the configuration.
        declared_id: The id that `.upheld/project.toml` claims, or None. A claim only.
        problem: Why git refused, in words without a path, or "".
    """

    __slots__ = (
        "bare",
        "branch",
        "commit",
        "common_dir",
        "cwd",
        "declared_id",
        "file_id",
        "git_dir",
        "problem",
        "remotes",
        "root",
        "shallow",
        "state",
    )

    def __init__(
        self,
        state: str,
        *,
        cwd: str,
        root: str,
        git_dir: str = "",
        common_dir: str = "",
        file_id: str = "",
        bare: bool = False,
        shallow: bool = False,
        branch: str | None = None,
        commit: str | None = None,
        remotes: Mapping[str, str] | None = None,
        declared_id: str | None = None,
        problem: str = "",
    ) -> None:
        self.state = state
        self.cwd = cwd
        self.root = root
        self.git_dir = git_dir
        self.common_dir = common_dir
        self.file_id = file_id
        self.bare = bare
        self.shallow = shallow
        self.branch = branch
        self.commit = commit
        self.remotes: Mapping[str, str] = {} if remotes is None else remotes
        self.declared_id = declared_id
        self.problem = problem

    @property
    def place(self) -> str:
        """The path that stands for this clone: its common git directory, or the directory without git."""
        return storable(self.common_dir or self.root)


def storable(path: str) -> str:
    """Return a path as text that SQLite takes, whatever bytes its name has."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def read_marks(cwd: str, *, environ: Mapping[str, str], deadline_ms: int = DEADLINE_MS) -> Marks:
    """Ask git and the file system about a directory. Never raises for what it finds there."""
    try:
        here = os.path.realpath(cwd)
    except ValueError:  # a NUL, or half of a surrogate pair
        here = ""
    if not here or not os.path.isdir(here):
        return Marks(REFUSED, cwd=here, root=here, problem="the working directory does not exist")
    # Unknown flags are echoed by rev-parse: a separator that no path can hold, since paths may hold newlines.
    fence = "--upheld-" + os.urandom(8).hex()
    asked = (
        "rev-parse --is-bare-repository --is-shallow-repository --absolute-git-dir F --git-common-dir F "
        "--show-cdup F HEAD F --symbolic-full-name HEAD"
    )
    where, configured = git.run_all(
        [
            ([fence if word == "F" else word for word in asked.split()], here),
            (["config", "-z", "--get-regexp", r"^remote\..*\.url$"], here),
        ],
        deadline_ms,
        environ=environ,
    )
    if where.status == git.NO_PROGRAM:
        return _without_program(here)
    parts = os.fsdecode(where.out).split(fence + "\n")
    if where.timed_out or len(parts) < 4 or not (configured.ok or configured.status == 1):
        return _unanswered(here, where, configured)
    return _present(here, parts, os.fsdecode(configured.out))


def read_root_commits(marks: Marks, *, environ: Mapping[str, str], deadline_ms: int = DEADLINE_MS) -> tuple[str, ...]:
    """Return the commits without parents that HEAD descends from, sorted; none if shallow, unborn or too slow.

    Costs a walk over the whole history.
    """
    if marks.state != PRESENT or marks.shallow or marks.commit is None:
        return ()
    reply = git.run(["rev-list", "--max-parents=0", marks.commit], marks.cwd, deadline_ms, environ=environ)
    return tuple(sorted(filter(_is_commit, reply.out.decode("ascii", "replace").split()))) if reply.ok else ()


def identify(path: str) -> str:
    """Return a text that changes when something else takes the place of a directory; "" if nothing is there.

    An inode number alone is reused at once by common file systems, and device numbers change between
    boots. A repository's `description` is written once, when it is made, so its time stands for the birth.
    """
    try:
        found = os.stat(path)
        parts = [f"i{found.st_ino}"]
        if os.stat(os.path.dirname(path)).st_dev != found.st_dev:
            # A mount point: its inode is the same on every disk of that kind.
            parts.append(f"d{found.st_dev}")
    except (OSError, ValueError):
        return ""
    try:
        parts.append(f"t{os.stat(path + '/description').st_mtime_ns}")
    except OSError:
        pass
    return " ".join(parts)


def read_declared_id(root: str) -> str | None:
    """Return the id that the project's own file claims, or None. Reads one top-level line, not TOML."""
    try:
        content = read_file(root, PROJECT_FILE, MAX_PROJECT_FILE)
    except UnreadableError:
        return None
    for line in (content or b"").decode("utf-8", "replace").splitlines():
        words = line.strip()
        if words.startswith("["):
            return None
        name, equals, value = words.partition("=")
        if equals and name.strip() == "id":
            return _quoted_id(value.strip())
    return None


def _quoted_id(value: str) -> str | None:
    quote = value[:1]
    if quote not in {'"', "'"}:
        return None
    text, closed, rest = value[1:].partition(quote)
    rest = rest.strip()
    if not closed or (rest and not rest.startswith("#")):
        return None
    return text if 0 < len(text) <= MAX_ID and _ID_CHARACTERS.issuperset(text) else None


def _present(here: str, parts: list[str], configured: str) -> Marks:
    bare, shallow, git_dir = parts[0].split("\n", 2)
    git_dir = os.path.realpath(git_dir.removesuffix("\n"))
    common_dir = os.path.realpath(os.path.join(here, parts[1].removesuffix("\n")))
    root = _find_root(here, git_dir, common_dir, parts[2])
    commit = parts[3].strip()
    reference = parts[4].strip() if len(parts) > 4 else ""
    return Marks(
        PRESENT,
        cwd=here,
        root=root,
        git_dir=git_dir,
        common_dir=common_dir,
        file_id=identify(common_dir),
        bare=bare == "true",
        shallow=shallow == "true",
        branch=reference.removeprefix("refs/heads/") if reference.startswith("refs/heads/") else None,
        commit=commit if _is_commit(commit) else None,
        remotes=_remotes(configured),
        declared_id=read_declared_id(root),
    )


def _find_root(here: str, git_dir: str, common_dir: str, answer: str) -> str:
    if answer:
        # The way up from here; absolute where the work tree is configured to be elsewhere.
        return os.path.realpath(os.path.join(here, answer.removesuffix("\n")))
    # No work tree around `here`: a bare repository, or the inside of a git directory.
    linked = git_dir + "/gitdir"
    if git_dir != common_dir and os.path.isfile(linked):
        with open(linked, "rb") as file:
            return os.path.dirname(os.path.realpath(os.fsdecode(file.read(4096).rstrip(b"\n"))))
    return os.path.dirname(common_dir) if os.path.basename(common_dir) == ".git" else common_dir


def _remotes(configured: str) -> dict[str, str]:
    remotes: dict[str, str] = {}
    for entry in configured.split("\0"):
        key, newline, url = entry.partition("\n")
        name = key.removeprefix("remote.").removesuffix(".url")
        if newline and url:
            # The first URL is the one that is fetched from.
            remotes.setdefault(name, url)
    return remotes


def _unanswered(here: str, where: git.Reply, configured: git.Reply) -> Marks:
    if where.timed_out or configured.timed_out:
        return Marks(REFUSED, cwd=here, root=here, problem="git did not answer in time")
    if b"dubious ownership" in where.err or b"unsafe repository" in where.err:
        return Marks(REFUSED, cwd=here, root=here, problem="git does not trust the owner of this repository")
    if b"not a git repository (or any" in where.err and not _has_remains(here):
        return _without_git(here)
    return Marks(REFUSED, cwd=here, root=here, problem="git cannot read this repository")


def _has_remains(here: str) -> bool:
    """Say whether a repository that git does not recognise stands here or above, on the same file system."""
    device = os.stat(here).st_dev
    for directory in _upwards(here):
        try:
            if os.stat(directory).st_dev != device:
                return False
            if os.path.isfile(directory + "/.git") or os.listdir(directory + "/.git"):
                return True
        except OSError:
            continue
    return False


def _without_program(here: str) -> Marks:
    """Name a repository by its place as git would, so that a process that lacks git finds the same project."""
    for directory in _upwards(here):
        common_dir = find_common_dir(directory)
        if common_dir is None or common_dir == directory:
            continue
        if os.stat(common_dir).st_uid != os.geteuid():
            return Marks(REFUSED, cwd=here, root=here, problem="there is no git program on the PATH")
        return Marks(
            ABSENT,
            cwd=here,
            root=directory,
            common_dir=common_dir,
            file_id=identify(common_dir),
            declared_id=read_declared_id(directory),
        )
    return _without_git(here)


def find_common_dir(directory: str) -> str | None:
    """Return the shared git directory of a repository's top or bare directory, by its files alone, or None."""
    git_dir = directory + "/.git"
    try:
        if os.path.isfile(git_dir):
            pointer = read_file(os.path.realpath(directory), ".git", 4096) or b""
            if not pointer.startswith(b"gitdir: "):
                return None
            git_dir = os.path.join(directory, os.fsdecode(pointer[8:].rstrip(b"\r\n")))
        elif not os.path.isdir(git_dir):
            git_dir = directory
        git_dir = os.path.realpath(git_dir)
        if not os.path.isfile(git_dir + "/HEAD"):
            return None
        common = read_file(git_dir, "commondir", 4096)
        if common is not None:
            git_dir = os.path.realpath(os.path.join(git_dir, os.fsdecode(common.rstrip(b"\n"))))
    except (OSError, ValueError, UnreadableError):
        return None
    return git_dir if os.path.isdir(git_dir + "/objects") else None


def _without_git(here: str) -> Marks:
    root = here
    for directory in _upwards(here):
        if os.path.isfile(directory + "/" + PROJECT_FILE):
            root = directory
            break
    return Marks(ABSENT, cwd=here, root=root, file_id=identify(root), declared_id=read_declared_id(root))


def _upwards(here: str) -> list[str]:
    found = [here]
    while (parent := os.path.dirname(here)) != here:
        found.append(parent)
        here = parent
    return found


def _is_commit(text: str) -> bool:
    return len(text) in {40, 64} and _HEX.issuperset(text)
