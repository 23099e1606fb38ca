"""The texts that an agent reads are short, and their beginning suffices."""

from __future__ import annotations

import subprocess
import sys

import pytest

from upheld.hosts.hook_file import MARK, find_roots, render_hook
from upheld.hosts.instructions import SNIPPET_BEGIN, SNIPPET_END, TEXTS, render_skill, render_snippet

TOOLS = ("query_findings", "log_finding", "refute_finding", "supersede_finding")


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_the_first_240_characters_name_every_tool_that_matters(text: str) -> None:
    assert all(tool in text[:240] for tool in TOOLS)
    assert len(text.split("\n", 1)[0]) <= 240


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_a_text_is_below_300_tokens(text: str) -> None:
    # One for each Chinese character and four letters otherwise: more than today's tokenizers count.
    wide = sum(ord(character) > 0x2E80 for character in text)
    assert wide + (len(text) - wide) / 4 < 300


@pytest.mark.parametrize("language", TEXTS)
def test_skill_and_block_hold_the_text_whole(language: str) -> None:
    assert render_skill(language).endswith(TEXTS[language])
    assert render_skill(language).startswith("---\nname: upheld\ndescription: ")
    block = render_snippet(language)
    assert block.startswith(SNIPPET_BEGIN)
    assert block.endswith(SNIPPET_END + "\n")
    assert TEXTS[language] in block


def test_a_hook_file_is_marked_and_is_python_whatever_the_path() -> None:
    text = render_hook(["/a 'b' \"中\\n"], "1.0")

    assert text.startswith(MARK)
    compile(text, "hook.py", "exec")


def test_the_roots_suffice_for_an_interpreter_without_site_packages() -> None:
    code = f"import sys; sys.path[:0] = {find_roots()!r}; import upheld, apsw"

    ran = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, check=False)

    assert (ran.returncode, ran.stderr) == (0, b"")
