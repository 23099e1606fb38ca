"""How the scripted model decides: from the text of the request that it answers, and from nothing else.

`read` says what a request shows, `decide` takes the next step. There is no memory between two requests and no
switch for the block: what the context does not show as answered is probed again. A finding is an answer where it stands
under "Dead ends" or "Supported by evidence"; one that needs revalidation is not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchmarks.investigation.case import BY_NAME, CONSTRAINT, HYPOTHESES, Hypothesis

from support.block import read_block
from support.codex.request import texts_of
from support.codex.steps import Call, Mcp, Shell, Spawn, Step, Wait, call, say
from support.codex.upheld import HEADING, contradicting, envelope_in, log_finding, supporting

if TYPE_CHECKING:
    from support.codex.request import Request

DECISION = "compare runs on seed "
_ANSWERS = {"Dead ends": "refuted", "Supported by evidence": "supported"}
_AREA = re.compile(r"ook into the (numerics|data|kernels)")
_RESULT = re.compile(r"probe ([a-z]+): (confirmed|ruled out)[^()\"\\\n]*")
_REPORTED = re.compile(rf"({'|'.join(BY_NAME)}) (refuted|supported) \((F-\d+)\)")
_SEED = re.compile(DECISION + r"(\d+)")
_CLAIM = re.compile(r'"claim": "([^"]+)"')
_BY_CLAIM = {hypothesis.claim: hypothesis.name for hypothesis in HYPOTHESES}


@dataclass
class View:
    """What a request shows.

    Args:
        asked: The hypotheses that the last prompt is about.
        hand_over: The last prompt wants another agent to look.
        started: That agent was started.
        ids: The finding of a hypothesis, by its name; that of the decision under `DECISION`.
        answers: What is known and holds, by the hypothesis' name: `refuted` or `supported`.
        stale: Whose answer is to be looked at again before it is used.
        results: What a probe printed that is not settled yet, by the probe's name.
        seed: The seed to compare on; "1" where nothing says one.
        kernel: The kernel to probe with; the fast one where nothing forbids it.
    """

    asked: tuple[Hypothesis, ...] = ()
    hand_over: bool = False
    started: bool = False
    ids: dict[str, str] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    stale: set[str] = field(default_factory=set)
    results: dict[str, str] = field(default_factory=dict)
    seed: str = "1"
    kernel: str = "fused"

    @property
    def open(self) -> list[Hypothesis]:
        """What was asked and has no answer."""
        return [hypothesis for hypothesis in self.asked if hypothesis.name not in self.answers]


def decide(request: Request) -> Step:
    """Return the next step: settle what was seen, else probe what is open, else report."""
    view = read(request.body["input"])
    if view.results:
        return call(*_settle(view))
    if not view.open:
        return say(_report(view))
    if view.hand_over:
        return call(Wait() if view.started else _spawn(view))
    unlogged = [hypothesis for hypothesis in view.open if hypothesis.name not in view.ids]
    if unlogged:
        return call(*(_log(hypothesis) for hypothesis in unlogged))
    return call(Shell(f"sh probe.sh {view.open[0].name} {view.seed} {view.kernel}"))


def read(items: list[dict[str, Any]]) -> View:
    """Return what the input items of a request show, the later over the earlier."""
    view = View()
    calls: dict[str, str] = {}
    for item in items:
        if item["type"].endswith("_call"):
            calls[item["call_id"]] = item.get("input") or item["arguments"]
            view.started |= item.get("name") == "spawn_agent"
        for text in texts_of(item):
            if "output" in item:
                _read_output(view, calls[item["call_id"]], text.text)
            elif text.role == "developer" and text.text.startswith(HEADING):
                _read_block(view, text.text)
            elif text.role in ("user", "agent_message"):
                _read_message(view, text.text)
    return view


def _read_message(view: View, text: str) -> None:
    """Read what a person or another agent says: a task, or a report."""
    area = _AREA.search(text)
    if area or text.startswith("Conclude"):
        view.asked = tuple(hypothesis for hypothesis in HYPOTHESES if not area or hypothesis.area == area[1])
        view.hand_over, view.started = text.startswith("Hand"), False
    for seed in _SEED.findall(text):
        view.seed = seed
    for name, state, finding in _REPORTED.findall(text):
        view.answers[name], view.ids[name] = state, finding


def _read_output(view: View, source: str, output: str) -> None:
    """Read what came of a call of the model's own: the lines of a probe, or the answer of a tool."""
    for result in _RESULT.finditer(output):
        view.results[result[1]] = result[0].strip()
        if seed := _SEED.search(result[0]):
            view.seed = seed[1]
    envelope = envelope_in(output)
    if envelope is None or not envelope["ok"]:
        return
    finding, state = envelope["data"]["finding_id"], envelope["data"]["epistemic_state"]
    if claim := _CLAIM.search(source):
        view.ids[_BY_CLAIM.get(claim[1], DECISION)] = finding
    for name, known in view.ids.items():
        if known == finding and state in _ANSWERS.values():
            view.answers[name] = state
            view.stale.discard(name)
            view.results.pop(name, None)


def _read_block(view: View, text: str) -> None:
    """Read an injected block: what stands where, and what it corrects."""
    block = read_block(text)
    for line in block.corrections:
        for corrected in [name for name, known in view.ids.items() if line.startswith(f"{known},")]:
            view.answers.pop(corrected, None)
    for item in block.items:
        name = _BY_CLAIM.get(item.claim)
        if item.claim == CONSTRAINT:
            view.kernel = "plain"
        elif decided := _SEED.fullmatch(item.claim):
            view.seed, view.ids[DECISION] = decided[1], f"F-{item.finding_id}"
        elif name is not None:
            view.ids[name] = f"F-{item.finding_id}"
            view.answers.pop(name, None)
            view.stale.discard(name)
            if item.section in _ANSWERS:
                view.answers[name] = _ANSWERS[item.section]
            elif item.section == "Needs revalidation before use" and item.state in _ANSWERS.values():
                view.stale.add(name)


def _log(hypothesis: Hypothesis) -> Mcp:
    return log_finding(hypothesis.claim, claim_kind="diagnosis", scope={"paths": [hypothesis.path]})


def _settle(view: View) -> list[Call]:
    """Return the calls that write down what the oldest unsettled probe gave."""
    name, result = next(iter(view.results.items()))
    finding = {"finding_id": view.ids[name], "reason": "probed"}
    if BY_NAME[name].holds:
        change = {"epistemic_state": "supported", "evidence": [supporting(f"probe {name}", result)]}
        calls: list[Call] = [Mcp("set_finding_state", finding | change)]
    elif name in view.stale:
        again = {"outcome": "failed", "evidence": [contradicting(f"probe {name}", result)]}
        calls = [Mcp("revalidate_finding", finding | again)]
    else:
        calls = [Mcp("refute_finding", finding | {"evidence": [contradicting(f"probe {name}", result)]})]
    if seed := _SEED.search(result):
        calls.append(_decide_on(seed[0], view.ids.get(DECISION)))
    return calls


def _decide_on(claim: str, before: str | None) -> Mcp:
    if before is not None:
        return Mcp("supersede_finding", {"finding_id": before, "claim": claim, "reason": "a later probe shows it"})
    return log_finding(claim, claim_kind="decision", epistemic_state="not_applicable")


def _spawn(view: View) -> Spawn:
    """Start another agent with the task and the seed; what else it has to know is not told."""
    return Spawn("kid", f"Look into the {view.asked[0].area}. Please {DECISION}{view.seed}. SCRIPT:investigate")


def _report(view: View) -> str:
    """Return the closing text of a turn: what is known of what was asked, with the findings it rests on."""
    known = [hypothesis.name for hypothesis in view.asked]
    return "; ".join(f"{name} {view.answers[name]} ({view.ids[name]})" for name in known)
