"""Ranges of versions, held against what pip and npm themselves use: `packaging`, and npm's `semver` where it is."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from support.node import find_node, require_package
from upheld.context.versions import check_range, in_range, is_range

if TYPE_CHECKING:
    from collections.abc import Iterable

NUMBERS = st.integers(0, 3).map(str)
RELEASES = st.lists(NUMBERS, min_size=1, max_size=4).map(".".join)
SUFFIXES = st.lists(
    st.sampled_from(["a1", "b2", "rc1", "c1", ".alpha", "-beta.2", ".post1", "-1", ".rev2", ".dev0", ".dev3", "+cu12"]),
    max_size=2,
).map("".join)
PYTHON = st.builds(
    lambda epoch, release, suffix: epoch + release + suffix, st.sampled_from(["", "", "1!", "v"]), RELEASES, SUFFIXES
)
OPERATORS = st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "~=", "==="])
SPECIFIERS = st.builds(
    lambda operator, space, version, star: operator + space + version + (star if operator in ("==", "!=") else ""),
    OPERATORS,
    st.sampled_from(["", " "]),
    PYTHON,
    st.sampled_from(["", "", ".*"]),
)
SETS = st.lists(SPECIFIERS, min_size=1, max_size=3).map(",".join)


def by_packaging(wanted: str, version: str) -> bool | None:
    """Return what pip's own rules say; None where they can't read one of the two."""
    try:
        return SpecifierSet(wanted).contains(Version(version), prereleases=True)
    except (InvalidSpecifier, InvalidVersion):
        return None


@given(SETS, PYTHON)
def test_a_python_range_means_what_pip_takes_it_for(wanted: str, version: str) -> None:
    theirs = by_packaging(wanted, version)
    if theirs is not None and "===" in wanted:
        version = str(Version(version))  # it compares texts, and `packaging` has only the normal form of one
    if theirs is not None:
        assert is_range(wanted)
        assert check_range(wanted) == ""
        assert in_range(wanted, version) is theirs


@pytest.mark.parametrize(
    ("wanted", "version", "inside"),
    [
        ("<2", "2a1", False),
        ("<2", "2a1.post1", False),
        ("<2", "2.dev0+cu12", False),
        ("<2", "1.9a1.post1", True),
        ("<2.post1", "2a1.post1", True),
        ("<2.post1", "2.post1.dev0", False),
        (">2", "2.post1", False),
        (">2", "2+cu12", False),
    ],
)
def test_a_strict_bound_leaves_out_what_only_decorates_it(wanted: str, version: str, *, inside: bool) -> None:
    assert in_range(wanted, version) is by_packaging(wanted, version) is inside


@given(st.text(alphabet="0123.*<>=!~^|x-+ab ,v", max_size=16), st.text(alphabet="0123.-+abrc", max_size=8))
def test_any_text_is_read_or_refused_and_never_guessed(wanted: str, version: str) -> None:
    answer = in_range(wanted, version)
    assert answer in (True, False, None)
    if check_range(wanted):
        assert answer is None


CORES = st.lists(NUMBERS, min_size=3, max_size=3).map(".".join)
PRE = st.sampled_from(["", "", "", "-0", "-alpha", "-alpha.1", "-beta.2", "-rc.10", "-1.x"])
NPM = st.builds(lambda core, pre, build: core + pre + build, CORES, PRE, st.sampled_from(["", "+build.5"]))
PARTIAL = st.one_of(NPM, st.sampled_from(["1", "2.x", "1.2", "0", "0.1", "1.*", "3.0.x"]))
SIGNS = st.sampled_from(["^", "~", ">=", "<", ">", "<=", ""])
COMPARATORS = st.builds(lambda sign, wanted: sign + wanted, SIGNS, PARTIAL)
ALTERNATIVES = st.one_of(
    st.lists(COMPARATORS, min_size=1, max_size=3).map(" ".join), st.builds(lambda a, b: f"{a} - {b}", PARTIAL, PARTIAL)
)
RANGES = st.lists(ALTERNATIVES, min_size=1, max_size=3).map(" || ".join)

SCRIPT = """
const semver = require("module").createRequire(process.argv[1] + "/package.json")(process.argv[1]);
const asked = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(asked.map(([range, version]) => {
  try { return new semver.Range(range).test(new semver.SemVer(version)); } catch { return null; }
})));
"""


def by_npm(asked: Iterable[tuple[str, str]]) -> list[bool | None]:
    """Return what npm says of each range and version; None where it can't read one of the two."""
    folder, node = require_package("semver"), find_node()
    assert node
    ran = subprocess.run(
        [node, "-e", SCRIPT, folder], input=json.dumps(list(asked)), capture_output=True, text=True, check=True
    )
    answers: list[bool | None] = json.loads(ran.stdout)
    return answers


@settings(max_examples=30)
@given(st.lists(st.tuples(RANGES, NPM), min_size=1, max_size=80))
def test_an_npm_range_means_what_npm_takes_it_for(asked: list[tuple[str, str]]) -> None:
    asked = [one for one in asked if is_range(one[0]) and by_packaging(*one) is None]
    different = [
        (*one, ours, theirs)
        for one, theirs in zip(asked, by_npm(asked), strict=True)
        if theirs is not None and (ours := in_range(*one)) is not theirs
    ]
    assert different == []
