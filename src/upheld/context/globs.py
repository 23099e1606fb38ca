"""Git's `:(glob)` patterns: what is allowed in one, and matching where there is no git.

Matching follows git's wildmatch byte for byte: `*`, `?` and `[...]` do not cross a slash, `**` between slashes stands
for any number of directories. It runs all alternatives side by side, so no pattern can make it slow. POSIX classes
(`[[:alpha:]]`) are refused.
"""

from __future__ import annotations

import os

from upheld.errors import InvalidArgumentError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_PATTERN = 300
MAX_PATTERNS = 16

_SLASH = 0x2F
_ANY_BYTE = frozenset(range(256))
_NOT_SLASH = _ANY_BYTE - {_SLASH}

# What a token does: match one byte of a set; skip bytes of a set; skip bytes up to a slash and that slash; or choose
# whether to do the latter.
_ONE = 0
_MANY = 1
_DIRECTORIES = 2
_ENTER = 3


class Glob:
    """One pattern, ready to match.

    Args:
        pattern: As `check_pattern` allows it.
    """

    __slots__ = ("_literal", "_tokens", "_whole", "directory", "pattern")

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        whole = os.fsencode(pattern)
        special = next((i for i, byte in enumerate(whole) if byte in b"*?[\\"), len(whole))
        # Git compares the part before the first special character as it stands and matches the rest by itself.
        self._whole = whole
        self._literal = whole[:special]
        self._tokens = _compile(whole[special:])
        #: The directory that everything that matches stands in or below, "" for the root.
        self.directory = os.fsdecode(self._literal.rpartition(b"/")[0])

    def matches(self, path: str) -> bool:
        """Say whether a path from the root matches, or stands below a directory of exactly this name."""
        name = os.fsencode(path)
        if name == self._whole or name.startswith(self._whole + b"/"):
            return True
        if self._tokens is None or not name.startswith(self._literal):
            return False
        return _run(self._tokens, name[len(self._literal) :])


def is_literal(pattern: str) -> bool:
    """Say whether a pattern names one path."""
    return not any(character in pattern for character in "*?[\\")


def check_pattern(pattern: str) -> str:
    """Return a pattern in the form that is stored: without a trailing slash.

    Raises:
        InvalidArgumentError: It is no pattern from the root of the project.
    """
    problem = _problem(pattern)
    if problem:
        raise InvalidArgumentError(
            "paths",
            problem,
            'Write paths from the project\'s root, like "src/engine/*.py" or "docs/**", '
            f"each at most {MAX_PATTERN} characters.",
        )
    return pattern.rstrip("/")


def _problem(pattern: str) -> str:
    components = pattern.rstrip("/").split("/")
    refusals = (
        (
            not pattern.strip() or len(pattern) > MAX_PATTERN,
            f"holds a pattern that is empty or longer than {MAX_PATTERN} characters",
        ),
        (not pattern.isprintable(), "holds a pattern with characters that cannot be printed"),
        (pattern.startswith(("/", "~/")), "holds a pattern that does not start at the project's root"),
        (pattern.startswith(":"), "holds a pattern with git's own magic"),
        ("[:" in pattern, "holds a pattern with a character class by name; list the characters"),
        (
            any(part in {"", ".", ".."} for part in components),
            "holds a pattern with an empty, . or .. component",
        ),
        (any(part.lower() == ".git" for part in components), "holds a pattern for git's own files"),
    )
    return next((problem for refused, problem in refusals if refused), "")


def _compile(pattern: bytes) -> list[tuple[int, frozenset[int]]] | None:
    """Return the tokens of a pattern, or None if it can match nothing."""
    tokens: list[tuple[int, frozenset[int]]] = []
    at = 0
    while at < len(pattern):
        byte = pattern[at]
        if byte == 0x2A:  # *
            start = at
            while at < len(pattern) and pattern[at] == 0x2A:
                at += 1
            tokens.extend(_stars(pattern, start, at))
            if tokens[-1][0] == _DIRECTORIES:
                at += 1
            continue
        if byte == 0x3F:  # ?
            tokens.append((_ONE, _NOT_SLASH))
        elif byte == 0x5B:  # [
            found = _compile_set(pattern, at + 1)
            if found is None:
                return None
            members, at = found
            tokens.append((_ONE, members - {_SLASH}))
        elif byte == 0x5C:  # backslash
            at += 1
            if at == len(pattern):
                return None
            tokens.append((_ONE, frozenset((pattern[at],))))
        else:
            tokens.append((_ONE, frozenset((byte,))))
        at += 1
    return tokens


def _stars(pattern: bytes, start: int, end: int) -> Iterator[tuple[int, frozenset[int]]]:
    opens = start == 0 or pattern[start - 1] == _SLASH
    closes = end == len(pattern) or pattern[end] == _SLASH or pattern[end : end + 2] == b"\\/"
    if end - start == 1 or not (opens and closes):
        yield _MANY, _NOT_SLASH
    elif pattern[end : end + 1] == b"/":
        yield _ENTER, frozenset()
        yield _DIRECTORIES, _ANY_BYTE
    else:
        yield _MANY, _ANY_BYTE


def _compile_set(pattern: bytes, at: int) -> tuple[frozenset[int], int] | None:
    """Return the bytes of a bracket expression and where its `]` stands; None if it is not closed."""
    members: set[int] = set()
    negated = pattern[at : at + 1] in {b"!", b"^"}
    at += negated
    first = True
    before: int | None = None
    while at < len(pattern):
        byte = pattern[at]
        if byte == 0x5D and not first:  # ]
            return (_ANY_BYTE - members if negated else frozenset(members)), at
        first = False
        if byte == 0x2D and before is not None and pattern[at + 1 : at + 2] not in {b"", b"]"}:  # -
            at += 1
            if pattern[at] == 0x5C:
                at += 1
                if at == len(pattern):
                    return None
            members.update(range(before, pattern[at] + 1))
            before = None
        else:
            if byte == 0x5C:
                at += 1
                if at == len(pattern):
                    return None
                byte = pattern[at]
            members.add(byte)
            before = byte
        at += 1
    return None


def _run(tokens: list[tuple[int, frozenset[int]]], text: bytes) -> bool:
    states = _closed(tokens, {0})
    for byte in text:
        following: set[int] = set()
        for state in states:
            if state == len(tokens):
                continue
            kind, members = tokens[state]
            if byte in members:
                following.add(state + 1 if kind == _ONE else state)
            if kind == _DIRECTORIES and byte == _SLASH:
                following.add(state + 1)
        states = _closed(tokens, following)
        if not states:
            return False
    return len(tokens) in states


def _closed(tokens: list[tuple[int, frozenset[int]]], states: set[int]) -> set[int]:
    """Add the states that are reached without a byte: past `*`, and past `**/` where it is entered."""
    reached = set(states)
    pending = list(states)
    while pending:
        state = pending.pop()
        kind = tokens[state][0] if state < len(tokens) else _ONE
        following = (state + 1, state + 2) if kind == _ENTER else (state + 1,) if kind == _MANY else ()
        for other in following:
            if other not in reached:
                reached.add(other)
                pending.append(other)
    return reached
