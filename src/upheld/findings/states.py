"""Which epistemic state may follow which, and what evidence each needs: one table, one function.

The rules are of the service, since SQL can't count evidence across tables.
"""

from __future__ import annotations

from dataclasses import dataclass

from upheld.errors import EVIDENCE_REQUIRED, INVALID_STATE_TRANSITION, InvalidArgumentError, UpheldError
from upheld.findings.model import EPISTEMIC_STATES, UNTRUE_OR_FALSE_KINDS

TRANSITIONS: dict[str, tuple[str, ...]] = {
    "unassessed": ("provisional", "supported", "contested", "refuted", "inconclusive"),
    "provisional": ("supported", "contested", "refuted", "inconclusive"),
    "supported": ("contested", "refuted", "inconclusive", "provisional"),
    "contested": ("supported", "refuted", "inconclusive"),
    "inconclusive": ("provisional", "supported", "contested", "refuted"),
    "refuted": ("contested",),
    "not_applicable": (),
}
"""From each state, the states a person or agent may set with a reason. Nothing else is allowed."""

_NEEDS = {
    "supported": ("supports",),
    "refuted": ("contradicts",),
    "contested": ("supports", "contradicts"),
    "inconclusive": ("any",),
}
"""The roles of evidence each state needs at least one of. `any`: a claim without evidence is at most provisional."""


@dataclass(frozen=True, slots=True)
class Weight:
    """How much evidence a claim has on each side, and how new it is (event seq, 0 for none)."""

    supports: int = 0
    contradicts: int = 0
    context: int = 0
    newest_support: int = 0
    newest_contradiction: int = 0

    def has(self, role: str) -> bool:
        """Say whether there is a link of a role, or of any."""
        if role == "any":
            return bool(self.supports or self.contradicts or self.context)
        return bool(self.supports if role == "supports" else self.contradicts)


class InvalidStateTransitionError(UpheldError):
    """A state that may not follow the present one."""

    def __init__(self, finding: str, now: str, wanted: str) -> None:
        allowed = ", ".join(TRANSITIONS[now]) or "nothing: it is fixed at creation by the claim's kind"
        super().__init__(
            f"{finding} is {now} and can't become {wanted}. From {now} it may become: {allowed}. Nothing was written.",
            code=INVALID_STATE_TRANSITION,
            argument="epistemic_state",
        )


class EvidenceRequiredError(UpheldError):
    """A state that the evidence at hand does not allow."""

    def __init__(self, state: str, role: str) -> None:
        wanted = {
            "supports": "a link with role supports",
            "contradicts": "a link with role contradicts",
            "any": "at least one piece of evidence",
        }[role]
        super().__init__(
            f"epistemic_state {state} needs {wanted}. Give it in evidence, or leave the claim in a state that "
            "needs none. Nothing was written.",
            code=EVIDENCE_REQUIRED,
            argument="evidence",
        )


class NewerSupportRequiredError(UpheldError):
    """A refuted claim is to be supported again without anything new in its favour."""

    def __init__(self, finding: str) -> None:
        super().__init__(
            f"{finding} was refuted; it is supported again only by supporting evidence newer than the refutation. "
            "Add that with add_evidence first. Nothing was written.",
            code=EVIDENCE_REQUIRED,
            argument="evidence",
        )


def check_initial(state: str, kind: str, weight: Weight) -> None:
    """Refuse a state that a new claim of this kind with this evidence can't have.

    Raises:
        InvalidArgumentError: `not_applicable` for a claim that is true or false, or the other way round.
        EvidenceRequiredError: The links don't allow the state.
    """
    if state == "not_applicable" and kind not in UNTRUE_OR_FALSE_KINDS:
        raise InvalidArgumentError(
            "epistemic_state",
            f"not_applicable is for claims that are neither true nor false, and a {kind} is one or the other",
            "Leave it out, or choose the claim_kind constraint, decision or procedure.",
        )
    check_evidence(state, weight)


def check_transition(finding: str, now: str, wanted: str) -> None:
    """Refuse a change of state that the table does not hold.

    Raises:
        InvalidStateTransitionError: Naming what is allowed.
    """
    if wanted not in TRANSITIONS[now]:
        raise InvalidStateTransitionError(finding, now, wanted)


def check_evidence(state: str, weight: Weight) -> None:
    """Refuse a state that needs evidence which is not there.

    Raises:
        EvidenceRequiredError: Naming the role that is missing.
    """
    for role in _NEEDS.get(state, ()):
        if not weight.has(role):
            raise EvidenceRequiredError(state, role)


assert set(TRANSITIONS) == set(EPISTEMIC_STATES)  # noqa: S101 - a typo here must not survive an import
