"""The operations on findings as methods with types. Written by `make docs` from the table of operations."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Literal, TypedDict

    from upheld.findings.service import Answer

    FindingId = str | int
    """`F-12`, or its number."""

    class QuotedPath(TypedDict):
        """A path of which only a quoted piece counts."""

        path: str
        quote: str

    class ScopeArgument(TypedDict, total=False):
        """Where a claim holds: fact names to a value, or to a list of which any will do."""

        match: Mapping[str, str | Sequence[str]]
        context: Mapping[str, str | Sequence[str]]
        revalidate_on: Sequence[str]
        paths: Sequence[str | QuotedPath]
        everywhere: bool

    class EvidenceArgument(TypedDict, total=False):
        """A source and what it does for a claim; or `evidence_id` for one that is there."""

        source_kind: Literal[
            "log", "file", "experiment_run", "git_commit", "user_statement", "session_event", "test_run", "url", "other"
        ]
        source_ref: str
        role: Literal["supports", "contradicts", "context"]
        method: Literal[
            "experiment", "code_inspection", "runtime_observation", "user_assertion", "static_analysis", "test"
        ]
        rationale: str
        excerpt: str
        locator: str
        revision: str
        observed_at: str
        evidence_id: str


class Calls:
    """Every operation on findings. Each raises `UpheldError`, and then nothing was written."""

    def run(self, operation: str, arguments: Mapping[str, Any]) -> Answer:
        """Run an operation by its name."""
        raise NotImplementedError

    def log_finding(
        self,
        *,
        claim: str,
        claim_kind: Literal["observation", "diagnosis", "constraint", "decision", "procedure"],
        epistemic_state: Literal[
            "unassessed", "provisional", "supported", "contested", "refuted", "inconclusive", "not_applicable"
        ]
        | None = None,
        evidence: Sequence[EvidenceArgument] | None = None,
        scope: ScopeArgument | None = None,
        tags: Sequence[str] | None = None,
        aliases: Sequence[str] | None = None,
        task: str | None = None,
        retrieval_policy: Literal["always", "relevant", "on_demand", "never"] | None = None,
        facts: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> Answer:
        """Log a claim with its evidence and where it holds.

        Unassessed unless you ask for a state the evidence allows.

        Args:
            claim: One claim in a sentence.
            claim_kind: The nature of the claim.
            epistemic_state: Only one that the evidence allows.
            evidence: What shows it, as in add_evidence.
            scope: Where it holds: facts (match, context), paths, or everywhere.
            tags: Topics, as a prompt would name them.
            aliases: Other names of the same thing.
            task: The task it belongs to.
            retrieval_policy: When it is shown (relevant).
            facts: Facts of your own, like backend.
            idempotency_key: For retries: the same key, the same answer.
        """
        return self.run(
            "log_finding",
            {
                "claim": claim,
                "claim_kind": claim_kind,
                "epistemic_state": epistemic_state,
                "evidence": evidence,
                "scope": scope,
                "tags": tags,
                "aliases": aliases,
                "task": task,
                "retrieval_policy": retrieval_policy,
                "facts": facts,
                "idempotency_key": idempotency_key,
            },
        )

    def query_findings(
        self,
        *,
        words: str | None = None,
        tags: Sequence[str] | None = None,
        paths: Sequence[str] | None = None,
        states: Sequence[
            Literal["unassessed", "provisional", "supported", "contested", "refuted", "inconclusive", "not_applicable"]
        ]
        | None = None,
        kinds: Sequence[Literal["observation", "diagnosis", "constraint", "decision", "procedure"]] | None = None,
        applicability: Sequence[Literal["applicable", "conditional", "needs_revalidation", "unknown", "incompatible"]]
        | None = None,
        matching: Mapping[str, str] | None = None,
        facts: Mapping[str, str] | None = None,
        history: bool | None = None,
        limit: int | None = None,
        before: FindingId | None = None,
    ) -> Answer:
        """Find findings of this project and judge whether they hold here.

        Do this before repeating a probe.

        Args:
            words: What to look for; without, the newest come first.
            tags: Only with one of these tags or aliases.
            paths: Only about these files.
            states: Only these epistemic states.
            kinds: Only these claim kinds.
            applicability: Only these applicabilities.
            matching: Only with these facts in their scope.
            facts: Facts of your own, like backend.
            history: Also superseded, withdrawn and archived ones.
            limit: How many at the most (20).
            before: The last id of the page before.
        """
        return self.run(
            "query_findings",
            {
                "words": words,
                "tags": tags,
                "paths": paths,
                "states": states,
                "kinds": kinds,
                "applicability": applicability,
                "matching": matching,
                "facts": facts,
                "history": history,
                "limit": limit,
                "before": before,
            },
        )

    def get_finding(
        self,
        *,
        finding_id: FindingId,
        facts: Mapping[str, str] | None = None,
        whole: bool | None = None,
    ) -> Answer:
        """Return one finding: evidence, conditions here, relations, events.

        Args:
            finding_id: The finding, like F-12.
            facts: Facts of your own, like backend.
            whole: Cut no list.
        """
        return self.run(
            "get_finding",
            {
                "finding_id": finding_id,
                "facts": facts,
                "whole": whole,
            },
        )

    def add_evidence(
        self,
        *,
        finding_id: FindingId,
        evidence: EvidenceArgument,
        idempotency_key: str | None = None,
    ) -> Answer:
        """Add evidence to a finding.

        Its state does not change by itself.

        Args:
            finding_id: The finding, like F-12.
            evidence: The source and what it does for the claim.
            idempotency_key: For retries: the same key, the same answer.
        """
        return self.run(
            "add_evidence",
            {
                "finding_id": finding_id,
                "evidence": evidence,
                "idempotency_key": idempotency_key,
            },
        )

    def set_finding_state(
        self,
        *,
        finding_id: FindingId,
        epistemic_state: Literal[
            "unassessed", "provisional", "supported", "contested", "refuted", "inconclusive", "not_applicable"
        ],
        reason: str,
        evidence: Sequence[EvidenceArgument] | None = None,
        version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Answer:
        """Change the epistemic state where the transition rules and the evidence allow it.

        Args:
            finding_id: The finding, like F-12.
            epistemic_state: The new state.
            reason: Why.
            evidence: What shows it, as in add_evidence.
            version: The one you read.
            idempotency_key: For retries: the same key, the same answer.
        """
        return self.run(
            "set_finding_state",
            {
                "finding_id": finding_id,
                "epistemic_state": epistemic_state,
                "reason": reason,
                "evidence": evidence,
                "version": version,
                "idempotency_key": idempotency_key,
            },
        )

    def refute_finding(
        self,
        *,
        finding_id: FindingId,
        reason: str,
        evidence: Sequence[EvidenceArgument] | None = None,
        version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Answer:
        """Refute a finding with contradicting evidence.

        It stays as a known dead end.

        Args:
            finding_id: The finding, like F-12.
            reason: Why.
            evidence: What shows it, as in add_evidence.
            version: The one you read.
            idempotency_key: For retries: the same key, the same answer.
        """
        return self.run(
            "refute_finding",
            {
                "finding_id": finding_id,
                "reason": reason,
                "evidence": evidence,
                "version": version,
                "idempotency_key": idempotency_key,
            },
        )

    def supersede_finding(
        self,
        *,
        finding_id: FindingId,
        claim: str,
        reason: str,
        claim_kind: Literal["observation", "diagnosis", "constraint", "decision", "procedure"] | None = None,
        epistemic_state: Literal[
            "unassessed", "provisional", "supported", "contested", "refuted", "inconclusive", "not_applicable"
        ]
        | None = None,
        evidence: Sequence[EvidenceArgument] | None = None,
        scope: ScopeArgument | None = None,
        tags: Sequence[str] | None = None,
        aliases: Sequence[str] | None = None,
        task: str | None = None,
        retrieval_policy: Literal["always", "relevant", "on_demand", "never"] | None = None,
        facts: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
        version: int | None = None,
    ) -> Answer:
        """Log a newer claim in place of an old finding, which is closed and related to it.

        Args:
            finding_id: The finding, like F-12.
            claim: The newer claim.
            reason: Why.
            claim_kind: The nature of the claim.
            epistemic_state: Only one that the evidence allows.
            evidence: What shows it, as in add_evidence.
            scope: Where it holds: facts (match, context), paths, or everywhere.
            tags: Topics, as a prompt would name them.
            aliases: Other names of the same thing.
            task: The task it belongs to.
            retrieval_policy: When it is shown (relevant).
            facts: Facts of your own, like backend.
            idempotency_key: For retries: the same key, the same answer.
            version: The one you read.
        """
        return self.run(
            "supersede_finding",
            {
                "finding_id": finding_id,
                "claim": claim,
                "reason": reason,
                "claim_kind": claim_kind,
                "epistemic_state": epistemic_state,
                "evidence": evidence,
                "scope": scope,
                "tags": tags,
                "aliases": aliases,
                "task": task,
                "retrieval_policy": retrieval_policy,
                "facts": facts,
                "idempotency_key": idempotency_key,
                "version": version,
            },
        )

    def revalidate_finding(
        self,
        *,
        finding_id: FindingId,
        outcome: Literal["held", "failed", "inconclusive"],
        reason: str,
        evidence: Sequence[EvidenceArgument] | None = None,
        facts: Mapping[str, str] | None = None,
        version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Answer:
        """Record a new look at a claim under today's facts, with its evidence.

        Args:
            finding_id: The finding, like F-12.
            outcome: What the new look gave.
            reason: Why.
            evidence: What shows it, as in add_evidence.
            facts: Facts of your own, like backend.
            version: The one you read.
            idempotency_key: For retries: the same key, the same answer.
        """
        return self.run(
            "revalidate_finding",
            {
                "finding_id": finding_id,
                "outcome": outcome,
                "reason": reason,
                "evidence": evidence,
                "facts": facts,
                "version": version,
                "idempotency_key": idempotency_key,
            },
        )

    def link_finding(
        self,
        *,
        finding_id: FindingId,
        relation: Literal["derived_from", "contradicts", "duplicate_of", "related_to"],
        to: FindingId,
        reason: str,
        remove: bool | None = None,
        version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Answer:
        """Relate a finding to another: what it rests on, contradicts, duplicates or goes with.

        Args:
            finding_id: The finding, like F-12.
            relation: What the finding is to the other.
            to: The other finding.
            reason: Why.
            remove: Take the relation back.
            version: The one you read.
            idempotency_key: For retries: the same key, the same answer.
        """
        return self.run(
            "link_finding",
            {
                "finding_id": finding_id,
                "relation": relation,
                "to": to,
                "reason": reason,
                "remove": remove,
                "version": version,
                "idempotency_key": idempotency_key,
            },
        )

    def propose_rule(
        self,
        *,
        finding_id: FindingId,
        rule: str,
        reason: str,
        owner: Literal["test", "checker", "attention", "project-doc", "adr", "upstream"] | None = None,
        version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Answer:
        """Propose that a finding that holds becomes a rule; a person decides.

        Args:
            finding_id: The finding, like F-12.
            rule: The rule in a sentence.
            reason: Why.
            owner: Where it should go.
            version: The one you read.
            idempotency_key: For retries: the same key, the same answer.
        """
        return self.run(
            "propose_rule",
            {
                "finding_id": finding_id,
                "rule": rule,
                "reason": reason,
                "owner": owner,
                "version": version,
                "idempotency_key": idempotency_key,
            },
        )

    def review_findings(
        self,
        *,
        facts: Mapping[str, str] | None = None,
        limit: int | None = None,
    ) -> Answer:
        """List what waits for somebody: contested, to be checked again, unassessed, proposed as a rule.

        Args:
            facts: Facts of your own, like backend.
            limit: How many of each at the most (20).
        """
        return self.run(
            "review_findings",
            {
                "facts": facts,
                "limit": limit,
            },
        )

    def find_drift(
        self,
        *,
        facts: Mapping[str, str] | None = None,
    ) -> Answer:
        """List findings whose code, evidence or basis changed; exits 1 if there are any.

        Args:
            facts: Facts of your own, like backend.
        """
        return self.run(
            "find_drift",
            {
                "facts": facts,
            },
        )

    def recall_findings(
        self,
        *,
        session: str | None = None,
        facts: Mapping[str, str] | None = None,
    ) -> Answer:
        """List what a conversation was handed, logged and looked up, as it stands now.

        Args:
            session: The host's id of the conversation (the last one).
            facts: Facts of your own, like backend.
        """
        return self.run(
            "recall_findings",
            {
                "session": session,
                "facts": facts,
            },
        )

    def read_context(
        self,
        *,
        facts: Mapping[str, str] | None = None,
    ) -> Answer:
        """Show the facts here that scopes of this project ask for, and which of them nobody supplies.

        Args:
            facts: Facts of your own, like backend.
        """
        return self.run(
            "read_context",
            {
                "facts": facts,
            },
        )

    def list_rules(
        self,
        *,
        promotion: Sequence[Literal["proposed", "approved", "rejected", "landed"]] | None = None,
    ) -> Answer:
        """List proposed rules and what became of them.

        Args:
            promotion: Only these promotion states.
        """
        return self.run(
            "list_rules",
            {
                "promotion": promotion,
            },
        )

    def approve_rule(
        self,
        *,
        finding_id: FindingId,
        reason: str,
        version: int | None = None,
    ) -> Answer:
        """Approve a proposed rule.

        For people.

        Args:
            finding_id: The finding, like F-12.
            reason: Why.
            version: The one you read.
        """
        return self.run(
            "approve_rule",
            {
                "finding_id": finding_id,
                "reason": reason,
                "version": version,
            },
        )

    def reject_rule(
        self,
        *,
        finding_id: FindingId,
        reason: str,
        version: int | None = None,
    ) -> Answer:
        """Reject a proposed or approved rule; it may be proposed again.

        For people.

        Args:
            finding_id: The finding, like F-12.
            reason: Why.
            version: The one you read.
        """
        return self.run(
            "reject_rule",
            {
                "finding_id": finding_id,
                "reason": reason,
                "version": version,
            },
        )

    def land_rule(
        self,
        *,
        finding_id: FindingId,
        target: str,
        reason: str,
        locator: str | None = None,
        version: int | None = None,
    ) -> Answer:
        """Record where an approved rule landed.

        Edits no file. For people.

        Args:
            finding_id: The finding, like F-12.
            target: The test, document or checker it landed in.
            reason: Why.
            locator: Where in it.
            version: The one you read.
        """
        return self.run(
            "land_rule",
            {
                "finding_id": finding_id,
                "target": target,
                "reason": reason,
                "locator": locator,
                "version": version,
            },
        )

    def amend_finding(
        self,
        *,
        finding_id: FindingId,
        reason: str,
        claim: str | None = None,
        scope: ScopeArgument | None = None,
        tags: Sequence[str] | None = None,
        aliases: Sequence[str] | None = None,
        task: str | None = None,
        retrieval_policy: Literal["always", "relevant", "on_demand", "never"] | None = None,
        facts: Mapping[str, str] | None = None,
        version: int | None = None,
    ) -> Answer:
        """Correct how a finding is written or found: a typing error, tags, scope.

        A new claim supersedes it instead. For people.

        Args:
            finding_id: The finding, like F-12.
            reason: Why.
            claim: The claim as it should read.
            scope: Where it holds: facts (match, context), paths, or everywhere.
            tags: Topics, as a prompt would name them.
            aliases: Other names of the same thing.
            task: The task it belongs to.
            retrieval_policy: When it is shown (relevant).
            facts: Facts of your own, like backend.
            version: The one you read.
        """
        return self.run(
            "amend_finding",
            {
                "finding_id": finding_id,
                "reason": reason,
                "claim": claim,
                "scope": scope,
                "tags": tags,
                "aliases": aliases,
                "task": task,
                "retrieval_policy": retrieval_policy,
                "facts": facts,
                "version": version,
            },
        )

    def merge_findings(
        self,
        *,
        finding_id: FindingId,
        into: FindingId,
        reason: str,
        version: int | None = None,
    ) -> Answer:
        """Merge a finding into another that says the same: evidence, tags and aliases join it.

        For people.

        Args:
            finding_id: The finding, like F-12.
            into: The finding that stays.
            reason: Why.
            version: The one you read.
        """
        return self.run(
            "merge_findings",
            {
                "finding_id": finding_id,
                "into": into,
                "reason": reason,
                "version": version,
            },
        )

    def mute_finding(
        self,
        *,
        finding_id: FindingId,
        reason: str,
        until: str | None = None,
        off: bool | None = None,
    ) -> Answer:
        """Hand a finding to no model, for a time or until it is unmuted; queries still find it.

        For people.

        Args:
            finding_id: The finding, like F-12.
            reason: Why.
            until: How long: 2h, 3d, or a time; without, until unmuted.
            off: Unmute it.
        """
        return self.run(
            "mute_finding",
            {
                "finding_id": finding_id,
                "reason": reason,
                "until": until,
                "off": off,
            },
        )

    def withdraw_finding(
        self,
        *,
        finding_id: FindingId,
        reason: str,
        version: int | None = None,
    ) -> Answer:
        """Withdraw a finding that should not have been logged; what rests on it is in doubt.

        For people.

        Args:
            finding_id: The finding, like F-12.
            reason: Why.
            version: The one you read.
        """
        return self.run(
            "withdraw_finding",
            {
                "finding_id": finding_id,
                "reason": reason,
                "version": version,
            },
        )

    def archive_finding(
        self,
        *,
        finding_id: FindingId,
        reason: str,
        version: int | None = None,
    ) -> Answer:
        """Archive a finding that is of no more use.

        For people.

        Args:
            finding_id: The finding, like F-12.
            reason: Why.
            version: The one you read.
        """
        return self.run(
            "archive_finding",
            {
                "finding_id": finding_id,
                "reason": reason,
                "version": version,
            },
        )

    def restore_finding(
        self,
        *,
        finding_id: FindingId,
        reason: str,
        version: int | None = None,
    ) -> Answer:
        """Make a withdrawn, archived or wrongly superseded finding current again.

        For people.

        Args:
            finding_id: The finding, like F-12.
            reason: Why.
            version: The one you read.
        """
        return self.run(
            "restore_finding",
            {
                "finding_id": finding_id,
                "reason": reason,
                "version": version,
            },
        )
