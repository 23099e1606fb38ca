"""What one conversation of a host was handed, logged and looked up, as it stands now. Reads only."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

from upheld.findings import views
from upheld.findings.ledger import as_refusals
from upheld.findings.service import NOTHING_HERE, Answer
from upheld.findings.store import reading, shown
from upheld.findings.surroundings import judge_all
from upheld.storage import database

if TYPE_CHECKING:
    from collections.abc import Mapping

    from upheld.findings.service import Findings

MAX_LOGGED = 200


@as_refusals()
def recall_findings(
    findings: Findings, *, session: str | None = None, facts: Mapping[str, str] | None = None
) -> Answer:
    """Return the findings of a conversation, newest first, each with how it came to be one of them.

    Args:
        findings: Whose.
        session: The host's id of the conversation; without, the caller's own, else the last one that was handed
            anything.
        facts: Facts declared for this call.
    """
    db, project = findings.read()
    if db is None or project is None:
        return Answer({"session": None, "findings": []}, (NOTHING_HERE,))
    asked = session or findings.caller.session
    held = database.open_for_reading(findings.ledger.places.conversations, database.CONVERSATIONS)
    handed: dict[int, shown.Shown] = {}
    touched: list[int] = []
    conversation = None
    if held is not None:
        with closing(held):
            conversation = shown.find_conversation(held, asked)
            if conversation is not None:
                handed = {one.finding_id: one for one in shown.find_all_handed(held, conversation)}
                touched = shown.find_touched(held, conversation)
    host = conversation.host if conversation is not None else findings.caller.host
    name = conversation.session if conversation is not None else asked
    logged = reading.find_of_session(db, project.id, host, name, MAX_LOGGED) if name else []
    ids = sorted({*handed, *touched, *logged}, reverse=True)
    listed = reading.find_findings(db, project.id, ids)
    judgements = judge_all(db, listed, findings.surroundings(db, facts))
    evidence = reading.find_evidence(db, [finding.id for finding in listed], newest=1)
    recalled: list[dict[str, Any]] = []
    for finding in reversed(listed):
        data = views.summary(finding, judgements[finding.id], evidence.get(finding.id, []))
        data["how"] = [
            how
            for how, ids_ in (("handed out", handed), ("logged or changed", logged), ("looked up", touched))
            if finding.id in ids_
        ]
        was = handed.get(finding.id)
        if was is not None and (was.epistemic_state, was.lifecycle_state) != (
            finding.epistemic_state,
            finding.lifecycle_state,
        ):
            data["handed_out_as"] = was.epistemic_state
        recalled.append(data)
    return Answer({"session": name or None, "findings": recalled})
