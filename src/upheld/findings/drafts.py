"""A finding on its way into the ledger: cleaned, its sources looked up, its states decided. Values, no writes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from upheld.errors import InvalidArgumentError
from upheld.findings import sources
from upheld.findings.arguments import EvidenceInput
from upheld.findings.model import ROLES, UNTRUE_OR_FALSE_KINDS, KnownContext, Scope, scope_as_data
from upheld.findings.states import Weight, check_initial

if TYPE_CHECKING:
    from upheld.findings.cleaning import Cleaner
    from upheld.findings.model import Evidence
    from upheld.findings.place import Place


@dataclass(frozen=True, slots=True)
class Link:
    """Evidence ready to be written: cleaned, and looked up where its source can be."""

    piece: EvidenceInput
    resolution: str
    content_hash: str

    @classmethod
    def of_evidence(cls, evidence: Evidence) -> Link:
        """Return a link to evidence that is there, which does the same for another claim."""
        piece = EvidenceInput(
            source_kind=evidence.source_kind,
            source_ref=evidence.source_ref,
            role=evidence.role,
            method=evidence.method,
            rationale=evidence.rationale,
            evidence_id=evidence.id,
        )
        return cls(piece, evidence.resolution, evidence.content_hash)

    def key(self) -> dict[str, Any]:
        """Return what makes two calls the same."""
        piece = self.piece
        return {name: getattr(piece, name) for name in piece.__slots__}


@dataclass(frozen=True, slots=True)
class Draft:
    """A new finding. `decided`: somebody asked for its epistemic state, so it settles what was known."""

    claim: str
    claim_kind: str
    epistemic_state: str
    decided: bool
    retrieval_policy: str
    scope: Scope
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    task: str
    links: tuple[Link, ...]
    known: KnownContext
    warnings: tuple[str, ...] = ()

    def key(self) -> dict[str, Any]:
        """Return what makes two calls the same."""
        return {
            "claim": self.claim,
            "kind": self.claim_kind,
            "state": self.epistemic_state,
            "policy": self.retrieval_policy,
            "scope": scope_as_data(self.scope),
            "tags": list(self.tags),
            "aliases": list(self.aliases),
            "task": self.task,
            "evidence": [link.key() for link in self.links],
        }


def build_draft(
    cleaner: Cleaner,
    place: Place,
    *,
    claim: str,
    claim_kind: str,
    epistemic_state: str | None,
    evidence: tuple[EvidenceInput, ...],
    scope: Scope,
    tags: tuple[str, ...],
    aliases: tuple[str, ...],
    task: str,
    retrieval_policy: str,
) -> Draft:
    """Clean what a caller gave and look its sources up; the state is checked when it is written."""
    default = "not_applicable" if claim_kind in UNTRUE_OR_FALSE_KINDS else "unassessed"
    return Draft(
        claim=cleaner.text(claim),
        claim_kind=claim_kind,
        epistemic_state=epistemic_state or default,
        decided=epistemic_state is not None,
        retrieval_policy=retrieval_policy,
        scope=cleaner.scope(scope),
        tags=cleaner.texts(tags),
        aliases=cleaner.texts(aliases),
        task=cleaner.text(task),
        links=look_up_links(cleaner, place, evidence),
        known=KnownContext({}, {}),
    )


def look_up_links(cleaner: Cleaner, place: Place, pieces: tuple[EvidenceInput, ...]) -> tuple[Link, ...]:
    """Look each source up, then clean it: a file of the project keeps its path from the root."""
    links = []
    for number, piece in enumerate(pieces, 1):
        source = sources.look_up(piece.source_kind, piece.source_ref, place.marks, place.environ)
        cleaned = cleaner.evidence(replace(piece, source_ref=source.ref))
        _check_time(cleaned.observed_at, number)
        links.append(Link(cleaned, source.resolution, source.content_hash))
    return tuple(links)


def check_draft(draft: Draft) -> None:
    """Refuse a state that kind and evidence don't allow."""
    counts = {role: sum(link.piece.role == role for link in draft.links) for role in ROLES}
    check_initial(draft.epistemic_state, draft.claim_kind, Weight(**counts))


def _check_time(text: str, number: int) -> None:
    if not text:
        return
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise InvalidArgumentError(
            "evidence.observed_at", f"of piece {number} is no time", "Write it like 2026-11-30T12:00:00Z."
        ) from None
