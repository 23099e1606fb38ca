"""Each broken link is seen, and what to do is said."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

from upheld.hosts.codex import wiring
from upheld.hosts.codex.doctor import diagnose
from upheld.storage.database import LEDGER, open_for_writing

from .conftest import Codex

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from upheld.hosts.check import Check


def look(
    codex: Codex, tmp_path: Path, *, codex_version: str | None = "codex-cli 0.171.0", **environ: str
) -> dict[str, Check]:
    programs = tmp_path / "bin"
    programs.mkdir(exist_ok=True)
    if codex_version is not None:
        program = programs / "codex"
        program.write_text(f"#!/bin/sh\necho '{codex_version}'\n")
        program.chmod(0o755)
    checks = diagnose(
        str(codex.home),
        codex.places,
        version="1",
        python=codex.python,
        roots=["/roots"],
        environ={"PATH": str(programs), "HOME": str(codex.home.parent), **environ},
        cwd=str(tmp_path),
    )
    for check in checks:
        assert check.what
        assert check.do or check.ok is not False
        assert str(tmp_path) not in check.what + check.do
    assert len({check.name for check in checks}) == len(checks)
    return {check.name: check for check in checks}


def trust(codex: Codex) -> None:
    """Write what Codex writes when its user trusts everything."""
    lines = ["\n[hooks.state]\n"]
    for handler in wiring.iter_handlers(json.loads(codex.hooks.read_text())):
        key = json.dumps(wiring.trust_key(f"{os.path.realpath(codex.home)}/hooks.json", handler), ensure_ascii=False)
        lines.append(f'[hooks.state.{key}]\ntrusted_hash = "{wiring.trust_hash(handler)}"\n')
    codex.config.write_text(codex.config.read_text() + "".join(lines))


def test_before_install_everything_missing_is_named(codex: Codex, tmp_path: Path) -> None:
    checks = look(codex, tmp_path, codex_version=None)

    bad = {name for name, check in checks.items() if check.ok is False}
    assert bad == {"Codex", "hooks.json", "hook file", "server entry"}
    assert checks["trust"].ok is None
    assert not os.path.exists(codex.places.data)


def test_after_install_only_the_trust_step_is_left_of_the_wiring(codex: Codex, tmp_path: Path) -> None:
    codex.install()
    open_for_writing(codex.places.ledger, LEDGER).close()

    checks = look(codex, tmp_path)

    for name in ("Codex", "hooks feature", "hooks.json", "hook file", "Python", "wired once", "server entry", "ledger"):
        assert checks[name].ok is True, checks[name]
    assert checks["trust"].ok is False
    assert "Not trusted yet: SessionStart" in checks["trust"].what
    assert "/hooks" in checks["trust"].do


def test_trust_is_read_and_a_moved_or_changed_hook_is_seen(codex: Codex, tmp_path: Path) -> None:
    codex.install()
    trust(codex)
    assert look(codex, tmp_path)["trust"].ok is True

    document = json.loads(codex.hooks.read_text())
    document["hooks"]["SessionStart"].insert(0, {"hooks": [{"type": "command", "command": "theirs"}]})
    document["hooks"]["PostCompact"][0]["hooks"][0]["timeout"] = 6
    codex.hooks.write_text(json.dumps(document))

    check = look(codex, tmp_path)["trust"]
    assert check.ok is False
    assert "moved: PostCompact" in check.what


def test_a_switched_off_hook_is_seen(codex: Codex, tmp_path: Path) -> None:
    codex.install()
    trust(codex)
    codex.config.write_text(codex.config.read_text() + "enabled = false\n")

    assert "Switched off in Codex: PostCompact" in look(codex, tmp_path)["trust"].what


def spoil_command(codex: Codex) -> None:
    codex.hooks.write_text(codex.hooks.read_text().replace(" -I -S ", " -S "))


def spoil_hook(codex: Codex) -> None:
    with open(wiring.hook_path(codex.places), "a", encoding="utf-8") as file:
        file.write("# more\n")


def replace_hook(codex: Codex) -> None:
    with open(wiring.hook_path(codex.places), "w", encoding="utf-8") as file:
        file.write("# mine\n")


def copy_group(codex: Codex) -> None:
    document = json.loads(codex.hooks.read_text())
    document["hooks"]["SessionStart"] *= 2
    codex.hooks.write_text(json.dumps(document))


def copy_for_another_ledger(codex: Codex) -> None:
    document = json.loads(codex.hooks.read_text())
    document["hooks"]["Stop"] = [wiring.hook_group("python -I -S /x/hook.py codex || true")]
    codex.hooks.write_text(json.dumps(document))


def add_to_config(text: str) -> Callable[[Codex], Any]:
    return lambda codex: codex.config.write_text(text + codex.config.read_text())


def comment(codex: Codex) -> None:
    codex.hooks.write_text("// mine\n" + codex.hooks.read_text())


def mark(codex: Codex) -> None:
    codex.hooks.write_text("\ufeff" + codex.hooks.read_text())


def damage_ledger(codex: Codex) -> None:
    with open(codex.places.ledger, "wb") as file:
        file.write(b"no database at all" * 100)
    os.chmod(codex.places.ledger, 0o600)


FAULTS: dict[str, tuple[Callable[[Codex], Any], str, str]] = {
    "another command": (spoil_command, "hooks.json", "another command"),
    "an old hook file": (spoil_hook, "hook file", "another version"),
    "a strange hook file": (replace_hook, "hook file", "not ours"),
    "two groups": (copy_group, "wired once", "twice"),
    "another ledger": (copy_for_another_ledger, "wired once", "another data directory"),
    "hooks are off": (add_to_config("[features]\nhooks = false\n"), "hooks feature", "off"),
    "a comment": (comment, "hooks.json", "cannot be parsed"),
    "a byte order mark": (mark, "hooks.json", "byte order mark"),
    "no TOML": (add_to_config("= ="), "config.toml", "cannot be parsed"),
    "a damaged ledger": (damage_ledger, "ledger", "left as it is"),
}


@pytest.mark.parametrize(("spoil", "name", "says"), FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_is_named_with_its_remedy(
    codex: Codex, tmp_path: Path, spoil: Callable[[Codex], Any], name: str, says: str
) -> None:
    codex.install()
    spoil(codex)

    check = look(codex, tmp_path)[name]

    assert check.ok is False
    assert says in check.what


def test_a_copy_in_the_project_is_seen(codex: Codex, tmp_path: Path) -> None:
    codex.install()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "hooks.json").write_bytes(codex.hooks.read_bytes())

    assert ".codex/hooks.json" in look(codex, tmp_path)["wired once"].what


def test_a_codex_that_was_not_tested_is_named_and_not_called_broken(codex: Codex, tmp_path: Path) -> None:
    for version in ("codex-cli 0.172.0", "something"):
        assert look(codex, tmp_path, codex_version=version)["Codex"].ok is None


def test_a_home_that_is_set_but_not_handed_on_is_seen(codex: Codex, tmp_path: Path) -> None:
    codex.install()

    assert "UPHELD_HOME" in look(codex, tmp_path, UPHELD_HOME="/x")["server entry"].what


def test_others_are_named_by_their_program_only(codex: Codex, tmp_path: Path) -> None:
    commands = [
        "/opt/their-memory --token sk-live-secret",
        "python3 '/home/x/other memory/recall.py' sk-live-secret",
        "TOKEN=sk-live-secret run",
        "npx --key sk-live-secret",
        "'unclosed sk-live-secret",
    ]
    groups = [{"hooks": [{"type": "command", "command": command}]} for command in commands]
    codex.hooks.write_text(json.dumps({"hooks": {"SessionStart": groups}}))
    codex.install()

    checks = look(codex, tmp_path)

    assert checks["other hooks"].what == ("These events are answered also by: a program, npx, recall.py, their-memory.")
    assert "secret" not in str(checks)


def test_a_python_without_upheld_is_seen(codex: Codex, tmp_path: Path) -> None:
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.base_prefix}/bin/python3 "$@"\n')
    bare.chmod(0o755)
    other = Codex(codex.home, codex.places, str(bare))
    other.install()

    checks = look(other, tmp_path)

    assert checks["Python"].ok is False
    assert "cannot import" in checks["Python"].what
    assert checks["server answers"].ok is False
