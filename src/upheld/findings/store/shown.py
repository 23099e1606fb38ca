"""What stands in which model context: generations, what each was handed, and the injection log.

In the database of conversations; losing it costs repeats. Bounded: old generations and log rows go
with each new one.
"""

from __future__ import annotations

from upheld.text import jsontext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

MAX_GENERATIONS = 2000
MAX_LOG_ROWS = 2000
MAX_TOUCHED = 5000


class Conversation:
    """Whose context: the host, its root session, and the subagent in it ("" for the root)."""

    __slots__ = ("agent", "host", "session")

    def __init__(self, host: str, session: str, agent: str = "") -> None:
        self.host = host
        self.session = session
        self.agent = agent


class Shown:
    """The form in which a finding last stood in a context."""

    __slots__ = ("applicability", "epistemic_state", "finding_id", "lifecycle_state")

    def __init__(self, finding_id: int, epistemic_state: str, lifecycle_state: str, applicability: str) -> None:
        self.finding_id = finding_id
        self.epistemic_state = epistemic_state
        self.lifecycle_state = lifecycle_state
        self.applicability = applicability

    def as_row(self) -> tuple[int, str, str, str]:
        """Return the four values, for comparison and storage."""
        return (self.finding_id, self.epistemic_state, self.lifecycle_state, self.applicability)


class LogRow:
    """One line of the injection log: what a trigger led to, without any text."""

    __slots__ = ("bytes", "host", "items", "project_uid", "reason", "trigger")

    def __init__(
        self, *, project_uid: str, host: str, trigger: str, bytes_: int, items: list[list[object]], reason: str
    ) -> None:
        self.project_uid = project_uid
        self.host = host
        self.trigger = trigger
        self.bytes = bytes_
        self.items = items
        self.reason = reason


class Generation:
    """What a context holds since it last began; `answered`: that beginning was answered already."""

    __slots__ = ("answered", "id", "trigger")

    def __init__(self, id: int, trigger: str, answered: int) -> None:  # noqa: A002 - its number
        self.id = id
        self.trigger = trigger
        self.answered = bool(answered)


def find_generation(db: apsw.Connection, conversation: Conversation) -> Generation | None:
    """Return the newest generation of a conversation's context, None before the first."""
    row = db.execute(
        "select id, trigger, answered from generations where host = ? and session = ? and agent = ? "
        "order by id desc limit 1",
        (conversation.host, conversation.session, conversation.agent),
    ).get
    return None if row is None else Generation(*row)


def find_handed(db: apsw.Connection, conversation: Conversation, before: int) -> list[Shown]:
    """Return what the last generation before one was handed: the last that was handed anything.

    Only back to where the context last began with nothing: what a clear took away is not looked for.
    """
    row = db.execute(
        """select max(g.id) from generations g
           where g.host = :host and g.session = :session and g.agent = :agent and g.id < :before
             and exists (select 1 from shown s where s.generation_id = g.id)
             and g.id >= coalesce((select max(b.id) from generations b
               where b.host = :host and b.session = :session and b.agent = :agent and b.id < :before
                 and b.trigger <> 'compact'), 0)""",
        {
            "host": conversation.host,
            "session": conversation.session,
            "agent": conversation.agent,
            "before": before,
        },
    ).get
    return [] if row is None else find_shown(db, row)


def find_conversation(db: apsw.Connection, session: str) -> Conversation | None:
    """Return the conversation of a session, or without one the last that was handed anything; its root."""
    row = db.execute(
        """select host, session from generations g
           where (:session = '' and exists (select 1 from shown s where s.generation_id = g.id)) or session = :session
           order by id desc limit 1""",
        {"session": session},
    ).get
    return None if row is None else Conversation(row[0], row[1])


def find_all_handed(db: apsw.Connection, conversation: Conversation) -> list[Shown]:
    """Return everything that a conversation and its subagents were handed, each in its last form, by finding."""
    rows = db.execute(
        """select finding_id, epistemic_state, lifecycle_state, applicability from (
             select s.*, row_number() over (partition by s.finding_id order by s.generation_id desc) as place
             from shown s join generations g on g.id = s.generation_id where g.host = ? and g.session = ?)
           where place = 1 order by finding_id""",
        (conversation.host, conversation.session),
    )
    return [Shown(*row) for row in rows]


def mark_answered(db: apsw.Connection, generation: int) -> None:
    """Note that the beginning of a generation was answered."""
    db.execute("update generations set answered = 1 where id = ?", (generation,))


def find_shown(db: apsw.Connection, generation: int) -> list[Shown]:
    """Return what a generation was handed, by finding."""
    rows = db.execute(
        "select finding_id, epistemic_state, lifecycle_state, applicability from shown where generation_id = ? "
        "order by finding_id",
        (generation,),
    )
    return [Shown(*row) for row in rows]


def find_touched(db: apsw.Connection, conversation: Conversation) -> list[int]:
    """Return the findings that this conversation fetched or cited, newest first."""
    rows = db.execute(
        "select finding_id from touched where host = ? and session = ? order by touched_at desc, finding_id desc",
        (conversation.host, conversation.session),
    )
    return [row[0] for row in rows]


def begin_generation(db: apsw.Connection, conversation: Conversation, trigger: str, now: str) -> int:
    """Open a new generation and drop the oldest beyond the bound."""
    db.execute(
        "insert into generations (host, session, agent, trigger, began_at) values (?, ?, ?, ?, ?)",
        (conversation.host, conversation.session, conversation.agent, trigger, now),
    )
    generation = db.last_insert_rowid()
    db.execute(
        "delete from shown where generation_id <= ?; delete from generations where id <= ?",
        (generation - MAX_GENERATIONS, generation - MAX_GENERATIONS),
    )
    return generation


def keep_shown(db: apsw.Connection, generation: int, items: Iterable[Shown]) -> None:
    """Note the form in which findings now stand in a context."""
    db.executemany(
        "insert or replace into shown values (?, ?, ?, ?, ?)", [(generation, *item.as_row()) for item in items]
    )


def touch(db: apsw.Connection, conversation: Conversation, finding_ids: Iterable[int], now: str) -> None:
    """Note that a conversation fetched or cited findings."""
    db.executemany(
        "insert or replace into touched values (?, ?, ?, ?)",
        [(conversation.host, conversation.session, finding_id, now) for finding_id in finding_ids],
    )
    db.execute(
        "delete from touched where touched_at < (select touched_at from touched order by touched_at desc "
        "limit 1 offset ?)",
        (MAX_TOUCHED,),
    )


def log_injection(db: apsw.Connection, row: LogRow, now: str) -> None:
    """Append to the injection log and drop the oldest rows beyond the bound."""
    db.execute(
        "insert into injections (project_uid, host, trigger, at, bytes, items, reason) values (?, ?, ?, ?, ?, ?, ?)",
        (row.project_uid, row.host, row.trigger, now, row.bytes, jsontext.dumps(row.items), row.reason),
    )
    db.execute("delete from injections where id <= ?", (db.last_insert_rowid() - MAX_LOG_ROWS,))


def count_injections(db: apsw.Connection, project_uid: str) -> dict[str, dict[str, int]]:
    """Return, by trigger, how often something and how often nothing was injected in a project."""
    rows = db.execute(
        "select trigger, sum(reason = ''), sum(reason <> '') from injections where project_uid = ? "
        "group by trigger order by trigger",
        (project_uid,),
    )
    return {row[0]: {"injected": row[1], "empty": row[2]} for row in rows}


def find_last_injection(db: apsw.Connection, project_uid: str) -> LogRow | None:
    """Return the newest line of the injection log of a project."""
    row = db.execute(
        "select project_uid, host, trigger, bytes, items, reason from injections where project_uid = ? "
        "order by id desc limit 1",
        (project_uid,),
    ).get
    if row is None:
        return None
    return LogRow(
        project_uid=row[0], host=row[1], trigger=row[2], bytes_=row[3], items=jsontext.loads(row[4]), reason=row[5]
    )


def forget_finding(db: apsw.Connection, number: int) -> None:
    """Take a finding out of what conversations were handed and looked up, and out of the injection log."""
    db.execute("delete from shown where finding_id = ?", (number,))
    db.execute("delete from touched where finding_id = ?", (number,))
    rows = db.execute("select id, items from injections where items like ?", (f"%[{number},%",)).fetchall()
    for row, items in rows:
        kept = [item for item in jsontext.loads(str(items)) if item[0] != number]
        db.execute("update injections set items = ? where id = ?", (jsontext.dumps(kept), row))
