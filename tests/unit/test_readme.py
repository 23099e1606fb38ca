"""Every example block of README, tutorial and guides is run, and prints what the page says it prints.

A `console` block holds commands (`$ ...`) and their output, as a person at a terminal sees it; `...` on a line of
its own stands for anything. Numbers are compared by their form: times, sizes and commits differ from run to run.
"""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

from upheld.cli.main import build

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
PAGES = [README, ROOT / "docs" / "tutorial.md", *sorted((ROOT / "docs" / "guides").glob("*.md"))]
ELSEWHERE = {"make demo", "make test"}
"""Commands with a test of their own: the one takes the Makefile's environment, the other is this very run."""


class Example(NamedTuple):
    command: str
    output: str


def read_examples(page: Path) -> list[Example]:
    """Return the commands of a page's console blocks with the output they show, in their order."""
    examples = []
    for block in re.findall(r"^```console\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        # A command stands after an empty output or another one; the demo's own output has commands too.
        pieces = [block] if block.startswith("$ make demo\n") else re.split(r"^(?=\$ )", block, flags=re.MULTILINE)
        for piece in filter(None, pieces):
            command, _, output = piece.removeprefix("$ ").partition("\n")
            examples.append(Example(command, output))
    return examples


def as_pattern(output: str) -> re.Pattern[str]:
    """Return what an output must look like: numbers by their form, `...` anything."""
    lines = []
    for line in output.rstrip("\n").split("\n"):
        if line == "...":
            lines.append(r"(?:.*\n)*?")
        else:
            lines.append("".join(r"\d+" if part.isdigit() else re.escape(part) for part in re.split(r"(\d+)", line)))
            lines[-1] += r" *\n"
    return re.compile("".join(lines))


def run(command: str, cwd: str, home: Path) -> tuple[str, str]:
    """Run a command as a person who says yes, and return what the terminal shows and where it ended."""
    ours, theirs = pty.openpty()
    os.write(ours, b"y\n")
    environ = os.environ | {
        "HOME": str(home),
        "PATH": os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"],
        "LANG": "C.UTF-8",
    }
    done = subprocess.run(
        ["bash", "-c", f'{command}\ncode=$?; pwd > "$HOME/ended"; exit $code'],
        cwd=cwd,
        env={name: value for name, value in environ.items() if not name.startswith(("UPHELD_", "XDG_"))},
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        text=True,
        check=False,
    )
    os.close(ours)
    os.close(theirs)
    # The newline after an answer is the terminal's echo, which goes to the person and not into our pipe.
    return re.sub(r"\[y/N\]: ", "[y/N]: y\n", done.stdout), (home / "ended").read_text(encoding="utf-8").strip()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_example_prints_what_the_page_says(page: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / ".codex").mkdir(parents=True)
    examples = [example for example in read_examples(page) if example.command not in ELSEWHERE]
    assert examples
    cwd = str(home)
    for example in examples:
        printed, cwd = run(example.command, cwd, home)
        as_told = bool(as_pattern(example.output).fullmatch(printed or "\n"))
        assert as_told, f"{example.command}\n--- the page says\n{example.output}\n--- it printed\n{printed}"


def test_the_demo_is_as_told_and_prints_what_the_readme_shows() -> None:
    (shown,) = (example.output for example in read_examples(README) if example.command == "make demo")

    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "demo.py")], capture_output=True, text=True, check=False, timeout=120
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert as_pattern(shown).fullmatch(done.stdout)


def test_the_readme_shows_the_gate_that_make_test_has() -> None:
    (shown,) = (example.output for example in read_examples(README) if example.command == "make test")
    coverage = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["coverage"]
    gate = re.search(
        r"^Required test coverage of (\d+)\.0% reached\. Total coverage: (\d+)\.\d\d%$", shown, re.MULTILINE
    )
    assert gate
    assert int(gate[1]) == coverage["report"]["fail_under"] <= int(gate[2])
    assert re.search(r"^=+ \d+ passed(?:, \d+ skipped)? in [\d.]+s .*=+$", shown, re.MULTILINE)


def test_an_example_that_no_longer_holds_is_noticed() -> None:
    assert as_pattern("kept F-1\n...\nend\n").fullmatch("kept F-20\na\nb\nend\n")
    assert not as_pattern("kept F-1\n...\nend\n").fullmatch("dropped F-1\nend\n")
    assert not as_pattern("kept F-1\n").fullmatch("kept F-1\nand more\n")


def test_the_readme_stays_short_and_names_the_commands_that_exist() -> None:
    text = README.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 150
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for name in re.findall(r"\bmake ([a-z-]+)", text):
        assert re.search(rf"^{name}:", makefile, re.MULTILINE), name
    assert "pipx install ." in text
    assert "upheld install codex" in text


def test_the_readmes_table_names_commands_that_exist() -> None:
    text = README.read_text(encoding="utf-8").partition("## What it does\n")[2].partition("\n## ")[0]
    named = {
        name for row in re.findall(r"^\| .+? \| (`.+) \|$", text, re.MULTILINE) for name in re.findall(r"`(\S+?)`", row)
    }
    assert len(named) > 20
    assert sorted(named - build().commands.keys()) == []


def test_ci_runs_the_readmes_test_command() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^check: .*\btest\b", makefile, re.MULTILINE)
    assert " check " in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
