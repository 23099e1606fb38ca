"""Code anchors: a digest of the content that a claim's `paths` match now.

What counts is what stands in the work tree, committed or not. With git, the files are those that it tracks or would
track; without, all of them. A literal path is opened directly, even if git ignores it. Whatever a path reaches
outside the project has no effect.
"""

from __future__ import annotations

import _blake2
import os
import stat
import time

from upheld.context.files import OutsideError, TooBigError, UnreadableError, is_inside, read_file
from upheld.context.git import run_all
from upheld.context.globs import MAX_PATTERNS, Glob, check_pattern, is_literal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from upheld.context.git import Reply

__all__ = ["CodeState", "check_pattern", "read_code"]

DEADLINE_MS = 1000
MAX_FILES = 1000
MAX_BYTES = 32 * 1024 * 1024
# How many directory entries a walk without git looks at.
MAX_ENTRIES = 200_000

_ADVICE = "name the code the claim is about"
_TOO_BIG = f"matches more than {MAX_BYTES >> 20} MB; {_ADVICE}"
_LATE = "the files could not be read in time"


class CodeState:
    """What a pattern matches now.

    Args:
        digest: Changes exactly when a matching file appears, vanishes or changes; None if there is a problem.
        files: How many files were read.
        problem: Why there is no digest, or "".
    """

    __slots__ = ("digest", "files", "problem")

    def __init__(self, digest: str | None, files: int, problem: str) -> None:
        self.digest = digest
        self.files = files
        self.problem = problem

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CodeState) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"CodeState({self.digest!r}, {self.files!r}, {self.problem!r})"

    def _key(self) -> tuple[str | None, int, str]:
        return self.digest, self.files, self.problem


class _Reader:
    """Reads files of one project until the deadline and the bounds, each file once."""

    def __init__(self, root: str, end: float) -> None:
        self.root = root
        self.end = end
        self.known: dict[str, tuple[str, int] | None] = {}

    def state(self, names: list[str]) -> CodeState:
        """Return the digest over these paths and their contents; those that are gone do not count."""
        if len(names) > MAX_FILES:
            return CodeState(None, len(names), f"matches {len(names):,} files; {_ADVICE}")
        hashed = _blake2.blake2b(digest_size=32)
        files = size = 0
        for name in sorted(names):
            if time.monotonic() > self.end:
                return CodeState(None, files, _LATE)
            try:
                found = self._content(name, MAX_BYTES - size)
            except TooBigError:
                return CodeState(None, files, _TOO_BIG)
            except UnreadableError as exc:
                return CodeState(None, files, f"holds a file that {exc}")
            if found is None:
                continue
            digest, length = found
            files += 1
            size += length
            if size > MAX_BYTES:
                return CodeState(None, files, _TOO_BIG)
            path = os.fsencode(name)
            # The length first, so that no two lists of names run together.
            hashed.update(b"%d:%b=%b\n" % (len(path), path, digest.encode()))
        return CodeState(hashed.hexdigest(), files, "")

    def _content(self, name: str, room: int) -> tuple[str, int] | None:
        if name not in self.known:
            self.known[name] = _digest_file(self.root, name, room)
        return self.known[name]


def read_code(
    root: str,
    patterns: Sequence[str],
    *,
    git: bool,
    environ: Mapping[str, str],
    deadline_ms: int = DEADLINE_MS,
) -> dict[str, CodeState]:
    """Return the state of the code under each pattern.

    Args:
        root: The canonical top directory of the project.
        patterns: Patterns as `check_pattern` returned them, of those that name more than one file at most 16.
        git: Whether the project is a git work tree.
        environ: The environment to find git in.
        deadline_ms: How long all of it may take; what is not read by then has a problem.
    """
    end = time.monotonic() + deadline_ms / 1000
    reader = _Reader(root, end)
    asked = list(dict.fromkeys(patterns))
    states: dict[str, CodeState] = {}
    walks: dict[str, str] = {}
    for pattern in asked:
        directory = _find_directory(root, pattern) if is_literal(pattern) else pattern
        if directory is None:
            states[pattern] = _literal(reader, pattern)
        elif len(walks) < MAX_PATTERNS:
            walks[pattern] = directory
        else:
            states[pattern] = CodeState(None, 0, f"there are more than {MAX_PATTERNS} patterns to walk")
    listed = _list(root, list(walks.values()), environ, end) if git else [_walk(root, w, end) for w in walks.values()]
    for pattern, names in zip(walks, listed, strict=True):
        states[pattern] = CodeState(None, 0, names) if isinstance(names, str) else reader.state(names)
    return {pattern: states[pattern] for pattern in asked}


def read_pieces(
    root: str,
    wanted: Sequence[tuple[str, str]],
    *,
    git: bool,
    environ: Mapping[str, str],
    deadline_ms: int = DEADLINE_MS,
) -> dict[tuple[str, str], bool | None]:
    """Say of each (pattern, piece) whether the piece stands in a file under the pattern now.

    Line endings count as one kind. None where that could not be read in full and the piece was not seen before that.

    Args:
        root: The canonical top directory of the project.
        wanted: Patterns as `check_pattern` returned them, each with a piece of text.
        git: Whether the project is a git work tree.
        environ: The environment to find git in.
        deadline_ms: How long all of it may take.
    """
    end = time.monotonic() + deadline_ms / 1000
    found: dict[tuple[str, str], bool | None] = {}
    for pattern, piece in wanted:
        names = _list_files(root, pattern, git=git, environ=environ, end=end)
        found[pattern, piece] = None if isinstance(names, str) else _find_piece(root, names, piece, end)
    return found


def read_digests(root: str, names: Sequence[str], *, deadline_ms: int = DEADLINE_MS) -> dict[str, str | None]:
    """Return the content of literal files of the project as digests: "" for one that is gone, None where unreadable.

    Line endings count as one kind, as in an anchor. Files are read up to `MAX_BYTES` in all.
    """
    end = time.monotonic() + deadline_ms / 1000
    room = MAX_BYTES
    found: dict[str, str | None] = {}
    for name in names:
        if time.monotonic() > end:
            found[name] = None
            continue
        try:
            read = _digest_file(root, name, room)
        except UnreadableError:
            found[name] = None
            continue
        found[name] = "" if read is None else read[0]
        room -= 0 if read is None else min(room, read[1])
    return found


def _list_files(root: str, pattern: str, *, git: bool, environ: Mapping[str, str], end: float) -> list[str] | str:
    """Return the files under one pattern, or the problem."""
    directory = _find_directory(root, pattern) if is_literal(pattern) else pattern
    if directory is None:
        return [pattern]
    return _list(root, [directory], environ, end)[0] if git else _walk(root, directory, end)


def _find_piece(root: str, names: list[str], piece: str, end: float) -> bool | None:
    wanted = piece.replace("\r\n", "\n").encode("utf-8", "surrogatepass")
    room = MAX_BYTES
    if len(names) > MAX_FILES:
        return None
    for name in names:
        if time.monotonic() > end:
            return None
        try:
            content = read_file(root, name, room)
        except OutsideError:
            continue
        except UnreadableError:
            return None
        if content is None:
            continue
        if wanted in content.replace(b"\r\n", b"\n"):
            return True
        room -= len(content)
    return False


def _find_directory(root: str, pattern: str) -> str | None:
    """Return the path below `root` of a directory inside the project, through links, or None."""
    place = os.path.realpath(root + "/" + pattern)
    if place != root and is_inside(root, place) and os.path.isdir(place):
        relative = place[len(root.rstrip("/")) + 1 :]
        return relative if is_literal(relative) else None
    return None


def _literal(reader: _Reader, pattern: str) -> CodeState:
    place = os.path.realpath(reader.root + "/" + pattern)
    if not is_inside(reader.root, place):
        return CodeState(None, 0, "leaves the project")
    if os.path.exists(place) and not os.path.isfile(place):
        return CodeState(None, 0, "is no regular file")
    return reader.state([pattern])


def _list(root: str, patterns: list[str], environ: Mapping[str, str], end: float) -> list[list[str] | str]:
    """Ask git for the files under each pattern: names, or the problem. One process each, so no name is in doubt."""
    command = ("ls-files", "-z", "-c", "-o", "--exclude-standard", "--")
    remaining = max(1, int((end - time.monotonic()) * 1000))
    replies = run_all([((*command, ":(glob)" + p), root) for p in patterns], remaining, environ=environ)
    return [_names(reply) for reply in replies]


def _names(reply: Reply) -> list[str] | str:
    if reply.too_long:
        return f"matches too many files; {_ADVICE}"
    if reply.timed_out:
        return _LATE
    if not reply.ok:
        return "git could not list the files"
    # Conflicts list a path several times; a slash at the end is another repository inside this one.
    return sorted({os.fsdecode(name) for name in reply.out.split(b"\0") if name and not name.endswith(b"/")})


def _walk(root: str, pattern: str, end: float) -> list[str] | str:
    """List the files under a pattern without git. Links are listed and not followed, git's own files passed over."""
    glob = Glob(pattern)
    top = pattern if is_literal(pattern) else glob.directory
    if os.path.realpath(root + "/" + top) != (root + "/" + top if top else root):
        return []
    names: list[str] = []
    pending = [top]
    seen = 0
    while pending:
        directory = pending.pop()
        prefix = directory + "/" if directory else ""
        try:
            entries = list(os.scandir(root + "/" + directory))
        except OSError:
            continue
        seen += len(entries)
        if seen > MAX_ENTRIES or len(names) > MAX_ENTRIES:
            return f"stands among more than {MAX_ENTRIES:,} files; {_ADVICE}"
        if time.monotonic() > end:
            return _LATE
        for entry in entries:
            if entry.name == ".git":
                continue
            if entry.is_dir(follow_symlinks=False):
                pending.append(prefix + entry.name)
            elif (entry.is_file(follow_symlinks=False) or entry.is_symlink()) and glob.matches(prefix + entry.name):
                names.append(prefix + entry.name)
    return names


def _digest_file(root: str, name: str, room: int) -> tuple[str, int] | None:
    """Return digest and size of what one name holds, or None if no file stands there."""
    try:
        found = os.lstat(root + "/" + name)
    except (OSError, ValueError):
        return None
    link = b""
    if stat.S_ISLNK(found.st_mode):
        link = os.fsencode(os.readlink(root + "/" + name))
        if not os.path.isfile(root + "/" + name):
            return _digest(b"", link), 0
    elif not stat.S_ISREG(found.st_mode):
        return None
    try:
        content = read_file(root, name, room)
    except OutsideError:
        return (_digest(b"", link), 0) if link else None
    if content is None:
        return None
    return _digest(content, link), len(content)


def _digest(content: bytes, link: bytes) -> str:
    if b"\0" not in content:
        # The same text checked out on another system.
        content = content.replace(b"\r\n", b"\n")
    hashed = _blake2.blake2b(content, digest_size=32)
    if link:
        hashed.update(b"\0link " + link)
    return hashed.hexdigest()
