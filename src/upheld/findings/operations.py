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
    Argument,
    as_schema,
    parse_arguments,
)
from upheld.findings.verbs import evidence, get, log, query, state, supersede

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from upheld.findings.service import Answer, Findings


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
    """

    name: str
    command: str
    summary: str
    arguments: tuple[Argument, ...]
    do: Callable[..., Answer]
    writes: bool
    subject: str

    def run(self, findings: Findings, given: Mapping[str, Any]) -> Answer:
        """Check the arguments and do it.

        Raises:
            UpheldError: What was wrong; nothing was written.
        """
        values = parse_arguments(self.arguments, given)
        return self.do(findings, **values)

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the arguments."""
        return as_schema(self.arguments)


_FINDING = Argument("finding_id", "finding", "the finding, like F-12", required=True)
_FACTS = Argument("facts", "facts", "facts that nothing else tells, like backend or dtype")
_KEY = Argument("idempotency_key", "text", "makes a retried call return the first answer", limit=MAX_NAME)
_VERSION = Argument("version", "integer", "the version you read; refused if it changed since", limit=2**31)
_REASON = Argument("reason", "text", "why, in a sentence", required=True, limit=MAX_CLAIM)
_STATE = Argument("epistemic_state", "choice", "only one that the evidence allows", choices=model.EPISTEMIC_STATES)
_EVIDENCE = Argument(
    "evidence", "pieces", "what shows it: source_kind, source_ref, role, method, rationale, excerpt, locator"
)
_DRAFT = (
    _STATE,
    _EVIDENCE,
    Argument("scope", "scope", "where it holds: facts to match, context, paths of the code, or everywhere"),
    Argument("tags", "strings", "topics, as one would name them in a prompt"),
    Argument("aliases", "strings", "other names of the same thing"),
    Argument("task", "text", "the task it belongs to", limit=MAX_NAME),
    Argument("retrieval_policy", "choice", "when it is shown (relevant)", choices=model.RETRIEVAL_POLICIES),
    _FACTS,
    _KEY,
)


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
            Argument("states", "choices", "only these epistemic states", choices=model.EPISTEMIC_STATES),
            Argument("kinds", "choices", "only these claim kinds", choices=model.CLAIM_KINDS),
            Argument("applicability", "choices", "only these applicabilities", choices=model.APPLICABILITIES),
            _FACTS,
            Argument("history", "flag", "also superseded, withdrawn and archived ones"),
            Argument("limit", "integer", "how many at the most (20)", limit=MAX_LIMIT),
            Argument("before", "finding", "only those older than this id: the next page"),
        ),
        do=query.query_findings,
        writes=False,
        subject="words",
    ),
    Operation(
        "get_finding",
        "get",
        "Return one finding whole: evidence, conditions here, relations and events.",
        (_FINDING, _FACTS),
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
)
"""In the order in which help and `tools/list` show them."""


def get_operation(name: str) -> Operation:
    """Return the operation of that name."""
    return next(operation for operation in OPERATIONS if operation.name == name)
