"""One finding whole, however much there is of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.desk import FOR
from upheld.envelope import succeed
from upheld.mcp.tools import render

if TYPE_CHECKING:
    from support.desk import Desk


def test_long_lists_keep_what_is_newest_and_count_the_rest_unless_the_whole_is_asked_for(desk: Desk) -> None:
    one = desk.log(evidence=[{**FOR, "excerpt": "0 " + "x" * 400}])
    for number in range(1, 60):
        desk.run("add_evidence", finding_id=one, evidence={**FOR, "excerpt": f"{number} " + "x" * 400})
    short = desk.get(one)
    whole = desk.run("get_finding", finding_id=one, whole=True).data
    assert len(render(succeed(short)).encode()) < 26_000
    assert len(whole["evidence"]) == 60
    assert "left_out" not in whole
    for name in ("evidence", "events"):
        assert short["left_out"][name] == len(whole[name]) - len(short[name]) > 0
    assert short["evidence"] == whole["evidence"][: len(short["evidence"])]
    assert short["evidence"][0]["excerpt"].startswith("59 ")
    assert short["events"] == whole["events"][-len(short["events"]) :]


def test_a_finding_that_is_short_is_whole_without_asking(desk: Desk) -> None:
    one = desk.log(evidence=[FOR])
    assert desk.get(one) == desk.run("get_finding", finding_id=one, whole=True).data
