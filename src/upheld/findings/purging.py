"""Purge a finding: its content is gone from everywhere that we keep it; that it was there and was purged stays.

Gone are claim, scope, tags, evidence that nothing else has, the words of its events, answers kept for retries, the
full-text entries, what conversations were handed of it, and every backup made before. The chain of events stays whole:
it covers hashes of the words. docs/decisions/0014-purge.md has what was rejected.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

from upheld.errors import INVALID_ARGUMENT, StorageError, UpheldError
from upheld.findings.arguments import MAX_CLAIM, check_text
from upheld.findings.cleaning import Cleaner
from upheld.findings.ledger import as_refusals
from upheld.findings.lifecycle import PurgedError
from upheld.findings.refusals import PersonRequiredError
from upheld.findings.store import searching, shown, transferring, writing
from upheld.findings.work import Work
from upheld.storage import backup, database

if TYPE_CHECKING:
    from upheld.findings.ledger import Ledger
    from upheld.findings.service import Findings
    from upheld.storage.places import Places


class CitedError(UpheldError):
    """A finding that others rest on or name."""

    def __init__(self, finding: str, citing: list[int]) -> None:
        names = ", ".join(f"F-{number}" for number in citing[:5]) + (", ..." if len(citing) > 5 else "")
        super().__init__(
            f"{finding} is cited by {names}: what is derived from it would be in doubt. Say --cited to purge it all "
            "the same. Nothing was written.",
            code=INVALID_ARGUMENT,
            argument="cited",
        )


@as_refusals()
def purge_finding(findings: Findings, finding_id: int, reason: str, *, cited: bool = False) -> dict[str, Any]:
    """Purge a finding of the project here and return what else that touched.

    Args:
        findings: Whose, and who asks.
        finding_id: Which.
        reason: Why; kept, so it should not repeat what is purged.
        cited: Even if other findings cite it.

    Raises:
        PersonRequiredError: An agent asks.
        CitedError: Others cite it.
        PurgedError: It was purged before; whatever that purge did not get to, if it was interrupted, is done now.
    """
    if findings.caller.actor != "user":
        raise PersonRequiredError("`upheld purge`")
    cleaner = Cleaner(findings.place.home)
    why = cleaner.text(check_text("reason", reason, MAX_CLAIM))
    _, seen = findings.find(finding_id)
    if not seen.claim:
        _clean_up(findings.ledger, seen.id, before=seen.updated_at)
        raise PurgedError(seen.name)
    with findings.ledger.write(findings.caller) as write:
        project = findings.project_of(write)
        work = Work(write, project)
        finding = work.get(seen.id)
        citing = transferring.find_citing(write.db, finding.id)
        if citing and not cited:
            raise CitedError(finding.name, citing)
        kept = transferring.find_kept(write.db, finding.id)
        shared = transferring.find_shared_evidence(write.db, finding.id)
        writing.forget_words(write.db, project.id, finding.id)
        writing.add_words(write.db, project.id, finding.id, {})  # it still counts as a finding of the project
        transferring.erase(write.db, finding.id)
        writing.change_finding(write.db, finding.id, finding.version, write.now)
        after = {"lifecycle_state": "withdrawn", "version": finding.version + 1}
        write.add_event(finding.id, "purged", reason=why, before={"version": finding.version}, after=after)
        searching.forget_text(write.db, finding.id)
    warnings = [*cleaner.warnings(), *write.warnings]
    warnings += [
        f"F-{number} took over its tags, aliases and evidence in a merge; those stay there." for number in kept
    ]
    gone, more = _clean_up(findings.ledger, finding.id)
    return {
        "finding_id": finding.name,
        "cited_by": [f"F-{number}" for number in citing],
        "evidence_kept": [f"E-{number}" for number in shared],
        "backups_deleted": gone,
        "warnings": [*warnings, *more],
    }


def _clean_up(ledger: Ledger, finding_id: int, *, before: str = "") -> tuple[int, list[str]]:
    """Take a purged finding out of everything beside the rows of the ledger; may be done again.

    Args:
        ledger: Whose.
        finding_id: Which.
        before: Only backups made before this time hold it; "" for all of them.

    Returns:
        How many backups were deleted, and what could not be done.
    """
    warnings = []
    if not ledger.squeeze():
        warnings.append(
            "Another process has the ledger open: its old bytes go when it ends and the next purge or check."
        )
    warnings += _forget_shown(ledger.places, finding_id)
    try:
        gone = backup.delete_backups(ledger.places, before=before)
    except OSError:
        return 0, [*warnings, "Backups that hold it can't be deleted: look at the backups folder and purge it again."]
    if gone:
        try:
            backup.make_backup(ledger.places, ledger.now())
        except StorageError:
            warnings.append("The backups that held it were deleted, and no new one could be made: upheld backup make")
    return gone, warnings


def _forget_shown(places: Places, finding_id: int) -> list[str]:
    try:
        db = database.open_for_writing(places.conversations, database.CONVERSATIONS)
    except StorageError as error:
        return [f"What conversations were handed could not be changed: {error.message}"]
    with closing(db):
        db.execute("pragma secure_delete = on").get  # noqa: B018 - reading the answer is what runs it
        with database.Transaction(db):
            shown.forget_finding(db, finding_id)
        db.execute("pragma wal_checkpoint(truncate)").fetchall()
    return []
