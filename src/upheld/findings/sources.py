"""Look a source up when it is written: is it there, and with what content?

The raw source stays where it is. A file outside the project is not looked up: its path is private and
its content no business of this project's ledger.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from upheld.context import git
from upheld.context.code import read_digests
from upheld.context.files import is_inside
from upheld.context.marks import PRESENT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from upheld.context.marks import Marks

RESOLVED = "resolved"
UNRESOLVED = "unresolved"
NOT_FOUND = "not_found"

_GIT_MS = 2000


@dataclass(frozen=True, slots=True)
class Source:
    """What a look at a source told.

    Args:
        ref: The reference to keep: for a file of the project its path from the root.
        resolution: `resolved`, `not_found`, or `unresolved` where nobody looked or could tell.
        content_hash: Of the content when it was looked at, "" unless resolved.
    """

    ref: str
    resolution: str
    content_hash: str = ""


def look_up(kind: str, ref: str, marks: Marks, environ: Mapping[str, str]) -> Source:
    """Return what is known of a source now. Never raises for what it finds."""
    if kind == "file":
        return _file(ref, marks)
    if kind == "git_commit" and marks.state == PRESENT:
        return _commit(ref, marks, environ)
    return Source(ref, UNRESOLVED)


def _file(ref: str, marks: Marks) -> Source:
    path = os.path.normpath(os.path.join(marks.cwd, os.path.expanduser(ref)))
    if not is_inside(marks.root, path):
        return Source(ref, UNRESOLVED)
    relative = os.path.relpath(path, marks.root)
    digest = read_digests(marks.root, [relative])[relative]
    if digest is None:
        return Source(relative, UNRESOLVED)
    if not digest:
        return Source(relative, UNRESOLVED if os.path.lexists(path) else NOT_FOUND)
    return Source(relative, RESOLVED, digest)


def _commit(ref: str, marks: Marks, environ: Mapping[str, str]) -> Source:
    if ref.startswith("-"):
        return Source(ref, UNRESOLVED)
    asked = ["rev-parse", "--verify", "--quiet", "--end-of-options", ref + "^{commit}"]
    reply = git.run(asked, marks.root, _GIT_MS, environ=environ)
    if reply.ok:
        return Source(ref, RESOLVED, reply.out.decode("ascii", "replace").strip())
    return Source(ref, UNRESOLVED if reply.timed_out else NOT_FOUND)
