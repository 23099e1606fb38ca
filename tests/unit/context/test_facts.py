import os
import platform
from pathlib import Path
from typing import Any

import pytest

from upheld.context.declared import read_declared_facts, read_declared_project
from upheld.context.facts import (
    Declarations,
    Fact,
    accept_facts,
    gather_declared,
    parse_variable,
    read_confirmed,
    read_facts,
)
from upheld.context.marks import read_marks
from upheld.context.projects import IdentityUnknownError, confirm_facts

NOW = "2026-11-30T12:00:00Z"


def _values(declared: Declarations) -> dict[str, str | None]:
    return {name: fact.value for name, fact in declared.facts.items()}


def _read(place: Any, where: Path, *names: str, declared: dict[str, Fact] | None = None) -> dict[str, Fact]:
    return read_facts(
        place.marks(where), names, declared=declared or {}, environ=place.environ, host={}, deadline_ms=20_000
    )


def test_only_the_facts_that_were_asked_for_are_read(place: Any) -> None:
    marks = place.marks(place.init("repo"))
    assert list(read_facts(marks, ["os", "x"], declared={}, environ={}, host={})) == ["os", "x"]


def test_branch_commit_and_dirtiness_come_from_git(place: Any) -> None:
    repo = place.init("repo")
    names = ("git.branch", "git.commit", "git.dirty")
    assert _read(place, repo, *names) == {
        "git.branch": Fact("git.branch", "main", "git"),
        "git.commit": Fact("git.commit", place.git(repo, "rev-parse", "HEAD"), "git"),
        "git.dirty": Fact("git.dirty", "false", "git"),
    }
    (repo / "new.txt").write_text("untracked")
    os.utime(repo / "file.txt", (1, 1))
    assert _read(place, repo, "git.dirty")["git.dirty"].value == "false"
    (repo / "file.txt").write_text("edited")
    assert _read(place, repo / ".git", "git.dirty")["git.dirty"].value == "true"


def test_git_facts_are_unknown_without_git_in_a_bare_repository_and_before_a_commit(place: Any) -> None:
    bare = place.clone(place.init("repo"), "bare.git", "--bare")
    plain = place.top / "plain"
    plain.mkdir()
    assert _read(place, bare, "git.dirty")["git.dirty"].value is None
    assert _read(place, place.init("unborn", commits=0), "git.commit")["git.commit"].value is None
    assert _read(place, plain, "git.branch")["git.branch"] == Fact("git.branch", None, "no git here")
    assert _read(place, bare, "git.nonsense")["git.nonsense"].value is None


def test_a_hanging_git_leaves_dirtiness_unknown(place: Any, script: Any) -> None:
    marks = place.marks(place.init("repo"))
    found = read_facts(marks, ["git.dirty"], declared={}, environ=script("sleep 300"), host={}, deadline_ms=300)
    assert found["git.dirty"] == Fact("git.dirty", None, "git did not answer in time")


def test_system_and_host_supply_their_own(place: Any) -> None:
    marks = place.marks(place.init("repo"))
    found = read_facts(
        marks, ["os", "arch", "session", "task"], declared={}, environ={}, host={"session": "s-1", "task": ""}
    )
    assert found["os"].value == {"Linux": "linux", "Darwin": "macos"}[platform.system()]
    assert found["arch"].value in {"x86_64", "arm64", platform.machine()}
    assert found["session"] == Fact("session", "s-1", "host")
    assert found["task"].value is None


@pytest.mark.parametrize(
    ("files", "expected", "source"),
    [
        (
            {".venv/pyvenv.cfg": "home = /x\nversion = 3.12.1\n", ".python-version": "3.11\n"},
            "3.12.1",
            ".venv/pyvenv.cfg",
        ),
        ({".venv/pyvenv.cfg": "version_info = 3.13.0\n"}, "3.13.0", ".venv/pyvenv.cfg"),
        ({".python-version": "# mine\n3.11.4\n3.10\n"}, "3.11.4", ".python-version"),
        ({".python-version": "my-env\n"}, None, ""),
        ({}, None, ""),
    ],
)
def test_python_is_that_of_the_project(place: Any, files: dict[str, str], expected: str | None, source: str) -> None:
    repo = place.init("repo")
    for name, text in files.items():
        (repo / name).parent.mkdir(exist_ok=True)
        (repo / name).write_text(text)
    found = _read(place, repo, "python")["python"]
    assert found.value == expected
    assert expected is None or found.source == source


def test_a_python_version_outside_the_project_is_not_read(place: Any) -> None:
    repo = place.init("repo")
    (place.top / "version").write_text("3.11")
    (repo / ".python-version").symlink_to(place.top / "version")
    assert _read(place, repo, "python")["python"].value is None


def test_a_fact_that_nobody_supplies_is_unknown(place: Any) -> None:
    found = _read(place, place.init("repo"), "backend", "dep.numpy")
    assert found == {
        "backend": Fact("backend", None, "not declared"),
        "dep.numpy": Fact("dep.numpy", None, "no lock file"),
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("backend=cuda", {"backend": "cuda"}),
        (" backend = cuda ; dtype=f16;", {"backend": "cuda", "dtype": "f16"}),
        ("flags=a=b", {"flags": "a=b"}),
        ('{"backend": " cuda ", "dep.x": "1.2"}', {"backend": "cuda", "dep.x": "1.2"}),
        ("gpu=英伟达", {"gpu": "英伟达"}),
    ],
)
def test_the_variable_is_pairs_or_an_object(text: str, expected: dict[str, str]) -> None:
    found = parse_variable(text)
    assert _values(found) == expected
    assert found.problems == ()


@pytest.mark.parametrize(
    "text",
    [
        "backend",
        "=cuda",
        "Backend=cuda",
        "a b=c",
        "backend=",
        "backend=a\x1bb",
        "backend=" + "x" * 201,
        "x" * 65 + "=1",
        "git.branch=main",
        "os=plan9",
        "session=s",
        '{"backend": 5}',
        '{"backend": null}',
        '{"backend": "cuda"',
        '{"": "x"}',
    ],
)
def test_a_bad_piece_is_named_and_not_used(text: str) -> None:
    found = parse_variable(text)
    assert found.facts == {}
    assert len(found.problems) == 1
    assert found.problems[0].isprintable()


def test_a_bad_piece_does_not_take_the_good_ones_along() -> None:
    found = parse_variable("a=1;nonsense;os=x;b=2")
    assert _values(found) == {"a": "1", "b": "2"}
    assert len(found.problems) == 2


def test_facts_are_bounded_in_number() -> None:
    found = accept_facts([(f"f{n}", "x") for n in range(120)], "argument")
    assert len(found.facts) == 100
    assert len(found.problems) == 20


def test_an_argument_beats_the_variable_and_that_the_file(place: Any) -> None:
    file = accept_facts([("a", "file"), ("b", "file"), ("c", "file"), ("python", "3.9")], ".upheld/facts.toml")
    found = gather_declared({"a": "argument"}, environ={"UPHELD_FACTS": "a=variable;b=variable"}, confirmed=file)
    assert [(name, fact.value, fact.source) for name, fact in sorted(found.facts.items())] == [
        ("a", "argument", "argument"),
        ("b", "variable", "UPHELD_FACTS"),
        ("c", "file", ".upheld/facts.toml"),
        ("python", "3.9", ".upheld/facts.toml"),
    ]
    repo = place.init("repo")
    (repo / ".python-version").write_text("3.12")
    assert _read(place, repo, "python", declared=found.facts)["python"].value == "3.9"


def test_no_declaration_reaches_what_the_machine_knows(place: Any) -> None:
    declared = {"git.branch": Fact("git.branch", "fake", "argument"), "os": Fact("os", "fake", "argument")}
    found = _read(place, place.init("repo"), "git.branch", "os", declared=declared)
    assert found["git.branch"].value == "main"
    assert found["os"].value != "fake"


def _declare(repo: Path, text: str) -> None:
    (repo / ".upheld").mkdir(exist_ok=True)
    (repo / ".upheld/facts.toml").write_text(text)


def test_declared_facts_count_from_their_confirmation_until_the_file_changes(place: Any) -> None:
    repo = place.init("repo")
    marks = place.marks(repo)
    assert read_confirmed(place.db, marks).problems == ()
    _declare(repo, 'backend = "cuda"\nlevel = 3\nfast = true\n[dep]\nnumpy = "1.26"\n')
    found = read_confirmed(place.db, marks)
    assert found.facts == {}
    assert "not confirmed" in found.problems[0]
    read = read_declared_facts(marks.root)
    confirm_facts(place.db, marks, digest=read.digest, facts=read.stored, now=NOW)
    assert _values(read_confirmed(place.db, marks)) == {
        "backend": "cuda",
        "level": "3",
        "fast": "true",
        "dep.numpy": "1.26",
    }
    _declare(repo, 'backend = "rocm"\n')
    found = read_confirmed(place.db, marks)
    assert found.facts == {}
    assert "changed" in found.problems[0]


def test_a_confirmation_of_facts_does_not_reach_another_clone(place: Any) -> None:
    repo = place.init("repo")
    other = place.clone(repo, "other")
    for where in (repo, other):
        _declare(where, 'backend = "cuda"\n')
    read = read_declared_facts(str(repo))
    confirm_facts(place.db, place.marks(repo), digest=read.digest, facts=read.stored, now=NOW)
    assert read_confirmed(place.db, place.marks(other)).facts == {}


def test_facts_cannot_be_confirmed_where_git_refuses(place: Any) -> None:
    with pytest.raises(IdentityUnknownError):
        confirm_facts(place.db, place.marks(place.top / "gone"), digest="d", facts="{}", now=NOW)


def test_a_facts_file_that_leaves_the_project_or_hangs_is_unknown_and_says_so(tmp_path: Path, place: Any) -> None:
    (tmp_path / "outside.toml").write_text('a = "b"')
    for kind in ("link", "pipe"):
        root = tmp_path / kind
        (root / ".upheld").mkdir(parents=True)
        if kind == "link":
            (root / ".upheld/facts.toml").symlink_to(tmp_path / "outside.toml")
        else:
            os.mkfifo(root / ".upheld/facts.toml")
        marks = read_marks(str(root), environ=place.environ, deadline_ms=20_000)
        assert len(read_confirmed(place.db, marks).problems) == 1
        assert len(read_declared_facts(str(root)).problems) == 1


@pytest.mark.parametrize("text", ["a =", "\xff", 'os = "x"', "a = [1]", "a = 2026-01-01", 'a = ""'])
def test_what_cannot_be_used_of_a_facts_file_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / ".upheld").mkdir()
    (tmp_path / ".upheld/facts.toml").write_text(text, encoding="latin-1")
    read = read_declared_facts(str(tmp_path))
    assert read.facts == {}
    assert len(read.problems) == 1
    assert read.digest


def test_the_project_file_gives_id_and_name(tmp_path: Path) -> None:
    (tmp_path / ".upheld").mkdir()
    file = tmp_path / ".upheld/project.toml"
    file.write_text('id = "team.engine"\nname = " Engine "\n')
    read = read_declared_project(str(tmp_path))
    assert (read.id, read.name, read.problems) == ("team.engine", "Engine", ())
    file.write_text('id = """\nx"""\nname = 5\n')
    read = read_declared_project(str(tmp_path))
    assert (read.id, read.name, len(read.problems)) == (None, None, 2)
    file.write_text("id = ")
    assert len(read_declared_project(str(tmp_path)).problems) == 1
    file.unlink()
    assert read_declared_project(str(tmp_path)).problems == ()
