"""Why nothing was handed out is said in words, for every code there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.explaining import explain_codex
from upheld import Upheld
from upheld.findings import explain

if TYPE_CHECKING:
    from pathlib import Path


def _explain(upheld: Upheld, prompt: str) -> str:
    found = explain_codex(upheld.ledger, upheld.place, "prompt", prompt)
    return explain.REASONS[found["reason"]]


def test_every_reason_for_an_empty_answer_has_its_words(tmp_path: Path) -> None:
    environ = {"UPHELD_HOME": str(tmp_path / "home"), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    for name in ("here", "elsewhere"):
        (tmp_path / name).mkdir()
    with Upheld(str(tmp_path / "here"), environ=environ) as here:
        assert _explain(here, "anything") == "there is no ledger yet; the first finding makes it"
        here.log_finding(claim="the cache is never read", claim_kind="observation", tags=["cache"])
        assert _explain(here, "translate the readme") == "no finding of this project is about it"
        here.pause("forever")
        assert _explain(here, "is it never read?") == "a person paused it (`upheld pause --off` ends that)"
        here.pause(None)
        assert _explain(here, "is it never read?") == "every candidate was dropped, each for the reason it carries"
    with Upheld(str(tmp_path / "elsewhere"), environ=environ) as elsewhere:
        assert _explain(elsewhere, "anything") == "the ledger knows nothing of this project yet"
