"""Find home directories in text: they hold a person's account name and say nothing to another machine."""

import re
from collections.abc import Iterator

NAME = "home-path"
REPLACEMENT = "~"

_NOT_PERSONS = r"(?:Shared|Public|Default|linuxbrew|All Users)[\\/]"
_POSIX = re.compile(
    rf"(?<![\w.~%@-])(?:/mnt/[a-z])?/(?:home|Users)/(?!{_NOT_PERSONS})[^/\s:\"'<>|*?,;()\[\]{{}}$\\.`][^/\s:\"'<>|*?,;()\[\]{{}}$\\`]{{0,63}}+(?=/)"
)
_WINDOWS = re.compile(
    rf"(?<![A-Za-z])[A-Za-z]:[\\/]{{1,2}}Users[\\/]{{1,2}}(?!{_NOT_PERSONS})[^\\/:*?\"<>|\r\n%$.]{{1,64}}+(?=[\\/])"
)


def find_homes(text: str, home: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of home directories: the given one, and those told by their usual places.

    Args:
        text: Any text.
        home: The current home directory, or the empty string.
    """
    home = home.rstrip("/\\")
    if len(home) > 1 and home in text:
        given = re.compile(rf"(?<![\w.~%@-]){re.escape(home)}(?![\w-]|\.\w)")
        yield from (match.span() for match in given.finditer(text))
    if "/home/" in text or "/Users/" in text:
        yield from (match.span() for match in _POSIX.finditer(text))
    if "Users" in text:
        yield from (match.span() for match in _WINDOWS.finditer(text))
