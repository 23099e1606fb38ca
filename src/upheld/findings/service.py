"""The operations on findings: the rules, each write in one transaction with its events.

What a model or a person says never changes a state by its wording: only these methods do, and only as
the rules in `states.py` allow. Faces hold no rule; they call the methods here.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from upheld.context.marks import REFUSED, read_root_commits
from upheld.context.projects import IdentityUnknownError, ensure_project, find_project
from upheld.errors import InvalidArgumentError
from upheld.findings import views
from upheld.findings.cleaning import Cleaner
from upheld.findings.drafts import Draft, build_draft, look_up_links
from upheld.findings.ledger import as_refusals
from upheld.findings.model import KnownContext, Scope
from upheld.findings.refusals import OtherArgumentsError, OtherProjectError, UnknownFindingError
from upheld.findings.states import check_transition
from upheld.findings.store import reading, writing
from upheld.findings.surroundings import Surroundings, judge_all
from upheld.findings.work import Work
from upheld.text import jsontext

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import apsw

    from upheld.context.store import Project
    from upheld.findings.arguments import EvidenceInput
    from upheld.findings.ledger import Caller, Ledger
    from upheld.findings.model import Finding
    from upheld.findings.place import Place

_NOTHING_HERE = "The ledger knows nothing of this project yet; the first log_finding begins it."
_EMPTY = Scope(match={}, context={}, revalidate_on=None, paths=(), everywhere=False)
DEFAULT_LIMIT = 20


@dataclass(frozen=True, slots=True)
class Answer:
    """What an operation returns: plain data, and warnings for the caller."""

    data: dict[str, Any]
    warnings: tuple[str, ...] = ()


class Findings:
    """The findings of one project, as one caller sees them.

    Args:
        ledger: Where they are kept.
        place: Where the caller is.
        caller: Who asks.
    """

    def __init__(self, ledger: Ledger, place: Place, caller: Caller) -> None:
        self._ledger = ledger
        self._place = place
        self._caller = caller

    # Reading: never renews or changes anything, never takes a lock.

    @as_refusals()
    def query_findings(
        self,
        *,
        words: str | None = None,
        tags: tuple[str, ...] | None = None,
        states: tuple[str, ...] | None = None,
        kinds: tuple[str, ...] | None = None,
        applicability: tuple[str, ...] | None = None,
        facts: Mapping[str, str] | None = None,
        history: bool | None = None,
        limit: int | None = None,
        before: int | None = None,
    ) -> Answer:
        """Find findings of this project and judge them for the caller's context.

        Args:
            words: What to look for, best match first; without words the newest come first.
            tags: Only findings with one of these tags or aliases.
            states: Only these epistemic states.
            kinds: Only these claim kinds.
            applicability: Only these applicabilities.
            facts: Facts declared for this call.
            history: Also superseded, withdrawn and archived findings.
            limit: How many at the most, 20 unless given.
            before: Only findings older than this one: the next page of a list without words.
        """
        db, project = self._read()
        if db is None or project is None:
            return Answer({"findings": [], "more": False}, (_NOTHING_HERE,))
        surroundings = self._surroundings(db, facts)
        wanted = limit or DEFAULT_LIMIT
        listed: list[dict[str, Any]] = []
        for batch in views.search(
            db,
            project.id,
            words=words,
            tags=tags or (),
            filters={"epistemic_state": states or (), "claim_kind": kinds or ()},
            history=bool(history),
            before=before,
        ):
            judgements = judge_all(db, batch, surroundings)
            evidence = reading.find_evidence(db, [finding.id for finding in batch], newest=1)
            listed += [
                views.summary(finding, judgements[finding.id], evidence.get(finding.id, []))
                for finding in batch
                if not applicability or judgements[finding.id].applicability in applicability
            ]
            if len(listed) > wanted:
                break
        return Answer({"findings": listed[:wanted], "more": len(listed) > wanted}, tuple(surroundings.problems))

    @as_refusals()
    def get_finding(self, *, finding_id: int, facts: Mapping[str, str] | None = None) -> Answer:
        """Return one finding whole: states, scope, applicability here, evidence, relations and events.

        Raises:
            UnknownFindingError: There is none.
            OtherProjectError: It is another project's.
        """
        db, finding = self._find(finding_id)
        surroundings = self._surroundings(db, facts)
        judgement = judge_all(db, [finding], surroundings)[finding.id]
        evidence = reading.find_evidence(db, [finding.id]).get(finding.id, [])
        return Answer(views.whole(db, finding, judgement, evidence), tuple(surroundings.problems))

    # Writing

    @as_refusals()
    def log_finding(
        self,
        *,
        claim: str,
        claim_kind: str,
        epistemic_state: str | None = None,
        evidence: tuple[EvidenceInput, ...] | None = None,
        scope: Scope | None = None,
        tags: tuple[str, ...] | None = None,
        aliases: tuple[str, ...] | None = None,
        task: str | None = None,
        retrieval_policy: str | None = None,
        facts: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> Answer:
        """Log a claim with its evidence.

        It starts `unassessed` unless another state is asked for that its evidence allows; a constraint,
        decision or procedure starts `not_applicable`.

        Raises:
            EvidenceRequiredError: The state needs evidence that is not given.
            InvalidArgumentError: See its message.
        """
        cleaner = Cleaner(self._place.home)
        draft = build_draft(
            cleaner,
            self._place,
            claim=claim,
            claim_kind=claim_kind,
            epistemic_state=epistemic_state,
            evidence=evidence or (),
            scope=scope or _EMPTY,
            tags=tags or (),
            aliases=aliases or (),
            task=task or "",
            retrieval_policy=retrieval_policy or "relevant",
        )
        draft = self._anchor(self._limit_policy(draft, granted=False), facts, cleaner)

        def log(work: Work) -> tuple[int, dict[str, Any]]:
            finding_id = work.add_finding(draft, reason="logged")
            return finding_id, {"finding_id": f"F-{finding_id}", "version": 1, **work.state_of(finding_id)}

        return self._write(
            "log_finding",
            log,
            idempotency_key=idempotency_key,
            arguments=draft.key(),
            cleaner=cleaner,
            warnings=draft.warnings,
        )

    def add_evidence(self, *, finding_id: int, evidence: EvidenceInput, idempotency_key: str | None = None) -> Answer:
        """Add evidence to a finding. No state changes by itself; a conflict that arises is a warning."""
        cleaner = Cleaner(self._place.home)
        links = look_up_links(cleaner, self._place, (evidence,))

        def add(work: Work) -> tuple[int, dict[str, Any]]:
            finding = work.get(finding_id)
            work.add_links(finding, links, kind="evidence_added", reason="evidence added")
            return finding.id, {"finding_id": finding.name, **work.state_of(finding.id)}

        key = {"id": finding_id, "evidence": [link.key() for link in links]}
        return self._write("add_evidence", add, idempotency_key=idempotency_key, arguments=key, cleaner=cleaner)

    def set_finding_state(
        self,
        *,
        finding_id: int,
        epistemic_state: str,
        reason: str,
        version: int | None = None,
        evidence: tuple[EvidenceInput, ...] | None = None,
        idempotency_key: str | None = None,
    ) -> Answer:
        """Change the epistemic state as the transition table allows, with a reason.

        Raises:
            InvalidStateTransitionError: The table has no such step.
            EvidenceRequiredError: The evidence does not allow the state.
            ChangedMeanwhileError: The finding is not at `version` any more.
        """
        return self._settle(
            "set_finding_state",
            finding_id,
            epistemic_state,
            kind="state_set",
            reason=reason,
            version=version,
            evidence=evidence or (),
            idempotency_key=idempotency_key,
        )

    def refute_finding(
        self,
        *,
        finding_id: int,
        reason: str,
        evidence: tuple[EvidenceInput, ...] | None = None,
        version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Answer:
        """Refute a finding: contradicting evidence, state and event at once. It stays current, as a dead end.

        Evidence given here contradicts unless it says `context`.

        Raises:
            EvidenceRequiredError: No contradicting evidence is given and none is there.
            InvalidStateTransitionError: It can't be refuted from its state.
        """
        pieces = tuple(
            piece if piece.role == "context" else replace(piece, role="contradicts") for piece in evidence or ()
        )
        return self._settle(
            "refute_finding",
            finding_id,
            "refuted",
            kind="refuted",
            reason=reason,
            version=version,
            evidence=pieces,
            idempotency_key=idempotency_key,
        )

    @as_refusals()
    def supersede_finding(
        self,
        *,
        finding_id: int,
        claim: str,
        reason: str,
        claim_kind: str | None = None,
        epistemic_state: str | None = None,
        evidence: tuple[EvidenceInput, ...] | None = None,
        scope: Scope | None = None,
        tags: tuple[str, ...] | None = None,
        aliases: tuple[str, ...] | None = None,
        task: str | None = None,
        retrieval_policy: str | None = None,
        version: int | None = None,
        facts: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> Answer:
        """Log a new finding in place of an old one: both changes and their relation at once.

        Kind, scope, tags, aliases, task and policy are the old one's unless given. Superseded is not refuted: the
        old claim keeps its epistemic state.

        Raises:
            InvalidArgumentError: The old finding is no longer current.
        """
        _, old = self._find(finding_id)
        cleaner = Cleaner(self._place.home)
        draft = build_draft(
            cleaner,
            self._place,
            claim=claim,
            claim_kind=claim_kind or old.claim_kind,
            epistemic_state=epistemic_state,
            evidence=evidence or (),
            scope=scope if scope is not None else old.scope,
            tags=tags if tags is not None else old.tags,
            aliases=aliases if aliases is not None else old.aliases,
            task=task if task is not None else old.task,
            retrieval_policy=retrieval_policy or old.retrieval_policy,
        )
        draft = self._limit_policy(draft, granted=old.retrieval_policy == "always")
        draft = self._anchor(draft, facts, cleaner)
        why = cleaner.text(reason)

        def supersede(work: Work) -> tuple[int, dict[str, Any]]:
            finding = work.get(finding_id, version)
            if finding.lifecycle_state != "current":
                raise InvalidArgumentError(
                    "finding_id",
                    f"{finding.name} is {finding.lifecycle_state}",
                    "Only a current finding can be superseded; supersede the one that took its place.",
                )
            new_id = work.add_finding(draft, reason=why)
            work.supersede(finding, new_id, why)
            return new_id, {
                "finding_id": f"F-{new_id}",
                "version": 1,
                **work.state_of(new_id),
                "supersedes": finding.name,
            }

        key = {"id": finding_id, "version": version, "reason": why, **draft.key()}
        return self._write(
            "supersede_finding",
            supersede,
            idempotency_key=idempotency_key,
            arguments=key,
            cleaner=cleaner,
            warnings=draft.warnings,
        )

    # Inside

    def _settle(
        self,
        tool: str,
        finding_id: int,
        state: str,
        *,
        kind: str,
        reason: str,
        version: int | None,
        evidence: tuple[EvidenceInput, ...],
        idempotency_key: str | None,
    ) -> Answer:
        cleaner = Cleaner(self._place.home)
        links = look_up_links(cleaner, self._place, evidence)
        why = cleaner.text(reason)

        def settle(work: Work) -> tuple[int, dict[str, Any]]:
            finding = work.get(finding_id, version)
            check_transition(finding.name, finding.epistemic_state, state)
            work.settle(finding, state, links, kind=kind, reason=why)
            return finding.id, {"finding_id": finding.name, **work.state_of(finding.id)}

        key = {
            "id": finding_id,
            "state": state,
            "version": version,
            "reason": why,
            "evidence": [link.key() for link in links],
        }
        return self._write(tool, settle, idempotency_key=idempotency_key, arguments=key, cleaner=cleaner)

    def _write(
        self,
        tool: str,
        do: Callable[[Work], tuple[int, dict[str, Any]]],
        *,
        idempotency_key: str | None,
        arguments: Mapping[str, object],
        cleaner: Cleaner,
        warnings: tuple[str, ...] = (),
    ) -> Answer:
        """Run one write of this project; a retried call gets its first answer."""
        digest = _digest(jsontext.dumps_canonical(arguments))
        # Whatever a caller takes as a key is kept as a digest: it is only ever compared.
        key = None if idempotency_key is None else _digest(idempotency_key)
        with self._ledger.write(self._caller) as write:
            project = ensure_project(
                write.db,
                self._place.marks,
                root_commits=self._root_commits,
                now=write.now,
                new_uid=write.new_uid,
            )
            if key is not None:
                earlier = writing.find_answer(write.db, project.id, tool, key)
                if earlier is not None:
                    if earlier[0] != digest:
                        raise OtherArgumentsError
                    return Answer(jsontext.loads(earlier[1]), ("This call was made before; here is its first answer.",))
            work = Work(write, project)
            finding_id, data = do(work)
            if key is not None:
                writing.keep_answer(
                    write.db,
                    project.id,
                    tool,
                    key,
                    arguments_hash=digest,
                    finding_id=finding_id,
                    answer=jsontext.dumps(data),
                )
        return Answer(data, (*warnings, *cleaner.warnings(), *write.warnings))

    def _read(self) -> tuple[apsw.Connection | None, Project | None]:
        """Return the ledger and the project; a refusing git is an error, an unknown project is not."""
        if self._place.marks.state == REFUSED:
            raise IdentityUnknownError(self._place.marks.problem)
        db = self._ledger.read()
        if db is None:
            return None, None
        return db, find_project(db, self._place.marks, root_commits=self._root_commits)

    def _find(self, finding_id: int) -> tuple[apsw.Connection, Finding]:
        db, project = self._read()
        if db is not None:
            found = [] if project is None else reading.find_findings(db, project.id, [finding_id])
            if found:
                return db, found[0]
            if reading.find_project_of(db, finding_id) is not None:
                raise OtherProjectError(finding_id)
        raise UnknownFindingError(finding_id)

    def _root_commits(self) -> tuple[str, ...]:
        return read_root_commits(self._place.marks, environ=self._place.environ)

    def _surroundings(self, db: apsw.Connection | None, facts: Mapping[str, str] | None) -> Surroundings:
        caller = self._caller
        host = {"session": f"{caller.host}:{caller.session}"} if caller.session else {}
        return Surroundings(db, self._place.marks, declared=facts or {}, environ=self._place.environ, host=host)

    def _limit_policy(self, draft: Draft, *, granted: bool) -> Draft:
        """An agent may propose `always`; a person grants it."""
        if draft.retrieval_policy != "always" or granted or self._caller.actor == "user":
            return draft
        return replace(
            draft,
            retrieval_policy="relevant",
            warnings=(*draft.warnings, "retrieval_policy always is granted by a person; it was logged as relevant."),
        )

    def _anchor(self, draft: Draft, facts: Mapping[str, str] | None, cleaner: Cleaner) -> Draft:
        """Read the facts and the code that the scope names: the context in which the claim holds now."""
        surroundings = self._surroundings(self._ledger.read(), facts)
        names = sorted(draft.scope.fact_names() - {"paths"})
        known = {name: surroundings.facts((name,))[name].value for name in names}
        anchor: dict[str, str] = {}
        for pattern, digest in surroundings.code(draft.scope.paths).items():
            if digest is None:
                problem = next(p for p in surroundings.problems if p.startswith(f"paths {pattern}: "))
                raise InvalidArgumentError("scope.paths", problem.removeprefix("paths "), "Name fewer or other files.")
            anchor[pattern] = digest
        missing = surroundings.empty_patterns(draft.scope.paths)
        warnings = list(draft.warnings) + surroundings.problems
        warnings += [f"scope.paths {pattern} matches no file now; one that appears is a change." for pattern in missing]
        if draft.scope.is_empty:
            warnings.append(
                "scope says nothing, so nobody can tell where this holds: it is shown as a lead, not as a fact. Name "
                "conditions or paths, or say everywhere: true."
            )
        unknown = [name for name in (*draft.scope.match, *draft.scope.context) if known.get(name) is None]
        if unknown:
            warnings.append(f"Unknown here: {', '.join(unknown)}. Declare them, or this stays unproven here.")
        kept = {name: None if value is None else cleaner.fact(name, value) for name, value in known.items()}
        return replace(draft, known=KnownContext(kept, anchor), warnings=tuple(warnings))


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32).hexdigest()
