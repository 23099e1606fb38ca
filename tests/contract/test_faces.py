"""CLI, MCP and Python answer alike, and each says truly what it does."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from support.hook import Hook, make_hook
from support.node import MODULES, ROOT, find_node, find_package, why_missing
from support.terminal import run_as_person
from upheld.api import Upheld
from upheld.cli.findings import EXAMPLES
from upheld.cli.main import build
from upheld.errors import UpheldError
from upheld.findings.ledger import Caller as FindingsCaller
from upheld.findings.ledger import Ledger
from upheld.findings.operations import FOR_MODELS, OPERATIONS, get_operation
from upheld.hosts.instructions import ENGLISH
from upheld.mcp.tool import Caller
from upheld.mcp.tools import Tools
from upheld.text.jsontext import dumps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import click

MOST_TOKENS = 2500
"""Of o200k, for the names, descriptions and input schemas of all tools together."""
FOR = {"source_kind": "log", "source_ref": "logs/run.txt", "rationale": "four probes, none reproduced it"}
AGAINST = {"source_kind": "test_run", "source_ref": "run-2", "role": "contradicts", "excerpt": "shift=1"}
STORY: list[tuple[str, dict[str, Any]]] = [
    ("query_findings", {}),
    (
        "log_finding",
        {
            "claim": "The tokenizer shift is the cause 中文",
            "claim_kind": "diagnosis",
            "epistemic_state": "supported",
            "evidence": [FOR],
            "scope": {"match": {"backend": "cuda"}, "paths": ["code.py"]},
            "tags": ["tokenizer"],
            "aliases": ["shift"],
            "facts": {"backend": "cuda"},
        },
    ),
    ("log_finding", {"claim": "Use backend A", "claim_kind": "decision", "scope": {"everywhere": True}}),
    ("query_findings", {"words": "tokenizer shift", "states": ["supported"], "facts": {"backend": "cuda"}, "limit": 5}),
    ("add_evidence", {"finding_id": "F-1", "evidence": AGAINST}),
    ("set_finding_state", {"finding_id": "F-1", "epistemic_state": "contested", "reason": "another run", "version": 2}),
    ("refute_finding", {"finding_id": "F-1", "reason": "off by one is ruled out", "evidence": [AGAINST]}),
    ("supersede_finding", {"finding_id": "F-2", "claim": "Use backend B since 2.1", "reason": "A was removed"}),
    ("revalidate_finding", {"finding_id": "F-1", "outcome": "held", "reason": "once more", "evidence": [FOR]}),
    ("link_finding", {"finding_id": "F-3", "relation": "derived_from", "to": "F-1", "reason": "it rests on it"}),
    ("propose_rule", {"finding_id": "F-3", "rule": "Use backend B", "owner": "test", "reason": "it holds"}),
    ("query_findings", {"history": True}),
    ("get_finding", {"finding_id": "F-1"}),
    ("get_finding", {"finding_id": "F-3"}),
]
FOR_PEOPLE: list[tuple[str, dict[str, Any]]] = [
    ("list_rules", {"promotion": ["proposed"]}),
    ("review_findings", {"limit": 3}),
    ("find_drift", {}),
    ("recall_findings", {}),
    ("read_context", {"facts": {"backend": "cuda"}}),
    ("approve_rule", {"finding_id": "F-3", "reason": "agreed"}),
    ("land_rule", {"finding_id": "F-3", "target": "tests/test_backend.py", "reason": "guarded"}),
    ("log_finding", {"claim": "Never use backend C", "claim_kind": "constraint", "scope": {"everywhere": True}}),
    ("propose_rule", {"finding_id": "F-4", "rule": "No backend C", "reason": "it holds"}),
    ("reject_rule", {"finding_id": "F-4", "reason": "it is gone anyway"}),
    ("amend_finding", {"finding_id": "F-4", "tags": ["backend"], "reason": "found by that"}),
    ("mute_finding", {"finding_id": "F-4", "reason": "not now"}),
    ("mute_finding", {"finding_id": "F-4", "reason": "now", "off": True}),
    ("withdraw_finding", {"finding_id": "F-4", "reason": "an error"}),
    ("restore_finding", {"finding_id": "F-4", "reason": "none"}),
    ("archive_finding", {"finding_id": "F-4", "reason": "of no use"}),
    ("restore_finding", {"finding_id": "F-4", "reason": "of use"}),
    ("merge_findings", {"finding_id": "F-4", "into": "F-3", "reason": "the same"}),
    ("get_finding", {"finding_id": "F-3"}),
]
WRONG: list[tuple[str, dict[str, Any]]] = [
    ("log_finding", {}),
    ("log_finding", {"claim": "", "claim_kind": "observation"}),
    ("log_finding", {"claim": "x", "claim_kind": "guess"}),
    ("log_finding", {"claim": "x" * 100_000, "claim_kind": "observation"}),
    ("log_finding", {"claim": "a\x1b[2J", "claim_kind": "observation"}),
    ("log_finding", {"claim": "half \udcff", "claim_kind": "observation"}),
    ("log_finding", {"claim": "x", "claim_kind": "observation", "epistemic_state": "supported"}),
    ("log_finding", {"claim": "x", "claim_kind": "observation", "evidence": [{"source_kind": "rumour"}]}),
    ("log_finding", {"claim": "x", "claim_kind": "observation", "scope": {"paths": ["../outside"]}}),
    ("log_finding", {"claim": "x", "claim_kind": "observation", "facts": {"os": "plan9"}}),
    ("query_findings", {"words": ""}),
    ("query_findings", {"limit": "many"}),
    ("query_findings", {"limit": 1000}),
    ("query_findings", {"states": ["true"]}),
    ("get_finding", {}),
    ("get_finding", {"finding_id": "F-999"}),
    ("get_finding", {"finding_id": "twelve"}),
    ("add_evidence", {"finding_id": "F-1"}),
    ("add_evidence", {"finding_id": "F-1", "evidence": {"evidence_id": "E-999", "method": "test"}}),
    ("set_finding_state", {"finding_id": "F-1", "epistemic_state": "supported", "reason": ""}),
    ("set_finding_state", {"finding_id": "F-1", "epistemic_state": "provisional", "reason": "x", "version": 99}),
    ("refute_finding", {"finding_id": "F-3", "reason": "no evidence at all"}),
    ("supersede_finding", {"finding_id": "F-2", "claim": "again", "reason": "it is closed already"}),
    ("revalidate_finding", {"finding_id": "F-1", "outcome": "held", "reason": "nothing was looked at"}),
    ("revalidate_finding", {"finding_id": "F-2", "outcome": "held", "reason": "closed", "evidence": [FOR]}),
    ("link_finding", {"finding_id": "F-1", "relation": "derived_from", "to": "F-3", "reason": "a circle"}),
    ("link_finding", {"finding_id": "F-1", "relation": "related_to", "to": "F-1", "reason": "itself"}),
    ("link_finding", {"finding_id": "F-1", "relation": "supersedes", "to": "F-2", "reason": "by hand"}),
    ("link_finding", {"finding_id": "F-1", "relation": "related_to", "to": "F-99", "reason": "nobody"}),
    ("link_finding", {"finding_id": "F-1", "relation": "related_to", "to": "F-3", "reason": "no", "remove": True}),
    ("propose_rule", {"finding_id": "F-1", "rule": "no", "reason": "a dead end"}),
    ("propose_rule", {"finding_id": "F-3", "rule": "again", "reason": "it is proposed already"}),
]


_PROPOSE = "propose-rule F-3 --rule r --reason r"
PREPARE = {
    "rule list": (_PROPOSE,),
    "rule approve": (_PROPOSE,),
    "rule reject": (_PROPOSE,),
    "rule land": (_PROPOSE, "rule approve F-3 --reason r"),
    "restore": ("archive F-12 --reason r",),
}
"""What has to be done before the example of a command makes sense."""


class Face:
    """One face with its own home and repository. `call` returns the envelope."""

    def __init__(self, hook: Hook) -> None:
        self.hook = hook


class Cli(Face):
    def run(self, line: list[str]) -> subprocess.CompletedProcess[bytes]:
        return run(self.hook, line)

    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        operation = get_operation(name)
        line = [*operation.command.split(), *as_options(arguments, operation.subject), "--json"]
        done = self.run(line)
        assert done.stderr == b""
        lines = done.stdout.splitlines()
        assert len(lines) == 1
        envelope: dict[str, Any] = json.loads(lines[0])
        assert envelope.pop("command") == operation.command
        drifted = envelope["ok"] and envelope["data"].get("drifted")
        assert done.returncode == (0 if envelope["ok"] and not drifted else 1)
        return envelope


class Terminal(Cli):
    """The same with a person at the keyboard."""

    def run(self, line: list[str]) -> subprocess.CompletedProcess[bytes]:
        return run_as_person(line, cwd=str(self.hook.repository), environ=self.hook.environ)


class Mcp(Face):
    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        ledger = Ledger(self.hook.places)
        tools = Tools(ledger, str(self.hook.repository), self.hook.environ).build()
        tool = next(tool for tool in tools if tool.name == name)
        envelope = dict(tool.call(arguments, Caller()))
        ledger.close()
        jsonschema.validate(json.loads(json.dumps(envelope)), dict(tool.output_schema))
        return envelope


class Python(Face):
    actor = "agent"

    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        caller = FindingsCaller(self.actor)
        with Upheld(str(self.hook.repository), environ=self.hook.environ, caller=caller) as upheld:
            try:
                method = getattr(upheld, name)
                # What its signature does not take is Python's own error; `run` refuses it as every face does.
                fits = set(arguments) >= {one.name for one in get_operation(name).arguments if one.required}
                answer = method(**arguments) if fits else upheld.run(name, arguments)
            except UpheldError as error:
                return {"ok": False, "data": None, "warnings": [], "error": dict(error.as_data())}
        return {"ok": True, "data": answer.data, "warnings": list(answer.warnings), "error": None}


def run(hook: Hook, arguments: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-I", "-m", "upheld", *arguments],
        cwd=hook.repository,
        env=hook.environ,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )


def as_options(arguments: dict[str, Any], subject: str) -> list[str]:
    """Return the command line of a call."""
    options: list[str] = []
    for name, value in arguments.items():
        option = "--" + name.replace("_", "-")
        if name == subject:
            options.append(str(value))
        elif name == "scope":
            options += [f"--match={fact}={wanted}" for fact, wanted in value.get("match", {}).items()]
            options += [f"--path={path}" for path in value.get("paths", ())]
            options += ["--everywhere"] * bool(value.get("everywhere"))
        elif name == "facts":
            options += [f"{option}={fact}={wanted}" for fact, wanted in value.items()]
        elif value is True:
            options.append(option)
        else:
            several = value if isinstance(value, list) else [value]
            options += [f"{option}={json.dumps(one) if isinstance(one, dict) else one}" for one in several]
    return options


@pytest.fixture
def faces(tmp_path: Path) -> list[Cli | Mcp | Python]:
    kinds: list[Callable[[Hook], Cli | Mcp | Python]] = [Cli, Mcp, Python]
    return [kind(make_hook(tmp_path / str(number))) for number, kind in enumerate(kinds)]


def normal(value: object) -> object:
    """Return an envelope without what differs from run to run: times, uids and commits."""
    text = json.dumps(value)
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME", text)
    return json.loads(re.sub(r"\b[0-9a-f]{32,64}\b", "UID", text))


def test_every_operation_answers_alike_through_every_face(faces: list[Cli | Mcp | Python]) -> None:
    for name, arguments in STORY:
        first, *others = [normal(face.call(name, arguments)) for face in faces]
        assert isinstance(first, dict)
        assert first["ok"], (name, first)
        for other in others:
            assert other == first, name
    assert {name for name, _ in STORY} == {operation.name for operation in FOR_MODELS}


def test_what_is_for_people_answers_alike_at_a_terminal_and_in_python_and_is_refused_to_an_agent(
    tmp_path: Path,
) -> None:
    at_terminal, in_python = Terminal(make_hook(tmp_path / "a")), Python(make_hook(tmp_path / "b"))
    in_python.actor = "user"
    agent, over_mcp = Cli(at_terminal.hook), Mcp(at_terminal.hook)
    for name, arguments in STORY + FOR_PEOPLE:
        operation = get_operation(name)
        if operation.people and operation.writes:
            refused = agent.call(name, arguments)
            assert "is for people" in refused["error"]["message"]
        first, other = [normal(face.call(name, arguments)) for face in (at_terminal, in_python)]
        assert isinstance(first, dict)
        assert first["ok"], (name, first)
        assert other == first, name
    listed = Tools(Ledger(over_mcp.hook.places), str(over_mcp.hook.repository), over_mcp.hook.environ).build()
    assert not {tool.name for tool in listed} & {operation.name for operation in OPERATIONS if operation.people}
    assert {name for name, _ in STORY + FOR_PEOPLE} == {operation.name for operation in OPERATIONS}


def test_every_wrong_call_is_refused_alike_through_every_face(faces: list[Cli | Mcp | Python]) -> None:
    for name, arguments in STORY:
        for face in faces:
            face.call(name, arguments)
    for name, arguments in WRONG:
        first, *others = [normal(face.call(name, arguments)) for face in faces]
        assert isinstance(first, dict)
        assert not first["ok"], (name, str(arguments)[:200])
        assert first["error"]["message"]
        for other in others:
            assert other == first, name
    for face in faces:
        assert normal(face.call("get_finding", {"finding_id": "F-1"})) == normal(
            faces[0].call("get_finding", {"finding_id": "F-1"})
        )


def test_the_real_server_answers_like_the_tools(tmp_path: Path) -> None:
    hook, other = make_hook(tmp_path / "a"), Mcp(make_hook(tmp_path / "b"))
    with hook.server() as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for name, arguments in STORY[:5] + WRONG[:4]:
            params = {"name": name, "arguments": arguments}
            message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
            server.stdin.write(json.dumps(message).encode() + b"\n")
            server.stdin.flush()
            result = json.loads(server.stdout.readline())["result"]
            assert normal(result["structuredContent"]) == normal(other.call(name, arguments))
            assert result["isError"] == (not result["structuredContent"]["ok"])
        server.communicate()
    assert server.returncode == 0


# Commands


def leaf_commands(group: click.Group, prefix: str = "") -> dict[str, click.Command]:
    import click

    found: dict[str, click.Command] = {}
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            found |= leaf_commands(command, f"{prefix}{name} ")
        else:
            found[prefix + name] = command
    return found


def test_every_operation_is_a_command_and_every_command_shows_an_example_and_takes_json() -> None:
    commands = leaf_commands(build())
    assert {operation.command for operation in OPERATIONS} <= set(commands)
    for name, command in commands.items():
        assert f"Example:\n  upheld {name}" in (command.epilog or ""), name
        assert command.help
        assert name == "mcp" or any(parameter.name == "as_json" for parameter in command.params), name


@pytest.mark.parametrize("command", EXAMPLES)
def test_the_example_of_every_operation_works_as_it_stands(tmp_path: Path, command: str) -> None:
    hook = make_hook(tmp_path)
    (hook.repository / "logs").mkdir()
    (hook.repository / "logs" / "run.txt").write_text("shift=0 in all rows\n")
    for number in range(12):
        kind = "constraint" if number == 2 else "observation"
        hook.log(f"Tokenizer claim number {number}", claim_kind=kind, epistemic_state=None)
    for before in PREPARE.get(command, ()):
        prepared = run_as_person(shlex.split(before), cwd=str(hook.repository), environ=hook.environ)
        assert prepared.returncode == 0
    words = shlex.split(EXAMPLES[command])
    assert words[0] == "upheld"
    assert words[1:].copy()[: len(command.split())] == command.split()

    done = run_as_person(words[1:], cwd=str(hook.repository), environ=hook.environ)

    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert b"Example:" in run(hook, [*command.split(), "-h"]).stdout


# Tools


def test_every_tool_says_truly_what_it_does_and_together_they_stay_small(tmp_path: Path) -> None:
    hook = make_hook(tmp_path)
    tools = {tool.name: tool for tool in Tools(Ledger(hook.places), str(hook.repository), hook.environ).build()}

    assert list(tools) == [*(operation.name for operation in FOR_MODELS), "ledger_status"]
    for name, tool in tools.items():
        writes = name != "ledger_status" and get_operation(name).writes
        assert tool.annotations["readOnlyHint"] is not writes
        assert tool.annotations["destructiveHint"] is False
        assert tool.annotations["openWorldHint"] is False
        jsonschema.Draft202012Validator.check_schema(dict(tool.input_schema))
        jsonschema.Draft202012Validator.check_schema(dict(tool.output_schema))
    texts = [dumps([t.name, t.description, t.input_schema]) for t in tools.values()]
    assert sum(len(text.encode()) for text in texts) / 4.5 <= MOST_TOKENS
    counted = count_tokens(texts)
    if counted is None:
        pytest.skip(why_missing("js-tiktoken"))
    assert sum(counted) <= MOST_TOKENS, dict(zip(tools, counted, strict=True))


def count_tokens(texts: list[str]) -> list[int] | None:
    """Return how many o200k tokens each text has, None where nobody here can count them."""
    if find_node() is None or find_package("js-tiktoken") is None:
        return None
    script = os.path.join(ROOT, "tests", "node", "count_tokens.mjs")
    done = subprocess.run(
        ["node", script, MODULES], input=json.dumps(texts), capture_output=True, text=True, check=True
    )
    counted: list[int] = json.loads(done.stdout)
    return counted


def test_the_status_is_the_same_in_cli_and_mcp(tmp_path: Path) -> None:
    hook = make_hook(tmp_path)
    hook.log()
    by_cli = json.loads(run(hook, ["status", "--json"]).stdout)
    by_mcp = Mcp(hook).call("ledger_status", {})
    assert by_mcp == {key: value for key, value in by_cli.items() if key != "command"}
    assert Mcp(hook).call("ledger_status", {"x": 1})["error"]["argument"] == "x"


def test_the_instructions_are_short_and_begin_with_what_matters() -> None:
    assert len(ENGLISH.encode()) / 3.5 < 300 or len(re.findall(r"\w+|[^\w\s]", ENGLISH)) < 300
    begin = ENGLISH[:240]
    for name in ("query_findings", "log_finding", "refute_finding", "supersede_finding"):
        assert name in begin


def test_what_one_face_writes_every_other_reads(faces: list[Cli | Mcp | Python]) -> None:
    home = faces[0].hook
    for face in faces:
        face.hook = home
    ids = [face.call("log_finding", STORY[2][1])["data"]["finding_id"] for face in faces]
    assert ids == ["F-1", "F-2", "F-3"]
    for face in faces:
        assert [f["finding_id"] for f in face.call("query_findings", {})["data"]["findings"]] == ids[::-1]
    assert os.path.exists(home.places.ledger)
