"""The scripts behind the Makefile: changelog fragments, generated pages, the table of benchmarks."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]


def _load(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location("script_" + Path(path).stem, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "changelog").mkdir()
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n<!-- fragments go below this line -->\n\n## 0.0.1\n")
    return tmp_path


@pytest.mark.parametrize(
    "name",
    ["thing.feature.md", "+thing.md", "+thing.news.md", "+Thing.feature.md", "+a b.misc.md", "+thing.feature.txt"],
)
def test_a_misnamed_fragment_is_refused_by_name(name: str, repository: Path) -> None:
    (repository / "changelog" / name).write_text("Something.\n")
    (problem,) = _load("tools/changelog.py").find_problems(str(repository))
    assert problem.startswith(f"changelog/{name} ")


def test_an_empty_fragment_is_refused(repository: Path) -> None:
    (repository / "changelog" / "+thing.feature.md").write_text(" \n")
    (problem,) = _load("tools/changelog.py").find_problems(str(repository))
    assert "is empty" in problem


def test_a_repository_without_fragments_is_fine(repository: Path) -> None:
    (repository / "changelog").rmdir()
    assert _load("tools/changelog.py").find_problems(str(repository)) == []


def test_assembling_moves_the_fragments_under_a_heading_above_older_ones(repository: Path) -> None:
    for name, text in {
        "+b-thing.feature.md": "B is\nnew.\n",
        "+a.feature.md": "A is new.\n",
        "+c.bugfix.md": "C works.\n",
    }.items():
        (repository / "changelog" / name).write_text(text)
    _load("tools/changelog.py").assemble("0.1.0", "2026-12-01", str(repository))
    assert (repository / "CHANGELOG.md").read_text() == (
        "# Changelog\n\n<!-- fragments go below this line -->\n\n## 0.1.0 (2026-12-01)\n\n"
        "### Added\n\n- A is new.\n- B is new.\n\n### Fixed\n\n- C works.\n\n## 0.0.1\n"
    )
    assert list((repository / "changelog").iterdir()) == []


def test_the_generated_pages_say_what_the_code_says() -> None:
    assert _load("tools/docs.py").find_stale_pages() == []


KEYS = ["name", "value", "unit", "limit", "ratio", "goal", "met"]


def test_a_row_is_met_when_its_ratio_does_not_exceed_its_goal() -> None:
    complete = _load("benchmarks/run.py").complete
    row = {"name": "slice.a", "value": 3.0, "unit": "ms", "limit": 2.0, "goal": 1.5}
    assert complete(row) == {**row, "ratio": 1.5, "met": True}
    assert list(complete(row)) == KEYS
    assert complete({**row, "value": 3.01})["met"] is False


def test_a_row_for_information_has_the_same_keys_and_counts_as_met() -> None:
    row = _load("benchmarks/run.py").complete({"name": "slice.a", "value": 3, "unit": "files"})
    assert list(row) == KEYS
    assert row["met"] is True


@pytest.mark.parametrize("extra", [{"note": "x"}, {"goal": 1.0}])
def test_a_row_that_could_not_be_judged_is_refused(extra: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"slice\.a"):
        _load("benchmarks/run.py").complete({"name": "slice.a", "value": 3, "unit": "ms", **extra})


def test_the_table_shows_a_missed_goal_in_capitals() -> None:
    run = _load("benchmarks/run.py")
    rows = [run.complete({"name": "slice.a", "value": 4.0, "unit": "ms", "limit": 2.0, "goal": 1.5})]
    head, line = run.table(rows).splitlines()
    assert head.split() == KEYS
    assert line.split() == ["slice.a", "4", "ms", "2", "2", "1.5", "NO"]
