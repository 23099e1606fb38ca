"""Setting what counts here or everywhere, and pausing: for people only. Listing is for anybody.

A setting belongs to no finding, so it has no event in the audit trail; it keeps when it was set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from upheld.context.marks import REFUSED, read_root_commits
from upheld.context.projects import IdentityUnknownError, ensure_project, find_project
from upheld.errors import InvalidArgumentError
from upheld.findings.ledger import as_refusals
from upheld.findings.model import FOREVER
from upheld.findings.moments import parse_until
from upheld.findings.refusals import PersonRequiredError
from upheld.findings.settings import DEFAULTS, PAUSED_UNTIL, SETTINGS, Settings, get_setting, read_settings
from upheld.findings.store import settings as store

if TYPE_CHECKING:
    import apsw

    from upheld.context.store import Project
    from upheld.findings.ledger import Caller, Ledger, Write
    from upheld.findings.place import Place


@as_refusals()
def list_settings(ledger: Ledger, place: Place) -> dict[str, Any]:
    """Return every setting with what counts here, and until when it is paused.

    Args:
        ledger: The ledger.
        place: Where the caller is. Outside of any known project, what was set everywhere counts.

    Returns:
        `project` (its name, None if the ledger knows none here), `settings` (a list of `name`, `value`, `default`,
        `origin` (`default`, `everywhere` or `project`), `kind`, `right` and `doc`; a value None is what the host
        allows), `paused_until` ("" if it is not, `forever` for until somebody ends it) and `pauses`: until when, by
        where it was paused.
    """
    db = ledger.read()
    project = None
    counting = DEFAULTS
    if db is not None:
        project = _find_project(db, place)
        counting = read_settings(db, store.EVERYWHERE if project is None else project.id)
    now = ledger.now()
    return {
        "project": None if project is None else project.name,
        "settings": [
            {
                "name": one.name,
                "value": counting.values[one.name],
                "default": one.default,
                "origin": counting.origins[one.name],
                "kind": one.kind,
                "right": one.right,
                "doc": one.doc,
            }
            for one in SETTINGS.values()
        ],
        "paused_until": counting.paused_until(now),
        "pauses": {where: until for where, until in counting.pauses.items() if until == FOREVER or until > now},
    }


def describe_differences(counting: Settings, now: str) -> dict[str, Any]:
    """Return what differs from the default as `settings`, and `paused_until`: for a status."""
    return {
        "settings": {
            name: {"value": counting.values[name], "origin": origin}
            for name, origin in counting.origins.items()
            if counting.values[name] != SETTINGS[name].default
        },
        "paused_until": counting.paused_until(now),
    }


def set_setting(ledger: Ledger, place: Place, caller: Caller, name: str, value: str | int, *, everywhere: bool) -> None:
    """Set one for this project, or everywhere: what is set for a project goes before it.

    Raises:
        InvalidArgumentError: There is no such setting, or it takes another value.
        PersonRequiredError: An agent asks.
        IdentityUnknownError: Git would not say which project this is.
    """
    setting = get_setting(name)
    text = str(value)
    if isinstance(value, bool) or setting.read(text) is None:
        raise InvalidArgumentError("value", f"is none that {name} takes", setting.right)
    _require_person(caller, "Changing a setting")
    with ledger.write(caller) as write:
        store.put_setting(write.db, _find_where(write, place, everywhere=everywhere), name, text, write.now)


def unset_setting(ledger: Ledger, place: Place, caller: Caller, name: str, *, everywhere: bool) -> bool:
    """Take back what was set for this project, or everywhere; False if nothing was.

    Raises:
        InvalidArgumentError: There is no such setting.
        PersonRequiredError: An agent asks.
        IdentityUnknownError: Git would not say which project this is.
    """
    get_setting(name)
    _require_person(caller, "Changing a setting")
    return _delete(ledger, place, caller, name, everywhere=everywhere)


def pause(ledger: Ledger, place: Place, caller: Caller, until: str | None, *, everywhere: bool) -> None:
    """Hand out nothing here, or anywhere, until then; None ends such a pause.

    Args:
        ledger: The ledger.
        place: Where the caller is.
        caller: Who; must be a person.
        until: `2h`, `3d`, an ISO 8601 time, `forever` for until somebody ends it, or None.
        everywhere: In every project.

    Raises:
        InvalidArgumentError: `until` is no time, or is past.
        PersonRequiredError: An agent asks.
        IdentityUnknownError: Git would not say which project this is.
    """
    wanted = until if until in (None, FOREVER) else parse_until("until", until, ledger.now())
    _require_person(caller, "Pausing")
    if wanted is None:
        _delete(ledger, place, caller, PAUSED_UNTIL, everywhere=everywhere)
        return
    with ledger.write(caller) as write:
        store.put_setting(write.db, _find_where(write, place, everywhere=everywhere), PAUSED_UNTIL, wanted, write.now)


def _require_person(caller: Caller, what: str) -> None:
    if caller.actor != "user":
        raise PersonRequiredError(what)


def _delete(ledger: Ledger, place: Place, caller: Caller, name: str, *, everywhere: bool) -> bool:
    """Delete one; neither a ledger nor a project begins with that."""
    if place.marks.state == REFUSED and not everywhere:
        raise IdentityUnknownError(place.marks.problem)
    if ledger.read() is None:
        return False
    with ledger.write(caller) as write:
        if everywhere:
            return store.delete_setting(write.db, store.EVERYWHERE, name)
        project = _find_project(write.db, place)
        return project is not None and store.delete_setting(write.db, project.id, name)


def _find_project(db: apsw.Connection, place: Place) -> Project | None:
    return find_project(db, place.marks, root_commits=lambda: read_root_commits(place.marks, environ=place.environ))


def _find_where(write: Write, place: Place, *, everywhere: bool) -> int:
    if everywhere:
        return store.EVERYWHERE
    return ensure_project(
        write.db,
        place.marks,
        root_commits=lambda: read_root_commits(place.marks, environ=place.environ),
        now=write.now,
        new_uid=write.new_uid,
    ).id
