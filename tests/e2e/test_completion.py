"""The completion script in the shells it is made for."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from upheld.cli.completion import SHELLS

if TYPE_CHECKING:
    from pathlib import Path

COMPLETE = """
eval "$(upheld completion bash)"
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
complete -p upheld > /dev/null || exit 9
_upheld_completion upheld
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """Return an environment with an `upheld` of its own on the path."""
    command = tmp_path / "upheld"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -m upheld "$@"\n')
    command.chmod(0o755)
    return {"PATH": f"{tmp_path}:{os.environ['PATH']}", "HOME": str(tmp_path), "UPHELD_HOME": str(tmp_path / "home")}


def complete(environ: dict[str, str], *words: str) -> list[str]:
    """Return what a real bash completes the last word to."""
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-c", COMPLETE, "bash", *words], env=environ, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode().split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (("upheld", "que"), ["query"]),
        (("upheld", "rule", "ap"), ["approve"]),
        (("upheld", "config", "set", "prompt-"), ["prompt-items", "prompt-bytes"]),
        (("upheld", "pause", "--ev"), ["--everywhere"]),
        (("upheld", "completion", ""), list(SHELLS)),
        (("upheld", "nothing-like-this"), []),
    ],
)
def test_bash_completes(environ: dict[str, str], words: tuple[str, ...], completed: list[str]) -> None:
    assert complete(environ, *words) == completed
    assert not os.path.exists(environ["UPHELD_HOME"])


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_stands_on_its_own_and_its_shell_can_read_it(environ: dict[str, str], shell: str) -> None:
    done = subprocess.run(["upheld", "completion", shell], env=environ, capture_output=True, check=True)
    assert done.stderr == b""
    assert f"_UPHELD_COMPLETE={shell}_complete".encode() in done.stdout
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here to read it")
    read = subprocess.run([shell, "-n"], input=done.stdout, env=environ, capture_output=True, check=False)
    assert (read.returncode, read.stderr) == (0, b"")
