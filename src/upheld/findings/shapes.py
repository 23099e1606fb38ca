"""What the operations answer with, as JSON Schemas: for hosts, for the reference, and for the tests that hold us to it.

Closed where a reader counts on every key; `events` carry what their kind has to say.
"""

from __future__ import annotations

from typing import Any

from upheld.findings import model

_TEXT = {"type": "string"}
_NAME = {"type": "string", "pattern": "^F-[0-9]+$"}
_EVIDENCE_NAME = {"type": "string", "pattern": "^E-[0-9]+$"}
_COUNT = {"type": "integer", "minimum": 0}
_FLAG = {"type": "boolean"}
_OBJECT = {"type": "object"}


def _one_of(values: tuple[str, ...]) -> dict[str, Any]:
    return {"type": "string", "enum": list(values)}


def _list_of(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _closed(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


_STATES = {
    "epistemic_state": _one_of(model.EPISTEMIC_STATES),
    "lifecycle_state": _one_of(model.LIFECYCLE_STATES),
}
_WRITTEN = {"finding_id": _NAME, **_STATES, "version": {"type": "integer", "minimum": 1}}
_ALIKE = {"looks_like": _list_of(_NAME)}
_SUMMARY = {
    **_WRITTEN,
    "claim": _TEXT,
    "claim_kind": _one_of(model.CLAIM_KINDS),
    "applicability": _one_of(model.APPLICABILITIES),
    "scope": _OBJECT,
    "tags": _list_of(_TEXT),
}
_MAYBE = {
    "because": _list_of(_TEXT),
    "in_conflict": _FLAG,
    "muted_until": _TEXT,
    "matched": _closed({"where": _TEXT, "snippet": _TEXT}),
}
_EVIDENCE = _closed(
    {
        "evidence_id": _EVIDENCE_NAME,
        "role": _one_of(model.ROLES),
        "method": _one_of(model.METHODS),
        "source_kind": _one_of(model.SOURCE_KINDS),
        "source_ref": _TEXT,
        "resolution": _TEXT,
        "observed_at": _TEXT,
        "actor": _one_of(model.ACTORS),
    },
    dict.fromkeys(("locator", "revision", "excerpt", "rationale", "content_hash", "reported"), _TEXT),
)
_OTHER = _closed({"finding_id": _NAME, "claim": _TEXT, **_STATES})
_RELATION = _closed(
    {"from": _NAME, "kind": _one_of(model.RELATIONS), "to": _NAME, "created_at": _TEXT, "other": _OTHER}
)
_EVENT = {
    "type": "object",
    "properties": {
        "seq": {"type": "integer"},
        "kind": _TEXT,
        "actor": _one_of(model.ACTORS),
        "at": _TEXT,
        "host": _TEXT,
        "reason": _TEXT,
        "changes": _OBJECT,
        "outcome": _one_of(model.OUTCOMES),
        "purged": _FLAG,
        "imported": _FLAG,
    },
    "required": ["seq", "kind", "actor", "at"],
}
_WHOLE = {
    "type": "object",
    "properties": {
        **_SUMMARY,
        **_MAYBE,
        "uid": _TEXT,
        "aliases": _list_of(_TEXT),
        "task": _TEXT,
        "retrieval_policy": _one_of(model.RETRIEVAL_POLICIES),
        "promotion_state": _one_of(model.PROMOTION_STATES),
        "muted_until": _TEXT,
        "actor": _one_of(model.ACTORS),
        "created_at": _TEXT,
        "updated_at": _TEXT,
        "conditions": _list_of(_OBJECT),
        "evidence": _list_of(_EVIDENCE),
        "contexts": _list_of(_OBJECT),
        "relations": _list_of(_RELATION),
        "events": _list_of(_EVENT),
        "doc_links": _list_of(_closed({"target": _TEXT, "locator": _TEXT, "created_at": _TEXT})),
        "rule": _TEXT,
        "rule_owner": _TEXT,
        "left_out": {"type": "object", "additionalProperties": _COUNT},
    },
    "required": [*_SUMMARY, "uid", "evidence", "relations", "events", "doc_links"],
}

SHAPES: dict[str, dict[str, Any]] = {
    "log_finding": _closed(_WRITTEN, _ALIKE),
    "query_findings": _closed({"findings": _list_of(_closed(_SUMMARY, _MAYBE)), "more": _FLAG}),
    "get_finding": _WHOLE,
    "add_evidence": _closed(_WRITTEN),
    "set_finding_state": _closed(_WRITTEN),
    "refute_finding": _closed(_WRITTEN),
    "supersede_finding": _closed({**_WRITTEN, "supersedes": _NAME}, _ALIKE),
    "revalidate_finding": _closed({**_WRITTEN, "outcome": _one_of(model.OUTCOMES)}),
    "link_finding": _closed({**_WRITTEN, "relation": _one_of(model.LINKS), "to": _NAME, "removed": _FLAG}),
    "propose_rule": _closed({**_WRITTEN, "promotion_state": _one_of(model.PROMOTION_STATES)}),
    "ledger_status": {
        "type": "object",
        "properties": {
            "ledger": _TEXT,
            "ledger_exists": _FLAG,
            "git": _TEXT,
            "project": {"type": ["object", "null"]},
            "facts": _OBJECT,
            "problems": _list_of(_TEXT),
            "revision": _COUNT,
            "findings_in_all_projects": _COUNT,
            "injections": _OBJECT,
            "last_injection": {"type": ["object", "null"]},
        },
        "required": ["ledger", "ledger_exists", "git", "project", "facts", "problems"],
    },
}
"""The `data` of an answer, by operation: those that a model is offered."""
