"""What a person sets: for one project, or everywhere, and what counts then."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from support.desk import make_repository, ticking
from upheld import Upheld
from upheld.errors import InvalidArgumentError, UpheldError
from upheld.findings.ledger import Caller, Ledger
from upheld.findings.refusals import PersonRequiredError
from upheld.findings.settings import DEFAULTS, SETTINGS, read_settings
from upheld.findings.store import settings as store
from upheld.storage.places import find_places

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RIGHT: dict[str, tuple[list[Any], list[Any]]] = {
    "language": (["en", "zh"], ["", "EN", "fr", "zh ", True, 1]),
    "prompt-items": ([0, "10", 3], [-1, 11, "3.0", "٣", " 3", "", True, 10**30]),
    "prompt-bytes": ([300, 4000], [299, 4001, "many"]),
    "start-bytes": ([300, 100_000], [299, 100_001]),
    "always-items": ([0, 50], [51, -5]),
}


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Upheld]:
    ledger = Ledger(find_places(os.environ), clock=ticking())
    with Upheld(str(make_repository(tmp_path / "here")), ledger=ledger) as upheld:
        yield upheld


@pytest.fixture
def there(tmp_path: Path, here: Upheld) -> Upheld:
    return Upheld(str(make_repository(tmp_path / "there")), ledger=here.ledger)


def value(upheld: Upheld, name: str) -> tuple[Any, str]:
    found = next(one for one in upheld.settings()["settings"] if one["name"] == name)
    return found["value"], found["origin"]


def test_without_a_ledger_the_defaults_count_and_nothing_is_made_of_looking(here: Upheld) -> None:
    assert {one["name"]: one["value"] for one in here.settings()["settings"]} == {
        "language": "en",
        "prompt-items": 3,
        "prompt-bytes": 1500,
        "start-bytes": None,
        "always-items": 20,
    }
    assert here.unset_setting("language") is False
    here.pause(None)
    assert here.settings()["paused_until"] == ""
    assert not os.path.exists(here.ledger.places.data)


def test_what_is_set_for_a_project_goes_before_what_is_set_everywhere(here: Upheld, there: Upheld) -> None:
    here.set_setting("prompt-items", 5, everywhere=True)
    here.set_setting("prompt-items", 7)
    assert value(here, "prompt-items") == (7, "project")
    assert value(there, "prompt-items") == (5, "everywhere")
    here.set_setting("prompt-items", 8)
    assert value(here, "prompt-items") == (8, "project")
    assert here.unset_setting("prompt-items")
    assert value(here, "prompt-items") == (5, "everywhere")
    assert here.unset_setting("prompt-items", everywhere=True)
    assert value(here, "prompt-items") == (3, "default")
    assert not here.unset_setting("prompt-items", everywhere=True)


def test_taking_back_begins_no_project(here: Upheld, there: Upheld) -> None:
    here.set_setting("language", "zh")
    assert there.unset_setting("language") is False
    there.pause(None)
    assert there.settings()["project"] is None
    assert value(here, "language") == ("zh", "project")


@pytest.mark.parametrize("name", SETTINGS)
def test_each_setting_takes_what_it_says_and_nothing_else(name: str, here: Upheld) -> None:
    right, wrong = RIGHT[name]
    for given in right:
        here.set_setting(name, given)
        assert str(value(here, name)[0]) == str(given)
    kept = value(here, name)
    for given in wrong:
        with pytest.raises(InvalidArgumentError, match=r"is none that .* takes\. .* Nothing was written\.") as refused:
            here.set_setting(name, given)
        assert refused.value.argument == "value"
        assert SETTINGS[name].right in refused.value.message
    assert value(here, name) == kept


@pytest.mark.parametrize(("name", "said"), [("colour", "Give one of language, "), ("paused-until", "upheld pause")])
def test_a_name_that_is_no_setting_is_refused(name: str, said: str, here: Upheld) -> None:
    for refused in (lambda: here.set_setting(name, "1"), lambda: here.unset_setting(name)):
        with pytest.raises(InvalidArgumentError, match=said):
            refused()
    assert not os.path.exists(here.ledger.places.ledger)


def test_an_agent_sets_and_pauses_nothing(here: Upheld) -> None:
    agent = Upheld(here.place.marks.root, ledger=here.ledger, caller=Caller("agent", "codex", "s"))
    for refused in (
        lambda: agent.set_setting("prompt-items", 0),
        lambda: agent.unset_setting("prompt-items"),
        lambda: agent.pause("forever"),
        lambda: agent.pause(None),
    ):
        with pytest.raises(PersonRequiredError):
            refused()
    assert not os.path.exists(here.ledger.places.ledger)
    assert agent.settings()["paused_until"] == ""


def test_a_stored_value_that_is_none_any_more_counts_as_not_set(here: Upheld) -> None:
    here.set_setting("prompt-items", 4)
    with here.ledger.write(here.caller) as write:
        for name, text in (("prompt-items", "900"), ("language", "tlh"), ("of-tomorrow", "1")):
            store.put_setting(write.db, 1, name, text, write.now)
    db = here.ledger.read()
    assert db is not None
    assert read_settings(db, 1).values == DEFAULTS.values


# Pausing


def test_a_pause_ends_by_itself_or_when_it_is_ended(here: Upheld) -> None:
    here.pause("forever")
    assert here.settings()["paused_until"] == "forever"
    here.pause(None)
    assert here.settings()["paused_until"] == ""
    here.pause("1m")
    assert here.settings()["paused_until"].startswith("2023-11-14T22:1")
    for _ in range(70):
        here.ledger.now()
    assert here.settings()["paused_until"] == ""
    assert here.settings()["pauses"] == {}


def test_of_a_pause_here_and_one_everywhere_the_later_counts(here: Upheld, there: Upheld) -> None:
    here.pause("2h", everywhere=True)
    here.pause("1m")
    assert here.settings()["paused_until"] == there.settings()["paused_until"] != ""
    assert set(here.settings()["pauses"]) == {"project", "everywhere"}
    here.pause("forever")
    assert here.settings()["paused_until"] == "forever" != there.settings()["paused_until"]
    here.pause(None, everywhere=True)
    assert there.settings()["paused_until"] == ""
    assert here.settings()["paused_until"] == "forever"


@pytest.mark.parametrize("until", ["", "soon", "2020-01-01", "9999999999d", "-2h"])
def test_a_pause_until_no_time_is_refused(until: str, here: Upheld) -> None:
    with pytest.raises(InvalidArgumentError):
        here.pause(until)
    assert not os.path.exists(here.ledger.places.ledger)


def test_the_status_names_what_differs_and_a_pause(here: Upheld) -> None:
    assert (here.status()["settings"], here.status()["paused_until"]) == ({}, "")
    here.set_setting("language", "zh", everywhere=True)
    here.set_setting("prompt-items", 3)
    here.pause("forever")
    assert here.status()["settings"] == {"language": {"value": "zh", "origin": "everywhere"}}
    assert here.status()["paused_until"] == "forever"


def test_where_git_refuses_only_what_counts_everywhere_can_be_set(tmp_path: Path) -> None:
    broken = make_repository(tmp_path / "broken")
    (broken / ".git" / "HEAD").write_text("no head at all\n")
    (broken / ".git" / "config").write_text("[core\n")
    with Upheld(str(broken)) as upheld:
        if upheld.place.marks.state != "refused":
            pytest.skip("git reads this")
        with pytest.raises(UpheldError, match="stays unknown"):
            upheld.set_setting("language", "zh")
        upheld.set_setting("language", "zh", everywhere=True)
        assert value(upheld, "language") == ("zh", "everywhere")
    assert upheld.place.marks.state == "refused"


def test_setting_leaves_the_ledger_whole_and_its_trail_as_it_was(here: Upheld) -> None:
    here.log_finding(claim="It is so", claim_kind="observation", scope={"everywhere": True})
    before = here.check().counts
    here.set_setting("prompt-bytes", 900)
    here.pause("2h")
    assert here.check().ok
    assert here.check().counts == before
