"""House rules that no linter knows: each one is read from the repository itself."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "upheld"

# Who may name a table in SQL. Migrations are exempt: they make the tables.
OWNERS = {
    "ledger": "findings/store/",
    "projects": "context/store.py",
    "project_marks": "context/store.py",
    "confirmations": "context/store.py",
    "findings": "findings/store/",
    "evidence": "findings/store/",
    "finding_evidence": "findings/store/",
    "finding_relations": "findings/store/",
    "finding_contexts": "findings/store/",
    "finding_events": "findings/store/",
    "event_texts": "findings/store/",
    "idempotency_keys": "findings/store/",
    "finding_words": "findings/store/",
    "project_words": "findings/store/",
    "phrase_spellings": "findings/store/",
    "finding_texts": "findings/store/",
    "finding_pieces": "findings/store/",
    "rules": "findings/store/",
    "doc_links": "findings/store/",
    "settings": "findings/store/",
    "generations": "findings/store/shown.py",
    "shown": "findings/store/shown.py",
    "touched": "findings/store/shown.py",
    "injections": "findings/store/shown.py",
}


NOT_OURS = {"build", "dist", "node_modules"}


def _pages() -> list[Path]:
    """Every Markdown page of the repository. Walked, not asked of git: an exported tree is checked as well."""
    pages = []
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in NOT_OURS and not name.startswith(".")]
        pages += [Path(folder, name) for name in files if name.endswith(".md")]
    return sorted(pages)


def _tables() -> set[str]:
    scripts = (SOURCE / "storage" / "migrations").rglob("*.sql")
    return {
        name
        for script in scripts
        for name in re.findall(r"^create (?:virtual )?table (\w+)", script.read_text(encoding="utf-8"), re.MULTILINE)
    }


def test_every_table_has_an_owner() -> None:
    assert sorted(_tables() - OWNERS.keys()) == []


def _statements(path: Path) -> list[str]:
    """Every string of a module that holds SQL: docstrings left out, parts of f-strings joined."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    texts = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "?" for part in node.values]
            texts.append("".join(str(part) for part in parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose | inside:
            texts.append(node.value)
    return [text for text in texts if re.search(r"\b(?:select|insert|update|delete|replace)\s", text)]


def test_only_its_owner_names_a_table_in_sql() -> None:
    strangers = set()
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        for statement in _statements(path):
            for table, owner in OWNERS.items():
                if not name.startswith(owner) and re.search(
                    rf"\b(?:from|join|into|update|table)\s+(?:main\.)?{table}\b", statement
                ):
                    strangers.add(f"{name} names {table}, which {owner} owns")
    assert sorted(strangers) == []


def test_every_rule_we_switch_off_says_why() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    lint = tomllib.loads(text)["tool"]["ruff"]["lint"]
    codes = {*lint["ignore"], *(code for codes in lint["per-file-ignores"].values() for code in codes)}
    assert codes
    unexplained = [
        line.strip()
        for line in text.splitlines()
        if (match := re.match(r'\s*"(\w+)",', line)) and match[1] in codes and not re.search(r"#\s*\w+", line)
    ]
    assert unexplained == []


def test_every_exception_in_the_code_says_why() -> None:
    """`# noqa: CODE - reason`; mypy's codes speak for themselves but must be there."""
    silent = []
    for folder in ("src", "tests", "benchmarks", "tools"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                place = f"{path.relative_to(ROOT)}:{number}"
                if re.search(r"#\s*noqa", line) and not re.search(r"# noqa: [A-Z0-9, ]+ - \w", line):
                    silent.append(place)
                if re.search(r"# type: ignore(?!\[)", line):
                    silent.append(place)
    silent = [place for place in silent if not place.startswith("tests/unit/test_house.py")]
    assert silent == []


def test_links_between_our_pages_lead_somewhere() -> None:
    broken = []
    for page in _pages():
        text = re.sub(r"```[\s\S]*?```", "", page.read_text(encoding="utf-8"))
        for target in re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", target) or target.startswith("#"):
                continue
            if not (page.parent / target.split("#")[0]).exists():
                broken.append(f"{page.relative_to(ROOT)} -> {target}")
    assert broken == []


def _tests() -> set[str]:
    files = (ROOT / "tests").rglob("test_*.py")
    return {name for file in files for name in re.findall(r"def (test_\w+)", file.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("page", ["cases.md", "hosts.md"])
def test_every_test_that_a_page_names_exists(page: str) -> None:
    text = (ROOT / "docs" / "reference" / page).read_text(encoding="utf-8")
    named = set(re.findall(r"`(test_\w+)`", text))
    assert named
    assert sorted(named - _tests()) == []


def test_every_case_is_held_by_a_test_or_waits_for_a_system_that_is_not_built() -> None:
    text = (ROOT / "docs" / "reference" / "cases.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| (.+) \| (.+) \| (.+) \|$", text, re.MULTILINE)
    assert [int(number) for number, *_ in rows] == list(range(1, 25))
    for number, report, _, held in rows:
        assert "https://github.com/" in report, number
        waits = re.findall(r"waits? for `(\w+)`", held)
        assert waits or "`test_" in held, number
        assert not [name for name in waits if (SOURCE / name).exists()], number


def test_every_page_of_the_documentation_is_in_its_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    decisions = (ROOT / "docs" / "decisions" / "README.md").read_text(encoding="utf-8")
    missing = []
    for page in _pages():
        name = page.relative_to(ROOT).as_posix()
        if not name.startswith("docs/") or name.endswith("/README.md"):
            continue
        where = decisions if name.startswith("docs/decisions/") else index
        target = page.name if name.startswith("docs/decisions/") else name.removeprefix("docs/")
        if f"({target})" not in where:
            missing.append(name)
    assert missing == []


@pytest.mark.parametrize("heading", ["## Chosen", "## Rejected", "## Why", "## When to reopen"])
def test_every_decision_says_what_a_later_reader_asks(heading: str) -> None:
    decisions = [page for page in _pages() if re.match(r"\d{4}-", page.name)]
    assert decisions
    assert [page.name for page in decisions if heading not in page.read_text(encoding="utf-8")] == []


def test_every_decision_is_dated() -> None:
    decisions = [page for page in _pages() if re.match(r"\d{4}-", page.name)]
    dated = re.compile(r"\A# .+\n\n\d{4}-\d\d-\d\d\b")
    assert [page.name for page in decisions if not dated.match(page.read_text(encoding="utf-8"))] == []


def test_changelog_fragments_are_well_named() -> None:
    run = subprocess.run(
        [sys.executable, "-B", "tools/changelog.py", "check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stderr) == (0, "")


def test_the_agents_page_stays_short_enough_to_be_read() -> None:
    lines = (ROOT / "AGENTS.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 120


def test_every_command_of_the_makefile_has_a_line_in_its_help() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    match = re.search(r"^\.PHONY: (.+)$", text, re.MULTILINE)
    assert match
    for name in match[1].split():
        assert re.search(rf"^{name}:.*## \w", text, re.MULTILINE), name


def test_migrations_begin_with_why_and_are_numbered_without_gaps() -> None:
    for folder in sorted((SOURCE / "storage" / "migrations").iterdir()):
        scripts = sorted(folder.glob("*.sql"))
        numbers = [int(script.name.split("_")[0]) for script in scripts]
        assert numbers == list(range(1, len(scripts) + 1)), folder.name
        for script in scripts:
            assert script.read_text(encoding="utf-8").startswith("-- "), script.name


def test_no_test_can_reach_the_real_home() -> None:
    assert os.environ["UPHELD_HOME"]
    assert "tests-must-set-their-own-directory" in os.environ["HOME"]
    with pytest.raises(NotADirectoryError):
        os.makedirs(os.path.expanduser("~/.codex"))
