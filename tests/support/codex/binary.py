"""Where the native Codex binary is: what the launcher of the npm package would start."""

from __future__ import annotations

import glob

import pytest

from support.node import MODULES, why_missing


def require_codex() -> str:
    """Return the path of the binary, or skip the test with the reason why it is not there."""
    found = sorted(glob.glob(f"{MODULES}/@openai/codex-*/vendor/*/bin/codex"))
    if not found:
        pytest.skip(why_missing("@openai/codex"))
    return found[0]
