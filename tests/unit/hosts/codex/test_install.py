"""What install and uninstall promise to somebody whose Codex has a configuration already."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import shlex
import shutil
import stat
import subprocess
import tempfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from upheld.hosts.codex import wiring
from upheld.hosts.codex.install import plan_uninstall
from upheld.hosts.codex.plan import apply_plan
from upheld.hosts.codex.receipt import find_receipt, receipt_path
from upheld.hosts.edit import EditRefusedError, FileChangedError
from upheld.storage.places import Places

from .conftest import NOW, Codex

if TYPE_CHECKING:
    from collections.abc import Iterator

THEIRS = '{"type": "command", "command": "their-memory --record", "timeout": 30}'

HOOKS = {
    "none": None,
    "empty": b"",
    "an object": b"{}",
    "one line": b'{"hooks":{"SessionStart":[{"hooks":[' + THEIRS.encode() + b"]}]}}",
    "two spaces": b'{\n  "hooks": {\n    "SessionStart": [\n      {"hooks": [\n        '
    + THEIRS.encode()
    + b'\n      ]}\n    ],\n    "Stop": []\n  }\n}\n',
    "tabs": b'{\n\t"hooks": {\n\t\t"Stop": [{"hooks": [' + THEIRS.encode() + b"]}]\n\t}\n}",
    "windows": b'\xef\xbb\xbf{\r\n    "hooks": {\r\n        "PostCompact": []\r\n    }\r\n}\r\n',
    "chinese": '{"说明": "我的", "hooks": {}}\n'.encode(),
}
CONFIGS = {
    "none": None,
    "empty": b"",
    "a model": b'# mine\nmodel   =  "x"  # aligned\n',
    "another server": b"[mcp_servers.other]\ncommand = 'foo' # keep\nenv = { KEY = \"sk-live-secret\" }",
    "windows": b'model = "x"\r\n[a]\r\nb=1\r\n',
}


def write(path: Path, data: bytes | None) -> None:
    if data is not None:
        path.write_bytes(data)


def groups(codex: Codex, event: str) -> list[Any]:
    return list(json.loads(codex.hooks.read_text("utf-8-sig"))["hooks"].get(event, []))


@pytest.mark.parametrize("hooks", HOOKS.values(), ids=HOOKS.keys())
@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS.keys())
def test_installing_twice_and_uninstalling_gives_back_every_byte(
    codex: Codex, hooks: bytes | None, config: bytes | None
) -> None:
    write(codex.hooks, hooks)
    write(codex.config, config)
    before = codex.snapshot()

    codex.install()
    once = codex.snapshot()
    for event in wiring.EVENTS:
        assert wiring.is_our_group(groups(codex, event)[-1], codex.places)
    assert codex.config.read_bytes().startswith(config or b"")
    assert not codex.plan().changed
    codex.install()
    assert codex.snapshot() == once

    codex.uninstall()
    assert codex.snapshot() == before
    assert not os.path.exists(wiring.hook_path(codex.places))
    assert not os.path.exists(receipt_path(codex.places))
    assert not plan_is_there(codex)


def plan_is_there(codex: Codex) -> bool:
    return codex.uninstall().changed


@pytest.mark.parametrize("hooks", HOOKS.values(), ids=HOOKS.keys())
def test_without_receipt_and_backups_uninstall_leaves_what_means_the_same(codex: Codex, hooks: bytes | None) -> None:
    write(codex.hooks, hooks)
    write(codex.config, CONFIGS["another server"])
    codex.install()
    shutil.rmtree(codex.places.data + "/install")
    shutil.rmtree(codex.places.data + "/backups")

    codex.uninstall()

    rest = json.loads(codex.hooks.read_text("utf-8-sig"))
    expected = json.loads((hooks or b"{}").decode("utf-8-sig") or "{}")
    for document in (rest, expected):
        document["hooks"] = {event: array for event, array in document.get("hooks", {}).items() if array}
    assert rest == expected
    assert tomllib.loads(codex.config.read_text()) == tomllib.loads((CONFIGS["another server"] or b"").decode())


def test_the_command_survives_a_shell_and_starts_the_hook_file(codex: Codex) -> None:
    codex.install(roots=["/roots 中"])
    command = groups(codex, "PostCompact")[-1]["hooks"][0]["command"]

    assert command == shlex.join([codex.python, "-I", "-S", codex.places.data + "/hook.py", "codex"]) + " || true"
    hook = codex.places.data + "/hook.py"
    with open(hook, "w", encoding="utf-8") as file:
        file.write("import sys\nprint(sys.argv[1], sys.stdin.read())\nsys.exit(2)\n")
    ran = subprocess.run(["/bin/sh", "-c", command], input="{}", capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "codex {}\n")


def test_a_hook_file_that_is_gone_blocks_no_prompt(codex: Codex) -> None:
    codex.install()
    command = groups(codex, "UserPromptSubmit")[-1]["hooks"][0]["command"]
    codex.uninstall()

    ran = subprocess.run(["/bin/sh", "-c", command], input="{}", capture_output=True, text=True, check=False)

    assert (ran.returncode, ran.stdout) == (0, "")


def test_the_hook_file_and_its_directory_are_private(codex: Codex) -> None:
    codex.install()

    assert stat.S_IMODE(os.stat(codex.places.data).st_mode) == 0o700
    for path in (codex.places.data + "/hook.py", receipt_path(codex.places)):
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_the_server_is_handed_the_variables_that_say_where_the_ledger_is(codex: Codex) -> None:
    codex.install(environ={"UPHELD_HOME": "/somewhere"})

    table = tomllib.loads(codex.config.read_text())["mcp_servers"]["upheld"]
    assert table["command"] == codex.python
    assert table["args"] == ["-I", "-m", "upheld", "mcp"]
    assert table["env_vars"] == ["UPHELD_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "UPHELD_FACTS"]
    assert "/somewhere" not in codex.config.read_text()
    plain = wiring.server_values("python", {})
    assert "UPHELD_HOME" not in plain["env_vars"]


def test_the_difference_shows_what_is_added_and_no_line_of_others_in_the_configuration(codex: Codex) -> None:
    write(codex.config, CONFIGS["another server"])
    write(codex.hooks, HOOKS["two spaces"])

    diff = codex.plan().render_diff()

    assert "+[mcp_servers.upheld]" in diff
    assert "hook.py" in diff
    assert "their-memory" not in "".join(line for line in diff.splitlines() if line.startswith("-"))
    assert "sk-live-secret" not in diff
    codex.install()
    codex.config.write_bytes(codex.config.read_bytes() + b'[x]\nkey = "sk-live-other"')
    undo = plan_uninstall(str(codex.home), codex.places).render_diff()
    assert "-[mcp_servers.upheld]" in undo
    assert "sk-live" not in undo


def test_planning_writes_nothing(codex: Codex) -> None:
    before = codex.snapshot()

    assert codex.plan().changed

    assert codex.snapshot() == before
    assert not os.path.exists(codex.places.data)


def test_the_trust_step_is_explained_and_never_taken(codex: Codex) -> None:
    plan = codex.plan()
    codex.install()

    assert "/hooks" in plan.hint
    assert "4 entries" in plan.hint
    assert "hooks" not in tomllib.loads(codex.config.read_text())


def test_what_codex_writes_after_install_stays(codex: Codex) -> None:
    write(codex.config, CONFIGS["a model"])
    codex.install()
    trusted = b'\n[hooks.state]\n\n[hooks.state."/x/hooks.json:stop:0:0"]\ntrusted_hash = "sha256:1"\n'
    codex.config.write_bytes(codex.config.read_bytes() + trusted)

    codex.uninstall()

    assert codex.config.read_bytes() == (CONFIGS["a model"] or b"") + trusted


def test_a_group_that_others_put_behind_ours_stays_and_its_shift_is_told(codex: Codex) -> None:
    write(codex.hooks, HOOKS["two spaces"])
    codex.install()
    text = codex.hooks.read_text()
    document = json.loads(text)
    document["hooks"]["SessionStart"] += [{"hooks": [{"type": "command", "command": "late"}]}] * 2
    codex.hooks.write_text(json.dumps(document))

    plan = codex.uninstall()

    assert [g["hooks"][0]["command"] for g in groups(codex, "SessionStart")] == [
        "their-memory --record",
        "late",
        "late",
    ]
    assert any(note.startswith("SessionStart: 2 hook groups") for note in plan.notes)
    assert not any(note.startswith("PostCompact") for note in plan.notes)


def test_an_unwritten_file_shifts_nobody(codex: Codex) -> None:
    write(codex.hooks, HOOKS["two spaces"])
    codex.install()

    assert not any("move up" in note for note in codex.uninstall().notes)


def test_a_handler_that_somebody_put_into_our_group_stays(codex: Codex) -> None:
    codex.install()
    document = json.loads(codex.hooks.read_text())
    document["hooks"]["SessionStart"][0]["hooks"].append(json.loads(THEIRS))
    codex.hooks.write_text(json.dumps(document, indent=3))

    codex.uninstall()

    assert json.loads(codex.hooks.read_text()) == {"hooks": {"SessionStart": [{"hooks": [json.loads(THEIRS)]}]}}


def test_another_python_changes_the_command_where_it_stands(codex: Codex) -> None:
    codex.install()
    document = json.loads(codex.hooks.read_text())
    document["hooks"]["SessionStart"].append({"hooks": [json.loads(THEIRS)]})
    codex.hooks.write_text(json.dumps(document, indent=3))

    moved = dataclasses.replace(codex, python="/new place/bin/python")
    moved.install()

    first, second = groups(codex, "SessionStart")
    assert first["hooks"][0]["command"].startswith("'/new place/bin/python' -I -S")
    assert second["hooks"] == [json.loads(THEIRS)]
    assert tomllib.loads(codex.config.read_text())["mcp_servers"]["upheld"]["command"] == "/new place/bin/python"
    moved.uninstall()
    assert groups(codex, "SessionStart") == [second]
    assert not codex.config.exists()


def test_an_upgrade_between_install_and_uninstall_still_gives_back_every_byte(codex: Codex) -> None:
    write(codex.hooks, HOOKS["tabs"])
    write(codex.config, CONFIGS["another server"])
    before = codex.snapshot()
    codex.install()
    dataclasses.replace(codex, python="/new/python").install(version="2")

    codex.uninstall()

    assert codex.snapshot() == before


def test_a_damaged_receipt_is_as_good_as_none(codex: Codex) -> None:
    write(codex.hooks, HOOKS["two spaces"])
    codex.install()
    for damaged in ("", "[]", '{"format": 1}', '{"format": 9, "files": [], "directories": []}'):
        with open(receipt_path(codex.places), "w", encoding="utf-8") as file:
            file.write(damaged)
        assert find_receipt(codex.places) is None

    codex.uninstall()

    assert len(groups(codex, "SessionStart")) == 1


def test_a_backup_that_was_changed_is_not_put_back(codex: Codex) -> None:
    write(codex.hooks, HOOKS["one line"])
    backups = codex.install()
    for path in backups:
        with open(path, "w", encoding="utf-8") as file:
            file.write("{}")

    codex.uninstall()

    assert codex.hooks.read_bytes() == HOOKS["one line"]


def test_a_server_of_our_name_that_is_not_ours_is_refused(codex: Codex) -> None:
    codex.config.write_text('[mcp_servers.upheld]\ncommand = "theirs"\n')
    before = codex.snapshot()

    with pytest.raises(EditRefusedError, match="not ours"):
        codex.plan()
    assert any("it stays" in note for note in codex.uninstall().notes)

    assert codex.snapshot() == before


BROKEN = {
    "a comment": b'{\n  // mine\n  "hooks": {}\n}',
    "hooks twice": b'{"hooks": {}, "hooks": {}}',
    "latin-1": '{"a": "é"}'.encode("latin-1"),
    "null": b'{"hooks": null}',
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN.keys())
def test_a_file_that_cannot_be_edited_safely_is_refused_and_nothing_is_written(codex: Codex, data: bytes) -> None:
    codex.hooks.write_bytes(data)
    before = codex.snapshot()

    with pytest.raises(EditRefusedError, match="Nothing was written"):
        codex.install()

    assert codex.snapshot() == before
    assert not os.path.exists(codex.places.data)


def test_a_directory_where_a_file_was_meant_is_refused(codex: Codex) -> None:
    codex.hooks.mkdir()

    with pytest.raises(EditRefusedError, match="a directory"):
        codex.plan()


def test_a_missing_codex_directory_is_refused(codex: Codex, tmp_path: Path) -> None:
    with pytest.raises(EditRefusedError, match="Start `codex` once"):
        dataclasses.replace(codex, home=tmp_path / "none").plan()


def test_a_linked_configuration_is_written_where_it_is_and_stays_a_link(codex: Codex, tmp_path: Path) -> None:
    dotfiles = tmp_path / "dotfiles"
    dotfiles.mkdir()
    for name, data in (("hooks.json", b"{}\n"), ("config.toml", b'model = "x"\n')):
        (dotfiles / name).write_bytes(data)
        (codex.home / name).symlink_to(dotfiles / name)

    codex.install()
    assert codex.hooks.is_symlink()
    assert b"hook.py" in (dotfiles / "hooks.json").read_bytes()
    codex.uninstall()

    assert codex.config.is_symlink()
    assert (dotfiles / "hooks.json").read_bytes() == b"{}\n"
    assert (dotfiles / "config.toml").read_bytes() == b'model = "x"\n'


@pytest.mark.parametrize("name", ["hooks.json", "config.toml"])
def test_a_file_written_between_showing_and_doing_stops_everything(codex: Codex, name: str) -> None:
    plan = codex.plan()
    (codex.home / name).write_bytes(b"# theirs\n")
    before = codex.snapshot()

    with pytest.raises(FileChangedError, match="run the command again"):
        apply_plan(plan, codex.places, NOW)

    assert codex.snapshot() == before
    assert not os.path.exists(codex.places.data)


def test_when_one_file_cannot_be_written_those_before_it_get_their_bytes_back(codex: Codex, tmp_path: Path) -> None:
    elsewhere = tmp_path / "gone"
    elsewhere.mkdir()
    codex.hooks.symlink_to(elsewhere / "hooks.json")
    codex.config.write_bytes(b'model = "x"\n')
    plan = codex.plan()
    elsewhere.rmdir()

    with pytest.raises(EditRefusedError, match=r"hooks.json cannot be written"):
        apply_plan(plan, codex.places, NOW)

    assert codex.config.read_bytes() == b'model = "x"\n'
    assert not os.path.exists(wiring.hook_path(codex.places))
    assert find_receipt(codex.places) is None


def test_a_read_only_directory_is_a_refusal_and_nothing_stays_behind() -> None:
    with tempfile.TemporaryDirectory() as base:
        home = Path(base, "codex")
        home.mkdir(0o500)
        Path(base, "own").mkdir(0o700)
        own = f"{base}/own"
        codex = Codex(home, Places(own + "/data", own + "/state", own + "/cache"))
        plan = codex.plan()
        with as_ordinary_user(base, str(home), own), pytest.raises(EditRefusedError, match="cannot be written"):
            apply_plan(plan, codex.places, NOW)

        assert codex.snapshot() == {}
        assert not os.path.exists(wiring.hook_path(codex.places))
        assert find_receipt(codex.places) is None


@contextlib.contextmanager
def as_ordinary_user(*paths: str) -> Iterator[None]:
    """Take root's power to write everywhere away for a while, where the tests run as root."""
    if os.geteuid() != 0:
        yield
        return
    for path in paths:
        os.chown(path, 65534, 65534)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_somebody_elses_hook_file_in_our_directory_is_refused(codex: Codex) -> None:
    os.makedirs(codex.places.data, 0o700)
    with open(wiring.hook_path(codex.places), "w", encoding="utf-8") as file:
        file.write("# mine\n")

    with pytest.raises(EditRefusedError, match="not ours"):
        codex.plan()


def test_skill_and_block_come_only_when_asked_for_and_go_without_a_trace(codex: Codex, tmp_path: Path) -> None:
    agents = tmp_path / "AGENTS.md"
    agents.write_bytes("# 规则\r\n没有末尾换行".encode())
    before = (codex.snapshot(), agents.read_bytes())
    codex.install()
    assert "skills/upheld/SKILL.md" not in codex.snapshot()

    codex.install(skill=True, agents_md=str(agents), language="zh")
    assert codex.snapshot()["skills/upheld/SKILL.md"].startswith(b"---\nname: upheld\n")
    assert agents.read_bytes().startswith(before[1] + b"\r\n\r\n<!-- upheld: begin")
    assert not codex.plan(skill=True, agents_md=str(agents), language="zh").changed

    codex.uninstall()
    assert (codex.snapshot(), agents.read_bytes()) == before
    assert not (codex.home / "skills").exists()


def test_a_block_goes_also_when_text_was_added_around_it(codex: Codex, tmp_path: Path) -> None:
    agents = tmp_path / "AGENTS.md"
    agents.write_bytes(b"# Rules\n")
    codex.install(agents_md=str(agents))
    agents.write_bytes(b"First.\n" + agents.read_bytes() + b"Last.\n")

    codex.uninstall()

    assert agents.read_bytes() == b"First.\n# Rules\nLast.\n"


def test_a_skill_that_the_user_changed_stays(codex: Codex) -> None:
    codex.install(skill=True)
    path = codex.home / "skills" / "upheld" / "SKILL.md"
    path.write_text(path.read_text() + "My own rule.\n")

    plan = codex.uninstall()

    assert path.exists()
    assert any("it stays" in note for note in plan.notes)


def test_two_codex_directories_do_not_mix_their_receipts(codex: Codex, tmp_path: Path) -> None:
    other = dataclasses.replace(codex, home=tmp_path / "other")
    other.home.mkdir()
    write(codex.hooks, HOOKS["two spaces"])
    write(other.hooks, HOOKS["one line"])
    codex.install()
    other.install()

    codex.uninstall()
    other.uninstall()

    assert codex.hooks.read_bytes() == HOOKS["two spaces"]
    assert other.hooks.read_bytes() == HOOKS["one line"]
