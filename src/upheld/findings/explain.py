"""What would be handed out, and what became of every candidate. Reads only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from upheld.context.marks import REFUSED, read_root_commits
from upheld.context.projects import IdentityUnknownError, find_project
from upheld.findings import retrieval
from upheld.findings.candidates import RULES
from upheld.findings.request import limit_block, make_request, read_past
from upheld.findings.settings import DEFAULTS, read_settings
from upheld.findings.store import reading
from upheld.findings.store.shown import Conversation
from upheld.findings.surroundings import Surroundings

if TYPE_CHECKING:
    from upheld.findings.ledger import Ledger
    from upheld.findings.place import Place

REASONS = {
    "no_ledger": "there is no ledger yet; the first finding makes it",
    "unknown_project": "the ledger knows nothing of this project yet",
    "nothing_matched": "no finding of this project is about it",
    "all_dropped": "every candidate was dropped, each for the reason it carries",
    retrieval.PAUSED: "a person paused it (`upheld pause --off` ends that)",
    "no_room": "what was wanted has no room in the budget",
}
"""What the codes say for which nothing was handed out, continuing "Nothing was injected: ..."."""


_NEW = "new"
"""Stands for the session of a conversation that is yet to begin: no other one, as the hook would find."""


def explain(
    ledger: Ledger,
    place: Place,
    *,
    trigger: str,
    text: str,
    session: str,
    host: str,
    limit: int,
    unit: str,
) -> dict[str, Any]:
    """Return the block that a trigger would give here, with every decision.

    Args:
        ledger: The ledger.
        place: Where the caller is.
        trigger: One of `retrieval.TRIGGERS`.
        text: The prompt, for the triggers that look at one.
        session: The host's conversation whose context is meant, "" for a fresh one.
        host: The adapter's name.
        limit: The host's largest context.
        unit: In which the host counts: `utf8` or `utf16`.

    Raises:
        IdentityUnknownError: Git would not say which project this is.
    """
    if place.marks.state == REFUSED:
        raise IdentityUnknownError(place.marks.problem)
    empty: dict[str, Any] = {
        "block": "",
        "bytes": 0,
        "limit": limit_block(trigger, DEFAULTS, limit),
        "reason": "no_ledger",
        "rules": RULES,
        "decisions": [],
        "not_candidates": 0,
        "problems": [],
    }
    db = ledger.read()
    if db is None:
        return empty
    project = find_project(db, place.marks, root_commits=lambda: read_root_commits(place.marks, environ=place.environ))
    if project is None:
        return {**empty, "reason": "unknown_project"}
    counting = read_settings(db, project.id)
    now = ledger.now()
    if counting.paused_until(now):
        return {**empty, "reason": retrieval.PAUSED, "limit": limit_block(trigger, counting, limit)}
    surroundings = Surroundings(
        db, place.marks, declared={}, environ=place.environ, host={"session": f"{host}:{session or _NEW}"}
    )
    conversation = Conversation(host, session)
    past = read_past(ledger.places, conversation)
    request = make_request(
        db,
        project.id,
        trigger=trigger,
        text=text,
        conversation=conversation,
        past=past,
        counting=counting,
        surroundings=surroundings,
        host_limit=limit,
        unit=unit,
        now=now,
    )
    selection = retrieval.select(db, project.id, request, surroundings)
    total = reading.count_findings(db, project.id)["total"]
    return {
        "block": selection.text,
        "bytes": len(selection.text.encode()),
        "limit": request.budget.limit,
        "reason": selection.reason,
        "rules": selection.rules,
        "decisions": [decision.as_data() for decision in selection.decisions],
        "not_candidates": total - len(selection.decisions),
        "problems": [past.problem] if past.problem else [],
    }
