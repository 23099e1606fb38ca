"""What would be handed out, and what became of every candidate. Reads only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from upheld.context.marks import REFUSED, read_root_commits
from upheld.context.projects import IdentityUnknownError, find_project
from upheld.findings import retrieval
from upheld.findings.candidates import RULES
from upheld.findings.injection import Budget
from upheld.findings.store import reading, shown
from upheld.findings.surroundings import Surroundings
from upheld.storage import database

if TYPE_CHECKING:
    from upheld.findings.ledger import Ledger
    from upheld.findings.place import Place

LIMIT = 9900
"""UTF-8 bytes: the tightest host's context."""


REASONS = {
    "no_ledger": "there is no ledger yet; the first finding makes it",
    "unknown_project": "the ledger knows nothing of this project yet",
    "nothing_matched": "no finding of this project is about it",
    "all_dropped": "every candidate was dropped, each for the reason it carries",
    "no_room": "what was wanted has no room in the budget",
}
"""What the codes say for which nothing was handed out, continuing "Nothing was injected: ..."."""


def explain(
    ledger: Ledger, place: Place, *, trigger: str, text: str, session: str, host: str = "codex"
) -> dict[str, Any]:
    """Return the block that a trigger would give here, with every decision.

    Args:
        ledger: The ledger.
        place: Where the caller is.
        trigger: One of `retrieval.TRIGGERS`.
        text: The prompt, for the triggers that look at one.
        session: The host's conversation whose context is meant, "" for a fresh one.
        host: The adapter's name.

    Raises:
        IdentityUnknownError: Git would not say which project this is.
    """
    if place.marks.state == REFUSED:
        raise IdentityUnknownError(place.marks.problem)
    limit = retrieval.MAX_PROMPT_SIZE if trigger == retrieval.PROMPT else LIMIT - retrieval.MAX_PROMPT_SIZE
    empty: dict[str, Any] = {
        "block": "",
        "bytes": 0,
        "limit": limit,
        "reason": "no_ledger",
        "rules": RULES,
        "decisions": [],
        "not_candidates": 0,
    }
    db = ledger.read()
    if db is None:
        return empty
    project = find_project(db, place.marks, root_commits=lambda: read_root_commits(place.marks, environ=place.environ))
    if project is None:
        return {**empty, "reason": "unknown_project"}
    surroundings = Surroundings(
        db, place.marks, declared={}, environ=place.environ, host={"session": f"{host}:{session}"} if session else {}
    )
    standing, touched = _read_context(ledger, shown.Conversation(host, session)) if session else ([], [])
    logged = reading.find_of_session(db, project.id, host, session, retrieval.MAX_OWN) if session else []
    selection = retrieval.select(
        db,
        project.id,
        retrieval.Request(
            trigger=trigger,
            text=text,
            task=surroundings.facts(("task",))["task"].value or "",
            budget=Budget(limit, "utf8"),
            shown=standing,
            logged=logged,
            touched=touched,
            now=ledger.now(),
        ),
        surroundings,
    )
    total = reading.count_findings(db, project.id)["total"]
    return {
        "block": selection.text,
        "bytes": len(selection.text.encode()),
        "limit": limit,
        "reason": selection.reason,
        "rules": selection.rules,
        "decisions": [decision.as_data() for decision in selection.decisions],
        "not_candidates": total - len(selection.decisions),
    }


def _read_context(ledger: Ledger, conversation: shown.Conversation) -> tuple[list[shown.Shown], list[int]]:
    db = database.open_for_reading(ledger.places.conversations, database.CONVERSATIONS)
    if db is None:
        return [], []
    try:
        generation = shown.find_generation(db, conversation)
        standing = [] if generation is None else shown.find_shown(db, generation.id)
        return standing, shown.find_touched(db, conversation)
    finally:
        db.close()
