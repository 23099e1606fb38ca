"""Makes the saved payloads and rollouts under `tests/fixtures/codex` from runs of the real Codex.

`PYTHONPATH=tests python -m support.codex.capture` writes them anew; a test compares the fields of what is saved
with what Codex sends. The tests of the wire layer replay them without Codex. Paths of this machine are replaced
by those of a user `u`, and nothing else is changed but the length of texts in rollouts.
"""

from __future__ import annotations

import json
import os
import tempfile
from typing import TYPE_CHECKING, Any

from support.codex.binary import require_codex
from support.codex.fixtures import Fixtures
from support.codex.home import TRUST_ALL, UNATTENDED, CodexHome
from support.codex.network import PrivateNetwork
from support.codex.profiles import PROFILES
from support.codex.scripted_model import ScriptedModel
from support.codex.steps import COMPACT_AT, FULL, Mcp, Shell, Spawn, Wait, call, say
from support.node import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

SAVED = f"{ROOT}/tests/fixtures/codex"
FLAGS = (*UNATTENDED, *TRUST_ALL)
_LONGEST = 300


def play(codex: CodexHome, fixtures: Fixtures) -> str:
    """Run through every event that we act on; return the thread that was compacted and resumed."""
    scripts = codex.model.scripts
    scripts["child"] = [call(Shell("echo child"), tokens=FULL), say("child done")]
    scripts["parent"] = [
        call(Spawn("kid", "SCRIPT:child")),
        lambda seen: call(Wait(seen.agents)),
        say("done"),
    ]
    scripts["work"] = [
        call(Shell("echo here")),
        call(Mcp("keep_note", {"text": "one"}, server="fixture"), tokens=FULL),
        say("done"),
    ]
    scripts["talk"] = [say("done")]
    codex.exec("Ask a child. SCRIPT:parent", *FLAGS)
    begun = codex.exec("Look into the first thing. SCRIPT:work", *FLAGS)
    codex.resume(begun.thread, "Go on with the second thing. SCRIPT:talk", *FLAGS)
    with codex.app_server() as app:
        app.trust(app.hooks())
        thread = app.start_thread()
        app.turn(thread, "SCRIPT:talk")
        app.compact(thread)
        app.turn(thread, "SCRIPT:talk")
        app.turn(app.start_thread(clear=True), "SCRIPT:talk")
        app.turn(app.fork_thread(thread), "SCRIPT:talk")
    assert codex.model.problems == []
    assert fixtures.payloads
    return begun.thread


def name_of(payload: dict[str, Any]) -> str:
    """Return the name under which a payload is saved, without its profile."""
    kind = payload.get("source") or payload.get("trigger") or payload.get("tool_name", "")
    agent = "child" if "agent_id" in payload else "root"
    return "-".join(part for part in (payload["hook_event_name"], kind, agent) if part)


def saved_payloads(profile: str) -> dict[str, dict[str, Any]]:
    """Return what is saved for a profile, by name."""
    found = {}
    for entry in sorted(os.listdir(f"{SAVED}/payloads")):
        if entry.startswith(f"{profile}-"):
            with open(f"{SAVED}/payloads/{entry}", encoding="utf-8") as file:
                found[entry.removeprefix(f"{profile}-").removesuffix(".json")] = json.load(file)
    return found


def main() -> None:
    """Write the saved payloads and rollouts anew."""
    for folder in ("payloads", "rollouts"):
        os.makedirs(f"{SAVED}/{folder}", exist_ok=True)
    with PrivateNetwork() as network:
        for profile in PROFILES:
            with tempfile.TemporaryDirectory() as root, ScriptedModel(network.listen(), profile) as model:
                codex = CodexHome(
                    root,
                    binary=require_codex(),
                    network=network,
                    model=model,
                    settings=f"model_auto_compact_token_limit = {COMPACT_AT}",
                )
                fixtures = Fixtures(codex, {"SessionStart": "Context of the start."})
                thread = play(codex, fixtures)
                for payload in fixtures.raw_payloads:
                    path = f"{SAVED}/payloads/{profile.name}-{name_of(json.loads(payload))}.json"
                    _write(path, _clean(payload, codex))
                lines = "\n".join(_shortened_lines(codex.rollout(thread)))
                _write(f"{SAVED}/rollouts/{profile.name}-compacted-and-resumed.jsonl", _clean(lines, codex))


def _shortened_lines(lines: list[dict[str, Any]]) -> Iterator[str]:
    for line in lines:
        yield json.dumps(_shorten(line), ensure_ascii=False, separators=(",", ":"))


def _shorten(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else value[:_LONGEST] + " [shortened]"
    if isinstance(value, list):
        return [_shorten(part) for part in value]
    if isinstance(value, dict):
        return {name: _shorten(part) for name, part in value.items()}
    return value


def _clean(text: str, codex: CodexHome) -> str:
    for private, public in (
        (codex.codex, "/home/u/.codex"),
        (codex.home, "/home/u"),
        (codex.root, "/home/u"),
        (ROOT, "/home/u/upheld"),
    ):
        text = text.replace(private, public)
    return text


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + "\n")


if __name__ == "__main__":
    main()
