"""The tools that a model is offered: the operations on findings and `ledger_status`, with honest hints.

No rule lives here: arguments, checks and effects are those of `findings.operations`.
"""

from __future__ import annotations

from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

import apsw

from upheld.api import Upheld
from upheld.envelope import refuse, succeed
from upheld.errors import InvalidArgumentError, StorageError, UpheldError
from upheld.findings.ledger import Caller as FindingsCaller
from upheld.findings.ledger import Ledger
from upheld.findings.operations import FOR_MODELS, Operation
from upheld.findings.shapes import SHAPES
from upheld.findings.store import shown
from upheld.mcp.tool import Caller, Tool
from upheld.storage import database

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_HOSTS = {"codex-mcp-client": "codex", "claude-code": "claude-code"}
"""What clients call themselves, and our names for these hosts."""

_ERROR = {
    "type": ["object", "null"],
    "properties": {"code": {"type": "string"}, "message": {"type": "string"}, "argument": {"type": "string"}},
    "required": ["code", "message"],
}


def describe_answer(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a tool's envelope: its data where the call did its work, else null."""
    return {
        "type": "object",
        "properties": {
            "ok": {"type": "boolean"},
            "data": {"anyOf": [SHAPES[name], {"type": "null"}]},
            "warnings": {"type": "array", "items": {"type": "string"}},
            "error": _ERROR,
        },
        "required": ["ok", "data", "warnings", "error"],
    }


_TITLES = {
    "log_finding": "Log a finding",
    "query_findings": "Query findings",
    "get_finding": "Get a finding",
    "add_evidence": "Add evidence",
    "set_finding_state": "Set a finding's state",
    "refute_finding": "Refute a finding",
    "supersede_finding": "Supersede a finding",
    "revalidate_finding": "Revalidate a finding",
    "link_finding": "Link findings",
    "propose_rule": "Propose a rule",
}


class Tools:
    """Builds the tools of one server.

    Args:
        ledger: Shared by all calls.
        cwd: The session's working directory: which project is meant.
        environ: Of the server.
    """

    def __init__(self, ledger: Ledger, cwd: str, environ: Mapping[str, str]) -> None:
        self._ledger = ledger
        self._cwd = cwd
        self._environ = environ

    def build(self) -> list[Tool]:
        """Return every tool, in the order of the operations."""
        tools = [self._of(operation) for operation in FOR_MODELS]
        tools.append(
            Tool(
                name="ledger_status",
                title="Ledger status",
                description="What the ledger holds here, which facts are known, and why the last injection was empty.",
                input_schema={"type": "object", "properties": {}, "additionalProperties": False},
                output_schema=describe_answer("ledger_status"),
                annotations=_hints(writes=False),
                call=self._enveloped(self._status),
            )
        )
        return tools

    def _of(self, operation: Operation) -> Tool:
        def call(upheld: Upheld, arguments: dict[str, Any], caller: FindingsCaller) -> dict[str, object]:
            answer = operation.run(upheld.findings, arguments)
            self._touch(caller, answer.data)
            return succeed(answer.data, answer.warnings)

        return Tool(
            name=operation.name,
            title=_TITLES[operation.name],
            description=operation.summary,
            input_schema=operation.schema(),
            output_schema=describe_answer(operation.name),
            annotations=_hints(writes=operation.writes),
            call=self._enveloped(call),
        )

    def _enveloped(
        self, call: Callable[[Upheld, dict[str, Any], FindingsCaller], dict[str, object]]
    ) -> Callable[[dict[str, Any], Caller], Mapping[str, Any]]:
        def run(arguments: dict[str, Any], caller: Caller) -> Mapping[str, Any]:
            known = _as_findings_caller(caller)
            try:
                upheld = Upheld(self._cwd, caller=known, environ=self._environ, ledger=self._ledger)
                return call(upheld, arguments, known)
            except UpheldError as error:
                return refuse(error)

        return run

    def _status(self, upheld: Upheld, arguments: dict[str, Any], _caller: FindingsCaller) -> dict[str, object]:
        if arguments:
            raise InvalidArgumentError(min(arguments), "is not known here", "ledger_status takes no arguments.")
        return succeed(upheld.status())

    def _touch(self, caller: FindingsCaller, data: Mapping[str, Any]) -> None:
        """Note which finding this conversation fetched or wrote, so that a compaction hands it back."""
        name = data.get("finding_id")
        if not caller.session or not isinstance(name, str):
            return
        conversation = shown.Conversation(caller.host, caller.session, caller.agent)
        # A note that fails costs a repeat after a compaction; the call has done its work.
        with suppress(StorageError, apsw.Error):
            db = database.open_for_writing(
                self._ledger.places.conversations, database.CONVERSATIONS, timeout_ms=database.HOOK_TIMEOUT_MS
            )
            with closing(db), database.Transaction(db):
                shown.touch(db, conversation, [int(name.removeprefix("F-"))], self._ledger.now())


def _hints(*, writes: bool) -> dict[str, bool]:
    """Say truly what a tool does. A host refuses unattended writes that are not marked harmless."""
    return {
        "readOnlyHint": not writes,
        "destructiveHint": False,
        "idempotentHint": not writes,
        "openWorldHint": False,
    }


def _as_findings_caller(caller: Caller) -> FindingsCaller:
    """Over MCP the actor is always `agent`; the host says which conversation it is."""
    host = _HOSTS.get(caller.host, caller.host[:40])
    session = caller.session or ""
    agent = caller.thread if caller.thread and caller.thread != session else ""
    return FindingsCaller("agent", host, session, agent)


def render(envelope: Mapping[str, Any]) -> str:
    """Return an envelope as the text a model reads: the same data, without what is empty."""
    from upheld.text.jsontext import dumps

    if not envelope["ok"]:
        return dumps({"error": envelope["error"]})
    shown_data = {"warnings": envelope["warnings"]} if envelope["warnings"] else {}
    return dumps({**envelope["data"], **shown_data})
