"""Answer one hook event: what the model is handed now, and what is noted once it is out.

The same function serves the hook itself and the server it may pass its event to. It raises nothing on
purpose: a failure is a reason code, no output and nothing noted, and never reads as "there is nothing
known".
"""

from __future__ import annotations

import time

from upheld.context.marks import REFUSED, read_marks, read_root_commits
from upheld.context.projects import find_project
from upheld.errors import StorageError
from upheld.findings import retrieval
from upheld.findings.request import make_request, read_past
from upheld.findings.settings import read_settings
from upheld.findings.store import shown
from upheld.findings.store.shown import Conversation, LogRow
from upheld.findings.surroundings import Surroundings
from upheld.hosts import event as events
from upheld.hosts.adapters import ADAPTERS
from upheld.storage import database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    import apsw

    from upheld.context.store import Project
    from upheld.findings.request import Past
    from upheld.findings.settings import Settings
    from upheld.findings.store.shown import Generation, Shown
    from upheld.hosts.adapters import Adapter
    from upheld.hosts.event import HostEvent
    from upheld.storage.places import Places

GIT_MS = 1000

_TRIGGERS = {
    events.STARTED: retrieval.START,
    events.CLEARED: retrieval.START,
    events.FORKED: retrieval.START,
    events.SUBAGENT_STARTED: retrieval.START,
    events.RESUMED: retrieval.RESUME,
    events.COMPACTED: retrieval.COMPACT,
    events.PROMPTED: retrieval.PROMPT,
}


class Answer:
    """What a hook prints, and what is to be noted afterwards.

    Args:
        output: The bytes for the host, b"" for silence.
        reason: Why there is no output, "" if there is one; for the diagnostics log.
        failed: The reason is a failure, not a decision.
    """

    __slots__ = ("_note", "failed", "output", "reason")

    def __init__(self, output: bytes, reason: str, *, failed: bool = False, note: _Note | None = None) -> None:
        self.output = output
        self.reason = reason
        self.failed = failed
        self._note = note

    def finish(self, places: Places, now: str) -> str:
        """Note what was handed out, once it is. Returns "" or why nothing could be noted."""
        if self._note is None:
            return ""
        try:
            db = database.open_for_writing(
                places.conversations, database.CONVERSATIONS, timeout_ms=database.HOOK_TIMEOUT_MS
            )
        except StorageError:
            return "conversations_unavailable"
        try:
            with database.Transaction(db):
                self._note.write(db, now)
        except Exception:  # noqa: BLE001 - a note that fails costs a repeat, never the run
            return "conversations_not_written"
        finally:
            db.close()
        return ""


class _Note:
    """What is to be written about one event: generation, shown findings, a line of the injection log.

    `answers`: the beginning of the generation counts as answered.
    """

    __slots__ = ("answers", "begins", "conversation", "generation", "row", "shown")

    def __init__(
        self,
        conversation: Conversation,
        *,
        generation: int | None,
        begins: str,
        shown: list[Shown],
        row: LogRow | None,
        answers: bool = True,
    ) -> None:
        self.answers = answers
        self.conversation = conversation
        self.generation = generation
        self.begins = begins
        self.shown = shown
        self.row = row

    def write(self, db: apsw.Connection, now: str) -> None:
        """Write it, in the caller's transaction."""
        generation = self.generation
        if self.begins or generation is None:
            generation = shown.begin_generation(db, self.conversation, self.begins or "unseen", now)
        shown.keep_shown(db, generation, self.shown)
        if self.row is not None:
            if self.answers:
                shown.mark_answered(db, generation)
            shown.log_injection(db, self.row, now)


def answer(host: str, payload: bytes, *, places: Places, environ: Mapping[str, str]) -> Answer:
    """Answer one event of a host.

    Args:
        host: The adapter's name.
        payload: As the host sent it.
        places: Where our databases are.
        environ: The environment of the hook process: where git is, declared facts.
    """
    adapter = ADAPTERS.get(host)
    if adapter is None:
        return Answer(b"", "unknown_host", failed=True)
    try:
        event = adapter.read_event(payload)
        if event is None:
            return Answer(b"", "nothing_to_do")
        return _answer(adapter, event, places, environ)
    except events.MalformedEventError as error:
        return Answer(b"", str(error), failed=True)
    except StorageError as error:
        return Answer(b"", type(error).__name__, failed=True)
    except Exception as error:  # noqa: BLE001 - nothing here may ever harm the host's run
        return Answer(b"", f"bug_{type(error).__name__}", failed=True)


def _answer(adapter: Adapter, event: HostEvent, places: Places, environ: Mapping[str, str]) -> Answer:
    conversation = Conversation(adapter.name, event.session, event.agent)
    if event.kind == events.COMPACTING:
        # The new context begins here, before the host asks what to put into it.
        return Answer(
            b"",
            "nothing_to_do",
            note=_Note(conversation, generation=None, begins=retrieval.COMPACT, shown=[], row=None),
        )
    ledger = database.open_for_reading(places.ledger, database.LEDGER)
    if ledger is None:
        return Answer(b"", "no_ledger")
    try:
        marks = read_marks(event.cwd, environ=environ, deadline_ms=GIT_MS)
        if marks.state == REFUSED:
            return Answer(b"", "identity_unknown", failed=True)
        project = find_project(ledger, marks, root_commits=lambda: read_root_commits(marks, environ=environ))
        if project is None:
            return Answer(b"", "unknown_project")
        counting = read_settings(ledger, project.id)
        if counting.paused_until(now()):
            return _stay_silent(adapter, event, project, read_past(places, conversation))
        surroundings = Surroundings(
            ledger,
            marks,
            declared={},
            environ=environ,
            host={"session": f"{adapter.name}:{event.session}"},
        )
        past = read_past(places, conversation)
        return _select(adapter, event, ledger, project=project, surroundings=surroundings, past=past, counting=counting)
    finally:
        ledger.close()


def _select(
    adapter: Adapter,
    event: HostEvent,
    ledger: apsw.Connection,
    *,
    project: Project,
    surroundings: Surroundings,
    past: Past,
    counting: Settings,
) -> Answer:
    trigger, begins = _choose_trigger(event, past.generation)
    conversation = Conversation(adapter.name, event.session, event.agent)
    request = make_request(
        ledger,
        project.id,
        trigger=trigger,
        text=_text(adapter, event, trigger),
        conversation=conversation,
        past=past,
        counting=counting,
        surroundings=surroundings,
        host_limit=adapter.limit,
        unit=adapter.unit,
        now=now(),
    )
    selection = retrieval.select(ledger, project.id, request, surroundings)
    row = LogRow(
        project_uid=project.uid,
        host=adapter.name,
        trigger=event.kind,
        bytes_=len(selection.text.encode("utf-8")),
        items=selection.items(),
        reason=selection.reason,
    )
    note = _Note(
        conversation,
        generation=None if past.generation is None else past.generation.id,
        begins=begins,
        shown=selection.shown,
        row=row,
    )
    output = adapter.write_context(event, selection.text) if selection.text else b""
    return Answer(output, selection.reason, note=note)


def _stay_silent(adapter: Adapter, event: HostEvent, project: Project, past: Past) -> Answer:
    """Say nothing while a person paused it; what begins a new context is still noted.

    A compaction stays unanswered, so that the first prompt after the pause brings back what it took away.
    """
    _, begins = _choose_trigger(event, past.generation)
    row = LogRow(
        project_uid=project.uid, host=adapter.name, trigger=event.kind, bytes_=0, items=[], reason=retrieval.PAUSED
    )
    note = _Note(
        Conversation(adapter.name, event.session, event.agent),
        generation=None if past.generation is None else past.generation.id,
        begins=begins,
        shown=[],
        row=row,
        answers=False,
    )
    return Answer(b"", retrieval.PAUSED, note=note)


def _choose_trigger(event: HostEvent, generation: Generation | None) -> tuple[str, str]:
    """Return the trigger, and what begins a new generation ("" where the present one goes on).

    One host announces a compaction first and then asks, possibly twice, possibly after a resume: the first
    question is the compaction's, each further one is only about what changed since.
    """
    compacted = generation is not None and generation.trigger == retrieval.COMPACT
    if event.kind == events.PROMPTED:
        # A subagent is asked nothing after its compaction, and a question that failed is lost: then the prompt is it.
        unanswered = generation is not None and compacted and not generation.answered
        return (retrieval.COMPACT if unanswered else retrieval.PROMPT), ""
    if event.kind in (events.RESUMED, events.COMPACTED) and compacted:
        assert generation is not None  # noqa: S101 - for the type checker: it was compacted
        return (retrieval.RESUME if generation.answered else retrieval.COMPACT), ""
    if event.kind == events.RESUMED:
        return retrieval.RESUME, ""
    trigger = _TRIGGERS[event.kind]
    return trigger, event.kind if trigger == retrieval.START else retrieval.COMPACT


def _text(adapter: Adapter, event: HostEvent, trigger: str) -> str:
    if event.kind == events.PROMPTED:
        return event.text
    if trigger == retrieval.COMPACT and event.transcript:
        return adapter.find_last_prompt(event.transcript)
    return ""


def now() -> str:
    """Return the time, ISO 8601 in UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
