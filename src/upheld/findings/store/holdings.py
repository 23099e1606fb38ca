"""How much of the ledger is whose: what is counted when projects are listed, and cleared when one is forgotten."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw


def count_by_project(db: apsw.Connection) -> dict[int, tuple[int, str]]:
    """Return how many findings each project has and when the last of them changed; purged ones do not count."""
    rows = db.execute(
        "select project_id, count(*), max(updated_at) from findings where claim <> '' group by project_id"
    )
    return {row[0]: (row[1], row[2]) for row in rows}


def count_rows(db: apsw.Connection, project_id: int) -> tuple[int, int]:
    """Return how many findings of a project have not been purged, and how many are there with the purged ones."""
    row = db.execute("select count(nullif(claim, '')), count(*) from findings where project_id = ?", (project_id,)).get
    return int(row[0]), int(row[1])


def clear(db: apsw.Connection, project_id: int) -> None:
    """Take away what is kept of a project besides its findings: its settings and the weights of its words."""
    db.execute("delete from settings where project_id = ?", (project_id,))
    db.execute("delete from project_words where project_id = ?", (project_id,))
