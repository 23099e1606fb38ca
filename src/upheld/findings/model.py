"""The values of the findings system: plain, no I/O, light enough for the hook."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

CLAIM_KINDS = ("observation", "diagnosis", "constraint", "decision", "procedure")
EPISTEMIC_STATES = (
    "unassessed",
    "provisional",
    "supported",
    "contested",
    "refuted",
    "inconclusive",
    "not_applicable",
)
LIFECYCLE_STATES = ("current", "superseded", "withdrawn", "archived")
APPLICABILITIES = ("applicable", "conditional", "needs_revalidation", "unknown", "incompatible")
"""Best first: the order of ranking."""
RETRIEVAL_POLICIES = ("always", "relevant", "on_demand", "never")
PROMOTION_STATES = ("none", "proposed", "approved", "rejected", "landed")
RELATIONS = ("supersedes", "derived_from", "contradicts", "duplicate_of", "related_to")
LINKS = ("derived_from", "contradicts", "duplicate_of", "related_to")
"""The relations that can be made by themselves; `supersedes` comes with its finding."""
OUTCOMES = ("held", "failed", "inconclusive")
"""Of a revalidation."""
RULE_OWNERS = ("test", "checker", "attention", "project-doc", "adr", "upstream")
"""Where a rule may be meant to go."""
FOREVER = "forever"
SOURCE_KINDS = (
    "log",
    "file",
    "experiment_run",
    "git_commit",
    "user_statement",
    "session_event",
    "test_run",
    "url",
    "other",
)
ROLES = ("supports", "contradicts", "context")
METHODS = (
    "experiment",
    "code_inspection",
    "runtime_observation",
    "user_assertion",
    "static_analysis",
    "test",
)
ACTORS = ("user", "agent", "system")

UNTRUE_OR_FALSE_KINDS = frozenset({"constraint", "decision", "procedure"})
"""Kinds whose claims are neither true nor false: they may be `not_applicable`, the others may not."""


class Scope:
    """Where a claim is meant to hold.

    Args:
        match: Fact name to wanted value (a string, or a tuple: any of): elsewhere it is incompatible.
        context: The same, but elsewhere it is only conditional.
        revalidate_on: Fact names whose change asks for a new check; None means the version-like names used.
        paths: Git `:(glob)` pathspecs from the project's root: the code the claim is about.
        quotes: For some of the paths a piece of the code there: only that piece counts.
        everywhere: Said explicitly: project-wide.
    """

    __slots__ = ("context", "everywhere", "match", "paths", "quotes", "revalidate_on")

    def __init__(
        self,
        *,
        match: Mapping[str, str | tuple[str, ...]],
        context: Mapping[str, str | tuple[str, ...]],
        revalidate_on: tuple[str, ...] | None,
        paths: tuple[str, ...],
        everywhere: bool,
        quotes: Mapping[str, str] | None = None,
    ) -> None:
        self.match = match
        self.context = context
        self.revalidate_on = revalidate_on
        self.paths = paths
        self.quotes = quotes or {}
        self.everywhere = everywhere

    @property
    def is_empty(self) -> bool:
        """Say whether the scope says nothing at all."""
        return not (self.match or self.context or self.revalidate_on or self.paths or self.everywhere)

    def fact_names(self) -> frozenset[str]:
        """Return every fact name the scope asks for."""
        return frozenset(self.match) | frozenset(self.context) | frozenset(self.revalidate_on or ()) - {"paths"}


EMPTY_SCOPE = Scope(match={}, context={}, revalidate_on=None, paths=(), everywhere=False)


def scope_from_data(data: Mapping[str, object]) -> Scope:
    """Return the scope of its stored JSON form, which `scope_as_data` made."""

    def conditions(value: object) -> dict[str, str | tuple[str, ...]]:
        entries = value if isinstance(value, dict) else {}
        return {str(k): tuple(map(str, v)) if isinstance(v, list) else str(v) for k, v in entries.items()}

    def names(value: object) -> tuple[str, ...]:
        return tuple(map(str, value)) if isinstance(value, list) else ()

    given = data.get("revalidate_on")
    listed = data.get("paths")
    paths: list[str] = []
    quotes: dict[str, str] = {}
    for entry in listed if isinstance(listed, list) else ():
        if isinstance(entry, dict):
            quotes[str(entry["path"])] = str(entry["quote"])
            entry = entry["path"]  # noqa: PLW2901 - the pattern of a quoted piece
        paths.append(str(entry))
    return Scope(
        match=conditions(data.get("match")),
        context=conditions(data.get("context")),
        revalidate_on=None if given is None else names(given),
        paths=tuple(paths),
        quotes=quotes,
        everywhere=data.get("everywhere") is True,
    )


def scope_as_data(scope: Scope) -> dict[str, object]:
    """Return the JSON form of a scope; what it does not say is left out."""

    def conditions(entries: Mapping[str, str | tuple[str, ...]]) -> dict[str, object]:
        return {name: list(value) if isinstance(value, tuple) else value for name, value in entries.items()}

    data: dict[str, object] = {}
    if scope.match:
        data["match"] = conditions(scope.match)
    if scope.context:
        data["context"] = conditions(scope.context)
    if scope.revalidate_on is not None:
        data["revalidate_on"] = list(scope.revalidate_on)
    if scope.paths:
        data["paths"] = [
            {"path": path, "quote": scope.quotes[path]} if path in scope.quotes else path for path in scope.paths
        ]
    if scope.everywhere:
        data["everywhere"] = True
    return data


class Finding:
    """One claim with its states. Times are ISO 8601 in UTC; `version` grows with each change."""

    __slots__ = (
        "actor",
        "aliases",
        "claim",
        "claim_kind",
        "created_at",
        "decided_event",
        "epistemic_state",
        "host",
        "id",
        "lifecycle_state",
        "muted_until",
        "project_id",
        "promotion_state",
        "retrieval_policy",
        "scope",
        "session",
        "tags",
        "task",
        "uid",
        "updated_at",
        "version",
    )

    def __init__(
        self,
        *,
        id: int,  # noqa: A002 - the number in F-<n>
        uid: str,
        project_id: int,
        claim: str,
        claim_kind: str,
        epistemic_state: str,
        lifecycle_state: str,
        retrieval_policy: str,
        scope: Scope,
        tags: tuple[str, ...],
        aliases: tuple[str, ...],
        task: str,
        promotion_state: str,
        muted_until: str = "",
        version: int,
        decided_event: int,
        created_at: str,
        updated_at: str,
        actor: str,
        host: str,
        session: str,
    ) -> None:
        self.id = id
        self.uid = uid
        self.project_id = project_id
        self.claim = claim
        self.claim_kind = claim_kind
        self.epistemic_state = epistemic_state
        self.lifecycle_state = lifecycle_state
        self.retrieval_policy = retrieval_policy
        self.scope = scope
        self.tags = tags
        self.aliases = aliases
        self.task = task
        self.promotion_state = promotion_state
        self.muted_until = muted_until
        self.version = version
        self.decided_event = decided_event
        self.created_at = created_at
        self.updated_at = updated_at
        self.actor = actor
        self.host = host
        self.session = session

    @property
    def name(self) -> str:
        """Return `F-<n>`."""
        return f"F-{self.id}"

    def is_muted(self, now: str) -> bool:
        """Say whether a person does not want it handed out at this time (ISO 8601 in UTC)."""
        return self.muted_until == FOREVER or self.muted_until > now


class Evidence:
    """Where something comes from, and what it does for one claim.

    `resolution` says whether the source was found when it was written: resolved, unresolved or not_found.
    `event` is the seq of the event that recorded the link.
    """

    __slots__ = (
        "actor",
        "content_hash",
        "event",
        "excerpt",
        "id",
        "locator",
        "method",
        "observed_at",
        "rationale",
        "resolution",
        "revision",
        "role",
        "source_kind",
        "source_ref",
        "uid",
    )

    def __init__(
        self,
        *,
        id: int,  # noqa: A002 - the number in E-<n>
        uid: str,
        source_kind: str,
        source_ref: str,
        locator: str,
        revision: str,
        excerpt: str,
        content_hash: str,
        resolution: str,
        observed_at: str,
        actor: str,
        role: str,
        method: str,
        rationale: str,
        event: int,
    ) -> None:
        self.id = id
        self.uid = uid
        self.source_kind = source_kind
        self.source_ref = source_ref
        self.locator = locator
        self.revision = revision
        self.excerpt = excerpt
        self.content_hash = content_hash
        self.resolution = resolution
        self.observed_at = observed_at
        self.actor = actor
        self.role = role
        self.method = method
        self.rationale = rationale
        self.event = event

    @property
    def name(self) -> str:
        """Return `E-<n>`."""
        return f"E-{self.id}"


LOGGED = "logged"
REVALIDATED = "revalidated"
REFUTED = "refuted"


class KnownContext:
    """A context in which a claim is known to hold.

    Args:
        facts: What was known there of the facts that its scope names.
        anchor: The content of its code, by pattern; for a quoted piece, the piece itself.
        kind: `logged` there, `revalidated` there, or `refuted` there: the last counts for a dead end, and only for one.
        basis: What the claim is derived from and had fallen by then, as `F-<n> <state>`: settled by a revalidation.
        sources: The content of its sources at a revalidation, by evidence number; else as each was recorded.
    """

    __slots__ = ("anchor", "basis", "facts", "kind", "sources")

    def __init__(
        self,
        facts: Mapping[str, str | None],
        anchor: Mapping[str, str],
        kind: str = LOGGED,
        basis: tuple[str, ...] = (),
        sources: Mapping[int, str] | None = None,
    ) -> None:
        self.facts = facts
        self.anchor = anchor
        self.kind = kind
        self.basis = basis
        self.sources = sources or {}

    def counts_for(self, epistemic_state: str) -> bool:
        """Say whether what was seen there speaks for a claim of this state."""
        if self.kind == LOGGED:
            return True
        return (self.kind == REFUTED) is (epistemic_state == "refuted")

    def with_sources(self, sources: Mapping[int, str]) -> KnownContext:
        """Return the same context with the content of its sources."""
        return KnownContext(self.facts, self.anchor, self.kind, self.basis, sources)

    def as_data(self) -> dict[str, object]:
        """Return the JSON form, as events and exports keep it."""
        return {
            "facts": dict(self.facts),
            "anchor": dict(self.anchor),
            "kind": self.kind,
            "basis": list(self.basis),
            "sources": {str(number): digest for number, digest in self.sources.items()},
        }


def is_in_conflict(finding: Finding, evidence: list[Evidence]) -> bool:
    """Say whether both sides have evidence that nobody has settled.

    A decision about the state settles what was known when it was made; evidence on the other side that came
    later opens the question again. Adding evidence never flips a state by itself.
    """
    newest = {"supports": 0, "contradicts": 0}
    for link in evidence:
        if link.role in newest:
            newest[link.role] = max(newest[link.role], link.event)
    if not (newest["supports"] and newest["contradicts"]):
        # A refuted claim needs no support to stand, nor a supported one a contradiction.
        return False
    against = {"supported": "contradicts", "refuted": "supports"}.get(finding.epistemic_state)
    latest = newest[against] if against else max(newest.values())
    return latest > finding.decided_event
