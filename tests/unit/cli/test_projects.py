"""Projects put in order from the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from support.hook import Hook, make_hook
from support.terminal import run_as_person

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path


@pytest.fixture
def hook(tmp_path: Path) -> Hook:
    return make_hook(tmp_path)


def person(hook: Hook, *line: str, cwd: Path | None = None, types: str = "") -> subprocess.CompletedProcess[bytes]:
    return run_as_person(line, cwd=str(cwd or hook.repository), environ=hook.environ, types=types)


def data(done: subprocess.CompletedProcess[bytes]) -> Any:
    return json.loads(done.stdout)["data"]


def make_other(hook: Hook) -> Path:
    other = hook.repository.parent / "other"
    other.mkdir()
    log = ("log", "Of the other", "--claim-kind", "observation", "--everywhere")
    assert person(hook, *log, cwd=other).returncode == 0
    return other


def test_projects_are_listed_with_the_one_here(hook: Hook) -> None:
    assert person(hook, "project", "list").stdout == b"No projects.\n"
    hook.log()
    make_other(hook)
    here, other = data(person(hook, "project", "list", "--json"))["projects"]
    assert (here["findings"], here["here"], other["here"]) == (1, True, False)
    assert b"(here)" in person(hook, "project", "list").stdout.splitlines()[0]


def test_a_project_is_renamed_by_uid_or_name(hook: Hook) -> None:
    hook.log()
    (before,) = data(person(hook, "project", "list", "--json"))["projects"]
    assert person(hook, "project", "rename", before["uid"][:8], "engine").returncode == 0
    assert person(hook, "project", "rename", "engine", "motor").returncode == 0
    assert data(person(hook, "project", "show", "--json"))["project"]["name"] == "motor"
    for wrong in ("", " ", "x" * 101, "a\x1bb"):
        refused = person(hook, "project", "rename", "motor", wrong)
        assert refused.returncode == 1
        assert b"name is no name" in refused.stderr
    assert person(hook, "project", "rename", "nobody", "x").returncode == 1


def test_a_clone_is_joined_to_another_project_and_reads_its_findings(hook: Hook) -> None:
    hook.log("Of the first")
    other = make_other(hook)
    refused = person(hook, "project", "link", "other", types="n\n")
    assert refused.returncode == 1
    assert person(hook, "project", "link", "other", types="y\n").returncode == 0
    assert b"Of the other" in person(hook, "query").stdout
    assert b"Of the other" in person(hook, "query", cwd=other).stdout
    again = person(hook, "project", "link", "other", "--yes")
    assert b"is the project here already" in again.stderr


def test_two_projects_of_one_name_are_told_apart_by_uid(hook: Hook) -> None:
    hook.log()
    make_other(hook)
    for one in data(person(hook, "project", "list", "--json"))["projects"]:
        assert person(hook, "project", "rename", one["uid"], "twin").returncode == 0
    assert b"is the name of 2 projects" in person(hook, "project", "forget", "twin", "--yes").stderr


def test_only_a_project_without_findings_is_forgotten(hook: Hook) -> None:
    hook.log()
    make_other(hook)
    kept = person(hook, "project", "forget", "other", "--yes")
    assert b"still holds 1 finding." in kept.stderr
    assert len(data(person(hook, "project", "list", "--json"))["projects"]) == 2


def test_an_agent_may_list_and_nothing_else(hook: Hook) -> None:
    hook.log()
    environ = hook.environ | {"CODEX_SANDBOX": "1"}
    for line in (["rename", "x", "y"], ["link", "x", "--yes"], ["forget", "x", "--yes"]):
        refused = run_as_person(["project", *line], cwd=str(hook.repository), environ=environ)
        assert refused.returncode == 1
        assert b"is for people" in refused.stderr
    assert run_as_person(["project", "list"], cwd=str(hook.repository), environ=environ).returncode == 0
