"""What an operation on a finding can refuse besides its arguments and its evidence: one class per case."""

from __future__ import annotations

from upheld.errors import (
    CONCURRENT_MODIFICATION,
    NOT_FOUND,
    PROJECT_SCOPE_MISMATCH,
    InvalidArgumentError,
    UpheldError,
)


class UnknownFindingError(UpheldError):
    """No finding of this ledger has that id."""

    def __init__(self, finding_id: int) -> None:
        super().__init__(
            f"There is no finding F-{finding_id}. query_findings lists the ids of this project. Nothing was written.",
            code=NOT_FOUND,
            argument="finding_id",
        )


class OtherProjectError(UpheldError):
    """The finding belongs to another project; nothing of it is told."""

    def __init__(self, finding_id: int) -> None:
        super().__init__(
            f"F-{finding_id} belongs to another project; a finding is only reached from its own. Nothing was written.",
            code=PROJECT_SCOPE_MISMATCH,
            argument="finding_id",
        )


class UnknownEvidenceError(UpheldError):
    """No evidence of this project has that id."""

    def __init__(self, evidence_id: int) -> None:
        super().__init__(
            f"There is no evidence E-{evidence_id} in this project. get_finding lists the ids. Nothing was written.",
            code=NOT_FOUND,
            argument="evidence_id",
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
