"""Choose what a model is handed: filters, candidates, applicability, rank, budget. Deterministic and explained.

Same ledger, same context, same text: same bytes. Every candidate carries why it was kept, cut or
dropped, so that `upheld explain` can answer "why did nothing appear?".
"""

from __future__ import annotations

from upheld.findings.applicability import ORDER
from upheld.findings.candidates import RULES, find_candidates
from upheld.findings.contradictions import find_opposed, place_beside
from upheld.findings.injection import Budget, format_block
from upheld.findings.labels import ENGLISH, LANGUAGES
from upheld.findings.model import FOREVER
from upheld.findings.sections import Item, describe_changes
from upheld.findings.store import reading
from upheld.findings.store.shown import Shown
from upheld.findings.surroundings import judge_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from upheld.findings.applicability import Judgement
    from upheld.findings.candidates import Candidate
    from upheld.findings.labels import Labels
    from upheld.findings.model import Finding
    from upheld.findings.surroundings import Surroundings

START = "start"
PROMPT = "prompt"
COMPACT = "compact"
RESUME = "resume"
TRIGGERS = (START, PROMPT, COMPACT, RESUME)

PAUSED = "paused"
"""The reason for nothing where a person paused it; nothing is looked for then."""

MAX_PROMPT_ITEMS = 3
MAX_PROMPT_SIZE = 1500
MAX_STANDING = 100
MAX_ALWAYS = 20
"""Items of policy `always` in one block; a person who grants more than this is told by `explain`."""
MAX_OWN = 200

NOTHING_LOGGED = ENGLISH.nothing_logged

_STATE_ORDER = {
    "supported": 0,
    "refuted": 1,
    "not_applicable": 2,
    "contested": 3,
    "provisional": 4,
    "inconclusive": 5,
    "unassessed": 6,
}
_POLICY_ORDER = {"always": 0, "relevant": 1, "on_demand": 2, "never": 3}


class Request:
    """What is asked for.

    Args:
        trigger: One of `TRIGGERS`.
        text: The prompt; for a compaction the last prompt; "" where there is none.
        task: The declared task, "" for none.
        budget: The host's limit for this block.
        shown: What already stands in this context generation (for a compaction: stood in the one before).
        logged: Findings that this conversation logged or changed; only a compaction looks at them.
        touched: Those that it cited or fetched; the same.
        now: The time, ISO 8601 in UTC: what a muted finding is muted until.
        max_items: How many items a prompt gets at the most.
        max_always: How many items of policy `always` a block holds at the most.
        language: One of `labels.LANGUAGES`.
    """

    __slots__ = (
        "budget",
        "labels",
        "logged",
        "max_always",
        "max_items",
        "now",
        "shown",
        "task",
        "text",
        "touched",
        "trigger",
    )

    def __init__(
        self,
        *,
        trigger: str,
        text: str,
        task: str,
        budget: Budget,
        shown: list[Shown],
        logged: list[int],
        touched: list[int],
        now: str,
        max_items: int = MAX_PROMPT_ITEMS,
        max_always: int = MAX_ALWAYS,
        language: str = "en",
    ) -> None:
        self.labels = LANGUAGES[language]
        self.now = now
        self.max_items = max_items
        self.max_always = max_always
        self.trigger = trigger
        self.text = text
        self.task = task
        self.budget = budget
        self.shown = shown
        self.logged = logged
        self.touched = touched

    def own(self) -> list[int]:
        """Return what a compaction must bring back: handed out here, logged, cited or fetched."""
        if self.trigger != COMPACT:
            return []
        return [one.finding_id for one in self.shown] + (self.logged + self.touched)[:MAX_OWN]


class Decision:
    """What became of one candidate: `kept`, `cut` (no room) or `dropped`, and why, with its scores."""

    __slots__ = ("applicability", "candidate", "finding_id", "outcome", "why")

    def __init__(
        self, finding_id: int, outcome: str, why: str, *, applicability: str = "", candidate: Candidate | None = None
    ) -> None:
        self.finding_id = finding_id
        self.outcome = outcome
        self.why = why
        self.applicability = applicability
        self.candidate = candidate

    def as_data(self) -> dict[str, object]:
        """Return the JSON form."""
        data: dict[str, object] = {"finding": f"F-{self.finding_id}", "outcome": self.outcome, "why": self.why}
        if self.applicability:
            data["applicability"] = self.applicability
        if self.candidate is not None:
            data["relevance"] = self.candidate.relevance
            data["words"] = dict(self.candidate.words)
            data["phrases"] = self.candidate.phrases
            data["paths"] = self.candidate.paths
        return data


class Selection:
    """The answer: the text to inject, what stands in it, and what became of every candidate.

    Args:
        text: The block, "" for nothing.
        shown: What to note for this generation once the text is out.
        decisions: By rank; kept ones first.
        reason: Why there is no text; "" if there is.
    """

    __slots__ = ("decisions", "reason", "rules", "shown", "text")

    def __init__(self, text: str, shown: list[Shown], decisions: list[Decision], reason: str) -> None:
        self.text = text
        self.shown = shown
        self.decisions = decisions
        self.reason = reason
        self.rules = RULES

    def items(self) -> list[list[object]]:
        """Return what the injection log keeps: ids with what became of them, kept and cut only."""
        return [[d.finding_id, d.outcome] for d in self.decisions if d.outcome != "dropped"]


def select(db: apsw.Connection, project_id: int, request: Request, surroundings: Surroundings) -> Selection:
    """Choose and format what one trigger hands to the model."""
    decisions: list[Decision] = []
    scored = {one.finding_id: one for one in _by_words(db, project_id, request)}
    wanted = _gather(db, project_id, request, scored)
    decisions += _weak(scored, wanted)
    canonicals = _find_canonicals(db, wanted, scored)
    loaded = reading.find_findings(db, project_id, dict.fromkeys([*wanted, *canonicals.values()]))
    loaded = _follow(db, project_id, loaded, request)
    corrections, corrected = _correct(db, project_id, request, surroundings)
    findings = _filter(loaded, request, scored, canonicals, decisions)
    judgements = judge_all(db, findings, surroundings)
    ranked = _rank(_judge(findings, judgements, scored, decisions), judgements, scored)
    opposed = find_opposed(db, ranked, judgements, surroundings, now=request.now)
    ranked = _cap(place_beside(ranked, opposed), request, decisions, judgements, scored)
    items = _as_items(db, ranked, judgements, opposed, request.labels)
    closing = _closing(db, project_id, request)
    block = format_block(items, corrections, closing, request.budget, request.labels)
    for outcome, group, why in (("kept", block.kept, "fits"), ("cut", block.cut, "no room in the budget")):
        decisions += [
            Decision(
                item.finding.id,
                outcome,
                _why(item, request, scored, opposed) if outcome == "kept" else why,
                applicability=item.judgement.applicability,
                candidate=scored.get(item.finding.id),
            )
            for item in group
        ]
    decisions.sort(key=lambda d: ("kept", "cut", "dropped").index(d.outcome))  # stable: keeps the ranking
    shown = [_as_shown(item.finding, item.judgement.applicability) for item in block.kept]
    reason = "" if block.text else _reason(decisions)
    return Selection(block.text, shown + corrected[: block.corrections], decisions, reason)


def _by_words(db: apsw.Connection, project_id: int, request: Request) -> list[Candidate]:
    if request.trigger not in (PROMPT, COMPACT) or not request.text:
        return []
    return find_candidates(db, project_id, request.text)


def _gather(db: apsw.Connection, project_id: int, request: Request, scored: dict[int, Candidate]) -> list[int]:
    """Return the candidates of a trigger, most wanted first, each once."""
    wanted: list[int] = []
    wanted += request.own()
    if request.trigger != PROMPT:
        wanted += reading.find_standing(db, project_id, MAX_STANDING)
        wanted += reading.find_of_task(db, project_id, request.task, MAX_STANDING)
    wanted += [one.finding_id for one in scored.values() if one.is_relevant]
    return list(dict.fromkeys(wanted))


def _weak(scored: dict[int, Candidate], wanted: list[int]) -> list[Decision]:
    """Return what is said of candidates that are not even loaded: up to 200 at every prompt."""
    held = set(wanted)
    return [
        Decision(one.finding_id, "dropped", "shares too little with the prompt", candidate=one)
        for one in scored.values()
        if one.finding_id not in held
    ]


def _follow(db: apsw.Connection, project_id: int, findings: list[Finding], request: Request) -> list[Finding]:
    """Add what took the place of superseded findings that this context knew."""
    own = set(request.own())
    successors = [
        _find_current(db, finding.id)
        for finding in findings
        if finding.id in own and finding.lifecycle_state == "superseded"
    ]
    if not successors:
        return findings
    known = {finding.id for finding in findings}
    return findings + reading.find_findings(db, project_id, sorted({s for s in successors if s and s not in known}))


def _find_current(db: apsw.Connection, finding_id: int) -> int | None:
    """Return the end of a chain of supersessions, None if nothing superseded this one."""
    seen = {finding_id}
    latest = None
    while (successor := reading.find_successor(db, finding_id)) is not None and successor not in seen:
        seen.add(successor)
        finding_id = latest = successor
    return latest


def _find_canonicals(db: apsw.Connection, wanted: list[int], scored: dict[int, Candidate]) -> dict[int, int]:
    """Return what the duplicates among the candidates are duplicates of; a score goes over to that one."""
    canonicals = reading.find_canonicals(db, wanted)
    for duplicate, canonical in canonicals.items():
        mine, theirs = scored.get(duplicate), scored.get(canonical)
        if mine is not None and (theirs is None or theirs.relevance < mine.relevance):
            scored[canonical] = mine
    return canonicals


def _as_items(
    db: apsw.Connection,
    findings: list[Finding],
    judgements: dict[int, Judgement],
    opposed: dict[int, list[Finding]],
    labels: Labels,
) -> list[Item]:
    ids = [finding.id for finding in findings]
    evidence = reading.find_evidence(db, ids, newest=1)
    superseded = reading.find_superseded(db, ids)
    return [
        Item(
            finding,
            judgements[finding.id],
            evidence.get(finding.id, []),
            opposed=opposed.get(finding.id, ()),
            superseded=superseded.get(finding.id, ()),
            labels=labels,
        )
        for finding in findings
    ]


def _filter(
    findings: list[Finding],
    request: Request,
    scored: dict[int, Candidate],
    canonicals: dict[int, int],
    decisions: list[Decision],
) -> list[Finding]:
    """Apply the hard filters and what this generation already holds."""
    standing = {one.finding_id for one in request.shown} if request.trigger in (PROMPT, RESUME) else set()
    own = set(request.own())
    kept = []
    for finding in findings:
        candidate = scored.get(finding.id)
        if finding.id in canonicals:
            why = f"is a duplicate of F-{canonicals[finding.id]}"
        elif finding.lifecycle_state != "current":
            why = f"is {finding.lifecycle_state}"
        elif finding.is_muted(request.now):
            why = "is muted" + ("" if finding.muted_until == FOREVER else f" until {finding.muted_until}")
        elif finding.retrieval_policy == "never":
            why = "retrieval policy never: only by id"
        elif finding.retrieval_policy == "on_demand" and finding.id not in own:
            why = "retrieval policy on_demand: only in queries"
        elif finding.id in standing:
            why = "already stands in this context"
        else:
            kept.append(finding)
            continue
        decisions.append(Decision(finding.id, "dropped", why, candidate=candidate))
    return kept


def _judge(
    findings: list[Finding],
    judgements: dict[int, Judgement],
    scored: dict[int, Candidate],
    decisions: list[Decision],
) -> list[Finding]:
    """Drop what is incompatible; what has to be checked first is handed out as a lead, constraints too."""
    kept = []
    for finding in findings:
        judgement = judgements[finding.id]
        if judgement.applicability != "incompatible":
            kept.append(finding)
            continue
        why = "incompatible: " + describe_changes(judgement.deciding)
        decisions.append(
            Decision(
                finding.id,
                "dropped",
                why,
                applicability=judgement.applicability,
                candidate=scored.get(finding.id),
            )
        )
    return kept


def _rank(findings: list[Finding], judgements: dict[int, Judgement], scored: dict[int, Candidate]) -> list[Finding]:
    def key(finding: Finding) -> tuple[int, ...]:
        candidate = scored.get(finding.id)
        return (
            ORDER[judgements[finding.id].applicability],
            _POLICY_ORDER[finding.retrieval_policy],
            -(candidate.relevance if candidate else 0),
            _STATE_ORDER[finding.epistemic_state],
            0 if finding.claim_kind == "constraint" or finding.epistemic_state == "refuted" else 1,
            len(finding.claim),
            -finding.id,
        )

    return sorted(findings, key=key)


def _cap(
    ranked: list[Finding],
    request: Request,
    decisions: list[Decision],
    judgements: dict[int, Judgement],
    scored: dict[int, Candidate],
) -> list[Finding]:
    """Hold the number of items: three at a prompt, and a cap on `always` anywhere."""
    kept: list[Finding] = []
    always = 0
    for finding in ranked:
        always += finding.retrieval_policy == "always"
        if request.trigger == PROMPT and len(kept) >= request.max_items:
            why = f"a prompt gets at most {request.max_items} items"
        elif finding.retrieval_policy == "always" and always > request.max_always:
            why = f"at most {request.max_always} items of policy always"
        else:
            kept.append(finding)
            continue
        decisions.append(
            Decision(
                finding.id,
                "cut",
                why,
                applicability=judgements[finding.id].applicability,
                candidate=scored.get(finding.id),
            )
        )
    return kept


def _correct(
    db: apsw.Connection, project_id: int, request: Request, surroundings: Surroundings
) -> tuple[list[str], list[Shown]]:
    """Return a line for every finding that stands in this context in a form that no longer holds."""
    if request.trigger not in (PROMPT, RESUME) or not request.shown:
        return [], []
    before = {one.finding_id: one for one in request.shown}
    findings = reading.find_findings(db, project_id, before)
    judgements = judge_all(db, findings, surroundings)
    labels = request.labels
    lines: list[str] = []
    corrected: list[Shown] = []
    for finding in findings:
        was, now = before[finding.id], _as_shown(finding, judgements[finding.id].applicability)
        if was.as_row() == now.as_row():
            continue
        corrected.append(now)
        lines.append(
            labels.no_longer.format(
                name=finding.name,
                was=_form(was, labels),
                now=_describe(db, finding, was, now, judgements[finding.id], labels),
            )
        )
    return lines, corrected


def _form(shown: Shown, labels: Labels) -> str:
    if shown.lifecycle_state != "current":
        return shown.lifecycle_state
    return labels.form.format(state=shown.epistemic_state, applicability=shown.applicability)


def _describe(  # noqa: PLR0917 - one finding in two forms
    db: apsw.Connection, finding: Finding, was: Shown, now: Shown, judgement: Judgement, labels: Labels
) -> str:
    if now.lifecycle_state == "superseded":
        successor = _find_current(db, finding.id)
        return now.lifecycle_state if successor is None else labels.superseded_by.format(name=f"F-{successor}")
    if now.lifecycle_state != "current":
        return now.lifecycle_state
    parts = []
    if now.epistemic_state != was.epistemic_state or was.lifecycle_state != "current":
        parts.append(labels.now_is.format(what=now.epistemic_state))
    if now.applicability != was.applicability:
        changes = describe_changes(judgement.deciding, labels)
        template = labels.now_is_because if changes else labels.now_is
        parts.append(template.format(what=now.applicability, changes=changes))
    return ", ".join(parts)


def _closing(db: apsw.Connection, project_id: int, request: Request) -> str:
    if request.trigger == START:
        counts = reading.count_findings(db, project_id)
        if not counts["current"]:
            return ""
        labels = request.labels
        findings, dead_ends = counts["current"], counts["dead_ends"]
        return labels.counts.format(
            findings=(labels.one_finding if findings == 1 else labels.findings).format(count=findings),
            dead_ends=(labels.one_dead_end if dead_ends == 1 else labels.dead_ends).format(count=dead_ends),
        )
    if request.trigger == COMPACT and not request.logged:
        return request.labels.nothing_logged
    return ""


def _as_shown(finding: Finding, applicability: str) -> Shown:
    return Shown(finding.id, finding.epistemic_state, finding.lifecycle_state, applicability)


def _why(item: Item, request: Request, scored: dict[int, Candidate], opposed: dict[int, list[Finding]]) -> str:
    finding = item.finding
    if finding.retrieval_policy == "always":
        return "retrieval policy always"
    if request.trigger == COMPACT and any(one.finding_id == finding.id for one in request.shown):
        return "this context had been handed it"
    if request.trigger == COMPACT and finding.id in request.own():
        return "this conversation logged, cited or fetched it"
    candidate = scored.get(finding.id)
    if candidate is not None and candidate.is_relevant:
        return _matched(candidate)
    if request.task and finding.task == request.task:
        return "belongs to the declared task"
    if finding.claim_kind == "constraint":
        checked = item.judgement.applicability in ("applicable", "conditional")
        return "a constraint in scope" if checked else "a constraint, to be checked first"
    if finding.id in opposed:
        return "contradicts " + ", ".join(other.name for other in opposed[finding.id])
    return "took the place of a finding handed out before"


def _matched(candidate: Candidate) -> str:
    parts: Iterable[str] = (
        *(f"tag or alias {phrase}" for phrase in candidate.phrases),
        *(f"path {path}" for path in candidate.paths),
        *(word for word, _ in candidate.words[:5]),
    )
    return "matches " + ", ".join(parts)


def _reason(decisions: list[Decision]) -> str:
    if any(d.outcome == "cut" for d in decisions):
        return "no_room"
    if decisions:
        return "all_dropped"
    return "nothing_matched"
