"""Put projects in order by a person's word: give them names, join this clone to one, forget an empty one.

Findings never move: joining a clone to another project changes where what it writes from now on belongs, and what it
reads. Not for the hook.
"""

from __future__ import annotations

from upheld.context import store
from upheld.context.marks import REFUSED
from upheld.context.projects import IdentityUnknownError, find_project
from upheld.context.remotes import main_remote, normalise_remote
from upheld.errors import INVALID_ARGUMENT, NOT_FOUND, InvalidArgumentError, UpheldError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

    from upheld.context.marks import Marks
    from upheld.context.projects import RootCommits
    from upheld.context.store import Project

MAX_NAME = 100


class UnknownProjectError(UpheldError):
    """No project has that uid or name."""

    def __init__(self) -> None:
        super().__init__(
            "project names no project of this ledger. `upheld project list` shows their uids and names. Nothing was "
            "written.",
            code=NOT_FOUND,
            argument="project",
        )


class SeveralProjectsError(InvalidArgumentError):
    """A name that several projects have."""

    def __init__(self, count: int) -> None:
        super().__init__("project", f"is the name of {count} projects", "Give the uid, from `upheld project list`.")


class KeptProjectError(UpheldError):
    """A project that still holds findings."""

    def __init__(self, count: int) -> None:
        super().__init__(
            f"project still holds {count} finding{'' if count == 1 else 's'}. Purge them first, or keep it. Nothing "
            "was written.",
            code=INVALID_ARGUMENT,
            argument="project",
        )


def choose_project(db: apsw.Connection, wanted: str) -> Project:
    """Return the project with this uid, the beginning of one (8 characters or more), or this name.

    Raises:
        UnknownProjectError: There is none.
        SeveralProjectsError: Several have the name.
    """
    every = store.find_all(db)
    found = [one for one in every if one.uid == wanted or (len(wanted) >= 8 and one.uid.startswith(wanted))]
    found = found or [one for one in every if one.name == wanted]
    if not found:
        raise UnknownProjectError
    if len(found) > 1:
        raise SeveralProjectsError(len(found))
    return found[0]


def rename_project(db: apsw.Connection, project: Project, name: str) -> Project:
    """Give a project another name; names need not be unique.

    Raises:
        InvalidArgumentError: The name is empty, too long or not printable.
    """
    name = name.strip()
    if not name or len(name) > MAX_NAME or not name.isprintable():
        raise InvalidArgumentError("name", "is no name", f"Give 1 to {MAX_NAME} printable characters.")
    store.rename(db, project.id, name)
    return store.Project(project.id, project.uid, name)


def link_here(db: apsw.Connection, marks: Marks, project: Project, *, root_commits: RootCommits, now: str) -> Project:
    """Join the clone here to a project: its path and its main remote are that project's from now on.

    Raises:
        IdentityUnknownError: Git refused to answer.
        InvalidArgumentError: It belongs there already, or a confirmed id holds it where it is.
    """
    if marks.state == REFUSED:
        raise IdentityUnknownError(marks.problem)
    here = find_project(db, marks, root_commits=root_commits)
    if here == project:
        raise InvalidArgumentError("project", "is the project here already", "Nothing is to be done.")
    url = main_remote(marks.remotes)
    remote = "" if url is None else normalise_remote(url)
    if remote:
        store.move_mark(db, "remote", remote, project.id, detail="", now=now)
    store.move_mark(db, "path", marks.place, project.id, detail=marks.file_id, now=now)
    if find_project(db, marks, root_commits=root_commits) != project:
        raise InvalidArgumentError(
            "project",
            "is not what .upheld/project.toml says and a person confirmed",
            "Change the id in that file, and confirm it anew with `upheld project confirm`.",
        )
    return project


def forget_project(db: apsw.Connection, project: Project, *, kept: int, rows: int) -> None:
    """Forget a project that holds no findings, or only purged ones: its marks go, so that nothing resolves to it.

    Args:
        db: Where it is known.
        project: Which one.
        kept: How many findings it holds.
        rows: How many with the purged ones; while there are any the project stays, for what is left of them is its own.

    Raises:
        KeptProjectError: It holds findings.
    """
    if kept:
        raise KeptProjectError(kept)
    store.forget(db, project.id, whole=not rows)
