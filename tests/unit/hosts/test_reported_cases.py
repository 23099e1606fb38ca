"""Kinds of docs/reference/cases.md that show only where several parts meet: long texts, and names that look alike."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from support.codex.talk import Talk, ids
from support.desk import Desk, git, make_repository
from upheld.findings.ledger import Ledger
from upheld.storage.places import Places

if TYPE_CHECKING:
    from collections.abc import Iterator

EVERYDAY = json.loads((Path(__file__).parents[2] / "fixtures" / "selection" / "everyday.json").read_text())


@pytest.fixture
def places(own_home: Path) -> Places:
    return Places(f"{own_home}/data", f"{own_home}/state", f"{own_home}/cache")


@pytest.fixture
def ledger(places: Places) -> Iterator[Ledger]:
    ledger = Ledger(places)
    yield ledger
    ledger.close()


def everyday_words() -> list[str]:
    """Return the words of the prompts, as a session that was about everything would hold them."""
    words = sorted({word for prompt in EVERYDAY["unrelated"] for word in prompt.lower().split()})
    random.Random(5).shuffle(words)  # noqa: S311 - the order of a test's words
    return words


# Case 18


def test_a_finding_as_long_as_may_be_matches_no_unrelated_prompt_and_hides_no_right_one(
    tmp_path: Path, places: Places, ledger: Ledger
) -> None:
    desk = Desk(make_repository(tmp_path / "repository"), ledger=ledger)
    short = [desk.log(one["claim"], aliases=one["aliases"]) for one in EVERYDAY["claims"]]
    words = everyday_words()
    long: dict[str, Any] = {"source_kind": "log", "source_ref": "marathon", "role": "supports"}
    marathon = desk.log(
        "One session was about everything that happened in the whole of the year",
        evidence=[{**long, "excerpt": " ".join(words), "rationale": " ".join(reversed(words))}] * 16,
    )

    def handed(prompt: str, number: int) -> list[int]:
        return ids(Talk(desk.cwd, places, session=f"session-{number}").prompt(prompt))

    unrelated = {prompt: handed(prompt, at) for at, prompt in enumerate(EVERYDAY["unrelated"])}
    assert {prompt: found for prompt, found in unrelated.items() if found} == {}
    for at, one in enumerate(EVERYDAY["related"], len(unrelated)):
        found = [f"F-{number}" for number in handed(one["prompt"], at)]
        assert short[one["claim"] - 1] in found
        assert marathon not in found


def test_a_long_claim_is_handed_out_for_no_single_word_of_its_own(
    tmp_path: Path, places: Places, ledger: Ledger
) -> None:
    desk = Desk(make_repository(tmp_path / "repository"), ledger=ledger)
    for one in EVERYDAY["claims"]:
        desk.log(one["claim"], aliases=one["aliases"])
    words = [word for word in everyday_words() if word.isalpha()]
    claim = " ".join(words)[:990]
    marathon = int(desk.log(claim).removeprefix("F-"))
    for at, word in enumerate(words[:40]):
        prompt = f"please have a look at the {word} of yesterday"
        assert marathon not in ids(Talk(desk.cwd, places, session=f"session-{at}").prompt(prompt))


# Case 10


@pytest.mark.parametrize("kind", ["plain", "repository", "remote"])
def test_places_that_differ_in_case_or_a_sign_are_projects_of_their_own(
    kind: str, tmp_path: Path, places: Places, ledger: Ledger
) -> None:
    names = ("engine", "Engine", "en_gine", "en-gine", "en/gine")
    for name in names:
        where = tmp_path / kind / name
        if kind == "plain":
            where.mkdir(parents=True)
        else:
            make_repository(where)
        if kind == "remote":
            git(where, "remote", "add", "origin", f"https://git.example/{name}.git")
        Desk(where, ledger=ledger).log(f"The loss spike comes from {name}", tags=["loss spike"])

    for number, name in enumerate(names, 1):
        talk = Talk(tmp_path / kind / name, places, session=f"session-{number}")
        assert ids(talk.prompt("where does the loss spike come from?")) == [number]
    assert len(names) == len({os.path.realpath(tmp_path / kind / name) for name in names})
