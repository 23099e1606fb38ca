"""Which promotion state may follow which, and what a finding must be to become a rule: one table, two checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from upheld.errors import EVIDENCE_REQUIRED, INVALID_STATE_TRANSITION, UpheldError
from upheld.findings.model import PROMOTION_STATES, is_in_conflict

if TYPE_CHECKING:
    from upheld.findings.model import Evidence, Finding

PROMOTIONS: dict[str, tuple[str, ...]] = {
    "none": ("proposed",),
    "proposed": ("approved", "rejected"),
    "approved": ("landed", "rejected"),
    "rejected": ("proposed",),
    "landed": (),
}
"""From each promotion state, those that may follow. `proposed` is open to agents, the others are for people."""


class InvalidPromotionError(UpheldError):
    """A promotion state that may not follow the present one."""

    def __init__(self, finding: str, now: str, wanted: str) -> None:
        allowed = ", ".join(PROMOTIONS[now]) or "nothing: it has landed"
        said = "is no proposed rule" if now == "none" else f"is {now} as a rule"
        super().__init__(
            f"{finding} {said} and can't become {wanted}. It may become: {allowed}. Nothing was written.",
            code=INVALID_STATE_TRANSITION,
            argument="finding_id",
        )


class NotProposableError(UpheldError):
    """A finding that nobody should make a rule of."""

    def __init__(self, finding: str, problem: str) -> None:
        super().__init__(
            f"{finding} {problem}, so it can't become a rule: that takes a current finding that is supported, or one "
            "that is neither true nor false, without an unsettled conflict. Nothing was written.",
            code=EVIDENCE_REQUIRED,
            argument="finding_id",
        )


def check_promotion(finding: str, now: str, wanted: str) -> None:
    """Refuse a promotion state that the table does not hold.

    Raises:
        InvalidPromotionError: Naming what is allowed.
    """
    if wanted not in PROMOTIONS[now]:
        raise InvalidPromotionError(finding, now, wanted)


def check_proposable(finding: Finding, evidence: list[Evidence]) -> None:
    """Refuse to make a rule of a finding that does not hold.

    Raises:
        NotProposableError: Saying why it does not.
    """
    if finding.lifecycle_state != "current":
        raise NotProposableError(finding.name, f"is {finding.lifecycle_state}")
    if finding.epistemic_state not in ("supported", "not_applicable"):
        raise NotProposableError(finding.name, f"is {finding.epistemic_state}")
    if is_in_conflict(finding, evidence):
        raise NotProposableError(finding.name, "has evidence on both sides")


assert set(PROMOTIONS) == set(PROMOTION_STATES)  # noqa: S101 - a typo here must not survive an import
