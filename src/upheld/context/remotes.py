"""Remote URLs in the one form in which two spellings of the same repository are equal.

`git@github.com:a/b.git` and `https://user:secret@github.com/a/b` are the same place, so the form keeps host and
path and nothing else: no scheme, no user, no password. A remote that is a directory of this machine has no such
form; it is resolved to the repository that stands there.
"""

from __future__ import annotations

import os

from upheld.context.marks import find_common_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_DEFAULT_PORTS = {"ssh": "22", "git+ssh": "22", "ssh+git": "22", "http": "80", "https": "443", "git": "9418"}
_MAX_URL = 2048


def normalise_remote(url: str) -> str:
    """Return `host/path` or `host:port/path` of a remote, or "" for a local directory or anything else.

    The host is lower-cased, user, password, default port, query, fragment, trailing slashes and `.git` are dropped.
    The path keeps its case: most servers tell `A` from `a`. Idempotent in the sense that adding `https://` in front
    of the result gives the same result.
    """
    text = url.strip()
    if not text or len(text) > _MAX_URL or not text.isprintable():
        return ""
    scheme, separator, rest = text.partition("://")
    if separator:
        scheme = scheme.lower()
        if scheme not in _DEFAULT_PORTS:
            return ""
        authority, _, path = rest.partition("/")
        if scheme in {"http", "https"}:
            path = path.partition("#")[0].partition("?")[0]
        return _joined(authority, path, _DEFAULT_PORTS[scheme])
    authority, colon, path = _split_scp(text)
    return _joined(authority, path, None) if colon else ""


def main_remote(remotes: Mapping[str, str]) -> str | None:
    """Return the URL that stands for the repository: `origin`, else the first one configured, or None."""
    if "origin" in remotes:
        return remotes["origin"]
    return next(iter(remotes.values()), None)


def find_local_repository(url: str, base: str) -> str | None:
    """Return the shared git directory that a remote on this machine names, or None.

    Args:
        url: A path or a `file://` URL.
        base: Where a relative path starts: the top of the work tree.
    """
    path = local_path(url)
    if path is None:
        return None
    place = os.path.realpath(os.path.join(base, path))
    for candidate in (place, place + ".git"):
        found = find_common_dir(candidate)
        if found is not None:
            return found
    return None


def local_path(url: str) -> str | None:
    """Return the path that a remote on this machine names, or None if it is no path."""
    if not url or "\0" in url:
        return None
    scheme, separator, rest = url.partition("://")
    if separator:
        host, slash, path = rest.partition("/")
        is_here = scheme.lower() == "file" and bool(slash) and host.lower() in {"", "localhost"}
        return _unescape("/" + path) if is_here else None
    return None if _split_scp(url)[1] else url


def _split_scp(text: str) -> tuple[str, str, str]:
    """Split `user@host:path`; as git does, a slash before the first colon makes it a path."""
    head = text.partition("/")[0]
    if text.startswith("[") or "@[" in head:
        before, bracket, path = text.partition("]:")
        return (before + "]", ":", path) if bracket else ("", "", "")
    host, colon, path = text.partition(":")
    # One letter before the colon is a drive of another system.
    if "/" in host or len(host) < 2 or path.startswith(":"):
        return "", "", ""
    return host, colon, path


def _joined(authority: str, path: str, default_port: str | None) -> str:
    host = authority.rpartition("@")[2].lower()
    if default_port is not None:
        name, colon, port = host.rpartition(":")
        if colon and (port in {"", default_port} or port == "443" == default_port):
            host = name
    elif host.startswith("[") and host.endswith("]") and ":" not in host:
        host = host[1:-1]
    path = _unescape(path).strip("/")
    while path.endswith(".git") and path != ".git":
        path = path.removesuffix(".git").rstrip("/")
    return f"{host}/{path}" if host and path and path.isprintable() else ""


def _unescape(path: str) -> str:
    """Resolve `%20` and the like; what is no valid escape or no valid text stays as it is."""
    if "%" not in path:
        return path
    pieces = path.split("%")
    parts = [os.fsencode(pieces[0])]
    for piece in pieces[1:]:
        try:
            parts.append(bytes.fromhex(piece[:2]) + os.fsencode(piece[2:]) if len(piece[:2]) == 2 else b"")
            if len(piece) < 2 or " " in piece[:2]:
                return path
        except ValueError:
            return path
    try:
        return b"".join(parts).decode()
    except UnicodeDecodeError:
        return path
