"""One open write in one project: the changes that operations are made of, each with its event.

Everything here runs inside the transaction of `Ledger.write`; an exception leaves nothing behind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from upheld.findings.drafts import Link, check_draft
from upheld.findings.lifecycle import PurgedError
from upheld.findings.model import Evidence, Finding, Scope, is_in_conflict, scope_as_data
from upheld.findings.refusals import (
    ChangedMeanwhileError,
    EvidenceLinkedError,
    OtherProjectError,
    OtherProjectEvidenceError,
    UnknownEvidenceError,
    UnknownFindingError,
)
from upheld.findings.states import NewerSupportRequiredError, Weight, check_evidence
from upheld.findings.store import reading, transferring, writing
from upheld.text.words import normalise_phrase, read_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import apsw

    from upheld.context.store import Project
    from upheld.findings.arguments import EvidenceInput
    from upheld.findings.drafts import Draft
    from upheld.findings.ledger import Write
    from upheld.findings.model import KnownContext


@dataclass(frozen=True, slots=True)
class Imported:
    """A finding out of an export, cleaned and checked: its columns, and what comes with it.

    Args:
        decided: Somebody asked for its epistemic state; links of which `after_decision` is true came after that.
        links: Evidence with the line of the export that it stands in.
        contexts: Where it is known to hold.
        context_sources: For each context, the content of sources then, by evidence uid.
        history: Its events in the ledger that it comes from, as data.
    """

    uid: str
    claim: str
    claim_kind: str
    epistemic_state: str
    lifecycle_state: str
    retrieval_policy: str
    scope: Scope
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    task: str
    promotion_state: str
    muted_until: str
    created_at: str
    actor: str
    host: str
    decided: bool
    links: list[tuple[EvidenceInput, dict[str, Any]]]
    contexts: list[KnownContext]
    context_sources: list[dict[str, str]]
    rule: dict[str, str] | None
    doc_links: list[dict[str, str]]
    history: list[dict[str, Any]]


class Work:
    """The changes of one write.

    Args:
        write: The open transaction.
        project: Whose findings.
    """

    def __init__(self, write: Write, project: Project) -> None:
        self._write = write
        self._db = write.db
        self._project = project

    @property
    def db(self) -> apsw.Connection:
        """Return the connection, inside its transaction."""
        return self._db

    @property
    def project(self) -> Project:
        """Return whose findings are changed."""
        return self._project

    def warn(self, sentence: str) -> None:
        """Tell the caller something besides the answer."""
        self._write.warnings.append(sentence)

    @property
    def now(self) -> str:
        """Return the time of this write."""
        return self._write.now

    def get(self, finding_id: int, version: int | None = None, *, argument: str = "finding_id") -> Finding:
        """Return a finding of this project, at the version the caller read if it says one.

        Raises:
            UnknownFindingError: There is none.
            OtherProjectError: It is another project's.
            PurgedError: Its content is gone.
            ChangedMeanwhileError: It has another version.
        """
        found = reading.find_findings(self._db, self._project.id, [finding_id])
        if not found:
            if reading.find_project_of(self._db, finding_id) is not None:
                raise OtherProjectError(finding_id, argument)
            raise UnknownFindingError(finding_id, argument)
        if not found[0].claim:
            raise PurgedError(found[0].name)
        if version is not None and found[0].version != version:
            raise ChangedMeanwhileError(found[0].name, found[0].version, version)
        return found[0]

    def state_of(self, finding_id: int) -> dict[str, Any]:
        """Return the states and version of a finding as they are now."""
        finding = self.get(finding_id)
        return {
            "epistemic_state": finding.epistemic_state,
            "lifecycle_state": finding.lifecycle_state,
            "version": finding.version,
        }

    def evidence_of(self, finding: Finding) -> list[Evidence]:
        """Return the evidence of a finding, newest link first."""
        return reading.find_evidence(self._db, [finding.id]).get(finding.id, [])

    def add_finding(self, draft: Draft, *, reason: str) -> int:
        """Store a new finding with its evidence, words and first known context, under one event.

        Raises:
            EvidenceRequiredError: Its state needs evidence that is not there.
        """
        write = self._write
        check_draft(draft)
        event = write.next_event()
        finding = Finding(
            id=0,
            uid=write.new_uid(),
            project_id=self._project.id,
            claim=draft.claim,
            claim_kind=draft.claim_kind,
            epistemic_state=draft.epistemic_state,
            lifecycle_state="current",
            retrieval_policy=draft.retrieval_policy,
            scope=draft.scope,
            tags=draft.tags,
            aliases=draft.aliases,
            task=draft.task,
            promotion_state="none",
            version=1,
            decided_event=event if draft.decided else 0,
            created_at=write.now,
            updated_at=write.now,
            actor=write.caller.actor,
            host=write.caller.host,
            session=write.caller.session,
        )
        finding_id = writing.add_finding(self._db, finding)
        evidence = [self._add_link(finding_id, link, event) for link in draft.links]
        writing.add_known_context(self._db, finding_id, draft.known, write.now)
        writing.add_words(self._db, self._project.id, finding_id, index_words(draft))
        write.add_event(
            finding_id,
            "logged",
            reason=reason,
            before=None,
            after={
                **finding_as_data(finding),
                "project": self._project.uid,
                "known": draft.known.as_data(),
                "evidence": evidence,
            },
        )
        return finding_id

    def bring(self, brought: Imported) -> None:
        """Store a finding that an export brought, under one event; a second one for evidence after its decision."""
        write = self._write
        event = write.next_event()
        finding = Finding(
            id=0,
            project_id=self._project.id,
            version=1,
            decided_event=event if brought.decided else 0,
            updated_at=write.now,
            session="",
            **{name: getattr(brought, name) for name in _BROUGHT},
        )
        finding_id = writing.add_finding(self._db, finding)
        numbers: dict[str, int] = {}
        early = [
            self._bring_link(finding_id, one, event, numbers) for one in brought.links if not one[1]["after_decision"]
        ]
        late = [one for one in brought.links if one[1]["after_decision"]]
        late_numbers = {one[1]["source"]["uid"]: self._bring_source(*one) for one in late}
        contexts = [
            known.with_sources(
                {numbers.get(uid) or late_numbers.get(uid, 0): digest for uid, digest in sources.items()}
            )
            for known, sources in zip(brought.contexts, brought.context_sources, strict=True)
        ]
        for known in contexts:
            writing.add_known_context(self._db, finding_id, known, self.now)
        words = list_words(finding.claim, finding.tags, finding.aliases, finding.scope.paths)
        writing.add_words(self._db, self._project.id, finding_id, words)
        if brought.rule is not None:
            writing.keep_rule(self._db, finding_id, **brought.rule, now=self.now)
        for link in brought.doc_links:
            writing.add_doc_link(self._db, finding_id, **link, event=event, now=self.now)
        write.add_event(
            finding_id,
            "imported",
            reason="imported",
            before=None,
            after={
                **finding_as_data(finding),
                "muted_until": finding.muted_until,
                "origin": {"created_at": brought.created_at, "actor": brought.actor, "host": brought.host},
                "project": self._project.uid,
                "contexts": [known.as_data() for known in contexts],
                "evidence": early,
                "rule": brought.rule,
                "doc_links": brought.doc_links,
                "history": brought.history,
            },
        )
        if late:
            event = write.next_event()
            evidence = [self._bring_link(finding_id, one, event, numbers, new=one[1]["source"]["uid"]) for one in late]
            self.change(self.get(finding_id), "imported_evidence", "imported", {}, evidence=evidence)

    def bring_relations(self, finding: Finding, relations: list[tuple[str, int, int]]) -> None:
        """Store the relations that an export brought and this finding's events made, under one event."""
        for kind, a, b in relations:
            writing.add_relation(self._db, a, kind, b, self.now)
        listed = [list(relation) for relation in relations]
        self.change(finding, "imported_relations", "imported", {}, relations=listed)

    def add_links(self, finding: Finding, links: Iterable[Link], *, kind: str, reason: str) -> None:
        """Add evidence to a finding without touching its state; say so if a conflict arises."""
        self.change(finding, kind, reason, {}, evidence=self.add_evidence(finding, links))
        self.warn_of_conflict(finding)

    def warn_of_conflict(self, finding: Finding) -> None:
        """Say so if both sides of a finding have evidence that nobody has settled."""
        if is_in_conflict(finding, self.evidence_of(finding)):
            self._write.warnings.append(
                f"{finding.name} is {finding.epistemic_state} and has evidence on the other side now: it is shown as "
                "contested until somebody settles it with set_finding_state or refute_finding."
            )

    def settle(
        self,
        finding: Finding,
        state: str,
        links: Iterable[Link],
        *,
        kind: str,
        reason: str,
        known: KnownContext | None = None,
    ) -> None:
        """Set the epistemic state, with evidence and a context that may come along, as the evidence rules allow.

        Raises:
            EvidenceRequiredError: The evidence does not allow the state.
            NewerSupportRequiredError: A refuted claim is to return without anything new in its favour.
        """
        event = self._write.next_event()
        evidence = self.add_evidence(finding, links)
        held = self.evidence_of(finding)
        check_evidence(state, _weigh(held))
        if state == "supported" and self._was_refuted_after(finding, _weigh(held).newest_support):
            raise NewerSupportRequiredError(finding.name)
        columns = {"epistemic_state": state, "decided_event": event}
        self.change(finding, kind, reason, columns, evidence=evidence, **self._keep_context(finding, known))

    def change(self, finding: Finding, kind: str, reason: str, columns: Mapping[str, Any], **more: Any) -> None:
        """Change columns of a finding under one event that says what they were and what they are.

        Args:
            finding: As it was read in this write.
            kind: Of the event.
            reason: Why, as it is kept.
            columns: What changes: `scope` a `Scope`, `tags` and `aliases` tuples, else plain values.
            more: What else the event says came with it: evidence, known, relations, rule, doc_links.
        """
        writing.change_finding(self._db, finding.id, finding.version, self._write.now, **columns)
        before = {name: _as_event_value(getattr(finding, name)) for name in columns}
        after = {name: _as_event_value(value) for name, value in columns.items()}
        self._write.add_event(
            finding.id,
            kind,
            reason=reason,
            before={**before, "version": finding.version},
            after={**after, "version": finding.version + 1, **more},
        )

    def revalidate(
        self, finding: Finding, outcome: str, links: Iterable[Link], known: KnownContext | None, reason: str
    ) -> None:
        """Record a new look at a finding, and where it is known to hold from now on if it held."""
        more: dict[str, Any] = {"outcome": outcome, "evidence": self.add_evidence(finding, links)}
        self.change(finding, "revalidated", reason, {}, **more, **self._keep_context(finding, known))
        self.warn_of_conflict(finding)

    def promote(self, finding: Finding, state: str, reason: str, **more: Any) -> None:
        """Change the promotion state, with the rule that is proposed or the places where it landed."""
        if "rule" in more:
            writing.keep_rule(self._db, finding.id, **more["rule"], now=self.now)
        for link in more.get("doc_links", ()):
            writing.add_doc_link(self._db, finding.id, **link, event=self._write.next_event(), now=self.now)
        self.change(finding, f"rule_{state}", reason, {"promotion_state": state}, **more)

    def amend(self, finding: Finding, columns: Mapping[str, Any], known: KnownContext | None, reason: str) -> None:
        """Change how a finding is written or found, and index it under its new words."""
        self.change(finding, "amended", reason, columns, **self._keep_context(finding, known))
        self._index_anew(finding.id)

    def merge(self, finding: Finding, kept: Finding, reason: str) -> None:
        """Archive a finding as a duplicate of another one, which gets its evidence, tags and aliases."""
        held = {(link.id, link.role) for link in self.evidence_of(kept)}
        links = [
            Link.of_evidence(link) for link in reversed(self.evidence_of(finding)) if (link.id, link.role) not in held
        ]
        relations = []
        related = {(a, relation, b) for a, relation, b, _ in reading.find_relations(self._db, finding.id)}
        if (finding.id, "duplicate_of", kept.id) not in related:  # else somebody said so before
            writing.add_relation(self._db, finding.id, "duplicate_of", kept.id, self.now)
            relations = [["duplicate_of", finding.id, kept.id]]
        self.change(finding, "merged", reason, {"lifecycle_state": "archived"}, relations=relations)
        names = {
            name: tuple(dict.fromkeys((*getattr(kept, name), *getattr(finding, name)))) for name in ("tags", "aliases")
        }
        self.change(kept, "merged_in", reason, names, evidence=self.add_evidence(kept, links), merged=finding.id)
        self._index_anew(kept.id)
        self.warn_of_conflict(self.get(kept.id))

    def _keep_context(self, finding: Finding, known: KnownContext | None) -> dict[str, Any]:
        """Store a context in which a claim is known, and return what its event says of it."""
        if known is None:
            return {}
        writing.add_known_context(self._db, finding.id, known, self.now)
        return {"known": known.as_data()}

    def _index_anew(self, finding_id: int) -> None:
        finding = self.get(finding_id)
        writing.forget_words(self._db, self._project.id, finding_id)
        words = list_words(finding.claim, finding.tags, finding.aliases, finding.scope.paths)
        writing.add_words(self._db, self._project.id, finding_id, words)

    def add_evidence(self, finding: Finding, links: Iterable[Link]) -> list[dict[str, Any]]:
        """Store links under the next event, which must be of this finding, and return their event form."""
        event = self._write.next_event()
        return [self._add_link(finding.id, link, event) for link in links]

    def supersede(self, old: Finding, new_id: int, reason: str) -> None:
        """Close the old finding's lifecycle and relate the new one to it."""
        writing.add_relation(self._db, new_id, "supersedes", old.id, self._write.now)
        relations = [["supersedes", new_id, old.id]]
        self.change(old, "superseded", reason, {"lifecycle_state": "superseded"}, relations=relations)

    def _add_link(self, finding_id: int, link: Link, event: int) -> dict[str, Any]:
        """Store one link and return its event form."""
        piece, write = link.piece, self._write
        if piece.evidence_id is not None:
            evidence_id = piece.evidence_id
            holder = writing.find_project_of_evidence(self._db, evidence_id)
            if holder is None:
                raise UnknownEvidenceError(evidence_id)
            if holder != self._project.id:
                raise OtherProjectEvidenceError(evidence_id)
            if writing.has_link(self._db, finding_id, evidence_id, piece.role):
                raise EvidenceLinkedError(f"F-{finding_id}", f"E-{evidence_id}", piece.role)
        evidence = Evidence(
            id=0,
            uid=write.new_uid(),
            source_kind=piece.source_kind,
            source_ref=piece.source_ref,
            locator=piece.locator,
            revision=piece.revision,
            excerpt=piece.excerpt,
            content_hash=link.content_hash,
            resolution=link.resolution,
            observed_at=piece.observed_at or write.now,
            actor=write.caller.actor,
            role=piece.role,
            method=piece.method,
            rationale=piece.rationale,
            event=event,
        )
        if piece.evidence_id is None:
            evidence_id = writing.add_evidence(self._db, self._project.id, evidence, write.now)
        writing.link_evidence(self._db, finding_id, evidence_id, evidence, write.now)
        data: dict[str, Any] = {
            "evidence_id": evidence_id,
            "role": piece.role,
            "method": piece.method,
            "rationale": piece.rationale,
        }
        if piece.evidence_id is None:
            data["source"] = source_as_data(evidence)
        return data

    def _bring_source(self, piece: EvidenceInput, line: dict[str, Any]) -> int:
        """Return the number of a piece of evidence out of an export, storing it unless it came before."""
        source = line["source"]
        there = transferring.find_evidence_by_uid(self._db, source["uid"])
        if there is not None:
            if there[1] != self._project.id:
                raise OtherProjectEvidenceError(there[0])
            return there[0]
        return writing.add_evidence(self._db, self._project.id, _as_evidence(piece, source, 0), self.now)

    def _bring_link(
        self,
        finding_id: int,
        brought: tuple[EvidenceInput, dict[str, Any]],
        event: int,
        numbers: dict[str, int],
        new: str = "",
    ) -> dict[str, Any]:
        """Store one link out of an export and return its event form."""
        piece, line = brought
        uid = line["source"]["uid"]
        is_new = transferring.find_evidence_by_uid(self._db, uid) is None or uid == new
        numbers[uid] = self._bring_source(piece, line)
        evidence = _as_evidence(piece, line["source"], event)
        writing.link_evidence(self._db, finding_id, numbers[uid], evidence, self.now)
        data: dict[str, Any] = {
            "evidence_id": numbers[uid],
            "role": piece.role,
            "method": piece.method,
            "rationale": piece.rationale,
        }
        return {**data, "source": source_as_data(evidence)} if is_new else data

    def _was_refuted_after(self, finding: Finding, newest_support: int) -> bool:
        """Say whether the last refutation is newer than the newest support."""
        return writing.get_last_refutation(self._db, finding.id) >= newest_support


_BROUGHT = (
    "uid", "claim", "claim_kind", "epistemic_state", "lifecycle_state", "retrieval_policy", "scope", "tags", "aliases",
    "task", "promotion_state", "muted_until", "created_at", "actor", "host",
)  # fmt: skip


def _as_evidence(piece: EvidenceInput, source: Mapping[str, Any], event: int) -> Evidence:
    return Evidence(
        id=0,
        uid=source["uid"],
        source_kind=piece.source_kind,
        source_ref=piece.source_ref,
        locator=piece.locator,
        revision=piece.revision,
        excerpt=piece.excerpt,
        content_hash=str(source["content_hash"]),
        resolution=str(source["resolution"]),
        observed_at=str(source["observed_at"]),
        actor=str(source["actor"]),
        role=piece.role,
        method=piece.method,
        rationale=piece.rationale,
        event=event,
    )


def _as_event_value(value: Any) -> Any:
    if isinstance(value, Scope):
        return scope_as_data(value)
    return list(value) if isinstance(value, tuple) else value


def finding_as_data(finding: Finding) -> dict[str, Any]:
    """Return what an event keeps of a new finding: everything that can be replayed."""
    return {
        "uid": finding.uid,
        "claim": finding.claim,
        "claim_kind": finding.claim_kind,
        "epistemic_state": finding.epistemic_state,
        "lifecycle_state": finding.lifecycle_state,
        "retrieval_policy": finding.retrieval_policy,
        "scope": scope_as_data(finding.scope),
        "tags": list(finding.tags),
        "aliases": list(finding.aliases),
        "task": finding.task,
        "promotion_state": finding.promotion_state,
        "version": finding.version,
        "decided_event": finding.decided_event,
    }


def source_as_data(evidence: Evidence) -> dict[str, Any]:
    """Return what an event keeps of a source."""
    return {
        "uid": evidence.uid,
        "source_kind": evidence.source_kind,
        "source_ref": evidence.source_ref,
        "locator": evidence.locator,
        "revision": evidence.revision,
        "excerpt": evidence.excerpt,
        "content_hash": evidence.content_hash,
        "resolution": evidence.resolution,
        "observed_at": evidence.observed_at,
        "actor": evidence.actor,
    }


def index_words(draft: Draft) -> dict[str, list[str]]:
    """Return the words under which a new finding is found."""
    return list_words(draft.claim, draft.tags, draft.aliases, draft.scope.paths)


def list_words(
    claim: str, tags: Iterable[str], aliases: Iterable[str], patterns: Iterable[str]
) -> dict[str, list[str]]:
    """Return the words under which a finding is found: claim, tags and aliases as phrases, paths."""
    paths: dict[str, None] = {}
    for pattern in patterns:
        lower = pattern.lower()
        paths[lower] = None
        name = lower.rsplit("/", 1)[-1]
        if not any(character in name for character in "*?["):
            paths[name] = None
    return {
        "c": list(read_words(claim).terms),
        "t": [phrase for phrase in dict.fromkeys(map(normalise_phrase, (*tags, *aliases))) if phrase],
        "p": list(paths),
    }


def _weigh(links: list[Evidence]) -> Weight:
    def count(role: str) -> int:
        return sum(link.role == role for link in links)

    def newest(role: str) -> int:
        return max((link.event for link in links if link.role == role), default=0)

    return Weight(
        supports=count("supports"),
        contradicts=count("contradicts"),
        context=count("context"),
        newest_support=newest("supports"),
        newest_contradiction=newest("contradicts"),
    )
