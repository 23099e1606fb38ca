"""The tables `projects`, `project_marks` and `confirmations`: their SQL, and nothing else that has a rule."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw


class Project:
    """One project of the ledger.

    Args:
        id: Its number in this ledger.
        uid: Its name in exports, stable over ledgers.
        name: What people call it; not unique.
    """

    __slots__ = ("id", "name", "uid")

    def __init__(self, id: int, uid: str, name: str) -> None:  # noqa: A002 - the column's name
        self.id = id
        self.uid = uid
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Project) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"Project({self.id}, {self.uid!r}, {self.name!r})"


class Mark:
    """One mark of a project: `kind` is `id`, `remote`, `root_commit` or `path`, `detail` what stands at a path."""

    __slots__ = ("detail", "kind", "noted_at", "project_id", "value")

    def __init__(self, project_id: int, kind: str, value: str, detail: str, noted_at: str) -> None:
        self.project_id = project_id
        self.kind = kind
        self.value = value
        self.detail = detail
        self.noted_at = noted_at


class Confirmation:
    """What a person accepted for one clone: the digest of what they saw, and the value to use."""

    __slots__ = ("digest", "value")

    def __init__(self, digest: str, value: str) -> None:
        self.digest = digest
        self.value = value


def find_by_id(db: apsw.Connection, project_id: int) -> Project | None:
    """Return the project with this number, or None."""
    for row in db.execute("select id, uid, name from projects where id = ?", (project_id,)):
        return Project(*row)
    return None


def find_all(db: apsw.Connection) -> list[Project]:
    """Return every project, oldest first."""
    return [Project(*row) for row in db.execute("select id, uid, name from projects order by id")]


def add_project(db: apsw.Connection, *, uid: str, name: str, now: str) -> Project:
    """Insert a project."""
    db.execute("insert into projects (uid, name, created_at) values (?, ?, ?)", (uid, name, now))
    return Project(db.last_insert_rowid(), uid, name)


def find_holders(db: apsw.Connection, kind: str, value: str) -> list[Mark]:
    """Return every project's mark of this kind and value, oldest project first."""
    rows = db.execute(
        "select project_id, kind, value, detail, noted_at from project_marks"
        " where kind = ? and value = ? order by project_id",
        (kind, value),
    )
    return [Mark(*row) for row in rows]


def find_marks(db: apsw.Connection, project_id: int, kind: str | None = None) -> list[Mark]:
    """Return the marks of one project, of one kind or all, in stable order."""
    rows = db.execute(
        "select project_id, kind, value, detail, noted_at from project_marks"
        " where project_id = :project and (:kind is null or kind = :kind) order by kind, value",
        {"project": project_id, "kind": kind},
    )
    return [Mark(*row) for row in rows]


def put_mark(db: apsw.Connection, project_id: int, kind: str, value: str, *, detail: str, now: str) -> None:
    """Insert a mark, or note another detail of one that is there."""
    db.execute(
        "insert into project_marks (project_id, kind, value, detail, noted_at) values (?, ?, ?, ?, ?)"
        " on conflict (project_id, kind, value) do update set detail = excluded.detail, noted_at = excluded.noted_at"
        " where detail <> excluded.detail",
        (project_id, kind, value, detail, now),
    )


def move_mark(db: apsw.Connection, kind: str, value: str, project_id: int, *, detail: str, now: str) -> None:
    """Take a mark from whoever holds it and give it to one project."""
    db.execute("delete from project_marks where kind = ? and value = ?", (kind, value))
    put_mark(db, project_id, kind, value, detail=detail, now=now)


def rename(db: apsw.Connection, project_id: int, name: str) -> None:
    """Give a project another name."""
    db.execute("update projects set name = ? where id = ?", (name, project_id))


def forget(db: apsw.Connection, project_id: int, *, whole: bool) -> None:
    """Take the marks of a project away, and the project itself if the whole of it goes."""
    db.execute("delete from project_marks where project_id = ?", (project_id,))
    if whole:
        db.execute("delete from projects where id = ?", (project_id,))


def find_confirmation(db: apsw.Connection, clone: str, kind: str) -> Confirmation | None:
    """Return what was confirmed for a clone: kind `id` or `facts`."""
    for row in db.execute("select digest, value from confirmations where clone = ? and kind = ?", (clone, kind)):
        return Confirmation(*row)
    return None


def put_confirmation(db: apsw.Connection, clone: str, kind: str, *, digest: str, value: str, now: str) -> None:
    """Insert or replace what was confirmed for a clone."""
    db.execute(
        "insert into confirmations (clone, kind, digest, value, confirmed_at) values (?, ?, ?, ?, ?)"
        " on conflict (clone, kind) do update set digest = excluded.digest, value = excluded.value,"
        " confirmed_at = excluded.confirmed_at",
        (clone, kind, digest, value, now),
    )
