"""The story of the first release, in the real Codex: what an agent found out comes back when it is worth something.

Installed by the command line, trusted as a user trusts it; the agent writes over MCP in unattended runs. Each
test reads what the model was sent, and nothing else.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

import pytest

from support.codex.home import UNATTENDED, CodexHome
from support.codex.profiles import CLASSIC, Profile
from support.codex.steps import FULL, Mcp, Seen, Shell, Spawn, Step, Wait, call, say
from support.codex.upheld import (
    HEADING,
    HOST_LIMIT,
    WITHOUT_SERVER,
    answers,
    block_about,
    blocks,
    commit,
    contradicting,
    install,
    kill_server,
    log_constraint,
    log_finding,
    make_repository,
    section,
    supporting,
    take_the_ledger_from_the_hook,
    trust,
    upheld,
)
from upheld.hosts.instructions import TEXTS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from support.codex.home import Run
    from support.codex.request import Request
    from support.codex.scripted_model import ScriptedModel

pytestmark = pytest.mark.hosts

OFF_BY_ONE = "an off-by-one in the mask causes the drift"
DTYPE = "the drift comes from accumulating in half precision"
ROUNDING = "rounding happens once per tile"
ROUNDING_NOW = "rounding happens once per row since the kernel was split"
NEVER_FUSE = "never fuse the attention kernels on this card"
SAVED = "checkpoints are written before the gradient is applied"
ABOUT_SAVED = "Why are checkpoints written before the gradient?"
CONSTRAINTS = "Constraints, decisions and procedures"
REVALIDATE = "Needs revalidation before use"
PATHS = {"scope": {"paths": ["attention.py"]}}


@pytest.fixture
def wired(codex: CodexHome) -> CodexHome:
    """A Codex with Upheld installed and trusted, in a repository of two files."""
    make_repository(codex.project, {"attention.py": "scale = 1\n", "notes.md": "nothing yet\n"})
    install(codex)
    trust(codex)
    return codex


def run(
    codex: CodexHome,
    *steps: Step | Callable[[Seen], Step],
    prompt: str = "Go on.",
    cwd: str | None = None,
    flags: Sequence[str] = (),
) -> Run:
    """Run a new session in which the model takes these steps."""
    return codex.exec(scripted(codex, steps, prompt), *UNATTENDED, *flags, cwd=cwd)


def resume(codex: CodexHome, thread: str, *steps: Step | Callable[[Seen], Step], prompt: str = "Go on.") -> Run:
    """Resume a session in which the model takes these steps."""
    return codex.resume(thread, scripted(codex, steps, prompt), *UNATTENDED)


def scripted(codex: CodexHome, steps: Sequence[Step | Callable[[Seen], Step]], prompt: str) -> str:
    name = f"s{len(codex.model.scripts)}"
    codex.model.scripts[name] = [*steps, say("done")]
    return f"{prompt} SCRIPT:{name}"


def log(codex: CodexHome, *calls: Mcp) -> Run:
    """Let an agent of its own log something, and check that it was taken."""
    done = run(codex, *(call(one) for one in calls))
    assert [answer["ok"] for answer in answers(done)] == [True] * len(calls), answers(done)
    return done


def id_of(answer: dict[str, Any]) -> str:
    """Return the first finding id that an answer names."""
    return str(re.findall(r"F-\d+", json.dumps(answer["data"]))[0])


def only_block(request: Request) -> str:
    """Return the one block of a request; it came from a hook, and whole."""
    (block,) = request.containing(HEADING)
    assert block.role == "developer"
    assert len(block.text.encode()) <= HOST_LIMIT
    assert "truncated" not in block.text
    return block.text


def test_what_was_found_out_is_handed_back_after_a_compaction(wired: CodexHome, model: ScriptedModel) -> None:
    work = run(
        wired,
        call(log_finding(DTYPE, epistemic_state="supported", evidence=[supporting("run-4472", "noise only")])),
        call(log_finding(OFF_BY_ONE)),
        lambda seen: call(refute(seen.find(r"F-\d+")[-1], "probe-a", "the mask is right")),
        call(log_finding(ROUNDING, epistemic_state="supported", evidence=[supporting("run-1", "per tile")])),
        lambda seen: call(supersede(seen.find(r"F-\d+")[-1], ROUNDING_NOW)),
        call(log_constraint(NEVER_FUSE), tokens=FULL),
    )

    assert work.code == 0
    assert model.problems == []
    assert [answer["ok"] for answer in answers(work)] == [True] * 6, answers(work)
    assert [request.kind for request in work.requests] == ["turn"] * 6 + ["compaction", "turn"]
    block = only_block(work.turns[-1])
    assert DTYPE in section(block, "Supported by evidence")
    assert OFF_BY_ONE in section(block, "Dead ends")
    assert NEVER_FUSE in section(block, "Constraints, decisions and procedures")
    assert ROUNDING_NOW in block
    assert f"Claim: {ROUNDING}\n" not in block


def test_nothing_is_handed_out_before_the_user_has_trusted_the_hooks(codex: CodexHome) -> None:
    make_repository(codex.project, {"attention.py": "scale = 1\n"})
    install(codex)
    log(codex, log_constraint(NEVER_FUSE))

    assert blocks(run(codex).turns[-1]) == []
    trust(codex)
    assert NEVER_FUSE in only_block(run(codex).turns[-1])


def test_a_constraint_is_there_at_the_start_of_the_next_session(wired: CodexHome) -> None:
    log(wired, log_constraint(NEVER_FUSE))

    block = only_block(run(wired).turns[0])

    assert NEVER_FUSE in section(block, "Constraints, decisions and procedures")


def test_a_prompt_gets_what_its_words_are_about_once(wired: CodexHome) -> None:
    log(wired, log_finding(SAVED, epistemic_state="supported", evidence=[supporting("run-9", "order in the log")]))

    first = run(wired, prompt=ABOUT_SAVED)
    again = resume(wired, first.thread, prompt=f"And again: {ABOUT_SAVED}")
    other = run(wired, prompt="Translate the readme into Welsh.")

    told = block_about(first.turns[0], SAVED)
    assert SAVED in section(told, "Supported by evidence")
    assert block_about(again.turns[0], SAVED) == told
    assert all(SAVED not in text.text for text in other.turns[0].texts)


def test_a_resumed_session_gets_only_what_changed(wired: CodexHome) -> None:
    begun = run(wired, call(log_constraint(NEVER_FUSE), tokens=FULL))
    assert NEVER_FUSE in only_block(begun.turns[-1])

    unchanged = resume(wired, begun.thread)
    assert len(blocks(unchanged.turns[0])) == 1

    log(wired, log_constraint(SAVED))
    changed = resume(wired, begun.thread)
    old, new = blocks(changed.turns[0])
    assert NEVER_FUSE in old
    assert SAVED in new
    assert NEVER_FUSE not in new


def test_a_superseded_finding_that_was_shown_is_named_in_one_correction_line(wired: CodexHome) -> None:
    begun = run(wired, call(log_constraint(NEVER_FUSE), tokens=FULL))
    old = id_of(answers(begun)[0])
    assert NEVER_FUSE in only_block(begun.turns[-1])
    log(wired, supersede(old, "fuse the attention kernels from driver 9 on"))

    resumed = resume(wired, begun.thread)

    correction = blocks(resumed.turns[0])[-1]
    lines = [line for line in correction.splitlines() if old in line and "superseded" in line]
    assert len(lines) == 1, correction
    assert NEVER_FUSE not in correction


def test_a_commit_elsewhere_changes_nothing_and_one_in_the_anchored_code_asks_for_a_new_check(
    wired: CodexHome,
) -> None:
    log(wired, log_constraint(NEVER_FUSE, **PATHS))

    commit(wired.project, {"notes.md": "something else\n"})
    elsewhere = only_block(run(wired).turns[0])
    assert "| applicable]" in section(elsewhere, "Constraints, decisions and procedures")
    assert "### Needs revalidation before use" not in elsewhere

    commit(wired.project, {"attention.py": "scale = 2\n"})
    touched = only_block(run(wired).turns[0])
    assert NEVER_FUSE in section(touched, "Needs revalidation before use")
    assert "### Constraints, decisions and procedures" not in touched


def test_a_session_that_was_shown_a_finding_hears_when_its_code_has_changed(wired: CodexHome) -> None:
    begun = run(wired, call(log_constraint(NEVER_FUSE, **PATHS), tokens=FULL))
    name = id_of(answers(begun)[0])
    assert f"[{name} | not_applicable | applicable]" in section(only_block(begun.turns[-1]), CONSTRAINTS)
    commit(wired.project, {"attention.py": "scale = 2\n"})

    resumed = resume(wired, begun.thread, call(Shell("true"), tokens=FULL))

    _, correction = blocks(resumed.turns[0])
    (line,) = [line for line in correction.splitlines() if name in line]
    assert line.startswith(f"Correction: {name}, shown above")
    assert "attention.py changed" in line
    after = only_block(resumed.turns[-1])
    assert NEVER_FUSE in section(after, REVALIDATE)
    assert section(after, CONSTRAINTS) == ""


def test_a_session_in_another_repository_sees_nothing(wired: CodexHome, tmp_path: Any) -> None:
    log(
        wired,
        log_constraint(NEVER_FUSE),
        log_finding(DTYPE, epistemic_state="supported", evidence=[supporting("run-4472", "noise only")]),
    )
    elsewhere = str(tmp_path / "elsewhere")
    os.mkdir(elsewhere)
    make_repository(elsewhere, {"attention.py": "scale = 3\n"})

    other = run(
        wired,
        call(Mcp("query_findings", {"words": DTYPE})),
        call(Mcp("get_finding", {"finding_id": "F-1"}), tokens=FULL),
        prompt="Does the drift come from accumulating in half precision? Fuse the attention kernels on this card.",
        cwd=elsewhere,
    )

    for request in other.requests:
        assert blocks(request) == []
        assert NEVER_FUSE not in request.text
    query, fetched = answers(other)
    assert query["ok"]
    assert DTYPE not in json.dumps(query["data"])
    assert fetched["error"]["code"] == "PROJECT_SCOPE_MISMATCH"


def test_a_child_agent_is_told_the_constraints_when_it_starts(wired: CodexHome, model: ScriptedModel) -> None:
    log(wired, log_constraint(NEVER_FUSE))
    model.scripts["child"] = [say("child done")]

    work = run(wired, call(Spawn("kid", "SCRIPT:child")), lambda seen: call(Wait(seen.agents)))

    (child,) = [request for request in work.turns if request.script == "child"]
    assert NEVER_FUSE in only_block(child)


def test_two_compactions_before_a_turn_hand_the_block_back_once(wired: CodexHome) -> None:
    with wired.app_server() as app:
        thread = app.start_thread()
        app.turn(thread, scripted(wired, [call(log_constraint(NEVER_FUSE))], "Go on."))
        app.compact(thread)
        app.compact(thread)
        app.turn(thread, scripted(wired, [], "Go on."))

    assert NEVER_FUSE in only_block(wired.model.turns[-1])


def test_a_session_that_is_compacted_as_it_is_resumed_gets_its_block_once(wired: CodexHome) -> None:
    begun = wired.exec(scripted(wired, [call(log_constraint(NEVER_FUSE))], "Go on."), *UNATTENDED)
    wired.model.scripts["full"] = [say("done", tokens=FULL)]
    resume_full = wired.resume(begun.thread, "SCRIPT:full", *UNATTENDED)
    assert resume_full.code == 0

    again = resume(wired, begun.thread)

    assert [request.kind for request in again.requests] == ["compaction", "turn"]
    assert NEVER_FUSE in only_block(again.turns[0])


def test_a_conversation_that_logged_nothing_is_told_how_after_a_compaction_in_one_line(wired: CodexHome) -> None:
    log(wired, log_finding(DTYPE))

    work = run(wired, call(Shell("true"), tokens=FULL))

    heading, notice, empty, told = only_block(work.turns[-1]).splitlines()
    assert told.startswith("Nothing was logged in this conversation")
    assert "log_finding" in told
    assert "log_finding" not in heading + notice + empty


def test_a_run_goes_on_untouched_when_the_ledger_is_broken(wired: CodexHome) -> None:
    _fill(wired)
    with open(_ledger(wired), "wb") as file:
        file.write(b"this is no database" * 500)
    _remove_wal(wired)

    assert_untouched(wired)


def test_a_run_goes_on_untouched_when_the_ledger_is_missing(wired: CodexHome) -> None:
    _fill(wired)
    os.remove(_ledger(wired))
    _remove_wal(wired)

    assert_untouched(wired)


def test_a_run_goes_on_untouched_when_the_ledger_is_locked(wired: CodexHome) -> None:
    _fill(wired)
    import apsw

    holder = apsw.Connection(_ledger(wired))
    try:
        holder.execute("pragma locking_mode = exclusive")
        holder.execute("begin exclusive")
        assert_untouched(wired)
    finally:
        holder.close()


def test_a_run_goes_on_untouched_when_our_directory_is_gone(wired: CodexHome) -> None:
    _fill(wired)
    os.rename(wired.upheld, wired.upheld + "-gone")

    assert_untouched(wired)


def test_a_read_only_ledger_still_serves_reads_and_refuses_writes_plainly(wired: CodexHome) -> None:
    _fill(wired)
    usual = only_block(run(wired).turns[0])
    wired.read_only = [f"{wired.upheld}/data"]

    work = run(wired, call(log_constraint(SAVED)))

    assert work.code == 0
    assert only_block(work.turns[0]) == usual
    (refused,) = answers(work)
    assert refused["error"]["code"] == "STORAGE_ERROR"


def test_the_tools_and_what_they_are_for_are_in_the_first_request(wired: CodexHome, profile: Profile) -> None:
    first = run(wired).turns[0]

    essentials = TEXTS["en"].splitlines()[0]
    assert len(essentials) <= 240
    assert essentials in first.text
    if profile is CLASSIC:
        (ours,) = [tool for tool in first.body["tools"] if tool.get("name") == "mcp__upheld"]
        assert ours["description"].strip() == TEXTS["en"].strip()
        assert {"log_finding", "refute_finding", "supersede_finding"} <= {tool["name"] for tool in ours["tools"]}
    else:
        # Scripts find the tools by name; of a server the model reads this line and nothing else.
        assert "- mcp__upheld: " + essentials in first.text


def test_a_block_of_more_than_the_host_takes_is_cut_by_us_and_reaches_the_model_whole(wired: CodexHome) -> None:
    many = [log_constraint(f"never fuse kernel {number}: " + "精度会漂移" * 25) for number in range(24)]

    work = run(wired, call(*many, tokens=FULL))

    assert [answer["ok"] for answer in answers(work)] == [True] * len(many)
    block = only_block(work.turns[-1])
    assert HOST_LIMIT * 3 // 4 < len(block.encode()) <= HOST_LIMIT
    assert "more: query_findings (next: " in block.splitlines()[-1]


def test_the_running_server_answers_a_hook_and_without_one_the_hook_says_the_same(wired: CodexHome) -> None:
    log(wired, log_constraint(NEVER_FUSE), log_finding(SAVED))

    alone = blocks(run(wired, prompt=ABOUT_SAVED, flags=WITHOUT_SERVER).turns[0])
    assert len(alone) == 2
    assert NEVER_FUSE in alone[0]
    assert SAVED in alone[1]

    take_the_ledger_from_the_hook(wired)
    assert blocks(run(wired, prompt=ABOUT_SAVED).turns[0]) == alone
    assert blocks(run(wired, prompt=ABOUT_SAVED, flags=WITHOUT_SERVER).turns[0]) == []


def test_a_session_goes_on_being_told_when_its_server_was_killed(wired: CodexHome) -> None:
    with wired.app_server() as app:
        thread = app.start_thread()
        app.turn(thread, scripted(wired, [call(log_finding(SAVED))], "Go on."))
        kill_server(wired)
        app.turn(thread, scripted(wired, [], ABOUT_SAVED))

    assert SAVED in block_about(wired.model.turns[-1], SAVED)


def test_after_uninstalling_a_run_is_as_it_was_before(codex: CodexHome) -> None:
    make_repository(codex.project, {"attention.py": "scale = 1\n"})
    codex.model.scripts["work"] = [call(Shell("echo here")), say("done")]
    before = codex.exec("SCRIPT:work", *UNATTENDED)
    with open(codex.config, "rb") as file:
        config = file.read()

    install(codex)
    upheld(codex, "uninstall", "codex", "--yes")

    with open(codex.config, "rb") as file:
        assert file.read() == config
    assert not os.path.exists(f"{codex.codex}/hooks.json")
    after = codex.exec("SCRIPT:work", *UNATTENDED)
    assert [request.shape() for request in after.requests] == [request.shape() for request in before.requests]


def assert_untouched(codex: CodexHome) -> None:
    """Check that a run with our trusted hooks sends what it sends when Codex passes them over.

    Codex has a switch for that; everything else, our server's tools included, is the same in both runs.
    """
    codex.model.scripts["untouched"] = [call(Shell("echo here")), call(Shell("echo there"), tokens=FULL), say("done")]
    prompt = f"Is it true that {NEVER_FUSE}? SCRIPT:untouched"
    without = codex.exec(prompt, *UNATTENDED, "--disable", "hooks")
    with_hooks = codex.exec(prompt, *UNATTENDED)

    assert (with_hooks.code, without.code) == (0, 0)
    assert [request.kind for request in with_hooks.requests] == ["turn", "turn", "compaction", "turn"]
    assert [r.shape() for r in with_hooks.requests] == [r.shape() for r in without.requests]


def refute(finding: str, source: str, excerpt: str) -> Mcp:
    arguments = {"finding_id": finding, "reason": "measured", "evidence": [contradicting(source, excerpt)]}
    return Mcp("refute_finding", arguments)


def supersede(finding: str, claim: str) -> Mcp:
    return Mcp("supersede_finding", {"finding_id": finding, "claim": claim, "reason": "the code has changed"})


def _fill(codex: CodexHome) -> None:
    log(codex, log_constraint(NEVER_FUSE))
    assert NEVER_FUSE in only_block(run(codex).turns[0])


def _ledger(codex: CodexHome) -> str:
    return f"{codex.upheld}/data/ledger.db"


def _remove_wal(codex: CodexHome) -> None:
    for suffix in ("-wal", "-shm"):
        if os.path.exists(_ledger(codex) + suffix):
            os.remove(_ledger(codex) + suffix)
