"""Relate findings: no finding to itself, no circle of what rests on or stands for what, each relation once.

A relation is recorded by an event of the finding it begins at. `contradicts` and `related_to` say the same from
either side, so either side holds them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from upheld.errors import RELATION_CYCLE, InvalidArgumentError, UpheldError
from upheld.findings.store import reading, writing

if TYPE_CHECKING:
    from upheld.findings.model import Finding
    from upheld.findings.work import Work

DIRECTED = ("supersedes", "derived_from", "duplicate_of")
"""The relations that may not lead back to where they began."""


class RelationCycleError(UpheldError):
    """A relation that would lead back to the finding it begins at."""

    def __init__(self, finding: str, relation: str, other: str, argument: str = "to") -> None:
        way = (
            "is the finding itself"
            if finding == other
            else f"is {relation} {finding} already, directly or through others"
        )
        super().__init__(
            f"{finding} can't be {relation} {other}: {other} {way}. Nothing was written.",
            code=RELATION_CYCLE,
            argument=argument,
        )


class RelatedAlreadyError(InvalidArgumentError):
    """Two findings that are related so already."""

    def __init__(self, finding: str, relation: str, other: str) -> None:
        super().__init__(
            "to", f"is {other}, and {finding} is {relation} it already", "One relation of a kind is enough."
        )


class NotRelatedError(InvalidArgumentError):
    """Two findings whose relation is to be taken back and is not there."""

    def __init__(self, finding: str, relation: str, other: str) -> None:
        super().__init__(
            "to", f"is {other}, and {finding} is not {relation} it", "get_finding lists the relations of a finding."
        )


def relate(work: Work, finding: Finding, relation: str, other: Finding, reason: str) -> None:
    """Relate a finding to another one of its project.

    Raises:
        RelationCycleError: It would lead back.
        RelatedAlreadyError: They are related so.
    """
    if finding.id == other.id:
        raise RelationCycleError(finding.name, relation, other.name)
    if find_held(work, finding, relation, other) is not None:
        raise RelatedAlreadyError(finding.name, relation, other.name)
    if relation in DIRECTED and reading.leads_to(work.db, other.id, relation, finding.id):
        raise RelationCycleError(finding.name, relation, other.name)
    writing.add_relation(work.db, finding.id, relation, other.id, work.now)
    work.change(finding, "linked", reason, {}, relations=[[relation, finding.id, other.id]])


def unrelate(work: Work, finding: Finding, relation: str, other: Finding, reason: str) -> None:
    """Take a relation back; the event is of the finding that it began at.

    Raises:
        NotRelatedError: They are not related so.
    """
    held = find_held(work, finding, relation, other)
    if held is None:
        raise NotRelatedError(finding.name, relation, other.name)
    begins, ends = held
    writing.remove_relation(work.db, begins.id, relation, ends.id)
    work.change(begins, "unlinked", reason, {}, relations_removed=[[relation, begins.id, ends.id]])


def find_held(work: Work, finding: Finding, relation: str, other: Finding) -> tuple[Finding, Finding] | None:
    """Return where the relation of two findings begins and ends, None if there is none."""
    held = {(a, b) for a, kind, b, _ in reading.find_relations(work.db, finding.id) if kind == relation}
    if (finding.id, other.id) in held:
        return finding, other
    if relation not in DIRECTED and (other.id, finding.id) in held:
        return other, finding
    return None
