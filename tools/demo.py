"""`make demo`: one investigation through the real command line, MCP server and hook, in a temporary home.

It prints what the agent is handed at each point and why each other finding was left out, and checks all of it:
anything that is not as told ends it with exit status 1. The home is removed at the end.
"""

from __future__ import annotations

import os
import shlex
import sys
import textwrap
from typing import TYPE_CHECKING

from stage import Session, Stage, UnexpectedError

if TYPE_CHECKING:
    from stage import Agent

CART = "def total(lines):\n    return sum(round(line.price * line.count, 2) for line in lines)\n"
CART_FIXED = "def total(lines):\n    return round(sum(line.price * line.count for line in lines), 2)\n"
RUN_LOG = "seed 7: per line 10.01, per order 10.00\nseed 8: per line 20.02, per order 20.00\n"

ROUNDING = "order totals are a cent off because cart.py rounds each line instead of the order"
TAXES = "the cent comes from a stale tax table"
RETRY = "the price service needs 3 retries"
RETRY_NOW = "the price service needs 5 retries since it sits behind the gateway"
AUDITED = "never rewrite the totals of stored orders: the auditors compare them"

FIRST_PROMPT = "The totals of some orders are a cent off. Find out why."
TAX_PROMPT = "Could a stale tax table cause the cent?"


def main() -> int:
    """Play it. 0 if everything was as told."""
    try:
        with Stage() as stage:
            folder = stage.folder
            _play(stage)
        _check("the temporary home is gone", not os.path.exists(folder))
    except UnexpectedError as error:
        sys.stdout.flush()
        sys.stderr.write(f"\nNOT AS TOLD: {error}\n")
        return 1
    print("Everything was as told.")
    return 0


def _play(stage: Stage) -> None:
    shop = stage.repository("shop", {"cart.py": CART, "runs/7.log": RUN_LOG, "notes.md": "To do.\n"})
    depot = stage.repository("depot", {"stock.py": "stock = {}\n"})
    _install(stage, shop)
    first = Session(stage, "1", shop)
    with stage.server(first) as agent:
        _investigate(stage, first, agent)
        _compact(stage, first)
        _change_code(stage, first)
    # From here on no server runs: the hook does the work itself.
    _next_session(stage, shop)
    _next_door(stage, shop, depot)
    _undo(stage, shop)


def _install(stage: Stage, shop: str) -> None:
    _heading("Upheld is installed into a Codex with an empty home")
    printed = stage.upheld(shop, "install", "codex", "--yes")
    shown = [line for line in printed.splitlines() if line.startswith(("ok ", "PROBLEM"))]
    _told("upheld install codex --yes", "\n".join(shown))
    _check("hook and server both answer", len(shown) == 2 and all(line.startswith("ok ") for line in shown))


def _investigate(stage: Stage, session: Session, agent: Agent) -> None:
    _heading("A first session: nothing is known, so nothing is handed out")
    _handed("at the start", stage.hook(session, "SessionStart-startup"), "")
    _handed(f'with the prompt "{FIRST_PROMPT}"', _prompt(stage, session, FIRST_PROMPT), "")

    _heading("The agent logs what it finds, over MCP")
    run = {
        "source_kind": "file",
        "source_ref": "runs/7.log",
        "method": "experiment",
        "excerpt": RUN_LOG.splitlines()[0],
    }
    rounding = agent.call(
        "log_finding",
        claim=ROUNDING,
        claim_kind="diagnosis",
        epistemic_state="supported",
        evidence=[run],
        scope={"paths": ["cart.py"]},
    )
    _written("log_finding", rounding, ROUNDING)
    taxes = agent.call("log_finding", claim=TAXES, claim_kind="diagnosis", scope={"everywhere": True})
    _written("log_finding", taxes, TAXES)
    probe = {
        "source_kind": "test_run",
        "source_ref": "pytest tests/test_tax.py",
        "role": "contradicts",
        "rationale": "without any tax the cent is still there",
    }
    refuted = agent.call("refute_finding", finding_id="F-2", reason="taxes play no part", evidence=[probe])
    _written("refute_finding", refuted, "taxes play no part")
    retry = agent.call("log_finding", claim=RETRY, claim_kind="observation", scope={"everywhere": True})
    _written("log_finding", retry, RETRY)
    newer = agent.call("supersede_finding", finding_id="F-3", claim=RETRY_NOW, reason="the gateway came in between")
    _written("supersede_finding", newer, RETRY_NOW)
    print()

    _heading("A person adds a constraint at a terminal")
    arguments = ("log", AUDITED, "--claim-kind", "constraint", "--epistemic-state", "not_applicable", "--everywhere")
    printed = stage.upheld(session.cwd, *arguments)
    _told(f'upheld log "{AUDITED}" \\\n    {" ".join(arguments[2:])}', printed)
    _check("it is F-5", "F-5" in printed)


def _compact(stage: Stage, session: Session) -> None:
    _heading("The context is compacted; the agent is handed back what is still worth believing")
    silent = stage.hook(session, "PostCompact-manual")
    _check("the first of the two events says nothing", not silent)
    why = _explain(
        stage,
        session,
        "--trigger compact --session " + session.id,
        {"F-1": "kept", "F-2": "kept", "F-3": "dropped", "F-4": "kept", "F-5": "kept"},
    )
    block = stage.hook(session, "SessionStart-compact")
    _handed("after the compaction", block, ROUNDING, "### Dead ends", TAXES, RETRY_NOW, AUDITED, without=RETRY)
    print(why)
    _handed(f'with the prompt "{TAX_PROMPT}", since it stands there already', _prompt(stage, session, TAX_PROMPT), "")


def _change_code(stage: Stage, session: Session) -> None:
    _heading("A commit that does not touch the anchored code, then one that does")
    stage.commit(session.cwd, {"notes.md": "Done.\n"})
    _handed("after a commit to notes.md", _prompt(stage, session, FIRST_PROMPT), "")
    printed = stage.upheld(session.cwd, "query", "cent", "--states", "supported")
    _told("upheld query cent --states supported", printed)
    _check("F-1 is applicable after a commit to another file", printed.startswith("[F-1 | supported | applicable]"))
    stage.commit(session.cwd, {"cart.py": CART_FIXED})
    _handed(
        "after a commit to cart.py",
        _prompt(stage, session, FIRST_PROMPT),
        "Correction: F-1, shown above as supported and applicable: now needs_revalidation (cart.py changed).",
    )


def _next_session(stage: Stage, shop: str) -> None:
    _heading("The next session: no server runs, the hook does the work itself")
    session = Session(stage, "2", shop)
    started = stage.hook(session, "SessionStart-startup")
    _handed("at the start", started, AUDITED, "4 findings, 1 dead end", without=TAXES)
    block = _prompt(stage, session, TAX_PROMPT)
    _handed(f'with the prompt "{TAX_PROMPT}"', block, "### Dead ends", TAXES, "without any tax", without=RETRY_NOW)
    why = _explain(
        stage, session, f'"{FIRST_PROMPT}" --session {session.id}', {"F-1": "kept", "F-2": "dropped", "F-5": "dropped"}
    )
    block = _prompt(stage, session, FIRST_PROMPT)
    _handed(
        f'with the prompt "{FIRST_PROMPT}"',
        block,
        "### Needs revalidation",
        "Check first: cart.py changed",
        without=TAXES,
    )
    print(why)


def _next_door(stage: Stage, shop: str, depot: str) -> None:
    _heading("A second project next door sees nothing of it")
    session = Session(stage, "4", depot)
    _handed("at the start", stage.hook(session, "SessionStart-startup"), "")
    _handed(f'with the prompt "{TAX_PROMPT}"', _prompt(stage, session, TAX_PROMPT), "")
    _told("upheld explain", stage.upheld(depot, "explain"))
    stage.upheld(depot, "log", "stock is counted at night", "--claim-kind", "observation", "--everywhere")
    handed = stage.hook(Session(stage, "5", depot), "SessionStart-startup")
    _handed("at the start, after it logged a finding of its own", handed, "1 finding, 0 dead ends", without="F-1")
    printed = stage.upheld(shop, "query", "stock")
    _told('upheld query "stock"   # in the first project', printed)
    _check("the first project does not see that one either", "night" not in printed)


def _undo(stage: Stage, shop: str) -> None:
    _heading("Everything is taken out again")
    printed = stage.upheld(shop, "uninstall", "codex", "--yes", "--purge-data")
    shown = [line for line in printed.splitlines() if line.startswith(("Upheld was", "All data"))]
    _told("upheld uninstall codex --yes --purge-data", "\n".join(shown))
    left = sorted(
        os.path.relpath(os.path.join(folder, name), stage.home)
        for folder, _, names in os.walk(stage.home)
        for name in names
        if not name.startswith("rollout-")
    )
    _check(f"no file of ours is left, but {left}", not left)


def _prompt(stage: Stage, session: Session, text: str) -> str:
    session.note(text)
    return stage.hook(session, "UserPromptSubmit", prompt=text)


def _explain(stage: Stage, session: Session, options: str, outcomes: dict[str, str]) -> str:
    """Return why each finding will be handed out or not, as `upheld explain` says it, after checking it."""
    printed = stage.upheld(session.cwd, "explain", *shlex.split(options))
    why = printed.partition("\n(")[2].partition("\n")[2].strip()
    found = {line.split()[1].rstrip(",:"): line.split()[0] for line in why.splitlines() if " F-" in line}
    _check(f"{options}: outcomes are {outcomes}, but {found}", found == outcomes)
    return f"$ upheld explain {options}   # asked before\n" + textwrap.indent(why, "  ") + "\n"


def _heading(text: str) -> None:
    print(f"== {text} ==\n")


def _told(command: str, output: str) -> None:
    print(f"$ {command}\n{textwrap.indent(output.strip(), '  ')}\n")


def _written(tool: str, data: dict[str, object], text: str) -> None:
    print(f"{tool}: {data['finding_id']} {data['epistemic_state']}, {data['lifecycle_state']}: {text}")


def _handed(when: str, block: str, *expected: str, without: str = "") -> None:
    """Print what the agent is handed and check what stands in it; one "" expects nothing at all."""
    print(f"The agent is handed, {when}:" + ("" if block else " nothing\n"))
    if block:
        print("\n".join(f"  | {line}".rstrip() for line in block.splitlines()) + "\n")
    if expected == ("",):
        _check(f"nothing is handed out {when}, but {block!r}", not block)
        return
    for piece in expected:
        _check(f"{piece!r} is handed out {when}", piece in block)
    lines = [line.strip() for line in block.splitlines()]
    _check(f"{without!r} is not handed out {when}", not without or not any(x.endswith(without) for x in lines))


def _check(what: str, holds: bool) -> None:  # noqa: FBT001 - reads like an assertion
    if not holds:
        raise UnexpectedError(f"this should hold: {what}")


if __name__ == "__main__":
    sys.exit(main())
