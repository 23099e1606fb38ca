"""Which project a place belongs to: one function for reads and writes, `find_project`.

The rules, in this order:

1. The id in `.upheld/project.toml`, only where a person confirmed it for this clone.
2. The main remote (`origin`, else the first configured): a known URL is that project. A remote that is a
   directory of this machine counts as the repository that stands there.
3. The path of the clone (its common git directory, or the directory without git) with the same thing standing there
   as before. So a repository that gains or renames a remote keeps its project; another one in its place is another
   project, unless rule 4 finds that they share their history.
4. Root commits, only if this repository has no remote or that project knows none, and only if they point to one
   project, of several to the one that stood in this place: a fork has another origin and is another project, a moved
   or restored clone is not.

Where 2 and 3 name different projects, the path wins: a changed remote must not hand one project's findings to the
work tree of another. Only when history shows that what stands there is no longer the path's project, and the remote's
project shares it, does the remote win.

Never counted: an unconfirmed id, and anything at all where git refused to answer. Marks are learned by
`ensure_project` and never taken from another project. Case folding of Windows paths is out of scope here.
"""

from __future__ import annotations

import os

from upheld.context import store
from upheld.context.marks import REFUSED, identify, storable
from upheld.context.remotes import find_local_repository, main_remote, normalise_remote
from upheld.context.store import Project
from upheld.errors import INVALID_ARGUMENT, InvalidArgumentError, UpheldError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from upheld.context.marks import Marks

    RootCommits = Callable[[], tuple[str, ...]]

_MAX_NAME = 100

__all__ = [
    "IdentityUnknownError",
    "Project",
    "confirm_facts",
    "confirm_id",
    "ensure_project",
    "find_project",
    "list_projects",
    "project_marks",
]


class IdentityUnknownError(UpheldError):
    """Git would not say which repository this is, so nothing may be written or read for it.

    Args:
        problem: Why, as `Marks.problem` says it.
    """

    def __init__(self, problem: str) -> None:
        super().__init__(
            f"Which project this is stays unknown: {problem}. If the repository is yours to trust, run "
            "`git config --global --add safe.directory DIRECTORY` with its directory; otherwise repair it until "
            "`git status` works there. Nothing was written.",
            code=INVALID_ARGUMENT,
        )


def find_project(db: apsw.Connection, marks: Marks, *, root_commits: RootCommits) -> Project | None:
    """Return the project of a place, or None if the ledger knows none. Writes nothing.

    Args:
        db: The ledger.
        marks: What `read_marks` saw.
        root_commits: Reads the root commits; called at most once, and only where a rule needs them.
    """
    if marks.state == REFUSED:
        return None
    found = _find(db, marks, _once(root_commits))
    return None if found is None else store.find_by_id(db, found)


def ensure_project(
    db: apsw.Connection, marks: Marks, *, root_commits: RootCommits, now: str, new_uid: Callable[[], str]
) -> Project:
    """Return the project of a place, making it if there is none, and learn its marks.

    Runs in the caller's transaction. Idempotent: a second call with the same marks changes nothing.

    Raises:
        IdentityUnknownError: Git refused to answer.
    """
    if marks.state == REFUSED:
        raise IdentityUnknownError(marks.problem)
    roots = _once(root_commits)
    found = _find(db, marks, roots)
    project = None if found is None else store.find_by_id(db, found)
    if project is None:
        project = store.add_project(db, uid=new_uid(), name=_name(marks), now=now)
    _learn(db, project.id, marks, roots, now)
    return project


def confirm_id(
    db: apsw.Connection, marks: Marks, *, root_commits: RootCommits, now: str, new_uid: Callable[[], str]
) -> Project:
    """Accept the id in `.upheld/project.toml` for this clone and return the project that it now belongs to.

    A known id joins that project; a new one becomes a mark of the project that stood here. For people only.

    Raises:
        IdentityUnknownError: Git refused to answer.
        InvalidArgumentError: The file declares no valid id.
    """
    if marks.state == REFUSED:
        raise IdentityUnknownError(marks.problem)
    if marks.declared_id is None:
        raise InvalidArgumentError(
            "id",
            "is not declared here",
            'Write id = "..." with letters, digits, dots, underscores and hyphens into .upheld/project.toml.',
        )
    store.put_confirmation(db, marks.place, "id", digest=marks.file_id, value=marks.declared_id, now=now)
    project = ensure_project(db, marks, root_commits=root_commits, now=now, new_uid=new_uid)
    if not store.find_holders(db, "id", marks.declared_id):
        store.put_mark(db, project.id, "id", marks.declared_id, detail="", now=now)
    return project


def confirm_facts(db: apsw.Connection, marks: Marks, *, digest: str, facts: str, now: str) -> None:
    """Accept the declared facts of this clone: the digest of the file a person saw and its facts as JSON.

    Raises:
        IdentityUnknownError: Git refused to answer.
    """
    if marks.state == REFUSED:
        raise IdentityUnknownError(marks.problem)
    store.put_confirmation(db, marks.place, "facts", digest=digest, value=facts, now=now)


def list_projects(db: apsw.Connection) -> list[Project]:
    """Return every project of the ledger, oldest first."""
    return store.find_all(db)


def project_marks(db: apsw.Connection, project: Project) -> list[store.Mark]:
    """Return the marks of one project by kind and value."""
    return store.find_marks(db, project.id)


def _find(db: apsw.Connection, marks: Marks, roots: RootCommits) -> int | None:
    by_id = _by_confirmed_id(db, marks)
    if by_id is not None:
        return by_id
    by_remote = _by_remote(db, marks)
    by_path = _by_path(db, marks.place, marks.file_id)
    if by_remote is not None and by_path is not None and by_remote != by_path:
        has_moved_on = _shares_history(db, by_remote, roots) and _has_other_history(db, by_path, roots)
        return by_remote if has_moved_on else by_path
    for found in (by_remote, by_path):
        if found is not None:
            return found
    return _by_history(db, marks, roots)


def _by_confirmed_id(db: apsw.Connection, marks: Marks) -> int | None:
    if marks.declared_id is None:
        return None
    confirmed = store.find_confirmation(db, marks.place, "id")
    # The identity of the place is part of what was confirmed: a repository that comes to stand there is not.
    if confirmed is None or confirmed.value != marks.declared_id or confirmed.digest != marks.file_id:
        return None
    holders = store.find_holders(db, "id", marks.declared_id)
    return holders[0].project_id if holders else None


def _by_remote(db: apsw.Connection, marks: Marks) -> int | None:
    url = main_remote(marks.remotes)
    if url is None:
        return None
    normal = normalise_remote(url)
    if normal:
        holders = store.find_holders(db, "remote", normal)
        return holders[0].project_id if holders else None
    source = find_local_repository(url, marks.root)
    return None if source is None else _by_path(db, storable(source), identify(source))


def _by_path(db: apsw.Connection, place: str, file_id: str) -> int | None:
    for mark in store.find_holders(db, "path", place):
        if file_id and mark.detail == file_id:
            return mark.project_id
    return None


def _by_history(db: apsw.Connection, marks: Marks, roots: RootCommits) -> int | None:
    has_remote = any(normalise_remote(url) for url in marks.remotes.values())
    candidates = {mark.project_id for root in roots() for mark in store.find_holders(db, "root_commit", root)}
    if has_remote:
        candidates = {project for project in candidates if not store.find_marks(db, project, "remote")}
    if len(candidates) > 1:
        # Several forks share this history; the one that stood in this very place is meant, or none.
        candidates &= {mark.project_id for mark in store.find_holders(db, "path", marks.place)}
    return candidates.pop() if len(candidates) == 1 else None


def _known_roots(db: apsw.Connection, project_id: int) -> set[str]:
    return {mark.value for mark in store.find_marks(db, project_id, "root_commit")}


def _shares_history(db: apsw.Connection, project_id: int, roots: RootCommits) -> bool:
    return not _known_roots(db, project_id).isdisjoint(roots())


def _has_other_history(db: apsw.Connection, project_id: int, roots: RootCommits) -> bool:
    known = _known_roots(db, project_id)
    return bool(known) and bool(roots()) and known.isdisjoint(roots())


def _learn(db: apsw.Connection, project_id: int, marks: Marks, roots: RootCommits, now: str) -> None:
    url = main_remote(marks.remotes)
    if url is not None:
        normal = normalise_remote(url)
        source = None if normal else find_local_repository(url, marks.root)
        if normal and not store.find_holders(db, "remote", normal):
            store.put_mark(db, project_id, "remote", normal, detail="", now=now)
        if source is not None:
            _learn_path(db, project_id, storable(source), identify(source), now)
    is_new_here = _learn_path(db, project_id, marks.place, marks.file_id, now)
    # Reading root commits walks the whole history: only for a clone seen for the first time.
    if is_new_here or not store.find_marks(db, project_id, "root_commit"):
        for root in roots():
            store.put_mark(db, project_id, "root_commit", root, detail="", now=now)


def _learn_path(db: apsw.Connection, project_id: int, place: str, file_id: str, now: str) -> bool:
    """Note where a project stands; False if that is known, of this project or of another."""
    if not file_id or _by_path(db, place, file_id) is not None:
        return False
    store.put_mark(db, project_id, "path", place, detail=file_id, now=now)
    return True


def _name(marks: Marks) -> str:
    url = main_remote(marks.remotes)
    remote = "" if url is None else normalise_remote(url)
    name = os.path.basename(remote) or os.path.basename(storable(marks.root)).removesuffix(".git")
    return "".join(c for c in name if c.isprintable())[:_MAX_NAME] or "project"


def _once(root_commits: RootCommits) -> RootCommits:
    kept: list[tuple[str, ...]] = []

    def read() -> tuple[str, ...]:
        if not kept:
            kept.append(root_commits())
        return kept[0]

    return read
