"""Findings as plain data for the faces: the short form of a list and the whole of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from upheld.findings.model import Evidence, Finding, is_in_conflict, scope_as_data
from upheld.findings.sections import describe_change
from upheld.findings.store import reading
from upheld.text import jsontext

if TYPE_CHECKING:
    import apsw

    from upheld.findings.applicability import Judgement


def summary(finding: Finding, judgement: Judgement, evidence: list[Evidence]) -> dict[str, Any]:
    """Return the short form: what a caller needs to decide whether to look closer."""
    data: dict[str, Any] = {
        "finding_id": finding.name,
        "claim": finding.claim,
        "claim_kind": finding.claim_kind,
        "epistemic_state": finding.epistemic_state,
        "lifecycle_state": finding.lifecycle_state,
        "applicability": judgement.applicability,
        "scope": scope_as_data(finding.scope),
        "tags": list(finding.tags),
        "version": finding.version,
    }
    if judgement.deciding:
        data["because"] = [describe_change(condition) for condition in judgement.deciding]
    if is_in_conflict(finding, evidence):
        data["in_conflict"] = True
    if finding.muted_until:
        data["muted_until"] = finding.muted_until
    return data


def whole(db: apsw.Connection, finding: Finding, judgement: Judgement, evidence: list[Evidence]) -> dict[str, Any]:
    """Return everything about one finding."""
    return {
        **summary(finding, judgement, evidence),
        "uid": finding.uid,
        "aliases": list(finding.aliases),
        "task": finding.task,
        "retrieval_policy": finding.retrieval_policy,
        "promotion_state": finding.promotion_state,
        "actor": finding.actor,
        "created_at": finding.created_at,
        "updated_at": finding.updated_at,
        "conditions": [condition.as_data() for condition in judgement.conditions],
        "evidence": [_evidence(link) for link in evidence],
        "contexts": [known.as_data() for known in reading.find_known_contexts(db, [finding.id]).get(finding.id, [])],
        "relations": _relations(db, finding),
        "events": [data for event in reading.iter_events(db, finding.id) for data in _events(event)],
        "doc_links": [
            {"target": target, "locator": locator, "created_at": at}
            for target, locator, at in reading.find_doc_links(db, finding.id)
        ],
        **_rule(db, finding),
    }


def _relations(db: apsw.Connection, finding: Finding) -> list[dict[str, Any]]:
    """Return the relations of a finding, each with the other one's claim and states, so that nobody has to ask."""
    relations = reading.find_relations(db, finding.id)
    others = {other for a, _, b, _ in relations for other in (a, b)} - {finding.id}
    held = {one.id: one for one in reading.find_findings(db, finding.project_id, others)}
    return [
        {
            "from": f"F-{a}",
            "kind": kind,
            "to": f"F-{b}",
            "created_at": at,
            "other": _other(held[b if a == finding.id else a]),
        }
        for a, kind, b, at in relations
    ]


def _other(finding: Finding) -> dict[str, Any]:
    return {
        "finding_id": finding.name,
        "claim": finding.claim,
        "epistemic_state": finding.epistemic_state,
        "lifecycle_state": finding.lifecycle_state,
    }


def _rule(db: apsw.Connection, finding: Finding) -> dict[str, Any]:
    rule = reading.find_rule(db, finding.id)
    return {} if rule is None else {"rule": rule[0], "rule_owner": rule[1]}


def _evidence(link: Evidence) -> dict[str, Any]:
    data = {
        "evidence_id": link.name,
        "role": link.role,
        "method": link.method,
        "source_kind": link.source_kind,
        "source_ref": link.source_ref,
        "resolution": link.resolution,
        "observed_at": link.observed_at,
        "actor": link.actor,
    }
    if link.source_kind == "user_statement" and link.actor != "user":
        data["reported"] = "true"
    for name in ("locator", "revision", "excerpt", "rationale", "content_hash"):
        if getattr(link, name):
            data[name] = getattr(link, name)
    return data


_BEGINS = ("epistemic_state", "lifecycle_state")
"""What a new finding's first event tells."""


def _events(event: tuple[Any, ...]) -> list[dict[str, Any]]:
    """Return an event, behind those of another ledger that an import brought along in it."""
    history = [] if event[10] is None else jsontext.loads(event[10])["after"].get("history", ())
    return [*(_imported_event(one) for one in history), _event(event)]


def _imported_event(one: dict[str, Any]) -> dict[str, Any]:
    data: dict[str, Any] = {name: one[name] for name in ("seq", "kind", "actor", "at", "reason") if name in one}
    before, after = one.get("before") or {}, one.get("after") or {}
    changes = {
        name: [before.get(name), after[name]] for name in _BEGINS if name in after and before.get(name) != after[name]
    }
    return {**data, **({"changes": changes} if changes else {}), "imported": True}


def _event(event: tuple[Any, ...]) -> dict[str, Any]:
    seq, _, kind, actor, host, _, at, _, _, _, text = event
    data: dict[str, Any] = {"seq": seq, "kind": kind, "actor": actor, "at": at}
    if host:
        data["host"] = host
    if text is None:
        data["purged"] = True
        return data
    words = jsontext.loads(text)
    data["reason"] = words["reason"]
    before, after = words["before"] or {}, words["after"]
    data["changes"] = {
        name: [before.get(name), after[name]]
        for name in ("epistemic_state", "lifecycle_state", "promotion_state", "muted_until", "claim")
        if name in after and before.get(name) != after[name] and (before or name in _BEGINS)
    }
    if "outcome" in after:
        data["outcome"] = after["outcome"]
    return data
