"""The operations on findings as one table: name, arguments, what they do. Every face is built from it.

So a verb and its arguments are the same in the CLI, over MCP and in Python, and a contract test can prove
that all of them answer alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from upheld.findings import model
from upheld.findings.arguments import (
    MAX_CLAIM,
    MAX_LIMIT,
    MAX_NAME,
    MAX_SHORT,
    Argument,
    as_schema,
    parse_arguments,
)
from upheld.findings.refusals import PersonRequiredError
from upheld.findings.verbs import (
    amend,
    context,
    evidence,
    get,
    lifecycle,
    link,
    log,
    merge,
    query,
    recall,
    revalidate,
    review,
    rules,
    state,
    supersede,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from upheld.findings.service import Answer, Findings

    Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation.

    Args:
        name: As a tool and as a method of `Upheld`.
        command: The CLI's word for it.
        summary: One line for people and models.
        arguments: In the order of help and schema.
        do: Takes the findings and the checked arguments by name.
        writes: Whether it changes the ledger.
        subject: The argument that the CLI takes by position, "" for none.
        people: Only a person may call it; it is not offered to a model.
        long: It may take seconds, and tells how far it is.
    """

    name: str
    command: str
    summary: str
    arguments: tuple[Argument, ...]
    do: Callable[..., Answer]
    writes: bool
    subject: str
    people: bool = False
    long: bool = False

    def run(self, findings: Findings, given: Mapping[str, Any], *, progress: Progress | None = None) -> Answer:
        """Check the arguments and do it.

        Args:
            findings: Whose.
            given: The arguments as a caller gave them.
            progress: Told how far it is, by those operations that may take long.

        Raises:
            UpheldError: What was wrong; nothing was written.
        """
        if self.people and self.writes and findings.caller.actor != "user":
            raise PersonRequiredError(f"`upheld {self.command}`")
        values = parse_arguments(self.arguments, given)
        if self.long:
            values["progress"] = progress
        return self.do(findings, **values)

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the arguments."""
        return as_schema(self.arguments)


_FINDING = Argument("finding_id", "finding", "the finding, like F-12", required=True)
_FACTS = Argument("facts", "facts", "facts of your own, like backend")
_KEY = Argument("idempotency_key", "text", "for retries: the same key, the same answer", limit=MAX_NAME)
_VERSION = Argument("version", "integer", "the one you read", limit=2**31)
_REASON = Argument("reason", "text", "why", required=True, limit=MAX_CLAIM)
_STATE = Argument("epistemic_state", "choice", "only one that the evidence allows", choices=model.EPISTEMIC_STATES)
_EVIDENCE = Argument("evidence", "pieces", "what shows it, as in add_evidence")
_SCOPE = Argument("scope", "scope", "where it holds: facts (match, context), paths, or everywhere")
_TAGS = Argument("tags", "strings", "topics, as a prompt would name them")
_ALIASES = Argument("aliases", "strings", "other names of the same thing")
_TASK = Argument("task", "text", "the task it belongs to", limit=MAX_NAME)
_POLICY = Argument("retrieval_policy", "choice", "when it is shown (relevant)", choices=model.RETRIEVAL_POLICIES)
_DRAFT = (_STATE, _EVIDENCE, _SCOPE, _TAGS, _ALIASES, _TASK, _POLICY, _FACTS, _KEY)


def _kind(*, required: bool) -> Argument:
    return Argument("claim_kind", "choice", "the nature of the claim", required=required, choices=model.CLAIM_KINDS)


OPERATIONS = (
    Operation(
        "log_finding",
        "log",
        "Log a claim with its evidence and where it holds. Unassessed unless you ask for a state the evidence allows.",
        (
            Argument("claim", "text", "one claim in a sentence", required=True, limit=MAX_CLAIM),
            _kind(required=True),
            *_DRAFT,
        ),
        do=log.log_finding,
        writes=True,
        subject="claim",
    ),
    Operation(
        "query_findings",
        "query",
        "Find findings of this project and judge whether they hold here. Do this before repeating a probe.",
        (
            Argument("words", "text", "what to look for; without, the newest come first"),
            Argument("tags", "strings", "only with one of these tags or aliases"),
            Argument("paths", "strings", "only about these files"),
            Argument("states", "choices", "only these epistemic states", choices=model.EPISTEMIC_STATES),
            Argument("kinds", "choices", "only these claim kinds", choices=model.CLAIM_KINDS),
            Argument("applicability", "choices", "only these applicabilities", choices=model.APPLICABILITIES),
            Argument("matching", "facts", "only with these facts in their scope"),
            _FACTS,
            Argument("history", "flag", "also superseded, withdrawn and archived ones"),
            Argument("limit", "integer", "how many at the most (20)", limit=MAX_LIMIT),
            Argument("before", "finding", "the last id of the page before"),
        ),
        do=query.query_findings,
        writes=False,
        subject="words",
    ),
    Operation(
        "get_finding",
        "get",
        "Return one finding: evidence, conditions here, relations, events.",
        (_FINDING, _FACTS, Argument("whole", "flag", "cut no list")),
        do=get.get_finding,
        writes=False,
        subject="finding_id",
    ),
    Operation(
        "add_evidence",
        "evidence",
        "Add evidence to a finding. Its state does not change by itself.",
        (
            _FINDING,
            Argument("evidence", "evidence", "the source and what it does for the claim", required=True),
            _KEY,
        ),
        do=evidence.add_evidence,
        writes=True,
        subject="finding_id",
    ),
    Operation(
        "set_finding_state",
        "state",
        "Change the epistemic state where the transition rules and the evidence allow it.",
        (
            _FINDING,
            Argument("epistemic_state", "choice", "the new state", required=True, choices=model.EPISTEMIC_STATES),
            _REASON,
            _EVIDENCE,
            _VERSION,
            _KEY,
        ),
        do=state.set_finding_state,
        writes=True,
        subject="finding_id",
    ),
    Operation(
        "refute_finding",
        "refute",
        "Refute a finding with contradicting evidence. It stays as a known dead end.",
        (_FINDING, _REASON, _EVIDENCE, _VERSION, _KEY),
        do=state.refute_finding,
        writes=True,
        subject="finding_id",
    ),
    Operation(
        "supersede_finding",
        "supersede",
        "Log a newer claim in place of an old finding, which is closed and related to it.",
        (
            _FINDING,
            Argument("claim", "text", "the newer claim", required=True, limit=MAX_CLAIM),
            _REASON,
            _kind(required=False),
            *_DRAFT,
            _VERSION,
        ),
        do=supersede.supersede_finding,
        writes=True,
        subject="finding_id",
    ),
    Operation(
        "revalidate_finding",
        "revalidate",
        "Record a new look at a claim under today's facts, with its evidence.",
        (
            _FINDING,
            Argument("outcome", "choice", "what the new look gave", required=True, choices=model.OUTCOMES),
            _REASON,
            _EVIDENCE,
            _FACTS,
            _VERSION,
            _KEY,
        ),
        do=revalidate.revalidate_finding,
        writes=True,
        subject="finding_id",
    ),
    Operation(
        "link_finding",
        "link",
        "Relate a finding to another: what it rests on, contradicts, duplicates or goes with.",
        (
            _FINDING,
            Argument("relation", "choice", "what the finding is to the other", required=True, choices=model.LINKS),
            Argument("to", "finding", "the other finding", required=True),
            _REASON,
            Argument("remove", "flag", "take the relation back"),
            _VERSION,
            _KEY,
        ),
        do=link.link_finding,
        writes=True,
        subject="finding_id",
    ),
    Operation(
        "propose_rule",
        "propose-rule",
        "Propose that a finding that holds becomes a rule; a person decides.",
        (
            _FINDING,
            Argument("rule", "text", "the rule in a sentence", required=True, limit=MAX_CLAIM),
            _REASON,
            Argument("owner", "choice", "where it should go", choices=model.RULE_OWNERS),
            _VERSION,
            _KEY,
        ),
        do=rules.propose_rule,
        writes=True,
        subject="finding_id",
    ),
    Operation(
        "review_findings",
        "review",
        "List what waits for somebody: contested, to be checked again, unassessed, proposed as a rule.",
        (_FACTS, Argument("limit", "integer", "how many of each at the most (20)", limit=MAX_LIMIT)),
        do=review.review_findings,
        writes=False,
        subject="",
        people=True,
        long=True,
    ),
    Operation(
        "find_drift",
        "drift",
        "List findings whose code, evidence or basis changed; exits 1 if there are any.",
        (_FACTS,),
        do=review.find_drift,
        writes=False,
        subject="",
        people=True,
        long=True,
    ),
    Operation(
        "recall_findings",
        "recall",
        "List what a conversation was handed, logged and looked up, as it stands now.",
        (
            Argument("session", "text", "the host's id of the conversation (the last one)", limit=MAX_NAME * 2),
            _FACTS,
        ),
        do=recall.recall_findings,
        writes=False,
        subject="",
        people=True,
    ),
    Operation(
        "read_context",
        "context",
        "Show the facts here that scopes of this project ask for, and which of them nobody supplies.",
        (_FACTS,),
        do=context.read_context,
        writes=False,
        subject="",
        people=True,
    ),
    Operation(
        "list_rules",
        "rule list",
        "List proposed rules and what became of them.",
        (Argument("promotion", "choices", "only these promotion states", choices=model.PROMOTION_STATES[1:]),),
        do=rules.list_rules,
        writes=False,
        subject="",
        people=True,
    ),
    Operation(
        "approve_rule",
        "rule approve",
        "Approve a proposed rule.",
        (_FINDING, _REASON, _VERSION),
        do=rules.approve_rule,
        writes=True,
        subject="finding_id",
        people=True,
    ),
    Operation(
        "reject_rule",
        "rule reject",
        "Reject a proposed or approved rule; it may be proposed again.",
        (_FINDING, _REASON, _VERSION),
        do=rules.reject_rule,
        writes=True,
        subject="finding_id",
        people=True,
    ),
    Operation(
        "land_rule",
        "rule land",
        "Record where an approved rule landed. Edits no file.",
        (
            _FINDING,
            Argument("target", "text", "the test, document or checker it landed in", required=True, limit=MAX_SHORT),
            _REASON,
            Argument("locator", "text", "where in it", limit=MAX_SHORT),
            _VERSION,
        ),
        do=rules.land_rule,
        writes=True,
        subject="finding_id",
        people=True,
    ),
    Operation(
        "amend_finding",
        "amend",
        "Correct how a finding is written or found: a typing error, tags, scope. A new claim supersedes it instead.",
        (
            _FINDING,
            _REASON,
            Argument("claim", "text", "the claim as it should read", limit=MAX_CLAIM),
            _SCOPE,
            _TAGS,
            _ALIASES,
            _TASK,
            _POLICY,
            _FACTS,
            _VERSION,
        ),
        do=amend.amend_finding,
        writes=True,
        subject="finding_id",
        people=True,
    ),
    Operation(
        "merge_findings",
        "merge",
        "Merge a finding into another that says the same: evidence, tags and aliases join it.",
        (_FINDING, Argument("into", "finding", "the finding that stays", required=True), _REASON, _VERSION),
        do=merge.merge_findings,
        writes=True,
        subject="finding_id",
        people=True,
    ),
    Operation(
        "mute_finding",
        "mute",
        "Hand a finding to no model, for a time or until it is unmuted; queries still find it.",
        (
            _FINDING,
            _REASON,
            Argument("until", "text", "how long: 2h, 3d, or a time; without, until unmuted", limit=40),
            Argument("off", "flag", "unmute it"),
        ),
        do=lifecycle.mute_finding,
        writes=True,
        subject="finding_id",
        people=True,
    ),
    Operation(
        "withdraw_finding",
        "withdraw",
        "Withdraw a finding that should not have been logged; what rests on it is in doubt.",
        (_FINDING, _REASON, _VERSION),
        do=lifecycle.withdraw_finding,
        writes=True,
        subject="finding_id",
        people=True,
    ),
    Operation(
        "archive_finding",
        "archive",
        "Archive a finding that is of no more use.",
        (_FINDING, _REASON, _VERSION),
        do=lifecycle.archive_finding,
        writes=True,
        subject="finding_id",
        people=True,
    ),
    Operation(
        "restore_finding",
        "restore",
        "Make a withdrawn, archived or wrongly superseded finding current again.",
        (_FINDING, _REASON, _VERSION),
        do=lifecycle.restore_finding,
        writes=True,
        subject="finding_id",
        people=True,
    ),
)
"""In the order in which help and `tools/list` show them."""


FOR_MODELS = tuple(operation for operation in OPERATIONS if not operation.people)
"""Those that a model is offered as tools."""


def get_operation(name: str) -> Operation:
    """Return the operation of that name."""
    return next(operation for operation in OPERATIONS if operation.name == name)
