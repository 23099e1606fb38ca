"""A Codex directory and our own directories, with spaces and Chinese characters in their paths."""

from __future__ import annotations

import datetime as dt
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from upheld.hosts.codex.install import plan_install, plan_uninstall
from upheld.hosts.codex.plan import Plan, apply_plan
from upheld.storage.places import Places

if TYPE_CHECKING:
    from pathlib import Path

NOW = dt.datetime(2026, 11, 30, 23, 0, tzinfo=dt.UTC)


@dataclass(frozen=True)
class Codex:
    """One user's Codex and Upheld."""

    home: Path
    places: Places
    python: str = sys.executable

    @property
    def hooks(self) -> Path:
        return self.home / "hooks.json"

    @property
    def config(self) -> Path:
        return self.home / "config.toml"

    def plan(self, **more: Any) -> Plan:
        values: dict[str, Any] = {"version": "1", "python": self.python, "roots": ["/roots"], "environ": {}}
        return plan_install(str(self.home), self.places, **{**values, **more})

    def install(self, **more: Any) -> tuple[str, ...]:
        return apply_plan(self.plan(**more), self.places, NOW)

    def uninstall(self, **more: Any) -> Plan:
        plan = plan_uninstall(str(self.home), self.places, **more)
        apply_plan(plan, self.places, NOW)
        return plan

    def snapshot(self) -> dict[str, bytes]:
        """Return every file below the Codex directory."""
        return {
            os.path.relpath(os.path.join(folder, name), self.home): (self.home / folder / name).read_bytes()
            for folder, _, names in os.walk(self.home)
            for name in names
        }


@pytest.fixture
def codex(tmp_path: Path) -> Codex:
    home = tmp_path / "my home 家" / ".codex"
    home.mkdir(parents=True)
    own = f"{tmp_path}/own 数据"
    return Codex(home, Places(own + "/data", own + "/state", own + "/cache"))
