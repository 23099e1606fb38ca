"""What waits, what drifted, what a conversation holds, and which facts scopes ask for."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from support.desk import AGAINST, AGENT, FOR, Desk, git, make_repository
from support.hook import make_hook
from upheld.findings.ledger import Caller

if TYPE_CHECKING:
    from pathlib import Path

ELSEWHERE = Caller("agent", "codex", "session-2")


@pytest.fixture
def there(tmp_path: Path) -> Desk:
    return Desk(make_repository(tmp_path / "engine"))


def read(desk: Desk, name: str, **given: Any) -> dict[str, Any]:
    return desk.run(name, **given).data


def drifted(desk: Desk) -> dict[str, list[str]]:
    return {one["finding_id"]: one["because"] for one in read(desk, "find_drift")["drifted"]}


# Review


def test_each_reason_to_wait_is_listed_and_counted(there: Desk) -> None:
    for _ in range(3):
        there.log("Nobody assessed this")
    contested = there.log("Both sides", epistemic_state="contested", evidence=[FOR, AGAINST])
    changed = there.log("About the engine", evidence=[FOR], epistemic_state="supported", scope={"paths": ["engine.py"]})
    constraint = there.log("Never flush twice", claim_kind="constraint")
    there.run("propose_rule", finding_id=constraint, rule="No double flush", reason="it cost a day")
    (there.cwd / "engine.py").write_text("speed = 4\n")

    waiting = read(Desk(there.cwd, ledger=there.ledger), "review_findings", limit=2)

    assert waiting["counts"] == {"contested": 1, "needs_revalidation": 1, "unassessed": 3, "proposed_rules": 1}
    listed = {name: [one["finding_id"] for one in some] for name, some in waiting["waiting"].items()}
    assert listed == {
        "contested": [contested],
        "needs_revalidation": [changed],
        "unassessed": ["F-3", "F-2"],
        "proposed_rules": [constraint],
    }


def test_a_conflict_that_nobody_settled_waits_although_the_state_is_supported(there: Desk) -> None:
    finding = there.log("It holds", epistemic_state="supported", evidence=[FOR])
    there.run("add_evidence", finding_id=finding, evidence=AGAINST)
    assert read(there, "review_findings")["counts"]["contested"] == 1


def test_both_sides_of_a_contradiction_wait_where_both_can_hold(there: Desk) -> None:
    one = there.log("It is the cache", scope={"match": {"backend": "cuda"}}, epistemic_state="provisional")
    other = there.log("It is not the cache", scope={"match": {"backend": "cuda"}}, epistemic_state="provisional")
    there.run("link_finding", finding_id=one, relation="contradicts", to=other, reason="only one can be true")
    here = read(there, "review_findings", facts={"backend": "cuda"})["waiting"]["contested"]
    assert [(waits["finding_id"], waits["contradicts"]) for waits in here] == [(other, [one]), (one, [other])]
    assert read(there, "review_findings", facts={"backend": "rocm"})["counts"]["contested"] == 0


def test_what_is_no_longer_current_does_not_wait(there: Desk) -> None:
    old = there.log("Old")
    there.run("supersede_finding", finding_id=old, claim="New", reason="better", epistemic_state="provisional")
    assert not any(read(there, "review_findings")["counts"].values())


# Drift


def test_changed_code_a_vanished_source_and_a_fallen_basis_are_drift(there: Desk) -> None:
    (there.cwd / "run.txt").write_text("loss 0.3\n")
    by_code = there.log("By code", scope={"paths": ["engine.py"]})
    by_source = there.log("By source", evidence=[{"source_kind": "file", "source_ref": "run.txt"}])
    basis = there.log("The basis", evidence=[AGAINST])
    by_basis = there.log("By basis")
    there.run("link_finding", finding_id=by_basis, relation="derived_from", to=basis, reason="it rests on it")
    assert drifted(there) == {}

    (there.cwd / "engine.py").write_text("speed = 4\n")
    (there.cwd / "run.txt").unlink()
    there.run("refute_finding", finding_id=basis, reason="no")

    assert drifted(Desk(there.cwd, ledger=there.ledger)) == {
        by_code: ["engine.py changed"],
        by_source: ["the source run.txt is gone"],
        by_basis: [f"it is derived from {basis}, which is refuted"],
    }


def test_another_branch_or_fact_is_no_drift(there: Desk) -> None:
    there.log("On this branch", scope={"match": {"git.branch": "main", "backend": "cuda"}}, facts={"backend": "cuda"})
    git(there.cwd, "checkout", "-q", "-b", "other")
    assert drifted(Desk(there.cwd, ledger=there.ledger)) == {}


def test_a_landed_rule_whose_finding_fell_is_drift(there: Desk) -> None:
    there.findings.caller = Caller("user")
    finding = there.log("Never flush twice", claim_kind="constraint")
    there.run("propose_rule", finding_id=finding, rule="No double flush", reason="r")
    there.run("approve_rule", finding_id=finding, reason="r")
    there.run("land_rule", finding_id=finding, target="docs/rules.md", reason="r")
    assert drifted(there) == {}
    there.run("withdraw_finding", finding_id=finding, reason="it was wrong")
    assert drifted(there) == {finding: ["its rule landed in docs/rules.md, and it is withdrawn"]}


def test_a_commit_is_stopped_by_a_hook_that_finds_drift(tmp_path: Path) -> None:
    hook = make_hook(tmp_path)
    hook.git("init", "-q")
    (hook.repository / "engine.py").write_text("speed = 3\n")
    hook.log("About the engine", scope={"paths": ["engine.py"]})
    script = hook.repository / ".git" / "hooks" / "pre-commit"
    script.write_text(f"#!/bin/sh\nexec {sys.executable} -I -m upheld drift\n")
    script.chmod(0o755)

    def commit() -> subprocess.CompletedProcess[str]:
        hook.git("add", "-A")
        names = ("-c", "user.name=n", "-c", "user.email=e@example.org")
        line = ["git", *names, "commit", "-m", "Change the engine"]
        return subprocess.run(line, cwd=hook.repository, env=hook.environ, capture_output=True, text=True, check=False)

    assert commit().returncode == 0
    (hook.repository / "engine.py").write_text("speed = 4\n")
    stopped = commit()
    assert stopped.returncode == 1
    assert "engine.py changed" in stopped.stdout + stopped.stderr


# Recall


def test_a_conversation_recalls_what_it_logged_and_nobody_elses(there: Desk) -> None:
    mine = there.log("Mine")
    other = Desk(there.cwd, caller=ELSEWHERE, ledger=there.ledger)
    other.log("Not mine")
    recalled = read(there, "recall_findings")
    assert recalled["session"] == AGENT.session
    assert [(one["finding_id"], one["how"]) for one in recalled["findings"]] == [(mine, ["logged or changed"])]
    named = read(there, "recall_findings", session="session-2")
    assert [one["claim"] for one in named["findings"]] == ["Not mine"]


def test_what_the_hook_handed_out_is_recalled_with_the_form_it_had_then(tmp_path: Path) -> None:
    hook = make_hook(tmp_path)
    finding = hook.log(
        "Releases need two approvals",
        claim_kind="observation",
        epistemic_state="unassessed",
        retrieval_policy="relevant",
        task="release",
    )
    hook.environ["UPHELD_FACTS"] = "task=release"
    assert hook.run(hook.payload())
    desk = Desk(hook.repository, caller=Caller("user"))
    desk.ledger.places = hook.places
    desk.run("set_finding_state", finding_id=finding, epistemic_state="refuted", reason="no", evidence=[AGAINST])

    (one,) = read(desk, "recall_findings")["findings"]

    assert one["finding_id"] == finding
    assert one["how"] == ["handed out"]
    assert one["handed_out_as"] == "unassessed"
    assert one["epistemic_state"] == "refuted"


# Context


def test_the_context_names_what_scopes_ask_for_and_who_supplies_it(
    there: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    there.log("A", scope={"match": {"backend": "cuda"}})
    there.log("B", scope={"context": {"backend": "cuda"}, "revalidate_on": ["dtype"], "match": {"dep.torch": ">=2"}})
    monkeypatch.setitem(os.environ, "UPHELD_FACTS", "dtype=bf16")

    facts = read(Desk(there.cwd, ledger=there.ledger), "read_context", facts={"backend": "cuda"})["facts"]

    assert facts["backend"] == {"value": "cuda", "source": "argument", "findings": 2}
    assert facts["dtype"] == {"value": "bf16", "source": "UPHELD_FACTS", "findings": 1}
    assert facts["dep.torch"] == {"value": None, "source": "no lock file", "findings": 1}
    assert facts["git.branch"]["value"] == "main"
