"""What tests with the real Codex share: one private network per run, one model and one home per test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.codex.binary import require_codex
from support.codex.home import CodexHome
from support.codex.network import PrivateNetwork, why_no_network
from support.codex.profiles import PROFILES, Profile
from support.codex.scripted_model import ScriptedModel
from support.codex.steps import COMPACT_AT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def codex_binary() -> str:
    return require_codex()


@pytest.fixture(scope="session")
def network() -> Iterator[PrivateNetwork]:
    reason = why_no_network()
    if reason is not None:
        pytest.skip(reason)
    with PrivateNetwork() as network:
        yield network


@pytest.fixture(params=PROFILES, ids=lambda profile: profile.name)
def profile(request: pytest.FixtureRequest) -> Profile:
    chosen: Profile = request.param
    return chosen


@pytest.fixture
def model(network: PrivateNetwork, profile: Profile) -> Iterator[ScriptedModel]:
    with ScriptedModel(network.listen(), profile) as model:
        yield model


@pytest.fixture
def codex(tmp_path: Path, codex_binary: str, network: PrivateNetwork, model: ScriptedModel) -> CodexHome:
    """A Codex that compacts after a step that reports `FULL`."""
    return CodexHome(
        str(tmp_path),
        binary=codex_binary,
        network=network,
        model=model,
        settings=f"model_auto_compact_token_limit = {COMPACT_AT}",
    )
