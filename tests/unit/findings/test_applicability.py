from collections.abc import Mapping
from typing import Any

import pytest

from upheld.findings.applicability import ORDER, is_version_like, judge, judge_best, matches
from upheld.findings.model import APPLICABILITIES, KnownContext, Scope

NOWHERE = KnownContext({}, {})
COMMIT = "0862527a0862527a0862527a0862527a0862527a"


def scope(**parts: Any) -> Scope:
    given: dict[str, Any] = {"match": {}, "context": {}, "revalidate_on": None, "paths": (), "everywhere": False}
    return Scope(**{**given, **parts})


def judged(
    where: Scope,
    facts: Mapping[str, str | None],
    *,
    before: Mapping[str, str | None] | None = None,
    anchor: Mapping[str, str] | None = None,
    code: Mapping[str, str | None] | None = None,
) -> str:
    return judge(where, facts, KnownContext(before or {}, anchor or {}), code or {}).applicability


def test_the_order_of_ranking_is_the_order_of_the_vocabulary() -> None:
    assert sorted(ORDER, key=ORDER.__getitem__) == list(APPLICABILITIES)


@pytest.mark.parametrize(
    ("parts", "facts", "expected"),
    [
        # Identity-like names: elsewhere it is another matter.
        ({"match": {"backend": "nccl"}}, {"backend": "nccl"}, "applicable"),
        ({"match": {"backend": "nccl"}}, {"backend": "gloo"}, "incompatible"),
        ({"match": {"backend": "nccl"}}, {"backend": None}, "unknown"),
        ({"match": {"backend": "nccl"}}, {}, "unknown"),
        ({"match": {"os": "linux"}}, {"os": "macos"}, "incompatible"),
        # Version-like names: another version asks for a new check.
        ({"match": {"dep.torch": "2.1"}}, {"dep.torch": "2.2"}, "needs_revalidation"),
        ({"match": {"dep.torch": "2.1"}}, {}, "needs_revalidation"),
        ({"match": {"dep.torch": "2.1"}}, {"dep.torch": "2.1"}, "applicable"),
        ({"match": {"git.branch": "main"}}, {"git.branch": "topic"}, "needs_revalidation"),
        ({"match": {"python": "3.11"}}, {"python": "3.12"}, "needs_revalidation"),
        ({"match": {"cuda.version": "12"}}, {"cuda.version": "13"}, "needs_revalidation"),
        # What is given replaces the defaults.
        ({"match": {"dep.torch": "2.1"}, "revalidate_on": ()}, {"dep.torch": "2.2"}, "incompatible"),
        ({"match": {"dep.torch": "2.1"}, "revalidate_on": ()}, {}, "unknown"),
        ({"match": {"backend": "nccl"}, "revalidate_on": ("backend",)}, {"backend": "gloo"}, "needs_revalidation"),
        ({"match": {"backend": "nccl"}, "revalidate_on": ("backend",)}, {}, "needs_revalidation"),
        # Context only says how much to trust it.
        ({"context": {"gpu": "a100"}}, {"gpu": "a100"}, "applicable"),
        ({"context": {"gpu": "a100"}}, {"gpu": "h100"}, "conditional"),
        ({"context": {"gpu": "a100"}}, {}, "conditional"),
        ({"context": {"dep.torch": "2.1"}}, {"dep.torch": "2.2"}, "needs_revalidation"),
        # The first rule that fits.
        ({"match": {"backend": "nccl", "dep.torch": "2.1"}}, {"backend": "gloo"}, "incompatible"),
        ({"match": {"backend": "nccl", "dep.torch": "2.1"}}, {"dep.torch": "3"}, "needs_revalidation"),
        ({"match": {"backend": "nccl"}, "context": {"gpu": "a100"}}, {}, "unknown"),
        ({"match": {"backend": "nccl"}, "context": {"gpu": "a100"}}, {"backend": "nccl"}, "conditional"),
        # Values: lists are any of, globs stay between slashes, spaces around do not count.
        ({"match": {"backend": ("nccl", "gloo")}}, {"backend": "gloo"}, "applicable"),
        ({"match": {"backend": ("nccl", "gloo")}}, {"backend": "mpi"}, "incompatible"),
        ({"match": {"backend": " nccl "}}, {"backend": "nccl\n"}, "applicable"),
        ({"match": {"branch.kind": "release/*"}}, {"branch.kind": "release/1"}, "applicable"),
        ({"match": {"branch.kind": "release/*"}}, {"branch.kind": "release/1/x"}, "incompatible"),
        # Commit ids may be short, from seven digits on.
        ({"match": {"git.commit": COMMIT[:7]}}, {"git.commit": COMMIT}, "applicable"),
        ({"match": {"git.commit": COMMIT[:7].upper()}}, {"git.commit": COMMIT}, "applicable"),
        ({"match": {"git.commit": COMMIT[:6]}}, {"git.commit": COMMIT}, "needs_revalidation"),
        ({"match": {"git.commit": "f" * 40}}, {"git.commit": COMMIT}, "needs_revalidation"),
        # Saying nothing is not saying "everywhere".
        ({}, {"backend": "nccl"}, "unknown"),
        ({"everywhere": True}, {}, "applicable"),
        ({"everywhere": True, "match": {"os": "linux"}}, {"os": "macos"}, "incompatible"),
    ],
)
def test_the_first_rule_that_fits_decides(parts: dict[str, Any], facts: dict[str, str | None], expected: str) -> None:
    assert judged(scope(**parts), facts) == expected


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        ({"torch": "2.1"}, {"torch": "2.1"}, "applicable"),
        ({"torch": "2.1"}, {"torch": "2.2"}, "needs_revalidation"),
        ({"torch": "2.1"}, {}, "needs_revalidation"),
        ({"torch": None}, {"torch": "2.1"}, "needs_revalidation"),
        ({}, {"torch": "2.1"}, "needs_revalidation"),
    ],
)
def test_a_name_that_only_asks_for_revalidation_is_compared_with_the_facts_at_writing(
    before: dict[str, str | None], now: dict[str, str | None], expected: str
) -> None:
    assert judged(scope(revalidate_on=("torch",)), now, before=before) == expected


@pytest.mark.parametrize(
    ("anchor", "code", "expected"),
    [
        ({"a.py": "1"}, {"a.py": "1"}, "applicable"),
        ({"a.py": "1"}, {"a.py": "2"}, "needs_revalidation"),
        ({"a.py": "1"}, {"a.py": None}, "needs_revalidation"),
        ({}, {"a.py": "1"}, "needs_revalidation"),
    ],
)
def test_changed_or_unreadable_code_asks_for_a_new_check(
    anchor: dict[str, str], code: dict[str, str | None], expected: str
) -> None:
    assert judged(scope(paths=("a.py",)), {}, anchor=anchor, code=code) == expected


@pytest.mark.parametrize("part", ["match", "context"])
def test_an_anchor_stands_in_for_commit_and_branch(part: str) -> None:
    anchored = scope(paths=("a.py",), **{part: {"git.commit": COMMIT, "git.branch": "main"}})
    elsewhere = {"git.commit": "f" * 40, "git.branch": "topic"}
    assert judged(anchored, elsewhere, anchor={"a.py": "1"}, code={"a.py": "1"}) == "applicable"
    asked = scope(paths=("a.py",), revalidate_on=("git.commit", "paths"))
    assert judged(asked, elsewhere, anchor={"a.py": "1"}, code={"a.py": "1"}) == "applicable"
    assert judged(asked, elsewhere, anchor={"a.py": "1"}, code={"a.py": "2"}) == "needs_revalidation"


def test_an_identity_elsewhere_outranks_changed_code() -> None:
    where = scope(paths=("a.py",), match={"os": "linux"})
    assert judged(where, {"os": "macos"}, anchor={"a.py": "1"}, code={"a.py": "2"}) == "incompatible"


def test_every_condition_is_named_with_the_values_compared() -> None:
    judgement = judge(
        scope(match={"os": "linux", "gpu": ("a100", "h100")}, context={"node": "n1"}),
        {"os": "macos", "node": None},
        NOWHERE,
        {},
    )
    assert [condition.as_data() for condition in judgement.conditions] == [
        {"key": "os", "part": "match", "outcome": "mismatch", "wanted": "linux", "found": "macos"},
        {"key": "gpu", "part": "match", "outcome": "unknown", "wanted": "a100 or h100", "found": None},
        {"key": "node", "part": "context", "outcome": "unknown", "wanted": "n1", "found": None},
    ]
    assert [condition.key for condition in judgement.deciding] == ["os"]


def test_a_finding_is_as_applicable_as_the_best_of_its_known_contexts() -> None:
    where = scope(revalidate_on=("torch",))
    known = [KnownContext({"torch": "2.1"}, {}), KnownContext({"torch": "2.2"}, {})]
    assert judge_best(where, {"torch": "2.2"}, known, {}).applicability == "applicable"
    assert judge_best(where, {"torch": "2.3"}, known, {}).applicability == "needs_revalidation"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("git.commit", True),
        ("git.branch", True),
        ("dep.numpy", True),
        ("python", True),
        ("node.version", True),
        ("backend", False),
        ("os", False),
        ("gpu", False),
        ("session", False),
        ("dtype", False),
    ],
)
def test_which_names_ask_for_a_new_check_by_default(name: str, expected: bool) -> None:
    assert is_version_like(name) is expected


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("", "", True),
        ("a", "", False),
        ("", "a", False),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("*", "", True),
        ("*", "a/b", False),
        ("*/*", "a/b", True),
        ("a*b*c", "axxbyybzzc", True),
        ("a*b*c", "axxbyybzz", False),
        ("*.py", "x/y.py", False),
        ("**", "a/b", False),
        ("[a]", "a", False),
    ],
)
def test_a_glob_stays_between_slashes(pattern: str, text: str, expected: bool) -> None:
    assert matches(pattern, text) is expected


def test_a_glob_of_many_stars_ends_quickly() -> None:
    assert not matches("*a" * 200 + "b", "a" * 5000)
