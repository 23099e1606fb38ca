"""Whatever was done to a ledger: exported and imported it is the same, and exporting that gives the same again."""

from __future__ import annotations

import io
import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.desk import AGAINST, FOR, PERSON, Desk
from upheld.errors import UpheldError
from upheld.findings.check import check_ledger
from upheld.findings.exporting import export_findings
from upheld.findings.importing import import_findings
from upheld.findings.ledger import Ledger
from upheld.findings.model import EPISTEMIC_STATES, LINKS, OUTCOMES
from upheld.storage.places import Places

FINDING = st.integers(1, 5).map(lambda number: f"F-{number}")
TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30).filter(str.strip)
EVIDENCE = st.lists(st.sampled_from([FOR, AGAINST, {"evidence_id": "E-1", "method": "test"}]), max_size=2)


def step(name: str, **given_: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    return st.tuples(st.just(name), st.fixed_dictionaries(given_))


LOG = step(
    "log_finding",
    claim=TEXT,
    claim_kind=st.sampled_from(["observation", "constraint"]),
    evidence=EVIDENCE,
    tags=st.lists(TEXT, max_size=2),
    scope=st.sampled_from([{"everywhere": True}, {"match": {"backend": "cuda"}}, {"paths": ["a.py"]}]),
)
STEPS = st.lists(
    st.one_of(
        LOG,
        step("add_evidence", finding_id=FINDING, evidence=st.sampled_from([FOR, AGAINST])),
        step("set_finding_state", finding_id=FINDING, epistemic_state=st.sampled_from(EPISTEMIC_STATES), reason=TEXT),
        step("refute_finding", finding_id=FINDING, reason=TEXT, evidence=EVIDENCE),
        step("supersede_finding", finding_id=FINDING, claim=TEXT, reason=TEXT),
        step(
            "revalidate_finding",
            finding_id=FINDING,
            outcome=st.sampled_from(OUTCOMES),
            reason=TEXT,
            evidence=st.just([FOR]),
        ),
        step("link_finding", finding_id=FINDING, relation=st.sampled_from(LINKS), to=FINDING, reason=TEXT),
        step("propose_rule", finding_id=FINDING, rule=TEXT, reason=TEXT),
        step("amend_finding", finding_id=FINDING, claim=TEXT, reason=TEXT),
        step("merge_findings", finding_id=FINDING, into=FINDING, reason=TEXT),
        step("withdraw_finding", finding_id=FINDING, reason=TEXT),
        step("restore_finding", finding_id=FINDING, reason=TEXT),
    ),
    max_size=12,
)


def open_desk(top: str, name: str) -> Desk:
    where = Path(top) / "project"
    where.mkdir(exist_ok=True)
    ledger = Ledger(Places(f"{top}/{name}/data", f"{top}/{name}/state", f"{top}/{name}/cache"))
    return Desk(where, caller=PERSON, ledger=ledger)


def export(desk: Desk) -> bytes:
    parts: list[bytes] = []
    export_findings(desk.findings, parts.append)
    return b"".join(parts)


def comparable(exported: bytes) -> list[dict[str, Any]]:
    """Return the findings without numbers and without what the import itself left."""
    found = []
    for line in exported.splitlines()[1:-1]:
        data = json.loads(line)
        del data["number"]
        data["history"] = [
            {name: value for name, value in one.items() if name not in ("imported", "seq")}
            for one in data["history"]
            if not one["kind"].startswith("imported")
        ]
        found.append(data)
    return found


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(first=LOG, steps=STEPS)
def test_an_imported_ledger_is_the_same_ledger(
    first: tuple[str, dict[str, Any]], steps: list[tuple[str, dict[str, Any]]]
) -> None:
    with tempfile.TemporaryDirectory() as top:
        here, there = open_desk(top, "here"), open_desk(top, "there")
        here.log("The first one, so that there is something")
        for name, given_ in [first, *steps]:
            try:
                here.run(name, **given_)
            except UpheldError:
                continue
        exported = export(here)
        came = import_findings(there.findings, io.BytesIO(exported), into_this_project=True)
        assert came["imported"] == here.count("findings")
        assert comparable(export(there)) == comparable(exported)
        for desk in (here, there):
            assert check_ledger(desk.ledger).problems == ()
            desk.ledger.close()
