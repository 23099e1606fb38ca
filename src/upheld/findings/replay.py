"""Replay the events of a finding: what its rows must say if nothing changed without one. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from upheld.findings.model import LOGGED
from upheld.text import jsontext

if TYPE_CHECKING:
    from collections.abc import Iterable

_FIELDS = frozenset(
    {
        "uid",
        "project",
        "claim",
        "claim_kind",
        "epistemic_state",
        "lifecycle_state",
        "retrieval_policy",
        "scope",
        "tags",
        "aliases",
        "task",
        "promotion_state",
        "muted_until",
        "version",
        "decided_event",
    }
)


class BrokenTrailError(Exception):
    """Events that cannot have been written one after the other.

    Args:
        seq: The event at fault.
        problem: What is wrong with it, continuing "event N ...".
    """

    def __init__(self, seq: int, problem: str) -> None:
        super().__init__(problem)
        self.seq = seq
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Event:
    """One event with its words; `text` is None where they were purged."""

    seq: int
    kind: str
    actor: str
    host: str
    session: str
    at: str
    text: str | None


@dataclass(slots=True)
class Replayed:
    """What the events of one finding say.

    Args:
        row: Its columns; `project` is the project's uid.
        links: Its evidence links in order.
        sources: The evidence that its events brought, by number.
        contexts: Where it is known to hold.
        relations: (kind, from, to), as its own events made them.
        rule: What it is proposed to become, None for nothing.
        doc_links: Where its rule landed.
    """

    row: dict[str, Any] = field(default_factory=dict)
    links: list[dict[str, Any]] = field(default_factory=list)
    sources: dict[int, dict[str, Any]] = field(default_factory=dict)
    contexts: list[dict[str, Any]] = field(default_factory=list)
    relations: set[tuple[str, int, int]] = field(default_factory=set)
    rule: dict[str, Any] | None = None
    doc_links: list[dict[str, Any]] = field(default_factory=list)


def replay(events: Iterable[Event]) -> Replayed | None:
    """Return what a finding is after its events, None where words of them were purged.

    Raises:
        BrokenTrailError: An event does not follow from those before it.
    """
    state = Replayed()
    for event in events:
        if event.text is None:
            return None
        try:
            words = jsontext.loads(event.text)
            _apply(state, event, words["before"], words["after"])
        except (ValueError, TypeError, KeyError, AttributeError):
            raise BrokenTrailError(event.seq, "has words that cannot be read") from None
    return state


def _apply(state: Replayed, event: Event, before: dict[str, Any] | None, after: dict[str, Any]) -> None:
    row = state.row
    if (before is None) != (not row):
        raise BrokenTrailError(event.seq, "begins a finding that is there, or changes one that is not")
    for name, value in (before or {}).items():
        if row.get(name) != value:
            raise BrokenTrailError(event.seq, f"says what {name} was before it, and it was not so")
    if after["version"] != row.get("version", 0) + 1:
        raise BrokenTrailError(event.seq, "does not count the version up by one")
    if not row:
        row |= {"created_at": event.at, "actor": event.actor, "host": event.host, "session": event.session}
        row |= {"muted_until": ""}  # older events do not name what came later
    row |= {name: value for name, value in after.items() if name in _FIELDS}
    row["updated_at"] = event.at
    for link in after.get("evidence", ()):
        source = link.get("source")
        if source is not None:
            state.sources[link["evidence_id"]] = source
        kept = {name: link[name] for name in ("evidence_id", "role", "method", "rationale")}
        state.links.append({**kept, "event": event.seq})
    row |= after.get("origin", {})
    for known in (*([after["known"]] if "known" in after else ()), *after.get("contexts", ())):
        state.contexts.append({"kind": LOGGED, "basis": [], "sources": {}} | known)
    state.relations |= {(kind, a, b) for kind, a, b in after.get("relations", ())}
    state.relations -= {(kind, a, b) for kind, a, b in after.get("relations_removed", ())}
    state.rule = after.get("rule", state.rule)
    state.doc_links += [{**link, "event": event.seq} for link in after.get("doc_links", ())]
