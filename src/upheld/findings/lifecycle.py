"""Which lifecycle state may follow which by a person's word: one table. Superseding and merging have verbs."""

from __future__ import annotations

from upheld.errors import INVALID_STATE_TRANSITION, UpheldError
from upheld.findings.model import LIFECYCLE_STATES

LIFECYCLES: dict[str, tuple[str, ...]] = {
    "current": ("withdrawn", "archived"),
    "superseded": ("current",),
    "withdrawn": ("current",),
    "archived": ("current",),
}
"""From each lifecycle state, those that a person may set."""


class InvalidLifecycleError(UpheldError):
    """A lifecycle state that may not follow the present one."""

    def __init__(self, finding: str, now: str, wanted: str) -> None:
        super().__init__(
            f"{finding} is {now} and can't become {wanted}. From {now} it may become: "
            f"{', '.join(LIFECYCLES[now])}. Nothing was written.",
            code=INVALID_STATE_TRANSITION,
            argument="finding_id",
        )


class ReplacedError(UpheldError):
    """A finding whose place another one has taken."""

    def __init__(self, finding: str, replacement: str) -> None:
        super().__init__(
            f"{finding} gave its place to {replacement}, which stands. Withdraw or refute that one first. Nothing was "
            "written.",
            code=INVALID_STATE_TRANSITION,
            argument="finding_id",
        )


class PurgedError(UpheldError):
    """A finding whose content is gone."""

    def __init__(self, finding: str) -> None:
        super().__init__(
            f"{finding} was purged: its content is gone for good. Nothing was written.",
            code=INVALID_STATE_TRANSITION,
            argument="finding_id",
        )


def check_lifecycle(finding: str, now: str, wanted: str) -> None:
    """Refuse a lifecycle state that the table does not hold.

    Raises:
        InvalidLifecycleError: Naming what is allowed.
    """
    if wanted not in LIFECYCLES[now]:
        raise InvalidLifecycleError(finding, now, wanted)


def check_restorable(finding: str, replacements: list[int]) -> None:
    """Refuse to bring a finding back beside what took its place and stands.

    Raises:
        ReplacedError: Naming it.
    """
    if replacements:
        raise ReplacedError(finding, f"F-{replacements[-1]}")


assert set(LIFECYCLES) == set(LIFECYCLE_STATES)  # noqa: S101 - a typo here must not survive an import
