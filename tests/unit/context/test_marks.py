import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from upheld.context.marks import ABSENT, PRESENT, REFUSED, read_declared_id, read_marks, read_root_commits


def test_a_repository_with_one_commit(place: Any) -> None:
    repo = place.init("repo", remote="git@github.com:a/b.git")
    marks = place.marks(repo)
    assert marks.state == PRESENT
    assert (marks.root, marks.common_dir, marks.git_dir) == (str(repo), f"{repo}/.git", f"{repo}/.git")
    assert (marks.branch, marks.commit) == ("main", place.git(repo, "rev-parse", "HEAD"))
    assert dict(marks.remotes) == {"origin": "git@github.com:a/b.git"}
    assert not marks.bare
    assert not marks.shallow
    assert read_root_commits(marks, environ=place.environ, deadline_ms=20_000) == (marks.commit,)


def test_before_the_first_commit_branch_and_commit_are_unknown(place: Any) -> None:
    marks = place.marks(place.init("repo", commits=0))
    assert (marks.state, marks.branch, marks.commit) == (PRESENT, None, None)
    assert read_root_commits(marks, environ=place.environ) == ()


def test_a_file_named_head_does_not_stand_for_a_commit(place: Any) -> None:
    repo = place.init("repo", commits=0)
    (repo / "HEAD").write_text("x")
    assert place.marks(repo).commit is None


def test_a_detached_head_has_a_commit_and_no_branch(place: Any) -> None:
    repo = place.init("repo")
    place.git(repo, "checkout", "-q", "--detach")
    marks = place.marks(repo)
    assert marks.branch is None
    assert marks.commit == place.git(repo, "rev-parse", "HEAD")


def test_a_subdirectory_and_a_link_to_it_have_the_marks_of_the_top(place: Any) -> None:
    repo = place.init("repo")
    (repo / "a/b").mkdir(parents=True)
    (place.top / "link").symlink_to(repo / "a/b")
    for where in (repo / "a/b", place.top / "link"):
        marks = place.marks(where)
        assert (marks.root, marks.place) == (str(repo), f"{repo}/.git")


def test_a_worktree_shares_the_common_directory_and_has_its_own_root(place: Any) -> None:
    repo = place.init("repo")
    place.git(repo, "worktree", "add", "-q", "-b", "other", str(place.top / "tree"))
    main, linked = place.marks(repo), place.marks(place.top / "tree")
    assert linked.place == main.place
    assert linked.file_id == main.file_id
    assert (linked.root, linked.branch) == (str(place.top / "tree"), "other")
    assert place.marks(Path(linked.git_dir)).root == str(place.top / "tree")


def test_inside_the_git_directory_the_root_is_the_work_tree(place: Any) -> None:
    repo = place.init("repo")
    marks = place.marks(repo / ".git/refs")
    assert (marks.state, marks.root, marks.place) == (PRESENT, str(repo), f"{repo}/.git")


def test_a_bare_repository_is_its_own_root(place: Any) -> None:
    bare = place.clone(place.init("repo"), "bare.git", "--bare")
    for where in (bare, bare / "refs"):
        marks = place.marks(where)
        assert (marks.state, marks.bare, marks.root, marks.place) == (PRESENT, True, str(bare), str(bare))


def test_a_shallow_clone_gives_no_root_commit(place: Any) -> None:
    source = place.init("repo", commits=3)
    marks = place.marks(place.clone(f"file://{source}", "shallow", "--depth=1"))
    assert marks.shallow
    assert read_root_commits(marks, environ=place.environ) == ()


@pytest.mark.parametrize("name", ["with space", "项目 甲", "new\nline", "trailing\n", 'quo"te', "-dash"])
def test_any_name_of_a_directory_works(place: Any, name: str) -> None:
    repo = place.init(name)
    (repo / "sub").mkdir()
    marks = place.marks(repo / "sub")
    assert (marks.root, marks.place, marks.branch) == (str(repo), f"{repo}/.git", "main")


def test_a_directory_whose_name_is_no_text_works(place: Any) -> None:
    name = os.fsdecode(b"caf\xe9")
    marks = place.marks(place.init(name))
    assert marks.root.endswith(name)
    assert marks.place.encode().endswith(b"caf\\xe9/.git")


def test_without_a_repository_the_directory_itself_is_the_root(tmp_path: Path) -> None:
    marks = read_marks(str(tmp_path), environ={"PATH": os.environ["PATH"]}, deadline_ms=20_000)
    assert (marks.state, marks.root, marks.place) == (ABSENT, str(tmp_path), str(tmp_path))
    assert marks.file_id


def test_without_a_repository_the_nearest_project_file_makes_the_root(tmp_path: Path) -> None:
    (tmp_path / "a/b/c").mkdir(parents=True)
    (tmp_path / "a/.upheld").mkdir()
    (tmp_path / "a/.upheld/project.toml").write_text('id = "x-1"\n')
    marks = read_marks(str(tmp_path / "a/b/c"), environ={"PATH": os.environ["PATH"]}, deadline_ms=20_000)
    assert (marks.root, marks.declared_id) == (str(tmp_path / "a"), "x-1")


def test_without_a_git_program_a_repository_keeps_its_place(place: Any) -> None:
    repo = place.init("repo")
    place.git(repo, "worktree", "add", "-q", str(place.top / "tree"))
    (repo / "sub").mkdir()
    with_git = place.marks(repo)
    for where, root in ((repo / "sub", repo), (place.top / "tree", place.top / "tree")):
        marks = read_marks(str(where), environ={"PATH": ""})
        assert (marks.state, marks.root) == (ABSENT, str(root))
        assert (marks.place, marks.file_id) == (with_git.place, with_git.file_id)
        assert (marks.branch, marks.commit) == (None, None)


def test_a_hanging_git_leaves_the_identity_unknown(place: Any, script: Callable[[str], dict[str, str]]) -> None:
    repo = place.init("repo")
    marks = read_marks(str(repo), environ=script("sleep 300"), deadline_ms=500)
    assert (marks.state, marks.problem) == (REFUSED, "git did not answer in time")


def test_the_words_of_dubious_ownership_are_a_refusal(place: Any, script: Callable[[str], dict[str, str]]) -> None:
    repo = place.init("repo")
    environ = script(f"echo \"fatal: detected dubious ownership in repository at '{repo}'\" >&2; exit 128")
    marks = read_marks(str(repo), environ=environ, deadline_ms=20_000)
    assert marks.state == REFUSED
    assert str(repo) not in marks.problem


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a repository to another user")
def test_a_repository_of_another_user_is_a_refusal_until_it_is_trusted(place: Any) -> None:
    repo = place.init("repo")
    for path in [repo, *repo.rglob("*")]:
        os.chown(path, 12345, 12345)
    assert place.marks(repo).state == REFUSED
    assert read_marks(str(repo), environ={"PATH": ""}).state == REFUSED
    place.git(place.top, "config", "--global", "--add", "safe.directory", str(repo))
    assert place.marks(repo).state == PRESENT


@pytest.mark.parametrize("damage", ["head", "pointer"])
def test_a_broken_repository_is_a_refusal_and_not_its_path(place: Any, damage: str) -> None:
    repo = place.init("repo")
    if damage == "head":
        (repo / ".git/HEAD").unlink()
    else:
        shutil.rmtree(repo / ".git")
        (repo / ".git").write_text("gitdir: /nowhere\n")
    (repo / "sub").mkdir()
    assert place.marks(repo / "sub").state == REFUSED


def test_a_directory_that_is_gone_is_a_refusal(place: Any) -> None:
    assert place.marks(place.top / "gone").state == REFUSED


def test_asking_changes_nothing_in_the_repository(place: Any) -> None:
    repo = place.init("repo")
    os.utime(repo / "file.txt", (1, 1))
    before = {p: p.stat().st_mtime_ns for p in repo.rglob("*")}
    place.marks(repo)
    assert {p: p.stat().st_mtime_ns for p in repo.rglob("*")} == before


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('id = "a.b-C_1"', "a.b-C_1"),
        ("  id='x'  # mine", "x"),
        ('name = "n"\nid = "x"\n', "x"),
        ('[other]\nid = "x"', None),
        ('id = "a/b"', None),
        ('id = "' + "a" * 65 + '"', None),
        ('id = ""', None),
        ("id = 5", None),
        ('id = "x" y', None),
        ('id = "x', None),
        ("", None),
    ],
)
def test_the_declared_id_is_one_plain_line(tmp_path: Path, text: str, expected: str | None) -> None:
    (tmp_path / ".upheld").mkdir()
    (tmp_path / ".upheld/project.toml").write_text(text)
    assert read_declared_id(str(tmp_path)) == expected


def test_a_project_file_that_leaves_the_project_or_hangs_or_is_huge_declares_nothing(tmp_path: Path) -> None:
    (tmp_path / "outside.toml").write_text('id = "x"')
    for make in (
        lambda path: path.symlink_to(tmp_path / "outside.toml"),
        os.mkfifo,
        lambda path: path.write_text('id = "x"\n' + "#" * 70_000),
        lambda path: path.mkdir(),
    ):
        root = tmp_path / "root"
        (root / ".upheld").mkdir(parents=True)
        make(root / ".upheld/project.toml")
        assert read_declared_id(str(root)) is None
        shutil.rmtree(root)


@pytest.mark.parametrize("cwd", ["/x\0", "/\ud800", "/nowhere/at/all"])
def test_a_directory_that_can_not_be_is_no_identity(cwd: str) -> None:
    assert read_marks(cwd, environ=os.environ).state == REFUSED
