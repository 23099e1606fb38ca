"""What there is and what was injected: the answer to "why did nothing appear?". Reads only."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from upheld.context.marks import REFUSED, read_root_commits
from upheld.context.projects import find_project
from upheld.errors import StorageError
from upheld.findings.configuring import describe_differences
from upheld.findings.settings import DEFAULTS, read_settings
from upheld.findings.store import reading, shown
from upheld.findings.store.settings import EVERYWHERE
from upheld.findings.surroundings import Surroundings
from upheld.storage import database

if TYPE_CHECKING:
    from upheld.findings.ledger import Ledger
    from upheld.findings.place import Place

FACTS = ("git.branch", "git.commit", "git.dirty", "os", "arch", "python", "session", "task")


def read_status(ledger: Ledger, place: Place) -> dict[str, Any]:
    """Return what there is here, and why nothing may have appeared.

    The ledger's path with `~`, counts, revision, project, facts, settings that differ from the default, a pause,
    injections, and why the last one was empty.
    """
    status: dict[str, Any] = {"ledger": _shorten(ledger.places.ledger, place.home), "project": None}
    db = ledger.read()
    marks = place.marks
    status["git"] = marks.state if marks.state != REFUSED else f"refused: {marks.problem}"
    surroundings = Surroundings(db, marks, declared={}, environ=place.environ, host={})
    names = [*FACTS, *surroundings.declared_names()]
    facts = surroundings.facts(names)
    status["facts"] = {name: {"value": facts[name].value, "source": facts[name].source} for name in names}
    status["problems"] = surroundings.problems
    if db is None:
        status["ledger_exists"] = False
        return status | describe_differences(DEFAULTS, ledger.now())
    status["ledger_exists"] = True
    status["revision"] = reading.get_revision(db)
    status["findings_in_all_projects"] = reading.count_all(db)
    project = find_project(db, marks, root_commits=lambda: read_root_commits(marks, environ=place.environ))
    counting = read_settings(db, EVERYWHERE if project is None else project.id)
    status |= describe_differences(counting, ledger.now())
    if project is not None:
        status["project"] = {"name": project.name, "uid": project.uid, **reading.count_findings(db, project.id)}
        status |= _injections(ledger, project.uid)
    return status


def _injections(ledger: Ledger, project_uid: str) -> dict[str, Any]:
    try:
        db = database.open_for_reading(ledger.places.conversations, database.CONVERSATIONS)
    except StorageError as error:
        return {"injections": {}, "last_injection": None, "injections_problem": error.message}
    if db is None:
        return {"injections": {}, "last_injection": None}
    try:
        last = shown.find_last_injection(db, project_uid)
        counts = shown.count_injections(db, project_uid)
    finally:
        db.close()
    if last is None:
        return {"injections": counts, "last_injection": None}
    return {
        "injections": counts,
        "last_injection": {
            "host": last.host,
            "trigger": last.trigger,
            "bytes": last.bytes,
            "items": [[f"F-{number}", outcome] for number, outcome in last.items],
            "reason": last.reason,
        },
    }


def _shorten(path: str, home: str) -> str:
    if home and (path == home or path.startswith(home.rstrip(os.sep) + os.sep)):
        return "~" + path[len(home.rstrip(os.sep)) :]
    return path
