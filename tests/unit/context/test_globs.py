import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from upheld.context.code import read_code
from upheld.context.globs import Glob

_NAME = st.text(alphabet="abA-]*[é", min_size=1, max_size=3).filter(lambda name: not name.startswith("-"))
_FILES = st.lists(st.lists(_NAME, min_size=1, max_size=4).map("/".join), min_size=1, max_size=12)
_PIECE = st.sampled_from(
    [
        "a",
        "b",
        "A",
        "é",
        "*",
        "**",
        "?",
        "[ab]",
        "[!a]",
        "[^b]",
        "[a-b]",
        "[]a]",
        "[a",
        "\\*",
        "\\",
        "-",
        "]",
        "[-a]",
        "[\\]]",
    ]
)
_PATTERN = st.lists(st.lists(_PIECE, min_size=1, max_size=3).map("".join) | st.just("**"), min_size=1, max_size=4).map(
    "/".join
)


@settings(max_examples=60, deadline=None)
@given(files=_FILES, patterns=st.lists(_PATTERN, min_size=1, max_size=16))
def test_the_walk_finds_what_git_finds(files: list[str], patterns: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = os.path.realpath(folder)
        subprocess.run(["git", "init", "-q", root], check=True, env={"PATH": os.environ["PATH"], "HOME": root})
        for name in files:
            path = Path(root, name)
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("x")
            except (FileExistsError, NotADirectoryError, IsADirectoryError):
                continue
        environ = {"PATH": os.environ["PATH"], "HOME": root}
        with_git, without = (
            read_code(root, patterns, git=git, environ=environ, deadline_ms=60_000) for git in (True, False)
        )
        assert with_git == without
        assert all(state.problem == "" for state in with_git.values())


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("**/a", "a", True),
        ("**/a", "x/y/a", True),
        ("**/a", "xa", False),
        ("x/**/a", "x/a", True),
        ("x/**/a", "x/y/z/a", True),
        ("x/**", "x", False),
        ("x/**", "x/a/b", True),
        ("x**/a", "xy/a", True),
        ("x**/a", "xy/z/a", True),
        ("a*", "a/b", False),
        ("*", "a/b", False),
        ("a?b", "a/b", False),
        ("a[/]b", "a/b", False),
        ("a\\*", "a*", True),
        ("a\\*", "ab", False),
        ("dir", "dir/a/b", True),
    ],
)
def test_stars_and_slashes(pattern: str, path: str, expected: bool) -> None:
    assert Glob(pattern).matches(path) is expected


def test_no_pattern_makes_matching_slow() -> None:
    assert not Glob("*a" * 140 + "b").matches("a" * 250)
    assert not Glob("**/" * 90 + "b").matches("a/" * 120 + "c")
