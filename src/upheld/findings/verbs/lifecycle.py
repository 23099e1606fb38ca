"""Take a finding out of use and bring it back: withdraw, archive, restore, mute. For people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from upheld.errors import InvalidArgumentError
from upheld.findings.cleaning import Cleaner
from upheld.findings.lifecycle import check_lifecycle, check_restorable
from upheld.findings.model import FOREVER
from upheld.findings.moments import parse_until
from upheld.findings.store import reading

if TYPE_CHECKING:
    from upheld.findings.service import Answer, Findings
    from upheld.findings.work import Work


def withdraw_finding(findings: Findings, *, finding_id: int, reason: str, version: int | None = None) -> Answer:
    """Withdraw a finding that should not have been logged: it is shown to nobody, and what rests on it is in doubt.

    Raises:
        InvalidLifecycleError: It is not current.
    """
    return _move(findings, "withdraw_finding", finding_id, "withdrawn", reason=reason, version=version)


def archive_finding(findings: Findings, *, finding_id: int, reason: str, version: int | None = None) -> Answer:
    """Archive a finding that is of no more use. It stays true of what rests on it.

    Raises:
        InvalidLifecycleError: It is not current.
    """
    return _move(findings, "archive_finding", finding_id, "archived", reason=reason, version=version)


def restore_finding(findings: Findings, *, finding_id: int, reason: str, version: int | None = None) -> Answer:
    """Make a withdrawn or archived finding current again; a superseded one once nothing stands in its place.

    Raises:
        InvalidLifecycleError: It is current.
        ReplacedError: A finding that superseded it, or that it was merged into, still stands.
    """
    return _move(findings, "restore_finding", finding_id, "current", reason=reason, version=version)


def mute_finding(
    findings: Findings, *, finding_id: int, reason: str, until: str | None = None, off: bool | None = None
) -> Answer:
    """Hand a finding to no model until a time, or until it is unmuted; it stays in queries.

    Raises:
        InvalidArgumentError: The time is none, or is past; or it is to be unmuted and is not muted.
    """
    cleaner = Cleaner(findings.place.home)
    why = cleaner.text(reason)
    wanted = "" if off else FOREVER if until is None else parse_until("until", until, findings.ledger.now())

    def mute(work: Work) -> tuple[int, dict[str, Any]]:
        finding = work.get(finding_id)
        if off and not finding.is_muted(work.now):
            raise InvalidArgumentError("finding_id", f"is {finding.name}, which is not muted", "Leave it as it is.")
        work.change(finding, "unmuted" if off else "muted", why, {"muted_until": wanted})
        return finding.id, {"finding_id": finding.name, **work.state_of(finding.id), "muted_until": wanted}

    return findings.write("mute_finding", mute, arguments={}, cleaner=cleaner)


def _move(findings: Findings, tool: str, finding_id: int, state: str, *, reason: str, version: int | None) -> Answer:
    cleaner = Cleaner(findings.place.home)
    why = cleaner.text(reason)

    def move(work: Work) -> tuple[int, dict[str, Any]]:
        finding = work.get(finding_id, version)
        check_lifecycle(finding.name, finding.lifecycle_state, state)
        if state == "current":
            check_restorable(finding.name, reading.find_replacements(work.db, finding.id))
        kind = "restored" if state == "current" else state
        work.change(finding, kind, why, {"lifecycle_state": state})
        return finding.id, {"finding_id": finding.name, **work.state_of(finding.id)}

    return findings.write(tool, move, arguments={}, cleaner=cleaner)
