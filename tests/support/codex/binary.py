"""Where the native Codex binary is: what the launcher of the npm package would start."""

from __future__ import annotations

import glob

import pytest

from support.node import MODULES, why_missing


def find_codex() -> str | None:
    """Return the path of the binary, if it is there."""
    return next(iter(sorted(glob.glob(f"{MODULES}/@openai/codex-*/vendor/*/bin/codex"))), None)


def require_codex() -> str:
    """Return the path of the binary, or skip the test with the reason why it is not there."""
    found = find_codex()
    if found is None:
        pytest.skip(why_missing("@openai/codex"))
    return found
