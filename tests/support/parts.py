"""Findings, evidence and judgements made directly, for tests of pure functions over them."""

from __future__ import annotations

from typing import Any

from upheld.findings.applicability import Condition, Judgement
from upheld.findings.model import Evidence, Finding, Scope

CHANGED = Condition("dep.torch", "match", "mismatch", "2.1", "2.2")


def a_scope(**parts: Any) -> Scope:
    given: dict[str, Any] = {"match": {}, "context": {}, "revalidate_on": None, "paths": (), "everywhere": False}
    return Scope(**{**given, **parts})


def a_finding(**parts: Any) -> Finding:
    given: dict[str, Any] = {
        "id": 81,
        "uid": "u",
        "project_id": 1,
        "claim": "The tokenizer is not shifted",
        "claim_kind": "observation",
        "epistemic_state": "supported",
        "lifecycle_state": "current",
        "retrieval_policy": "relevant",
        "scope": a_scope(everywhere=True),
        "tags": (),
        "aliases": (),
        "task": "",
        "promotion_state": "none",
        "version": 1,
        "decided_event": 10,
        "created_at": "",
        "updated_at": "",
        "actor": "agent",
        "host": "",
        "session": "",
    }
    return Finding(**{**given, **parts})


def a_link(role: str = "supports", event: int = 1, **parts: Any) -> Evidence:
    given: dict[str, Any] = {
        "id": 1,
        "uid": "e",
        "source_kind": "experiment_run",
        "source_ref": "run-4472",
        "locator": "",
        "revision": "",
        "excerpt": "",
        "content_hash": "",
        "resolution": "unresolved",
        "observed_at": "",
        "actor": "agent",
        "method": "experiment",
        "rationale": "metrics within noise",
    }
    return Evidence(**{**given, "role": role, "event": event, **parts})


def a_judgement(applicability: str) -> Judgement:
    deciding = [] if applicability == "applicable" else [CHANGED]
    return Judgement(applicability, deciding, deciding)
