"""What a claim is tied to: quoted pieces of code and supporting sources, and what loosens and ties it again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.desk import AGAINST, FOR, Desk, git
from upheld.errors import UpheldError
from upheld.findings.check import check_ledger

if TYPE_CHECKING:
    from collections.abc import Iterator

PIECE = "def step(x):\n    return x + 1\n"
BEFORE = f"import os\n\n{PIECE}\nlimit = 3\n"
LOOKED = {"source_kind": "test_run", "source_ref": "run-7"}
QUOTING = {"paths": [{"path": "step.py", "quote": PIECE}]}


@pytest.fixture
def there(repository_desk: Desk) -> Iterator[Desk]:
    """In a repository with `step.py`; whatever a test did, the ledger is what its events say."""
    write(repository_desk, "step.py", BEFORE)
    yield repository_desk
    assert check_ledger(repository_desk.ledger).problems == ()


def write(desk: Desk, name: str, text: str) -> None:
    path = desk.cwd / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode())


def again(desk: Desk) -> Desk:
    """Return a new desk there: one reads its code once."""
    return Desk(desk.cwd, ledger=desk.ledger)


def judged(desk: Desk, finding: str) -> tuple[str, list[str]]:
    got = again(desk).get(finding)
    return got["applicability"], got.get("because", [])


def revalidate(desk: Desk, finding: str, outcome: str = "held") -> None:
    given: dict[str, Any] = {"outcome": outcome, "reason": "looked again", "evidence": [LOOKED]}
    again(desk).run("revalidate_finding", finding_id=finding, **given)


# A quoted piece


@pytest.mark.parametrize(
    "after",
    [f"{PIECE}", f"limit = 4\n{PIECE}", BEFORE.replace("limit = 3", "limit = 4"), BEFORE.replace("\n", "\r\n")],
    ids=["the rest gone", "moved", "the rest changed", "other line endings"],
)
def test_a_file_may_change_as_long_as_the_quoted_piece_stands(after: str, there: Desk) -> None:
    finding = there.log(scope=QUOTING)

    write(there, "step.py", after)

    assert judged(there, finding) == ("applicable", [])


@pytest.mark.parametrize("after", [BEFORE.replace("x + 1", "x + 2"), None], ids=["changed", "no file"])
def test_a_quoted_piece_that_is_gone_is_to_be_checked_and_said_so(after: str | None, there: Desk) -> None:
    finding = there.log(scope=QUOTING)

    if after is None:
        (there.cwd / "step.py").unlink()
    else:
        write(there, "step.py", after)

    assert judged(there, finding) == ("needs_revalidation", ["the quoted piece of step.py is gone"])
    write(there, "step.py", BEFORE)
    assert judged(there, finding) == ("applicable", [])


def test_a_piece_that_does_not_stand_there_is_refused_and_nothing_is_written(there: Desk) -> None:
    there.log()
    before = there.revision()

    with pytest.raises(UpheldError, match=r"a piece that does not stand in step\.py") as refused:
        there.log("Elsewhere", scope={"paths": [{"path": "step.py", "quote": "def leap("}]})

    assert (refused.value.code, refused.value.argument) == ("INVALID_ARGUMENT", "scope.paths")
    assert there.revision() == before


def test_a_piece_quoted_with_other_line_endings_is_the_same_piece(there: Desk) -> None:
    write(there, "step.py", BEFORE.replace("\n", "\r\n"))
    unix = there.log(scope=QUOTING)
    windows = there.log("The same", scope={"paths": [{"path": "step.py", "quote": PIECE.replace("\n", "\r\n")}]})

    write(there, "step.py", BEFORE)

    assert judged(there, unix) == judged(there, windows) == ("applicable", [])


def test_a_piece_under_a_glob_may_move_to_another_file_that_it_matches(there: Desk) -> None:
    write(there, "src/one.py", BEFORE)
    finding = there.log(scope={"paths": [{"path": "src/*.py", "quote": PIECE}]})

    (there.cwd / "src/one.py").unlink()
    write(there, "src/two.py", PIECE)
    assert judged(there, finding) == ("applicable", [])

    (there.cwd / "src/two.py").rename(there.cwd / "src/two.txt")
    assert judged(there, finding) == ("needs_revalidation", ["the quoted piece of src/*.py is gone"])


def test_one_path_may_be_quoted_and_another_whole(there: Desk) -> None:
    finding = there.log(scope={"paths": [{"path": "step.py", "quote": PIECE}, "engine.py"]})
    write(there, "step.py", PIECE)
    assert judged(there, finding) == ("applicable", [])

    write(there, "engine.py", "speed = 4\n")

    assert judged(there, finding) == ("needs_revalidation", ["engine.py changed"])


def test_what_held_without_its_quoted_piece_is_refused_with_the_reason(there: Desk) -> None:
    finding = there.log(scope=QUOTING)
    write(there, "step.py", "nothing of it\n")
    before = there.revision()

    with pytest.raises(UpheldError, match=r"a piece that does not stand in step\.py") as refused:
        revalidate(there, finding)

    assert refused.value.code == "INVALID_ARGUMENT"
    assert there.revision() == before
    revalidate(there, finding, "failed")
    assert judged(there, finding)[0] == "needs_revalidation"


# A supporting source


def sourced(desk: Desk, name: str = "run.log", role: str = "supports", **more: str) -> str:
    piece = {"source_kind": "file", "source_ref": name, "role": role, **more}
    return desk.log("The loss is 0.3", scope={"everywhere": True}, evidence=[piece])


@pytest.mark.parametrize(
    ("after", "because"), [("loss 0.4\n", "the source run.log changed"), (None, "the source run.log is gone")]
)
def test_a_supporting_file_that_changed_or_vanished_is_to_be_checked(
    after: str | None, because: str, there: Desk
) -> None:
    write(there, "run.log", "loss 0.3\n")
    finding = sourced(there)
    assert judged(there, finding) == ("applicable", [])

    if after is None:
        (there.cwd / "run.log").unlink()
    else:
        write(there, "run.log", after)

    assert judged(there, finding) == ("needs_revalidation", [because])
    write(there, "run.log", "loss 0.3\r\n")
    assert judged(there, finding) == ("applicable", [])


def test_a_supporting_file_may_grow_as_long_as_the_excerpt_stands_in_it(there: Desk) -> None:
    write(there, "run.log", "loss 0.3\n")
    finding = sourced(there, excerpt="loss 0.3")

    write(there, "run.log", "began\nloss 0.3\nended\n")
    assert judged(there, finding) == ("applicable", [])

    write(there, "run.log", "began\nended\n")
    assert judged(there, finding) == ("needs_revalidation", ["the source run.log changed"])


@pytest.mark.parametrize("role", ["contradicts", "context"])
def test_a_source_that_does_not_support_may_change_and_vanish(role: str, there: Desk) -> None:
    write(there, "run.log", "loss 0.3\n")
    finding = sourced(there, role=role)

    write(there, "run.log", "loss 0.4\n")
    assert judged(there, finding) == ("applicable", [])
    (there.cwd / "run.log").unlink()
    assert judged(there, finding) == ("applicable", [])


def test_a_source_that_was_never_there_or_is_not_the_projects_is_not_watched(there: Desk) -> None:
    outside = there.cwd.parent / "outside.log"
    outside.write_text("loss 0.3\n")
    missing, beyond = sourced(there, "none.log"), sourced(there, str(outside))

    outside.unlink()
    write(there, "none.log", "here now\n")

    assert judged(there, missing) == judged(there, beyond) == ("applicable", [])


def test_a_commit_that_history_lost_is_gone(there: Desk) -> None:
    git(there.cwd, "add", "-A")
    git(there.cwd, "commit", "-q", "-m", "An experiment")
    commit = git(there.cwd, "rev-parse", "HEAD")
    piece = {"source_kind": "git_commit", "source_ref": commit[:12], "role": "supports"}
    finding = there.log(scope={"everywhere": True}, evidence=[piece])
    assert judged(there, finding) == ("applicable", [])

    git(there.cwd, "reset", "-q", "--hard", "HEAD~1")
    assert judged(there, finding) == ("applicable", [])  # nothing points to it, and it can be looked at all the same
    git(there.cwd, "reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
    git(there.cwd, "gc", "-q", "--prune=now")

    assert judged(there, finding) == ("needs_revalidation", [f"the source {commit[:12]} is gone"])


def test_a_commit_named_by_a_branch_stays_the_same_commit_when_the_branch_moves(there: Desk) -> None:
    piece = {"source_kind": "git_commit", "source_ref": "main", "role": "supports"}
    finding = there.log(scope={"everywhere": True}, evidence=[piece])

    git(there.cwd, "add", "-A")
    git(there.cwd, "commit", "-q", "-m", "Go on")

    assert judged(there, finding) == ("applicable", [])


# Looking again


def test_a_look_that_held_ties_the_claim_to_todays_code_until_that_changes(there: Desk) -> None:
    finding = there.log(scope={"paths": ["engine.py"]})
    write(there, "engine.py", "speed = 4\n")
    assert judged(there, finding) == ("needs_revalidation", ["engine.py changed"])

    revalidate(there, finding)
    assert judged(there, finding) == ("applicable", [])

    write(there, "engine.py", "speed = 5\n")
    assert judged(there, finding) == ("needs_revalidation", ["engine.py changed"])
    write(there, "engine.py", "speed = 4\n")
    assert judged(there, finding) == ("applicable", [])


@pytest.mark.parametrize("outcome", ["failed", "inconclusive"])
def test_a_look_that_did_not_hold_ties_it_to_nothing_new(outcome: str, there: Desk) -> None:
    finding = there.log(scope={"paths": ["engine.py"]})
    write(there, "engine.py", "speed = 4\n")

    revalidate(there, finding, outcome)

    assert judged(there, finding) == ("needs_revalidation", ["engine.py changed"])


def test_a_refutation_with_new_evidence_is_known_by_todays_code(there: Desk) -> None:
    finding = there.log(scope={"paths": ["engine.py"]}, evidence=[FOR], epistemic_state="supported")
    write(there, "engine.py", "speed = 4\n")

    again(there).run("refute_finding", finding_id=finding, reason="measured", evidence=[AGAINST])

    assert judged(there, finding) == ("applicable", [])
    write(there, "engine.py", "speed = 5\n")
    assert judged(there, finding) == ("needs_revalidation", ["engine.py changed"])


def test_a_refutation_without_new_evidence_looked_at_no_code(there: Desk) -> None:
    finding = there.log(scope={"paths": ["engine.py"]}, evidence=[FOR, AGAINST])
    write(there, "engine.py", "speed = 4\n")

    again(there).run("refute_finding", finding_id=finding, reason="weighed")

    assert judged(there, finding) == ("needs_revalidation", ["engine.py changed"])


def test_what_a_refutation_saw_says_nothing_for_the_claim_once_it_is_open_again(there: Desk) -> None:
    finding = there.log(scope={"paths": ["engine.py"]}, evidence=[FOR], epistemic_state="supported")
    write(there, "engine.py", "speed = 4\n")
    again(there).run("refute_finding", finding_id=finding, reason="measured", evidence=[AGAINST])

    again(there).run("set_finding_state", finding_id=finding, epistemic_state="contested", reason="doubt")

    assert judged(there, finding) == ("needs_revalidation", ["engine.py changed"])


def test_a_refutation_stands_although_the_quoted_piece_is_gone(there: Desk) -> None:
    finding = there.log(scope=QUOTING, evidence=[FOR])
    write(there, "step.py", "nothing of it\n")

    again(there).run("refute_finding", finding_id=finding, reason="measured", evidence=[AGAINST])

    assert again(there).get(finding)["epistemic_state"] == "refuted"
    assert judged(there, finding) == ("needs_revalidation", ["the quoted piece of step.py is gone"])
