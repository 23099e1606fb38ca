"""What we act on, whatever the host calls it: one event of a conversation."""

from __future__ import annotations

STARTED = "started"
CLEARED = "cleared"
FORKED = "forked"
RESUMED = "resumed"
COMPACTING = "compacting"
"""A compaction has happened; the host asks for nothing yet."""
COMPACTED = "compacted"
"""A compaction has happened, and what is answered now stands in the new context."""
PROMPTED = "prompted"
SUBAGENT_STARTED = "subagent_started"

KINDS = (STARTED, CLEARED, FORKED, RESUMED, COMPACTING, COMPACTED, PROMPTED, SUBAGENT_STARTED)


class MalformedEventError(ValueError):
    """A payload that no host of the tested versions sends; the text is a code for the diagnostics log."""


class HostEvent:
    """One event.

    Args:
        kind: One of `KINDS`.
        name: What the host calls it; its answer must repeat that.
        session: The host's id of the root conversation.
        agent: The host's id of the subagent, "" for the root.
        cwd: The session's working directory.
        text: The prompt, if it is one.
        transcript: The host's log of this context, "" where there is none.
    """

    __slots__ = ("agent", "cwd", "kind", "name", "session", "text", "transcript")

    def __init__(self, kind: str, *, name: str, session: str, agent: str, cwd: str, text: str, transcript: str) -> None:
        self.kind = kind
        self.name = name
        self.session = session
        self.agent = agent
        self.cwd = cwd
        self.text = text
        self.transcript = transcript
