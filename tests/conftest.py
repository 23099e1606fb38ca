"""What every test gets: a home of its own, and no way to the real one.

HOME and the XDG directories point below a plain file, so anything that falls back to a default
directory fails loudly instead of writing to somebody's ledger; only UPHELD_HOME can be used.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from pathlib import Path

# A shared machine has slow moments; a time limit per example finds those, not mistakes of ours.
settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("default"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")

GIT_IDENTITY = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "A Tester",
    "GIT_AUTHOR_EMAIL": "tester@example.invalid",
    "GIT_COMMITTER_NAME": "A Tester",
    "GIT_COMMITTER_EMAIL": "tester@example.invalid",
    "GIT_TERMINAL_PROMPT": "0",
}
FOREIGN_PREFIXES = ("UPHELD_", "CODEX_", "CLAUDE", "GEMINI_", "GIT_", "XDG_")


@pytest.fixture(autouse=True)
def own_home(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Move UPHELD_HOME to a new directory, make every default directory unusable, and return it."""
    for name in list(os.environ):
        if name.startswith(FOREIGN_PREFIXES):
            monkeypatch.delenv(name)
    place = tmp_path_factory.mktemp("own")
    wall = place / "tests-must-set-their-own-directory"
    wall.write_text("A file, so that nothing can be created below it.\n")
    monkeypatch.setenv("HOME", str(wall / "home"))
    for name in ("DATA", "STATE", "CACHE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(wall / name.lower()))
    for name, value in GIT_IDENTITY.items():
        monkeypatch.setenv(name, value)
    home = place / "upheld"
    monkeypatch.setenv("UPHELD_HOME", str(home))
    return home
