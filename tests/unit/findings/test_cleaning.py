"""No secret and no private path reaches any byte that is written, whichever argument it came in."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from support.desk import AGENT, FOR, Desk
from upheld.findings.check import check_ledger

if TYPE_CHECKING:
    from pathlib import Path

    from upheld.findings.ledger import Ledger
    from upheld.storage.places import Places

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"  # the shape of a key, and nobody's
HOME = "/home/somebody-private"
TEXT = f"uses {SECRET} from {HOME}/keys"
SOURCE = {"source_kind": "other", "source_ref": TEXT[:200]}
FIELDS: dict[str, dict[str, Any]] = {
    "claim": {"claim": TEXT},
    "tags": {"tags": [SECRET[:70], f"{HOME}/x"]},
    "aliases": {"aliases": [SECRET[:70], f"{HOME}/x"]},
    "task": {"task": SECRET[:70]},
    "source": {"evidence": [SOURCE]},
    "excerpt": {"evidence": [{**FOR, "excerpt": TEXT}]},
    "rationale": {"evidence": [{**FOR, "rationale": TEXT}]},
    "locator": {"evidence": [{**FOR, "locator": TEXT}]},
    "revision": {"evidence": [{**FOR, "revision": TEXT}]},
    "match": {"scope": {"match": {"backend": TEXT}}},
    "context": {"scope": {"context": {"backend": [TEXT, "cuda"]}}},
    "paths": {"scope": {"paths": [SECRET]}},
    "facts": {"scope": {"revalidate_on": ["backend"]}, "facts": {"backend": TEXT}},
    "idempotency_key": {"idempotency_key": SECRET[:70]},
}


def _bytes_below(*folders: str) -> bytes:
    found = b""
    for folder in folders:
        for top, _, names in os.walk(folder):
            for name in names:
                with open(os.path.join(top, name), "rb") as file:
                    found += file.read()
    return found


@pytest.mark.parametrize("field", FIELDS)
def test_no_byte_of_a_secret_is_written(ledger: Ledger, places: Places, tmp_path: Path, field: str) -> None:
    desk = Desk(tmp_path, ledger=ledger, home=HOME)
    answer = desk.run("log_finding", **{"claim": "c", "claim_kind": "observation", **FIELDS[field]})
    if field != "idempotency_key":
        assert any("Taken out before writing" in warning for warning in answer.warnings)
    while_open = _bytes_below(places.data, places.state)
    ledger.close()
    for held in (while_open, _bytes_below(places.data, places.state)):
        assert b"finding_events" in held
        assert SECRET[10:30].encode() not in held
        assert SECRET[10:30].lower().encode() not in held
        assert b"somebody-private" not in held
    assert check_ledger(ledger).ok


@pytest.mark.parametrize("name", ["set_finding_state", "refute_finding", "supersede_finding"])
def test_no_reason_holds_a_secret(ledger: Ledger, places: Places, tmp_path: Path, name: str) -> None:
    desk = Desk(tmp_path, ledger=ledger, home=HOME)
    desk.log(evidence=[{**FOR, "role": "contradicts"}])
    extra = {"set_finding_state": {"epistemic_state": "provisional"}, "supersede_finding": {"claim": "Newer"}}
    desk.run(name, finding_id="F-1", reason=TEXT, **extra.get(name, {}))
    reasons = [event["reason"] for event in desk.get("F-1")["events"]]
    assert reasons[-1].startswith("uses ")
    assert SECRET[10:30].encode() not in _bytes_below(places.data, places.state)
    assert b"somebody-private" not in _bytes_below(places.data, places.state)


def test_a_warning_says_what_was_taken_out_and_not_what_it_was(ledger: Ledger, tmp_path: Path) -> None:
    answer = Desk(tmp_path, ledger=ledger, caller=AGENT, home=HOME).run(
        "log_finding", claim=TEXT, claim_kind="observation"
    )
    said = " ".join(answer.warnings)
    assert "1 x " in said
    assert SECRET not in said
    assert HOME not in said


@pytest.mark.parametrize("part", ["match", "context"])
def test_a_value_is_taken_out_where_only_the_name_of_its_fact_tells_what_it_is(
    ledger: Ledger, places: Places, tmp_path: Path, part: str
) -> None:
    word = "correct9horse" + "Battery7staple"
    desk = Desk(tmp_path, ledger=ledger, caller=AGENT, home=HOME)

    answer = desk.run(
        "log_finding",
        claim="logs in with the old account",
        claim_kind="observation",
        scope={part: {"db_password": [word, "none"]}, "revalidate_on": ["db_password"]},
        facts={"db_password": word},
    )

    ledger.close()
    assert word.encode() not in _bytes_below(places.data, places.state)
    assert any("Taken out" in warning for warning in answer.warnings)
