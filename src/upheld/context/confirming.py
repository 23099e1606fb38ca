"""What a project declares about itself, what a person accepted of it, and accepting it.

Files of a repository may be hostile: their id and facts count only after a person saw and accepted them for
this clone. Not for the hook, which reads only what was accepted (`projects.py`, `facts.py`).
"""

from __future__ import annotations

from upheld.context import store
from upheld.context.declared import read_declared_facts, read_declared_project
from upheld.context.facts import FACTS_FILE
from upheld.context.marks import PROJECT_FILE, REFUSED, storable
from upheld.context.projects import (
    IdentityUnknownError,
    confirm_facts,
    confirm_id,
    ensure_project,
    find_project,
    project_marks,
)
from upheld.context.remotes import normalise_remote
from upheld.errors import INVALID_ARGUMENT, UpheldError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from upheld.context.declared import DeclaredFacts, DeclaredProject
    from upheld.context.marks import Marks
    from upheld.context.projects import RootCommits
    from upheld.context.store import Project


class NothingDeclaredError(UpheldError):
    """There is nothing to confirm."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__(
            f'Nothing is declared here. Write id = "..." into {PROJECT_FILE}, or facts like backend = "cuda" into '
            f"{FACTS_FILE}." + "".join(f" {problem}" for problem in problems) + " Nothing was written.",
            code=INVALID_ARGUMENT,
        )


class Declared:
    """What stands in a project's files now, as one look saw it.

    Args:
        project: The id and the name.
        facts: The facts.
        id_confirmed: The id was accepted for this clone.
        facts_confirmed: The facts were accepted for this clone, in exactly these bytes.
    """

    __slots__ = ("facts", "facts_confirmed", "id_confirmed", "project")

    def __init__(
        self, project: DeclaredProject, facts: DeclaredFacts, *, id_confirmed: bool, facts_confirmed: bool
    ) -> None:
        self.project = project
        self.facts = facts
        self.id_confirmed = id_confirmed
        self.facts_confirmed = facts_confirmed

    @property
    def problems(self) -> tuple[str, ...]:
        """What was not used, a sentence each."""
        return self.project.problems + self.facts.problems

    def as_data(self) -> dict[str, object]:
        """Return it for an envelope."""
        return {
            "id": self.project.id,
            "id_confirmed": self.id_confirmed,
            "facts": self.facts.facts,
            "facts_confirmed": self.facts_confirmed,
            "problems": list(self.problems),
        }


def read_declared(db: apsw.Connection | None, marks: Marks) -> Declared:
    """Read what a project declares and whether it was accepted for this clone.

    Args:
        db: The ledger, None while there is none.
        marks: Of the place.
    """
    project, facts = read_declared_project(marks.root), read_declared_facts(marks.root)
    for_id = None if db is None else store.find_confirmation(db, marks.place, "id")
    for_facts = None if db is None else store.find_confirmation(db, marks.place, "facts")
    return Declared(
        project,
        facts,
        id_confirmed=for_id is not None
        and project.id is not None
        and (for_id.value, for_id.digest) == (project.id, marks.file_id),
        facts_confirmed=for_facts is not None and facts.digest != "" and for_facts.digest == facts.digest,
    )


def confirm_declared(
    db: apsw.Connection,
    marks: Marks,
    seen: Declared,
    *,
    root_commits: RootCommits,
    now: str,
    new_uid: Callable[[], str],
) -> Project:
    """Accept exactly what a person saw and return the project that this clone now belongs to. For people only.

    Runs in the caller's transaction.

    Raises:
        IdentityUnknownError: Git refused to answer.
        NothingDeclaredError: There is nothing to accept.
    """
    if marks.state == REFUSED:
        raise IdentityUnknownError(marks.problem)
    if seen.project.id is None and not seen.facts.facts:
        raise NothingDeclaredError(seen.problems)
    if seen.facts.facts:
        confirm_facts(db, marks, digest=seen.facts.digest, facts=seen.facts.stored, now=now)
    if seen.project.id is not None and seen.project.id == marks.declared_id:
        return confirm_id(db, marks, root_commits=root_commits, now=now, new_uid=new_uid)
    return ensure_project(db, marks, root_commits=root_commits, now=now, new_uid=new_uid)


def describe_project(
    db: apsw.Connection | None, marks: Marks, *, root_commits: RootCommits, home: str
) -> dict[str, object]:
    """Return the project of a place with its marks, what git says, and what its files declare. Writes nothing.

    Args:
        db: The ledger, None while there is none.
        marks: Of the place.
        root_commits: Reads the root commits, where a rule needs them.
        home: The user's home directory, shown as `~`.
    """
    project = None if db is None else find_project(db, marks, root_commits=root_commits)
    known = [] if db is None or project is None else project_marks(db, project)
    return {
        "project": None
        if project is None
        else {
            "name": project.name,
            "uid": project.uid,
            "marks": [
                {"kind": mark.kind, "value": _hide_home(mark.value, home), "noted_at": mark.noted_at} for mark in known
            ],
        },
        "git": {
            "state": marks.state,
            "problem": marks.problem,
            "branch": marks.branch,
            "commit": marks.commit,
            "remotes": {storable(name): normalise_remote(url) or "a directory" for name, url in marks.remotes.items()},
        },
        "declared": read_declared(db, marks).as_data(),
    }


def _hide_home(path: str, home: str) -> str:
    home = home.rstrip("/")
    return "~" + path[len(home) :] if home and (path + "/").startswith(home + "/") else path
