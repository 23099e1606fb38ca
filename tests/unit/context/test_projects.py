import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from upheld.context import store
from upheld.context.marks import read_marks
from upheld.context.projects import (
    IdentityUnknownError,
    confirm_id,
    ensure_project,
    find_project,
    list_projects,
    project_marks,
)
from upheld.errors import INVALID_ARGUMENT, InvalidArgumentError

URL = "https://github.com/team/engine.git"
FORK = "git@github.com:me/engine.git"
NOW = "2026-11-30T12:00:00Z"


def _confirm(place: Any, where: Path) -> Any:
    marks = place.marks(where)
    return confirm_id(place.db, marks, root_commits=place.roots(marks), now=NOW, new_uid=place.new_uid)


def _declare(where: Path, text: str) -> None:
    (where / ".upheld").mkdir(exist_ok=True)
    (where / ".upheld/project.toml").write_text(f'id = "{text}"\n')


def test_a_place_that_nobody_wrote_for_has_no_project_and_reading_makes_none(place: Any) -> None:
    assert place.find(place.init("repo", remote=URL)) is None
    assert list_projects(place.db) == []


def test_a_project_is_made_once_and_learns_its_marks(place: Any) -> None:
    repo = place.init("repo", remote=URL)
    project = place.ensure(repo)
    before = place.db.total_changes()
    assert place.ensure(repo) == project
    assert place.db.total_changes() == before
    assert project.name == "engine"
    assert [(m.kind, m.value) for m in project_marks(place.db, project)] == [
        ("path", f"{repo}/.git"),
        ("remote", "github.com/team/engine"),
        ("root_commit", place.git(repo, "rev-parse", "HEAD")),
    ]


def test_worktree_subdirectory_and_inside_of_git_are_the_same_project(place: Any) -> None:
    repo = place.init("repo")
    project = place.ensure(repo)
    (repo / "a/b").mkdir(parents=True)
    place.git(repo, "worktree", "add", "-q", str(place.top / "tree"))
    for where in (repo / "a/b", place.top / "tree", repo / ".git"):
        assert place.find(where) == project


def test_a_submodule_is_the_project_of_its_own_remote(place: Any) -> None:
    library, engine = place.init("library"), place.init("engine")
    place.git(engine, "submodule", "add", "-q", str(library), "deps/library")
    place.git(engine, "commit", "-q", "-m", "Add the library")
    standalone = place.clone(library, "standalone")
    outer, inner = place.ensure(engine), place.ensure(engine / "deps/library")
    assert outer != inner
    assert place.ensure(standalone) == inner
    assert place.ensure(library) == inner


def test_a_submodule_with_a_url_is_the_project_of_a_clone_of_that_url(place: Any) -> None:
    library, engine = place.init("library"), place.init("engine", remote=URL)
    place.git(engine, "submodule", "add", "-q", str(library), "lib")
    place.git(engine / "lib", "remote", "set-url", "origin", "https://host/library")
    clone = place.clone(library, "clone", "--depth=1", "--no-local")
    place.git(clone, "remote", "set-url", "origin", "git@host:library.git")
    assert place.ensure(engine / "lib") == place.ensure(clone)
    assert place.ensure(engine) != place.ensure(clone)


def test_a_second_clone_by_url_is_the_same_project_even_if_shallow(place: Any) -> None:
    repo = place.init("repo", remote=URL)
    project = place.ensure(repo)
    second = place.clone(f"file://{repo}", "second", "--depth=1")
    place.git(second, "remote", "set-url", "origin", "git@github.com:team/engine")
    assert place.ensure(second) == project


def test_a_clone_of_a_directory_is_the_project_of_that_directory(place: Any) -> None:
    repo = place.init("repo", remote=URL)
    project = place.ensure(repo)
    assert place.find(place.clone(repo, "second")) == project
    assert place.find(place.clone(f"file://{repo}", "third", "--depth=1")) == project


def test_two_clones_of_a_bare_directory_are_one_project_even_if_shallow(place: Any) -> None:
    bare = place.clone(place.init("repo"), "hub.git", "--bare")
    first = place.clone(f"file://{bare}", "first", "--depth=1")
    second = place.clone(f"file://{bare}", "second", "--depth=1")
    assert place.ensure(first) == place.ensure(second)


def test_a_repository_that_gains_its_first_remote_keeps_its_project(place: Any) -> None:
    repo = place.init("repo")
    project = place.ensure(repo)
    place.git(repo, "remote", "add", "origin", URL)
    assert place.find(repo) == project
    assert place.ensure(repo) == project
    second = place.clone(f"file://{repo}", "second", "--depth=1")
    place.git(second, "remote", "set-url", "origin", URL)
    assert place.find(second) == project


def test_a_clone_of_what_was_pushed_before_the_remote_was_known_is_the_same_project(place: Any) -> None:
    repo = place.init("repo")
    project = place.ensure(repo)
    second = place.clone(f"file://{repo}", "second")
    place.git(second, "remote", "set-url", "origin", URL)
    assert place.ensure(second) == project


@pytest.mark.parametrize("change", [("rename", "origin", "upstream"), ("set-url", "origin", "https://host/new")])
def test_a_repository_that_renames_its_remote_keeps_its_project(place: Any, change: tuple[str, ...]) -> None:
    repo = place.init("repo", remote=URL)
    project = place.ensure(repo)
    place.git(repo, "remote", *change)
    assert place.ensure(repo) == project


def test_after_a_rename_clones_of_the_old_and_of_the_new_url_are_the_same_project(place: Any) -> None:
    repo = place.init("repo", remote=URL)
    project = place.ensure(repo)
    place.git(repo, "remote", "set-url", "origin", "https://host/new")
    place.ensure(repo)
    for name, url in (("old", URL), ("new", "https://host/new")):
        clone = place.clone(f"file://{repo}", name, "--depth=1")
        place.git(clone, "remote", "set-url", "origin", url)
        assert place.find(clone) == project


def test_a_fork_is_another_project_whichever_comes_first(place: Any) -> None:
    repo = place.init("repo", remote=URL)
    fork = place.clone(repo, "fork")
    place.git(fork, "remote", "set-url", "origin", FORK)
    place.git(fork, "remote", "add", "upstream", URL)
    assert place.find(fork) is None
    assert place.ensure(fork) != place.ensure(repo)
    assert [m.value for m in store.find_marks(place.db, place.find(fork).id, "remote")] == ["github.com/me/engine"], (
        "the upstream's URL is not the fork's"
    )


def test_a_fork_cloned_into_the_place_of_the_original_is_another_project(place: Any) -> None:
    repo = place.init("repo", remote=URL)
    keep = place.clone(repo, "keep")
    project = place.ensure(repo)
    shutil.rmtree(repo)
    fork = place.clone(keep, "repo")
    place.git(fork, "remote", "set-url", "origin", FORK)
    assert place.ensure(fork) != project


def test_a_remote_changed_to_that_of_another_project_keeps_the_project_of_the_place(place: Any) -> None:
    engine = place.init("engine", remote=URL)
    other = place.init("other", remote="https://host/other")
    engine_project, other_project = place.ensure(engine), place.ensure(other)
    place.git(other, "remote", "set-url", "origin", URL)
    assert place.ensure(other) == other_project
    assert place.ensure(engine) == engine_project
    assert [m.value for m in store.find_marks(place.db, other_project.id, "remote")] == ["host/other"]


def test_a_place_whose_history_became_that_of_its_new_remote_follows_the_remote(place: Any) -> None:
    engine = place.init("engine", remote=URL)
    other = place.init("other", remote="https://host/other")
    engine_project, _ = place.ensure(engine), place.ensure(other)
    place.git(other, "fetch", "-q", str(engine), "main")
    place.git(other, "reset", "-q", "--hard", "FETCH_HEAD")
    place.git(other, "remote", "set-url", "origin", URL)
    assert place.ensure(other) == engine_project


def test_another_repository_in_the_same_place_is_another_project(place: Any) -> None:
    for remote in ("", URL):
        repo = place.init("repo", remote=remote)
        project = place.ensure(repo)
        shutil.rmtree(repo)
        repo = place.init("repo")
        assert place.find(repo) is None
        assert place.ensure(repo) != project
        shutil.rmtree(repo)


def test_a_moved_or_restored_repository_is_found_by_its_history(place: Any) -> None:
    repo = place.init("repo")
    project = place.ensure(repo)
    repo.rename(place.top / "moved")
    assert place.ensure(place.top / "moved") == project
    shutil.copytree(place.top / "moved", repo, copy_function=shutil.copy)
    os.utime(repo / ".git/description", (1, 1))
    assert place.ensure(repo) == project


def test_two_repositories_from_one_template_are_two_projects(place: Any) -> None:
    template = place.init("template", remote="https://host/template")
    repos = [place.clone(template, name) for name in ("one", "two")]
    for repo in repos:
        place.git(repo, "remote", "set-url", "origin", f"https://host/{repo.name}")
    projects = [place.ensure(repo) for repo in (*repos, template)]
    assert len({project.id for project in projects}) == 3


def test_history_that_several_projects_share_decides_nothing(place: Any) -> None:
    template = place.init("template", remote="https://host/template")
    other = place.clone(template, "other")
    place.git(other, "remote", "set-url", "origin", "https://host/other")
    place.ensure(template)
    place.ensure(other)
    loose = place.clone(template, "loose")
    place.git(loose, "remote", "remove", "origin")
    assert place.find(loose) is None


def test_two_folders_with_one_slug_are_two_projects(place: Any) -> None:
    names = ("项目甲", "测试乙", "foo_bar", "foo-bar", "Foo_bar")
    projects = []
    for name in names:
        where = place.top / "plain" / name
        where.mkdir(parents=True)
        projects.append(place.ensure(where))
    assert len({project.id for project in projects}) == len(names)
    assert [project.name for project in projects] == list(names)


def test_a_repository_below_a_plain_directory_is_not_its_project(place: Any) -> None:
    outer = place.top / "outer"
    outer.mkdir()
    assert place.ensure(outer) != place.ensure(place.init("outer/repo"))


def test_an_id_that_a_repository_claims_binds_only_once_confirmed(place: Any) -> None:
    ours = place.init("ours", remote=URL)
    _declare(ours, "team.engine")
    project = _confirm(place, ours)
    hostile = place.init("hostile", remote="https://host/hostile")
    _declare(hostile, "team.engine")
    assert place.find(hostile) is None
    stranger = place.ensure(hostile)
    assert stranger != project
    assert ("id", "team.engine") not in [(m.kind, m.value) for m in project_marks(place.db, stranger)]
    assert _confirm(place, hostile) == project
    assert place.find(hostile) == project


def test_a_confirmation_holds_for_one_clone_and_one_id(place: Any) -> None:
    ours = place.init("ours", remote=URL)
    _declare(ours, "team.engine")
    project = _confirm(place, ours)
    fork = place.clone(ours, "fork")
    place.git(fork, "remote", "set-url", "origin", FORK)
    _declare(fork, "team.engine")
    assert place.find(fork) is None
    _declare(ours, "another")
    assert place.find(ours) == project, "by its remote"
    place.git(ours, "remote", "set-url", "origin", "https://host/new")
    assert place.find(ours) == project, "by its place"
    assert _confirm(place, fork) == project


def test_a_confirmation_does_not_pass_to_another_repository_in_the_same_place(place: Any) -> None:
    ours = place.init("ours", remote=URL)
    _declare(ours, "team.engine")
    project = _confirm(place, ours)
    shutil.rmtree(ours)
    other = place.init("ours", remote="https://host/other")
    _declare(other, "team.engine")
    assert place.ensure(other) != project


def test_without_git_a_confirmed_id_follows_a_directory(place: Any) -> None:
    one, two = place.top / "one", place.top / "two"
    for where in (one, two):
        where.mkdir()
        _declare(where, "plain")
    assert _confirm(place, one) == _confirm(place, two)
    (one / "sub").mkdir()
    assert place.find(one / "sub") == place.find(two)


def test_confirming_without_a_declared_id_says_what_to_write(place: Any) -> None:
    with pytest.raises(InvalidArgumentError, match=r"project\.toml"):
        _confirm(place, place.init("repo"))


def test_where_git_refuses_nothing_is_found_and_nothing_made(place: Any) -> None:
    repo = place.init("repo", remote=URL)
    place.ensure(repo)
    (repo / ".git/HEAD").unlink()
    marks = place.marks(repo)
    assert find_project(place.db, marks, root_commits=tuple) is None
    with pytest.raises(IdentityUnknownError, match=r"safe\.directory") as caught:
        ensure_project(place.db, marks, root_commits=tuple, now=NOW, new_uid=place.new_uid)
    assert caught.value.code == INVALID_ARGUMENT
    assert str(place.top) not in caught.value.message
    assert len(list_projects(place.db)) == 1


def test_a_process_without_git_finds_the_project_of_the_repository(place: Any) -> None:
    repo = place.init("repo", remote=URL)
    project = place.ensure(repo)
    marks = read_marks(str(repo), environ={"PATH": ""})
    assert find_project(place.db, marks, root_commits=tuple) == project


def test_a_known_place_is_found_without_reading_history(place: Any) -> None:
    for remote in ("", URL):
        repo = place.init("with" if remote else "without", remote=remote)
        project = place.ensure(repo)

        def never() -> tuple[str, ...]:
            raise AssertionError("history was read")

        assert find_project(place.db, place.marks(repo), root_commits=never) == project
        assert (
            ensure_project(place.db, place.marks(repo), root_commits=never, now=NOW, new_uid=place.new_uid) == project
        )
