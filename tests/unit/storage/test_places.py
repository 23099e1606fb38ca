"""`upheld.storage.places` against platformdirs, its reference."""

import os
import sys
from pathlib import Path

import platformdirs
import pytest
from platformdirs.macos import MacOS

from upheld.storage.places import find_places


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"XDG_DATA_HOME": "/srv/data"},
        {"XDG_STATE_HOME": "/srv/state"},
        {"XDG_CACHE_HOME": "/srv/cache"},
        {"XDG_DATA_HOME": "/a", "XDG_STATE_HOME": "/b", "XDG_CACHE_HOME": "/c"},
        {"XDG_DATA_HOME": "", "XDG_STATE_HOME": "   "},
        {"XDG_DATA_HOME": "/with space/数据"},
        {"XDG_DATA_HOME": "/srv/data/"},
        {"XDG_CONFIG_HOME": "/not/ours"},
    ],
)
def test_our_directories_are_those_of_platformdirs(variables: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    for name in ("UPHELD_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    places = find_places(os.environ)
    # Without the name of an author: the last part is ours alone.
    assert os.path.normpath(places.data) == platformdirs.user_data_dir("upheld", appauthor=False)
    assert os.path.normpath(places.cache) == platformdirs.user_cache_dir("upheld", appauthor=False)
    assert os.path.normpath(places.state) == platformdirs.user_state_dir("upheld", appauthor=False)


@pytest.mark.skipif(sys.platform == "darwin", reason="XDG variables are for Linux")
def test_a_relative_xdg_directory_counts_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """The XDG specification says so; where we stand must not decide where a ledger is."""
    monkeypatch.setenv("HOME", "/home/somebody")
    assert find_places({"XDG_DATA_HOME": "relative/data"}).data == "/home/somebody/.local/share/upheld"


def test_our_directories_on_macos_are_those_of_platformdirs(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", "/Users/somebody")
    monkeypatch.setattr(sys, "platform", "darwin")
    places, theirs = find_places({}), MacOS("upheld", appauthor=False)
    assert (places.data, places.state, places.cache) == (
        theirs.user_data_dir,
        theirs.user_state_dir,
        theirs.user_cache_dir,
    )


def test_upheld_home_holds_all_three(tmp_path: Path) -> None:
    home = str(tmp_path / "上级 home")
    places = find_places({"UPHELD_HOME": home, "XDG_DATA_HOME": "/elsewhere"})
    assert (places.data, places.state, places.cache) == (home + "/data", home + "/state", home + "/cache")
    assert places.ledger == home + "/data/ledger.db"
    assert places.conversations == home + "/state/conversations.db"


def test_upheld_home_may_start_with_a_tilde(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    assert find_places({"UPHELD_HOME": "~/upheld"}).data == "/home/somebody/upheld/data"


def test_looking_creates_nothing(tmp_path: Path) -> None:
    find_places({"UPHELD_HOME": str(tmp_path / "home")})
    assert list(tmp_path.iterdir()) == []


def test_a_test_that_falls_back_to_the_default_directory_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """The guard in conftest.py: below HOME nothing can be created."""
    monkeypatch.delenv("UPHELD_HOME")
    with pytest.raises(NotADirectoryError):
        os.makedirs(find_places(os.environ).data)
