"""What one trigger asks for, put together alike for the hook that answers it and for whoever explains the answer.

Only how the past of a conversation is read and which limits count is here; what is chosen is in `retrieval`.
"""

from __future__ import annotations

import apsw

from upheld.errors import StorageError
from upheld.findings import retrieval, settings
from upheld.findings.injection import Budget
from upheld.findings.store import reading, shown
from upheld.storage import database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from upheld.findings.settings import Settings
    from upheld.findings.store.shown import Conversation, Generation, Shown
    from upheld.findings.surroundings import Surroundings
    from upheld.storage.places import Places


class Past:
    """What the database of conversations knows of a conversation; nothing, where it can't be read.

    Attributes:
        generation: The present one, None before the first.
        shown: What it was handed.
        handed: What a compaction has to bring back: it left what was handed out before it.
        touched: Findings that the conversation cited or fetched.
        problem: Why nothing is known, "" if it could be read.
    """

    __slots__ = ("generation", "handed", "problem", "shown", "touched")

    def __init__(self) -> None:
        self.generation: Generation | None = None
        self.shown: list[Shown] = []
        self.handed: list[Shown] = []
        self.touched: list[int] = []
        self.problem = ""


def read_past(places: Places, conversation: Conversation) -> Past:
    """Read it; an unreadable file costs a repeat, so it is no reason to stay silent."""
    past = Past()
    try:
        db = database.open_for_reading(places.conversations, database.CONVERSATIONS)
    except StorageError as error:
        past.problem = error.message
        return past
    if db is None:
        return past
    try:
        past.generation = shown.find_generation(db, conversation)
        past.touched = shown.find_touched(db, conversation)
        if past.generation is not None:
            past.shown = shown.find_shown(db, past.generation.id)
            past.handed = past.shown
            if past.generation.trigger == retrieval.COMPACT and not past.generation.answered:
                # This compaction began a new generation and left what was handed out in the one before.
                past.handed = shown.find_handed(db, conversation, past.generation.id) + past.shown
            elif past.generation.trigger == retrieval.COMPACT:
                past.handed = shown.find_handed(db, conversation, past.generation.id + 1)
    except apsw.Error:
        past = Past()
        past.problem = "The database of conversations can't be read."
    finally:
        db.close()
    return past


def limit_block(trigger: str, counting: Settings, host_limit: int) -> int:
    """Return the largest block that a trigger may give, in what the host counts."""
    return counting.limit_prompt() if trigger == retrieval.PROMPT else counting.limit_start(host_limit)


def make_request(
    db: apsw.Connection,
    project_id: int,
    *,
    trigger: str,
    text: str,
    conversation: Conversation,
    past: Past,
    counting: Settings,
    surroundings: Surroundings,
    host_limit: int,
    unit: str,
    now: str,
) -> retrieval.Request:
    """Return what a trigger asks for in a conversation.

    Args:
        db: The ledger.
        project_id: Where it is asked.
        trigger: One of `retrieval.TRIGGERS`.
        text: The prompt; for a compaction the last one; "" where there is none.
        conversation: Whose context is meant.
        past: What is known of it.
        counting: The settings that count here.
        surroundings: Where its findings are judged.
        host_limit: The largest context of the host.
        unit: In which the host counts: `utf8` or `utf16`.
        now: The time.
    """
    logged: list[int] = []
    if trigger == retrieval.COMPACT and conversation.session:
        logged = reading.find_of_session(db, project_id, conversation.host, conversation.session, retrieval.MAX_OWN)
    return retrieval.Request(
        trigger=trigger,
        text=text,
        task=surroundings.facts(("task",))["task"].value or "",
        budget=Budget(limit_block(trigger, counting, host_limit), unit),
        shown=past.shown if trigger in (retrieval.PROMPT, retrieval.RESUME) else past.handed,
        logged=logged,
        touched=past.touched,
        now=now,
        max_items=counting.number(settings.PROMPT_ITEMS),
        max_always=counting.number(settings.ALWAYS_ITEMS),
        language=counting.text(settings.LANGUAGE),
    )
