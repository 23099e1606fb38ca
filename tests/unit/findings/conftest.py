from collections.abc import Iterator
from pathlib import Path

import pytest

from support.desk import Desk, make_repository
from upheld.findings.ledger import Ledger
from upheld.storage.places import Places


@pytest.fixture
def places(own_home: Path) -> Places:
    return Places(f"{own_home}/data", f"{own_home}/state", f"{own_home}/cache")


@pytest.fixture
def ledger(places: Places) -> Iterator[Ledger]:
    ledger = Ledger(places)
    yield ledger
    ledger.close()


@pytest.fixture
def desk(tmp_path: Path, ledger: Ledger) -> Desk:
    """In a directory without git, which is quicker."""
    (tmp_path / "plain").mkdir()
    return Desk(tmp_path / "plain", ledger=ledger)


@pytest.fixture
def repository_desk(tmp_path: Path, ledger: Ledger) -> Desk:
    return Desk(make_repository(tmp_path / "repository"), ledger=ledger)
