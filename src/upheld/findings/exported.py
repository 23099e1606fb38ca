"""What a line of an export must say before anything of it is believed. Pure.

It is checked as if it were given anew, but for two things that a ledger may hold and a caller may not give: texts grew
when secrets were taken out of them, and a merge joins the tags of two findings.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from upheld.errors import InvalidArgumentError
from upheld.findings import model
from upheld.findings.arguments import (
    EVIDENCE_FIELDS,
    MAX_CLAIM,
    MAX_NAME,
    MAX_QUOTE,
    MAX_SHORT,
    EvidenceInput,
    check_text,
    parse_arguments,
)
from upheld.findings.operations import get_operation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from upheld.findings.arguments import Argument

GROWTH = 8
"""How many times its limit a text may have after redaction."""
RESOLUTIONS = ("resolved", "unresolved", "not_found")
_AGAIN = "Export it again."
_UID = re.compile(r"[0-9A-Za-z_-]{1,64}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z", re.ASCII)
_DIGEST = re.compile(r"[0-9a-f]{0,128}")
_WORD = re.compile(r"[a-z_]{1,40}")


def _grown(argument: Argument) -> Argument:
    return replace(argument, limit=argument.limit * GROWTH)


_DRAFT = tuple(
    _grown(argument)
    for argument in get_operation("log_finding").arguments
    if argument.name in ("claim", "claim_kind", "scope", "task", "retrieval_policy")
)
_SOURCE = tuple(_grown(field) for field in EVIDENCE_FIELDS if field.name not in ("evidence_id", "observed_at"))


def check_header(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the project that the first line names, each of its marks a list.

    Raises:
        ValueError: It says too little, or something else.
    """
    project = {"name": "", "uid": "", "remotes": [], "root_commits": [], **data["project"]}
    listed = [*project["remotes"], *project["root_commits"], project["name"], project["uid"]]
    if type(data["findings"]) is not int or not all(isinstance(text, str) for text in listed):
        raise ValueError
    return project


def check_finding(data: Mapping[str, Any]) -> None:
    """Refuse a line that says of a finding what no ledger could hold.

    Raises:
        InvalidArgumentError: Naming the field.
        KeyError, TypeError, ValueError, AttributeError: A field is not there or of another kind.
    """
    finding = data["finding"]
    draft_of(finding)
    for name, choices in (
        ("epistemic_state", model.EPISTEMIC_STATES),
        ("lifecycle_state", model.LIFECYCLE_STATES),
        ("promotion_state", model.PROMOTION_STATES),
        ("actor", model.ACTORS),
    ):
        _one_of(name, finding[name], choices)
    _like("uid", finding["uid"], _UID)
    _like("created_at", finding["created_at"], _TIME)
    if finding["muted_until"] not in ("", model.FOREVER):
        _like("muted_until", finding["muted_until"], _TIME)
    _optional("host", finding["host"], MAX_SHORT)
    _flag("decided", data["decided"])
    _check_evidence(data["evidence"], decided=data["decided"])
    for context in data["contexts"]:
        _check_context(context)
    _check_relations(data["relations"], finding["uid"])
    if data["rule"] is not None:
        check_text("rule", data["rule"]["rule"], MAX_CLAIM * GROWTH)
        _one_of("rule.owner", data["rule"]["owner"], ("", *model.RULE_OWNERS))
    for link in data["doc_links"]:
        check_text("doc_links.target", link["target"], MAX_SHORT * GROWTH)
        _optional("doc_links.locator", link["locator"], MAX_SHORT * GROWTH)
    for event in data["history"]:
        _check_event(event)


def draft_of(finding: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a caller could have given of a finding; what it does not say is None."""
    given = {argument.name: finding[argument.name] for argument in _DRAFT}
    draft = parse_arguments(_DRAFT, {name: value for name, value in given.items() if value not in ("", [], {})})
    for name in ("tags", "aliases"):
        if not isinstance(finding[name], list):
            raise InvalidArgumentError(name, "is no list", _AGAIN)
        draft[name] = tuple(check_text(name, one, MAX_NAME * GROWTH) for one in finding[name])
    return draft


def piece_of(link: Mapping[str, Any]) -> EvidenceInput:
    """Return a piece of evidence with what it does for its finding."""
    source = link["source"]
    given = {field.name: source.get(field.name, link.get(field.name)) for field in _SOURCE}
    values: dict[str, Any] = parse_arguments(_SOURCE, {name: value for name, value in given.items() if value})
    for name, value in values.items():
        values[name] = value or ""
    return EvidenceInput(**values)


def is_digest(text: str) -> bool:
    """Say whether a text is a digest of ours, in which there is nothing to redact."""
    return _DIGEST.fullmatch(text) is not None


def _check_evidence(links: list[dict[str, Any]], *, decided: bool) -> None:
    seen = set()
    for link in links:
        source = link["source"]
        piece = piece_of(link)
        for name in ("role", "method"):
            if not getattr(piece, name):
                raise InvalidArgumentError(f"evidence.{name}", "is missing", _AGAIN)
        _like("evidence.uid", source["uid"], _UID)
        _optional("evidence.content_hash", source["content_hash"], MAX_SHORT * GROWTH)
        _one_of("evidence.resolution", source["resolution"], RESOLUTIONS)
        _one_of("evidence.actor", source["actor"], model.ACTORS)
        check_text("evidence.observed_at", source["observed_at"], 40 * GROWTH)
        _flag("evidence.after_decision", link["after_decision"])
        if link["after_decision"] and not decided:
            raise InvalidArgumentError("evidence.after_decision", "follows a decision that nobody made", _AGAIN)
        if (source["uid"], piece.role) in seen:
            raise InvalidArgumentError("evidence", "holds a link twice", _AGAIN)
        seen.add((source["uid"], piece.role))


def _check_context(context: dict[str, Any]) -> None:
    _one_of("contexts.kind", context["kind"], (model.LOGGED, model.REVALIDATED, model.REFUTED))
    for name, value in context["facts"].items():
        check_text("contexts.facts", name, MAX_SHORT * GROWTH)
        if value is not None:
            _optional("contexts.facts", value, MAX_SHORT * GROWTH)
    for pattern, content in context["anchor"].items():
        check_text("contexts.anchor", pattern, MAX_SHORT * GROWTH)
        check_text("contexts.anchor", content, MAX_QUOTE * GROWTH, keep_ends=True)
    for uid, state in context["basis"]:
        _like("contexts.basis", uid, _UID)
        _like("contexts.basis", state, _WORD)
    for uid, digest in context["sources"].items():
        _like("contexts.sources", uid, _UID)
        check_text("contexts.sources", digest, MAX_SHORT * GROWTH)


def _check_relations(relations: list[list[str]], uid: str) -> None:
    """Only what this finding's own events can have made: nobody relates two others by way of a third."""
    seen = set()
    for kind, a, b in relations:
        _one_of("relations", kind, model.RELATIONS)
        _like("relations", a, _UID)
        _like("relations", b, _UID)
        own = b if kind == "supersedes" else a
        if own != uid or a == b or (kind, a, b) in seen:
            raise InvalidArgumentError("relations", "holds one that this finding can't have made", _AGAIN)
        seen.add((kind, a, b))


def _check_event(event: dict[str, Any]) -> None:
    for name in ("kind", "at", "actor"):
        check_text(f"history.{name}", event[name], MAX_SHORT)
    _optional("history.host", event.get("host", ""), MAX_SHORT)
    if not isinstance(event.get("reason", ""), str):
        raise InvalidArgumentError("history.reason", "is no text", _AGAIN)
    for name in ("before", "after"):
        if not isinstance(event.get(name) or {}, dict):
            raise InvalidArgumentError(f"history.{name}", "is no object", _AGAIN)


def _one_of(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise InvalidArgumentError(name, "is none that we know", f"Allowed are: {', '.join(filter(None, choices))}.")


def _like(name: str, value: object, form: re.Pattern[str]) -> None:
    if not isinstance(value, str) or form.fullmatch(value) is None:
        raise InvalidArgumentError(name, "is not what an export has there", _AGAIN)


def _flag(name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise InvalidArgumentError(name, "is neither true nor false", _AGAIN)


def _optional(name: str, value: object, limit: int) -> None:
    if value != "":
        check_text(name, value, limit)
