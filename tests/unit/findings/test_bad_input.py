"""Every argument of every operation with values that no caller should send: each is refused, and nothing is written."""

from __future__ import annotations

import math
from typing import Any

import pytest

from support.desk import AGAINST, FOR, PERSON, Desk
from upheld.errors import FINDING_CODES, INVALID_ARGUMENT, InvalidArgumentError, UpheldError
from upheld.findings.operations import OPERATIONS, get_operation

GOOD: dict[str, dict[str, Any]] = {
    "log_finding": {"claim": "A claim", "claim_kind": "observation"},
    "query_findings": {},
    "get_finding": {"finding_id": "F-1"},
    "add_evidence": {"finding_id": "F-1", "evidence": FOR},
    "set_finding_state": {"finding_id": "F-1", "epistemic_state": "provisional", "reason": "r"},
    "refute_finding": {"finding_id": "F-1", "reason": "r", "evidence": [AGAINST]},
    "revalidate_finding": {"finding_id": "F-1", "outcome": "held", "reason": "r", "evidence": [FOR]},
    "link_finding": {"finding_id": "F-1", "relation": "related_to", "to": "F-2", "reason": "r"},
    "supersede_finding": {"finding_id": "F-1", "claim": "Newer", "reason": "r"},
    "propose_rule": {"finding_id": "F-3", "rule": "Do it so", "reason": "r"},
    "list_rules": {},
    "review_findings": {},
    "find_drift": {},
    "recall_findings": {},
    "read_context": {},
    "approve_rule": {"finding_id": "F-3", "reason": "r"},
    "land_rule": {"finding_id": "F-3", "reason": "r", "target": "docs/rules.md"},
    "amend_finding": {"finding_id": "F-2", "reason": "r", "claim": "The other"},
    "mute_finding": {"finding_id": "F-2", "reason": "r"},
    "merge_findings": {"finding_id": "F-2", "into": "F-4", "reason": "r"},
    "withdraw_finding": {"finding_id": "F-4", "reason": "r"},
    "restore_finding": {"finding_id": "F-4", "reason": "r"},
    "archive_finding": {"finding_id": "F-4", "reason": "r"},
    "reject_rule": {"finding_id": "F-5", "reason": "r"},
}
HUGE = 10**5000
DEEP: list[Any] = []
for _ in range(2000):
    DEEP = [DEEP]
WRONG_TEXTS = [
    "",
    "   ",
    "x" * 1_000_000,
    "a\0b",
    "a\x1bb",
    "a\x7fb",
    "a\x85b",
    "half \ud800",
    3,
    True,
    ["x"],
    {"x": 1},
]
WRONG_NUMBERS = [0, -1, HUGE, 1.5, True, "3", [3], {}, math.inf, math.nan]
WRONG_IDS = [
    *["", "F-", "F--1", "F-1x", "E-1", "F-" + "9" * 16, "one", "F-١", "\ud800", "F-1\0"],
    *[-1, 1.5, HUGE, True, ["F-1"], {}],
]
BY_KIND: dict[str, list[Any]] = {
    "text": WRONG_TEXTS,
    "choice": ["", "truth", "SUPPORTED", 3, ["supported"], HUGE, "\ud800", DEEP],
    "choices": ["supported", ["truth"], [3], [HUGE], {"supported": 1}, ["\ud800"]],
    "strings": ["t", [""], ["a\0b"], ["\ud800"], [3], [["t"]], ["x" * 1000], [f"t{n}" for n in range(100)], {"t": 1}],
    "integer": WRONG_NUMBERS,
    "flag": [0, 1, "yes", "true", [], HUGE],
    "finding": WRONG_IDS,
    "facts": [
        "backend=cuda",
        ["backend"],
        {"": "x"},
        {"Backend": "x"},
        {"back end": "x"},
        {"a\0b": "x"},
        {"\ud800": "x"},
        {"backend": ""},
        {"backend": "a\0b"},
        {"backend": "\ud800"},
        {"backend": "x" * 1_000_000},
        {"backend": math.inf},
        {"backend": math.nan},
        {"backend": HUGE},
        {"backend": ["x"]},
        {"backend": None},
        {"git.branch": "main"},
        {"os": "linux"},
        {3: "x"},
        {f"f{n}": "x" for n in range(1000)},
    ],
    "scope": [
        "everywhere",
        ["everywhere"],
        {"where": True},
        {"\ud800": True},
        {"everywhere": "yes"},
        {"everywhere": 1},
        {"match": "backend"},
        {"match": ["backend"]},
        {"match": {"Backend": "x"}},
        {"match": {"git.Branch": "x"}},
        {"match": {"git. branch": "x"}},
        {"match": {"git.": ""}},
        {"match": {"backend": []}},
        {"match": {"backend": {}}},
        {"match": {"backend": None}},
        {"match": {"backend": math.inf}},
        {"match": {"backend": -math.inf}},
        {"match": {"backend": math.nan}},
        {"match": {"backend": [math.nan]}},
        {"match": {"backend": HUGE}},
        {"match": {"backend": "a\0b"}},
        {"match": {"backend": "a\nb"}},
        {"match": {"backend": "\ud800"}},
        {"match": {"backend": "x" * 1_000_000}},
        {"match": {"backend": ["x"] * 1000}},
        {"match": {f"f{n}": "x" for n in range(1000)}},
        {"match": {3: "x"}},
        {"match": {"backend": "x"}, "context": {"backend": "x"}},
        {"context": {"": "x"}},
        {"revalidate_on": "backend"},
        {"revalidate_on": ["Back End"]},
        {"revalidate_on": [3]},
        {"revalidate_on": ["\ud800"]},
        {"revalidate_on": [f"f{n}" for n in range(100)]},
        {"paths": "src"},
        {"paths": [3]},
        {"paths": [""]},
        {"paths": ["/etc/passwd"]},
        {"paths": ["../outside"]},
        {"paths": ["a\0b"]},
        {"paths": ["a\nb"]},
        {"paths": ["\ud800"]},
        {"paths": [".git/config"]},
        {"paths": ["x" * 1_000_000]},
        {"paths": [f"p{n}" for n in range(100)]},
        {"paths": ["a.py", "a.py"]},
        {"paths": [{"path": "a.py"}]},
        {"paths": [{"path": "a.py", "quote": " "}]},
        {"paths": [{"path": "a.py", "quote": "x" * 501}]},
        {"paths": [{"path": "../a.py", "quote": "x"}]},
        {"match": {"dep.torch": ">=two"}},
        {"match": {"dep.torch": [">=2.1,<"]}},
    ],
}
WRONG_PIECES: list[Any] = [
    "run-1",
    3,
    {},
    {"source_kind": "log"},
    {"source_ref": "run-1"},
    {**FOR, "source_kind": "rumour"},
    {**FOR, "role": "proves"},
    {**FOR, "method": "magic"},
    {**FOR, "weight": 3},
    {**FOR, "\ud800": 3},
    {3: "x"},
    {**FOR, "source_ref": "x" * 1_000_000},
    {**FOR, "source_ref": 3},
    {**FOR, "locator": ["x"]},
    {**FOR, "excerpt": "a\0b"},
    {**FOR, "excerpt": "x" * 1_000_000},
    {**FOR, "rationale": "\ud800"},
    {**FOR, "observed_at": "yesterday"},
    {**FOR, "observed_at": "2026-13-45"},
    {"evidence_id": "E-1"},
    {"evidence_id": "F-1", "method": "test"},
    {"evidence_id": HUGE, "method": "test"},
    {**FOR, "evidence_id": "E-1"},
]
BY_KIND["evidence"] = [*WRONG_PIECES, [FOR]]
BY_KIND["pieces"] = [*WRONG_PIECES, *([FOR, piece] for piece in WRONG_PIECES), [FOR] * 100]

CASES = [
    (operation.name, argument.name, number)
    for operation in OPERATIONS
    for argument in operation.arguments
    for number in range(len(BY_KIND[argument.kind]))
]


def _value(operation: str, argument: str, number: int) -> Any:
    (declared,) = [one for one in get_operation(operation).arguments if one.name == argument]
    return BY_KIND[declared.kind][number]


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """One ledger with one finding for all cases: a case that wrote something would show in the next."""
    from upheld.findings.ledger import Ledger
    from upheld.storage.places import Places

    top = tmp_path_factory.mktemp("tried")
    desk = Desk(top, caller=PERSON, ledger=Ledger(Places(f"{top}/data", f"{top}/state", f"{top}/cache")))
    desk.log("The one that is there", evidence=[FOR])
    return desk


def _everything(desk: Desk) -> tuple[int, ...]:
    tables = ("finding_events", "findings", "evidence", "finding_evidence", "finding_relations", "projects")
    return (desk.revision(), *map(desk.count, tables))


def test_the_good_calls_are_good(desk: Desk) -> None:
    desk.findings.caller = PERSON
    desk.log(evidence=[AGAINST])
    desk.log("The other one")
    for _ in range(3):
        desk.log("A constraint", claim_kind="constraint")
    desk.run("propose_rule", finding_id="F-5", rule="Do it so", reason="r")
    assert set(GOOD) == {operation.name for operation in OPERATIONS}
    for name, given in GOOD.items():
        desk.run(name, **given)


@pytest.mark.parametrize(("operation", "argument", "number"), CASES)
def test_a_wrong_argument_is_named_and_nothing_is_written(
    tried: Desk, operation: str, argument: str, number: int
) -> None:
    before = _everything(tried)
    with pytest.raises(UpheldError) as refused:
        tried.run(operation, **{**GOOD[operation], argument: _value(operation, argument, number)})
    error = refused.value
    assert error.code == INVALID_ARGUMENT
    assert error.code in FINDING_CODES
    assert argument in error.message or (argument == "scope" and "paths" in error.message)
    assert error.message.endswith("Nothing was written.")
    assert len(error.message) < 700
    assert error.message.isprintable()
    error.message.encode("utf-8")
    assert str(tried.cwd) not in error.message
    assert _everything(tried) == before


@pytest.mark.parametrize("operation", list(GOOD))
@pytest.mark.parametrize("name", ["claims", "", "\ud800", "x" * 100_000, "claim\0"])
def test_an_unknown_argument_is_refused(tried: Desk, operation: str, name: str) -> None:
    before = _everything(tried)
    with pytest.raises(InvalidArgumentError, match="is not known here") as refused:
        tried.run(operation, **{**GOOD[operation], name: "x"})
    refused.value.message.encode("utf-8")
    assert len(refused.value.message) < 700
    assert _everything(tried) == before


@pytest.mark.parametrize(
    ("operation", "argument"),
    [(one.name, argument.name) for one in OPERATIONS for argument in one.arguments if argument.required],
)
def test_a_missing_argument_is_named(tried: Desk, operation: str, argument: str) -> None:
    given = {key: value for key, value in GOOD[operation].items() if key != argument}
    with pytest.raises(InvalidArgumentError, match=f"^{argument} is missing"):
        tried.run(operation, **given)


@pytest.mark.parametrize("finding", ["F-0", "F-2", "F-999999999999999", 2, "f-77", " 77 "])
@pytest.mark.parametrize("operation", [name for name, given in GOOD.items() if "finding_id" in given])
def test_an_unknown_id_is_not_found(tried: Desk, operation: str, finding: object) -> None:
    before = _everything(tried)
    with pytest.raises(UpheldError, match="There is no finding F-") as refused:
        tried.run(operation, **{**GOOD[operation], "finding_id": finding})
    assert refused.value.code == "NOT_FOUND"
    assert _everything(tried) == before


@pytest.mark.parametrize("wanted", ["F-1", "f-1", "1", 1, " F-1 "])
def test_an_id_may_be_written_loosely(tried: Desk, wanted: object) -> None:
    assert tried.run("get_finding", finding_id=wanted).data["finding_id"] == "F-1"


def test_numbers_and_truth_values_are_values_of_facts(desk: Desk) -> None:
    scope = {"match": {"batch": [8, 16], "fused": True}, "context": {"rate": 0.5}}
    finding = desk.log(scope=scope, facts={"batch": 8, "fused": True, "rate": 0.5})
    assert desk.get(finding)["scope"] == {"match": {"batch": ["8", "16"], "fused": "true"}, "context": {"rate": "0.5"}}


def test_the_schema_names_every_argument() -> None:
    for operation in OPERATIONS:
        schema = operation.schema()
        assert list(schema["properties"]) == [argument.name for argument in operation.arguments]
        assert schema["required"] == [argument.name for argument in operation.arguments if argument.required]
        assert schema["additionalProperties"] is False
        assert all(one["description"] for one in schema["properties"].values())
