import os
import shutil
import time
from typing import Any

import pytest

from upheld.context.code import CodeState, read_code
from upheld.context.globs import check_pattern
from upheld.errors import InvalidArgumentError

GIT = [pytest.param(True, id="with git"), pytest.param(False, id="without git")]


class Tree:
    """A project whose code is read before and after a change."""

    def __init__(self, place: Any, *, git: bool) -> None:
        self.place = place
        self.git = git
        self.root = place.init("project") if git else place.top / "project"
        self.root.mkdir(exist_ok=True)
        for name in ("src/a.py", "src/b.txt", "src/deep/c.py", "other.py"):
            self.write(name, f"content of {name}\n")

    def write(self, name: str, text: str | bytes) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)

    def state(self, pattern: str) -> CodeState:
        return self.states(pattern)[pattern]

    def states(self, *patterns: str) -> dict[str, CodeState]:
        return read_code(str(self.root), patterns, git=self.git, environ=self.place.environ, deadline_ms=30_000)


@pytest.fixture(params=GIT)
def tree(request: pytest.FixtureRequest, place: Any) -> Tree:
    return Tree(place, git=request.param)


@pytest.mark.parametrize(
    ("pattern", "files"),
    [
        ("src/a.py", 1),
        ("src/*.py", 1),
        ("src/**/*.py", 2),
        ("**/*.py", 3),
        ("src", 3),
        ("src/**", 3),
        ("src/?.txt", 1),
        ("src/[!a].txt", 1),
        ("*.py", 1),
        ("nothing/*", 0),
        ("nothing", 0),
    ],
)
def test_a_pattern_names_the_files_that_git_would(tree: Tree, pattern: str, files: int) -> None:
    state = tree.state(pattern)
    assert (state.files, state.problem) == (files, "")
    assert state.digest is not None


@pytest.mark.parametrize("pattern", ["src/a.py", "src/*.py", "src/**", "src"])
def test_an_edit_is_a_change_and_taking_it_back_is_none(tree: Tree, pattern: str) -> None:
    before = tree.state(pattern)
    tree.write("src/a.py", "edited")
    assert tree.state(pattern).digest != before.digest
    tree.write("src/a.py", "content of src/a.py\n")
    assert tree.state(pattern) == before


@pytest.mark.parametrize("pattern", ["src/a.py", "src/*.py", "src"])
def test_a_file_that_vanishes_is_a_change(tree: Tree, pattern: str) -> None:
    before = tree.state(pattern)
    (tree.root / "src/a.py").unlink()
    after = tree.state(pattern)
    assert after.digest not in {None, before.digest}
    assert after.files == before.files - 1


@pytest.mark.parametrize("pattern", ["src/new.py", "src/*.py", "src"])
def test_a_new_matching_file_is_a_change_and_another_is_none(tree: Tree, pattern: str) -> None:
    before = tree.state(pattern)
    tree.write("elsewhere/new.py", "x")
    assert tree.state(pattern) == before
    tree.write("src/new.py", "")
    assert tree.state(pattern).digest != before.digest


def test_a_renamed_file_is_a_change(tree: Tree) -> None:
    before = tree.state("src/*.py")
    (tree.root / "src/a.py").rename(tree.root / "src/z.py")
    assert tree.state("src/*.py").digest != before.digest


def test_line_ends_of_text_do_not_count_and_of_binary_data_do(tree: Tree) -> None:
    tree.write("src/a.py", "one\ntwo\n")
    tree.write("src/data", b"\0one\n")
    text, data = tree.state("src/a.py"), tree.state("src/data")
    tree.write("src/a.py", "one\r\ntwo\r\n")
    tree.write("src/data", b"\0one\r\n")
    assert tree.state("src/a.py") == text
    assert tree.state("src/data") != data


def test_several_patterns_each_get_their_own_state(tree: Tree) -> None:
    states = tree.states("src/*.py", "other.py", "src/*.py", "**/*.txt")
    assert list(states) == ["src/*.py", "other.py", "**/*.txt"]
    assert len({state.digest for state in states.values()}) == 3
    tree.write("other.py", "edited")
    after = tree.states("src/*.py", "other.py", "**/*.txt")
    assert [after[p] == states[p] for p in states] == [True, False, True]


def test_any_number_of_single_files_is_read_but_only_sixteen_patterns_are_walked(tree: Tree) -> None:
    assert all(state.problem == "" for state in tree.states(*(f"src/{n}" for n in range(40))).values())
    states = tree.states(*(f"src/{n}*" for n in range(18)))
    assert [state.problem != "" for state in states.values()] == [False] * 16 + [True] * 2


@pytest.mark.parametrize("pattern", ["link.py", "link/secret", "outside"])
def test_a_literal_path_that_leaves_the_project_is_refused(tree: Tree, pattern: str) -> None:
    outside = tree.place.top / "outside"
    outside.mkdir()
    (outside / "secret").write_text("x")
    (tree.root / "link.py").symlink_to(outside / "secret")
    (tree.root / "link").symlink_to(outside)
    (tree.root / "outside").symlink_to(outside)
    assert tree.state(pattern) == CodeState(None, 0, "leaves the project")


def test_what_stands_outside_the_project_has_no_effect(tree: Tree) -> None:
    secret = tree.place.top / "secret"
    secret.write_text("x")
    (tree.root / "src/link.py").symlink_to(secret)
    (tree.root / "src/away").symlink_to(tree.place.top)
    before = tree.states("src/*", "src/**", "**/*.py")
    secret.write_text("y")
    (tree.place.top / "more.py").write_text("z")
    assert tree.states("src/*", "src/**", "**/*.py") == before
    assert all(state.problem == "" for state in before.values())


def test_a_link_inside_the_project_counts_with_what_it_leads_to(tree: Tree) -> None:
    (tree.root / "src/link.py").symlink_to("../other.py")
    (tree.root / "lib").symlink_to("src")
    before = tree.states("src/link.py", "src/l*.py", "lib")
    tree.write("other.py", "edited")
    after = tree.states("src/link.py", "src/l*.py", "lib")
    assert all(before[p].digest != after[p].digest for p in before)


def test_a_pipe_or_a_device_does_not_hang(tree: Tree) -> None:
    os.mkfifo(tree.root / "src/pipe")
    begin = time.monotonic()
    assert tree.state("src/pipe") == CodeState(None, 0, "is no regular file")
    assert tree.state("src/*").files == 2
    assert time.monotonic() - begin < 20


def test_too_many_files_ask_for_a_narrower_pattern(tree: Tree) -> None:
    for number in range(1001):
        tree.write(f"many/{number}.x", "")
    state = tree.state("many/*.x")
    assert state == CodeState(None, 1001, "matches 1,001 files; name the code the claim is about")
    (tree.root / "many/0.x").unlink()
    assert tree.state("many/*.x").files == 1000


@pytest.mark.parametrize("pattern", ["big/*", "big", "big/0"])
def test_too_many_bytes_ask_for_a_narrower_pattern(tree: Tree, pattern: str) -> None:
    for number in range(3):
        path = tree.root / f"big/{number}"
        path.parent.mkdir(exist_ok=True)
        with path.open("wb") as file:
            file.truncate(33 << 20 if pattern == "big/0" else 15 << 20)
    state = tree.state(pattern)
    assert state.digest is None
    assert state.problem == "matches more than 32 MB; name the code the claim is about"


def test_names_with_any_character_are_read(tree: Tree) -> None:
    for name in ("空 格/文.py", "new\nline.py", os.fsdecode(b"caf\xe9.py"), "a=b.py"):
        tree.write(f"odd/{name}", "x")
    assert tree.state("odd/**/*.py").files == 4


def test_a_deadline_that_is_over_gives_a_problem_and_no_digest(tree: Tree) -> None:
    states = read_code(
        str(tree.root), ["src/*.py", "src/a.py"], git=tree.git, environ=tree.place.environ, deadline_ms=-1
    )
    assert all(state.digest is None and state.problem for state in states.values())


def test_ignored_files_count_only_when_they_are_named(place: Any) -> None:
    tree = Tree(place, git=True)
    tree.write(".gitignore", "*.log\n")
    tree.write("src/x.log", "1")
    before, named = tree.state("src/*"), tree.state("src/x.log")
    tree.write("src/x.log", "2")
    assert tree.state("src/*") == before
    assert tree.state("src/x.log") != named


def test_staging_and_committing_change_nothing(place: Any) -> None:
    tree = Tree(place, git=True)
    before = tree.state("src/**")
    place.git(tree.root, "add", "-A")
    assert tree.state("src/**") == before
    place.git(tree.root, "commit", "-q", "-m", "All")
    assert tree.state("src/**") == before


def test_a_conflict_counts_each_file_once(place: Any) -> None:
    tree = Tree(place, git=True)
    place.git(tree.root, "add", "-A")
    place.git(tree.root, "commit", "-q", "-m", "Base")
    for branch in ("one", "two"):
        place.git(tree.root, "checkout", "-q", "-b", branch, "main")
        tree.write("src/a.py", branch)
        place.git(tree.root, "commit", "-q", "-a", "-m", branch)
    with pytest.raises(Exception, match="merge"):
        place.git(tree.root, "merge", "-q", "one")
    assert tree.state("src/*.py").files == 1


def test_another_repository_inside_has_no_effect(place: Any) -> None:
    tree = Tree(place, git=True)
    inner = place.init("project/src/inner")
    before = tree.state("src/**")
    (inner / "file.txt").write_text("edited")
    assert tree.state("src/**") == before


def test_with_and_without_git_the_state_is_the_same(place: Any) -> None:
    tree = Tree(place, git=True)
    patterns = ("src/**", "*.py", "src/a.py", "src", "none/*")
    with_git = tree.states(*patterns)
    shutil.rmtree(tree.root / ".git")
    tree.git = False
    assert tree.states(*patterns) == with_git


@pytest.mark.parametrize(
    "pattern",
    ["", " ", "/etc/passwd", "../x", "a/../b", "./a", "a//b", ":(top)x", ":!x", "~/x", "a\nb", "a\0b", ".git/config",
     "sub/.GIT/x", "x" * 301, "[[:alpha:]]", "\ud83d"],
)  # fmt: skip
def test_a_pattern_that_is_none_is_refused_with_the_right_form(pattern: str) -> None:
    with pytest.raises(InvalidArgumentError, match="src/engine") as caught:
        check_pattern(pattern)
    assert caught.value.argument == "paths"


@pytest.mark.parametrize("pattern", ["a", "src/*.py", "**", "a/**/b", "文/档.md", "a b", "-x", "x:y", ".gitignore"])
def test_a_pattern_from_the_root_is_kept(pattern: str) -> None:
    assert check_pattern(pattern) == pattern
    assert check_pattern(pattern + "/") == pattern
