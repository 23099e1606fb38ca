"""`explain` for the host that the tests talk as."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from upheld.findings.explain import explain
from upheld.hosts.adapters import ADAPTERS

if TYPE_CHECKING:
    from upheld.findings.ledger import Ledger
    from upheld.findings.place import Place


def explain_codex(ledger: Ledger, place: Place, trigger: str, text: str = "", session: str = "") -> dict[str, Any]:
    adapter = ADAPTERS["codex"]
    return explain(
        ledger,
        place,
        trigger=trigger,
        text=text,
        session=session,
        host=adapter.name,
        limit=adapter.limit,
        unit=adapter.unit,
    )
