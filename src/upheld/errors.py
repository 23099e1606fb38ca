"""The one exception type that leaves the services, and the closed sets of its codes.

A refusal says what was wrong, with which argument, and what would be right. Nothing is written
before a refusal, so its message may say so. Every case has its own class near the code that raises
it; all of them derive from `UpheldError`. This module is imported by the hook: no imports here.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

INVALID_ARGUMENT = "INVALID_ARGUMENT"
NOT_FOUND = "NOT_FOUND"
PROJECT_SCOPE_MISMATCH = "PROJECT_SCOPE_MISMATCH"
INVALID_STATE_TRANSITION = "INVALID_STATE_TRANSITION"
EVIDENCE_REQUIRED = "EVIDENCE_REQUIRED"
RELATION_CYCLE = "RELATION_CYCLE"
CONCURRENT_MODIFICATION = "CONCURRENT_MODIFICATION"
STORAGE_ERROR = "STORAGE_ERROR"

FINDING_CODES = frozenset(
    {
        INVALID_ARGUMENT,
        NOT_FOUND,
        PROJECT_SCOPE_MISMATCH,
        INVALID_STATE_TRANSITION,
        EVIDENCE_REQUIRED,
        RELATION_CYCLE,
        CONCURRENT_MODIFICATION,
        STORAGE_ERROR,
    }
)
"""Every code that an operation on findings can answer with."""


class UpheldError(Exception):
    """A refusal: a stable code and a sentence that helps the caller fix the call.

    Args:
        message: What was wrong and what would be right, in one or two sentences. Holds no path of
            this machine and no text of another project.
        code: One of the closed set of the system that raises it.
        argument: The argument at fault, by its public name, if there is one.
    """

    def __init__(self, message: str, *, code: str, argument: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.argument = argument

    def as_data(self) -> "Mapping[str, object]":
        """Return the `error` part of the envelope."""
        data: dict[str, object] = {"code": self.code, "message": self.message}
        if self.argument is not None:
            data["argument"] = self.argument
        return data


class InvalidArgumentError(UpheldError):
    """An argument that no ledger state could make right.

    Args:
        argument: The argument's public name.
        problem: What is wrong with it, continuing the sentence "ARGUMENT ...".
        right: What would be right, a sentence of its own.
    """

    def __init__(self, argument: str, problem: str, right: str) -> None:
        super().__init__(
            f"{argument} {problem}. {right} Nothing was written.", code=INVALID_ARGUMENT, argument=argument
        )


class StorageError(UpheldError):
    """The database could not be read or written; the message names what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code=STORAGE_ERROR)
