"""What an operation on a finding can refuse besides its arguments and its evidence: one class per case."""

from __future__ import annotations

from upheld.errors import (
    CONCURRENT_MODIFICATION,
    INVALID_ARGUMENT,
    NOT_FOUND,
    PROJECT_SCOPE_MISMATCH,
    InvalidArgumentError,
    UpheldError,
)


class UnknownFindingError(UpheldError):
    """No finding of this ledger has that id."""

    def __init__(self, finding_id: int, argument: str = "finding_id") -> None:
        super().__init__(
            f"There is no finding F-{finding_id}. query_findings lists the ids of this project. Nothing was written.",
            code=NOT_FOUND,
            argument=argument,
        )


class OtherProjectError(UpheldError):
    """The finding belongs to another project; nothing of it is told."""

    def __init__(self, finding_id: int, argument: str = "finding_id") -> None:
        super().__init__(
            f"F-{finding_id} belongs to another project; a finding is only reached from its own. Nothing was written.",
            code=PROJECT_SCOPE_MISMATCH,
            argument=argument,
        )


class UnknownEvidenceError(UpheldError):
    """No evidence of this project has that id."""

    def __init__(self, evidence_id: int) -> None:
        super().__init__(
            f"There is no evidence E-{evidence_id} in this project. get_finding lists the ids. Nothing was written.",
            code=NOT_FOUND,
            argument="evidence.evidence_id",
        )


class OtherProjectEvidenceError(UpheldError):
    """The evidence belongs to another project; nothing of it is told."""

    def __init__(self, evidence_id: int) -> None:
        super().__init__(
            f"E-{evidence_id} belongs to another project; evidence is only used in its own. Nothing was written.",
            code=PROJECT_SCOPE_MISMATCH,
            argument="evidence.evidence_id",
        )


class EvidenceLinkedError(InvalidArgumentError):
    """The same evidence already does the same for this finding."""

    def __init__(self, finding: str, evidence: str, role: str) -> None:
        super().__init__(
            "evidence.evidence_id",
            f"is {evidence}, which {finding} has with role {role} already",
            "Leave it out, or give it another role.",
        )


class NotCurrentError(InvalidArgumentError):
    """A finding that is no longer current and would have to be."""

    def __init__(self, finding: str, state: str, done: str) -> None:
        super().__init__("finding_id", f"is {finding}, which is {state}", f"Only a current finding can be {done}.")


class NothingToExportError(UpheldError):
    """A project that the ledger knows nothing of."""

    def __init__(self) -> None:
        super().__init__(
            "There is nothing to export: the ledger knows nothing of this project. Nothing was written.",
            code=NOT_FOUND,
        )


class PersonRequiredError(UpheldError):
    """Something that only a person may do."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} is for people: run it in a terminal. Nothing was written.", code=INVALID_ARGUMENT, argument="actor"
        )


class ChangedMeanwhileError(UpheldError):
    """The finding has another version than the caller read."""

    def __init__(self, finding: str, version: int, read: int) -> None:
        super().__init__(
            f"{finding} is at version {version}, you read version {read}. Look again with get_finding and repeat the "
            "call with its version. Nothing was written.",
            code=CONCURRENT_MODIFICATION,
            argument="version",
        )


class OtherArgumentsError(InvalidArgumentError):
    """The same idempotency key came with other arguments."""

    def __init__(self) -> None:
        super().__init__(
            "idempotency_key",
            "was used before with other arguments",
            "A retry repeats them exactly; another call takes another key.",
        )
