"""The versions of a project's dependencies, as its lock files have them. Only names that are asked for.

Read are uv.lock, poetry.lock and pylock.toml, pip's requirements with `==`, and npm's package-lock.json. The TOML ones
are written by machines, one key a line, so looking at lines is enough, and the hook need not pay for a TOML parser;
the tests hold that against one. Two lock files, or two entries, that disagree about a name leave it unknown.
"""

from __future__ import annotations

import os

from upheld.context.files import TooBigError, UnreadableError, read_file
from upheld.text import jsontext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Reader = Callable[[str, list[str]], list[tuple[str, str]]]
    """Takes the text of a lock file and the wanted names; returns (name, version) of those it holds."""

MAX_BYTES = 16 * 1024 * 1024
MAX_REQUIREMENTS = 16

_TOML = ("uv.lock", "poetry.lock", "pylock.toml")
_NPM = "package-lock.json"
_SEPARATORS = "-_."


class Locked:
    """What the lock files say of one dependency: its version, None for unknown, and which file, or why nobody knows."""

    __slots__ = ("source", "version")

    def __init__(self, version: str | None, source: str) -> None:
        self.version = version
        self.source = source


def read_versions(root: str, names: Iterable[str]) -> dict[str, Locked]:
    """Return the locked version of each named dependency. A file is read once for all of them.

    Args:
        root: The project's canonical directory.
        names: Without the `dep.`; npm's scoped ones as `@scope/name`.
    """
    wanted = list(dict.fromkeys(names))
    found: dict[str, dict[str, str]] = {name: {} for name in wanted}
    problems: list[str] = []
    seen = False
    for file, reader in _find_readers(root):
        try:
            content = read_file(root, file, MAX_BYTES)
        except TooBigError:
            problems.append(f"{file} is larger than {MAX_BYTES >> 20} MB")
            continue
        except UnreadableError as exc:
            problems.append(f"{file} {exc}")
            continue
        if content is None:
            continue
        seen = True
        try:
            for name, version in reader(content.decode("utf-8"), wanted):
                found[name].setdefault(version, file)
        except ValueError:
            problems.append(f"{file} is damaged")
    return {name: _conclude(versions, problems, seen=seen) for name, versions in found.items()}


def normalise(name: str) -> str:
    """Return the form in which the names of Python packages are compared (PEP 503)."""
    name = name.lower()
    for separator in _SEPARATORS:
        name = name.replace(separator, "-")
    while "--" in name:
        name = name.replace("--", "-")
    return name


def _conclude(versions: dict[str, str], problems: list[str], *, seen: bool) -> Locked:
    if problems:
        # What can't be read might say otherwise.
        return Locked(None, problems[0])
    if len(versions) > 1:
        return Locked(None, " and ".join(f"{file} has {version}" for version, file in sorted(versions.items())[:3]))
    for version, file in versions.items():
        return Locked(version, file)
    return Locked(None, "in no lock file" if seen else "no lock file")


def _find_readers(root: str) -> list[tuple[str, Callable[[str, list[str]], list[tuple[str, str]]]]]:
    readers: list[tuple[str, Callable[[str, list[str]], list[tuple[str, str]]]]] = [
        (file, _read_toml) for file in _TOML
    ]
    readers.append(("requirements.txt", _read_requirements))
    try:
        listed = sorted(name for name in os.listdir(root + "/requirements") if name.endswith(".txt"))
    except OSError:
        listed = []
    readers += [("requirements/" + name, _read_requirements) for name in listed[:MAX_REQUIREMENTS]]
    readers.append((_NPM, _read_npm))
    return readers


def _read_toml(text: str, wanted: list[str]) -> list[tuple[str, str]]:
    """Return the entries `name = "..."`, `version = "..."` of the tables `[[package]]` that were asked for."""
    found = []
    for name in wanted:
        normal = normalise(name)
        at = -1
        # The line of a package's own name begins with the key; dependencies stand inside braces, further right.
        while (at := text.find(f'\nname = "{normal}"', at + 1)) >= 0:
            end = text.find("\n[[", at)
            line = text.find('\nversion = "', at, end if end >= 0 else len(text))
            inner = text.find("\n[", at + 1)
            if line < 0 or 0 <= inner < line:
                continue
            start = line + len('\nversion = "')
            stop = text.find('"', start)
            if stop < 0:
                raise ValueError(name)
            found.append((name, text[start:stop]))
    if "\n[[package" not in "\n" + text and text.strip():
        raise ValueError("no lock file")
    return found


def _read_requirements(text: str, wanted: list[str]) -> list[tuple[str, str]]:
    names = {normalise(name): name for name in wanted}
    found = []
    for line in text.splitlines():
        requirement = line.partition("#")[0].partition(";")[0].strip().removesuffix("\\").strip()
        left, equals, right = requirement.partition("==")
        name = names.get(normalise(left.partition("[")[0].strip()))
        version = right.removeprefix("=").split()[:1]
        if equals and name is not None and version and "*" not in version[0] and "," not in version[0]:
            found.append((name, version[0]))
    return found


def _read_npm(text: str, wanted: list[str]) -> list[tuple[str, str]]:
    data = jsontext.loads(text) if any(f'"{name}"' in text or f'/{name}"' in text for name in wanted) else {}
    if not isinstance(data, dict):
        raise ValueError("no lock file")
    packages, dependencies = data.get("packages"), data.get("dependencies")
    found = []
    for name in wanted:
        entry = packages.get("node_modules/" + name) if isinstance(packages, dict) else None
        if entry is None and isinstance(dependencies, dict):
            entry = dependencies.get(name)  # the first format
        version = entry.get("version") if isinstance(entry, dict) else None
        if isinstance(version, str):
            found.append((name, version))
    return found
