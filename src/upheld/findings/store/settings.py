"""What a person set, as it is stored: text by name, for one project or everywhere. What a value means is elsewhere."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

EVERYWHERE = 0
"""Stands in the place of a project."""


def find_settings(db: apsw.Connection, project_id: int) -> list[tuple[int, str, str]]:
    """Return what counts for a project as (project, name, value): what was set everywhere first, each by name."""
    return list(
        db.execute(
            "select project_id, name, value from settings where project_id in (?, ?) order by project_id, name",
            (EVERYWHERE, project_id),
        )
    )


def put_setting(db: apsw.Connection, project_id: int, name: str, value: str, now: str) -> None:
    """Set one, in the place of what was set there before."""
    db.execute(
        "insert into settings (project_id, name, value, set_at) values (?, ?, ?, ?) "
        "on conflict do update set value = excluded.value, set_at = excluded.set_at",
        (project_id, name, value, now),
    )


def delete_setting(db: apsw.Connection, project_id: int, name: str) -> bool:
    """Take one back; False if there was none."""
    db.execute("delete from settings where project_id = ? and name = ?", (project_id, name))
    return db.changes() > 0
