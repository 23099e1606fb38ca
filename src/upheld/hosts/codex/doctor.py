"""Look at every link between Codex and us, and say what to do about each that is broken.

Reads only; the hook is not run, and the server is started and ended. Nothing of what others wrote is
shown but the name of a program: commands and environments may hold secrets.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from upheld.errors import StorageError, UpheldError
from upheld.hosts.check import Check, shorten
from upheld.hosts.codex import wiring
from upheld.hosts.codex.chain import try_server
from upheld.hosts.edit import decode, read_target
from upheld.hosts.hook_file import MARK, render_hook
from upheld.storage.database import CONVERSATIONS, LEDGER, open_for_reading

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from upheld.storage.places import Places

TESTED = (0, 171)
"""The Codex that the adapter was run against; another may behave differently."""

_AGAIN = "Run `upheld install codex` again."
_REVIEW = "Start `codex` once in a terminal, type `/hooks`, look at our entries, and press `t`."
_INTERPRETERS = re.compile(r"(python[\d.]*|node|bun|deno|sh|bash|zsh|env|npx|uvx|uv|ruby|perl)$")


@dataclass(frozen=True, slots=True)
class _Wiring:
    """Codex's two files as they are, in the values that they have."""

    home: str
    places: Places
    hooks: dict[str, Any]
    config: dict[str, Any]

    @property
    def handlers(self) -> list[wiring.Handler]:
        return list(wiring.iter_handlers(self.hooks))

    def ours(self, event: str) -> list[wiring.Handler]:
        return [h for h in self.handlers if h.event == event and wiring.is_our_handler(h.values, self.places)]

    @property
    def server(self) -> dict[str, Any] | None:
        servers = self.config.get(wiring.SERVER_TABLE[0])
        table = servers.get(wiring.SERVER_TABLE[1]) if isinstance(servers, dict) else None
        return table if isinstance(table, dict) else None


def diagnose(
    codex_home: str,
    places: Places,
    *,
    version: str,
    python: str,
    roots: Sequence[str],
    environ: Mapping[str, str],
    cwd: str,
) -> list[Check]:
    """Return what was seen of each link, in the order in which an event passes them.

    Args:
        codex_home: Codex's directory.
        places: Our directories.
        version: Of upheld, as for `plan_install`.
        python: The interpreter that install would write.
        roots: The directories that the hook imports from, as for `plan_install`.
        environ: The environment of the user's shell.
        cwd: The project to look at for a second copy of the hooks.
    """
    checks = [_check_program(environ)]
    files = [_read(codex_home, "hooks.json", json.loads), _read(codex_home, "config.toml", tomllib.loads)]
    if any(isinstance(content, Check) for content in files):
        checks += [content for content in files if isinstance(content, Check)]
        return [*checks, *_iter_databases(places)]
    hooks, config = (content if isinstance(content, dict) else {} for content in files)
    seen = _Wiring(codex_home, places, hooks, config)
    command = wiring.hook_command(python, places)
    return [
        *checks,
        _check_feature(seen),
        _check_hooks(seen, command),
        _check_hook_file(places, version, roots),
        _check_python(python, environ),
        _check_trust(seen),
        _check_copies(seen, cwd, environ),
        *_iter_server(seen, python, environ, cwd),
        *_iter_databases(places),
        _name_others(seen),
    ]


def _check_program(environ: Mapping[str, str]) -> Check:
    name = "Codex"
    program = shutil.which("codex", path=environ.get("PATH", ""))
    if program is None:
        return Check(name, False, "`codex` is not on the PATH.", "Install it: npm install -g @openai/codex.")
    try:
        ran = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=20,
            env=dict(environ),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return Check(name, False, "`codex --version` does not run.", "Reinstall Codex.")
    found = re.search(r"(\d+)\.(\d+)\.\d+", ran.stdout)
    if found is None:
        return Check(name, None, "`codex --version` names no version.", "Check that this `codex` is OpenAI's.")
    tested = ".".join(map(str, TESTED))
    if (int(found[1]), int(found[2])) != TESTED:
        do = f"Upheld was tested with {tested}; watch whether findings arrive."
        return Check(name, None, f"Codex {found[0]} is not the version that was tested.", do)
    return Check(name, True, f"Codex {found[0]} is a tested version.")


def _read(codex_home: str, name: str, loads: Any) -> dict[str, Any] | Check:
    """Return the values of one of Codex's files, nothing for a missing one, or why it cannot be read."""
    try:
        mark, text = decode(read_target(f"{codex_home}/{name}", name))
        if mark:
            return Check(name, False, f"{name} begins with a byte order mark.", "Save it without one.")
        values = loads(text) if text.strip() else {}
    except UpheldError as exc:
        return Check(name, False, f"{exc.message.split('. ')[0]}.", "Correct it; Codex cannot read it either.")
    except (ValueError, RecursionError):
        return Check(name, False, f"{name} cannot be parsed.", "Correct it; Codex cannot read it either.")
    if not isinstance(values, dict):
        return Check(name, False, f"{name} holds no object.", "Correct it; Codex cannot read it either.")
    return values


def _check_feature(seen: _Wiring) -> Check:
    features = seen.config.get("features")
    off = isinstance(features, dict) and features.get("hooks") is False
    if off:
        return Check("hooks feature", False, "config.toml switches hooks off.", "Remove `hooks = false` there.")
    return Check("hooks feature", True, "Codex's hooks are on.")


def _check_hooks(seen: _Wiring, command: str) -> Check:
    name = "hooks.json"
    missing = [event for event in wiring.EVENTS if not seen.ours(event)]
    if missing:
        return Check(name, False, f"No hook of ours for {', '.join(missing)}.", "Run `upheld install codex`.")
    if any(h.values.get("command") != command for event in wiring.EVENTS for h in seen.ours(event)):
        return Check(name, False, "A hook of ours has another command than install would write.", _AGAIN)
    hooks = seen.hooks.get("hooks", {})
    early = [event for event in wiring.EVENTS if seen.ours(event)[-1].group != len(hooks[event]) - 1]
    if early:
        what = f"Our hooks are there; others stand behind them ({', '.join(early)})."
        return Check(name, True, what, "Nothing now; uninstalling will make Codex ask about those again.")
    return Check(name, True, "Our hooks are there, and last.")


def _check_hook_file(places: Places, version: str, roots: Sequence[str]) -> Check:
    name = "hook file"
    try:
        target = read_target(wiring.hook_path(places), "hook.py")
    except UpheldError as exc:
        return Check(name, False, f"{exc.message.split('. ')[0]}.", _AGAIN)
    if target.data is None:
        return Check(name, False, "hook.py is missing.", "Run `upheld install codex`.")
    if not target.data.startswith(MARK.encode()):
        return Check(name, False, "hook.py is not ours.", "Look at it and move it away; then install again.")
    if target.data != render_hook(roots, version).encode():
        return Check(name, False, "hook.py is of another version or Python environment.", _AGAIN)
    if target.mode & 0o022:
        return Check(name, False, "hook.py can be written by other users.", "Run `chmod 600` on it.")
    return Check(name, True, "hook.py is ours and current.")


def _check_python(python: str, environ: Mapping[str, str]) -> Check:
    name = "Python"
    try:
        ran = subprocess.run(
            [python, "-I", "-c", "import apsw, upheld"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=30,
            env=dict(environ),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return Check(name, False, f"{shorten(python, environ)} does not run.", _AGAIN)
    if ran.returncode != 0:
        what = f"{shorten(python, environ)} cannot import upheld and apsw."
        return Check(name, False, what, "Reinstall upheld into that environment.")
    return Check(name, True, f"{shorten(python, environ)} imports upheld and apsw.")


def _check_trust(seen: _Wiring) -> Check:
    """Compare what Codex remembers with what it would compute; where it is silent, hooks do not run."""
    name = "trust"
    hooks = seen.config.get("hooks")
    state = hooks.get("state") if isinstance(hooks, dict) else None
    remembered = state if isinstance(state, dict) else {}
    paths = {f"{home}/hooks.json" for home in (seen.home, os.path.realpath(seen.home))}
    kinds: dict[str, list[str]] = {"untrusted": [], "modified": [], "off": []}
    handlers = [h for event in wiring.EVENTS for h in seen.ours(event)]
    for handler in handlers:
        entries = [remembered.get(wiring.trust_key(path, handler)) for path in paths]
        entry = next((e for e in entries if isinstance(e, dict)), {})
        if entry.get("enabled") is False:
            kinds["off"].append(handler.event)
        elif "trusted_hash" not in entry:
            kinds["untrusted"].append(handler.event)
        elif entry["trusted_hash"] != wiring.trust_hash(handler):
            kinds["modified"].append(handler.event)
    if not handlers:
        return Check(name, None, "There is no hook of ours to trust.", "Run `upheld install codex`.")
    if kinds["off"]:
        return Check(name, False, f"Switched off in Codex: {', '.join(kinds['off'])}.", "Type `/hooks` in `codex`.")
    if kinds["modified"]:
        what = f"Changed since you trusted it, or moved: {', '.join(kinds['modified'])}; Codex skips it silently."
        return Check(name, False, what, _REVIEW)
    if kinds["untrusted"]:
        what = f"Not trusted yet: {', '.join(kinds['untrusted'])}; Codex skips it silently."
        return Check(name, False, what, _REVIEW)
    return Check(name, True, "Codex trusts our hooks.")


def _check_copies(seen: _Wiring, cwd: str, environ: Mapping[str, str]) -> Check:
    """Look for a second wiring: the agent would be told everything twice."""
    name = "wired once"
    count = Counter(h.event for event in wiring.EVENTS for h in seen.ours(event))
    where = ["hooks.json, twice for one event"] if any(n > 1 for n in count.values()) else []
    if any(wiring.is_foreign_copy(h.values, seen.places) for h in seen.handlers):
        where.append("hooks.json, for another data directory")
    if any(_is_any_copy(h, seen.places) for h in wiring.iter_handlers(seen.config)):
        where.append("config.toml, under [hooks]")
    for folder in _iter_project_folders(cwd, seen.home):
        content = _read(folder, "hooks.json", json.loads)
        if isinstance(content, dict) and any(_is_any_copy(h, seen.places) for h in wiring.iter_handlers(content)):
            where.append(f"{shorten(folder, environ)}/hooks.json")
    if where:
        return Check(name, False, f"A second copy of our hooks: {'; '.join(where)}.", "Remove that copy.")
    return Check(name, True, "There is one copy of our hooks.")


def _is_any_copy(handler: wiring.Handler, places: Places) -> bool:
    return wiring.is_our_handler(handler.values, places) or wiring.is_foreign_copy(handler.values, places)


def _iter_project_folders(cwd: str, codex_home: str) -> Iterator[str]:
    """Yield the `.codex` folders that Codex reads for a project, from the inside out."""
    folder = os.path.realpath(cwd)
    while True:
        inner = os.path.join(folder, ".codex")
        if os.path.isdir(inner) and os.path.realpath(inner) != os.path.realpath(codex_home):
            yield inner
        parent = os.path.dirname(folder)
        if parent == folder or os.path.exists(os.path.join(folder, ".git")):
            return
        folder = parent


def _iter_server(seen: _Wiring, python: str, environ: Mapping[str, str], cwd: str) -> Iterator[Check]:
    name, server = "server entry", seen.server
    if server is None:
        yield Check(name, False, "config.toml has no MCP server named upheld.", "Run `upheld install codex`.")
        return
    if not wiring.is_our_server(server):
        yield Check(name, False, "The MCP server named upheld is not ours.", "Rename it; then install.")
        return
    if server.get("enabled") is False:
        yield Check(name, False, "Our MCP server is switched off.", "Remove `enabled = false` in config.toml.")
    elif server.get("command") != python:
        yield Check(name, False, "Our MCP server has another Python than this one.", _AGAIN)
    elif environ.get("UPHELD_HOME") and "UPHELD_HOME" not in server.get("env_vars", ()):
        yield Check(name, False, "UPHELD_HOME is set, but not handed to our server.", _AGAIN)
    else:
        yield Check(name, True, "config.toml has our MCP server.")
    yield try_server(server, environ, cwd)


def _iter_databases(places: Places) -> Iterator[Check]:
    for name, path, kind in (
        ("ledger", places.ledger, LEDGER),
        ("conversations", places.conversations, CONVERSATIONS),
    ):
        try:
            db = open_for_reading(path, kind)
        except StorageError as exc:
            yield Check(name, False, exc.message, "Restore a backup, or move the file away.")
            continue
        if db is None:
            yield Check(name, None, f"There is no {name} database yet; the first write makes it.")
            continue
        db.close()
        if os.access(path, os.W_OK) and os.access(os.path.dirname(path), os.W_OK):
            yield Check(name, True, f"The {name} database can be read and written.")
        else:
            yield Check(name, None, f"The {name} database can only be read.", "Nothing new will be recorded.")


def _name_others(seen: _Wiring) -> Check:
    """Name the programs that answer the same events: they share the room in the model's context."""
    names = {
        _program(wiring.command_words(handler.values))
        for handler in seen.handlers
        if handler.event in wiring.EVENTS and not _is_any_copy(handler, seen.places)
    }
    if not names:
        return Check("other hooks", True, "Nobody else answers these events.")
    return Check("other hooks", None, f"These events are answered also by: {', '.join(sorted(names))}.")


def _program(words: list[str]) -> str:
    """Return the base name of what a command starts, never an argument that could be a secret."""
    script = words[1:2] if words and _INTERPRETERS.match(os.path.basename(words[0])) else []
    word = script[0] if script and not script[0].startswith("-") else (words or [""])[0]
    base = os.path.basename(word)
    return base if re.fullmatch(r"[\w.@+-]{1,40}", base) else "a program"
