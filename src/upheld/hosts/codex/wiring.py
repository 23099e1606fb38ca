"""What stands in Codex's files when it is wired to us, and how to tell it from others' entries.

Values and pure functions: the hook groups of `hooks.json`, the server's table of `config.toml`, and
the hash by which Codex remembers what its user trusts (0.171; recomputed from `hooks/list`). Putting
them there is `install`, looking at them is `doctor`.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from upheld.storage.places import Places

EVENTS = ("SessionStart", "UserPromptSubmit", "SubagentStart", "PostCompact")
"""The events that we answer."""

SERVER_TABLE = ("mcp_servers", "upheld")
SERVER_ARGUMENTS = ["-I", "-m", "upheld", "mcp"]

_TIMEOUT_SECONDS = 5
_DEFAULT_TIMEOUT_SECONDS = 600
_SHORT_EVENTS = {"SessionEnd": (1, 3), "Interrupt": (1, 3)}
_STARTUP_TIMEOUT_SECONDS = 10.0  # as Codex writes it when it rewrites its own file
_PASSED = ("XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "UPHELD_FACTS")


class Handler(NamedTuple):
    """One entry of `hooks.json` and its place there, which is part of what Codex remembers as trusted.

    Args:
        event: The event's name as the file has it.
        group: The index of its group in the event's array.
        position: Its own index in the group.
        matcher: The group's matcher, if it has one.
        values: The entry itself.
    """

    event: str
    group: int
    position: int
    matcher: str | None
    values: Mapping[str, Any]


def hook_path(places: Places) -> str:
    """Return where our hook file is."""
    return places.data + "/hook.py"


def hook_command(python: str, places: Places) -> str:
    """Return the command that Codex gives to a shell for each event.

    A Python that cannot open its file exits with 2, and Codex takes 2 for "block this prompt": a session
    that still knows the hook after an uninstall could not be used. Hence the end of the command.
    """
    return shlex.join([python, "-I", "-S", hook_path(places), "codex"]) + " || true"


def hook_group(command: str) -> dict[str, Any]:
    """Return our group: one handler, no matcher, so that every source of an event reaches us."""
    return {"hooks": [{"type": "command", "command": command, "timeout": _TIMEOUT_SECONDS}]}


def is_our_handler(values: object, places: Places) -> bool:
    """Tell whether a handler starts the hook file of this data directory."""
    return _hook_file(command_words(values)) == hook_path(places)


def is_foreign_copy(values: object, places: Places) -> bool:
    """Tell whether a handler starts a hook file of another data directory."""
    return _hook_file(command_words(values)) not in (None, hook_path(places))


def is_our_group(value: object, places: Places) -> bool:
    """Tell whether every handler of a group is ours."""
    handlers = value.get("hooks") if isinstance(value, dict) else None
    return bool(handlers) and isinstance(handlers, list) and all(is_our_handler(h, places) for h in handlers)


def command_words(values: object) -> list[str]:
    """Return the words of a handler's command; none where it has none that a shell would understand."""
    command = values.get("command") if isinstance(values, dict) else None
    if not isinstance(command, str):
        return []
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _hook_file(words: list[str]) -> str | None:
    """Return the hook file that a command of our form starts: PYTHON -I -S FILE codex."""
    for index in range(len(words) - 1):
        file = words[index]
        if words[index + 1] == "codex" and file.rsplit("/", 1)[-1] == "hook.py" and "-S" in words[:index]:
            return file
    return None


def iter_handlers(document: object) -> Iterator[Handler]:
    """Yield the handlers of a `hooks.json` or of the `[hooks]` of a `config.toml`, in their order.

    Tolerant: what has another form than Codex reads is passed over.
    """
    hooks = document.get("hooks") if isinstance(document, dict) else None
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for position, group in enumerate(groups if isinstance(groups, list) else ()):
            entries = group.get("hooks") if isinstance(group, dict) else None
            for index, values in enumerate(entries if isinstance(entries, list) else ()):
                if isinstance(values, dict):
                    matcher = group.get("matcher")
                    yield Handler(event, position, index, matcher if isinstance(matcher, str) else None, values)


def server_values(python: str, environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of our server's table.

    Codex starts servers with a small environment of its own choice, so the variables that say where our
    directories are must be named. UPHELD_HOME is named only where it is set: who does not use it should
    not have it in their configuration.
    """
    names = [*(["UPHELD_HOME"] if environ.get("UPHELD_HOME") else []), *_PASSED]
    return {
        "command": python,
        "args": list(SERVER_ARGUMENTS),
        "env_vars": names,
        "startup_timeout_sec": _STARTUP_TIMEOUT_SECONDS,
    }


def is_our_server(table: object) -> bool:
    """Tell whether a table of `mcp_servers` starts our server, with whichever Python."""
    return isinstance(table, dict) and table.get("args") == SERVER_ARGUMENTS


def trust_key(hooks_path: str, handler: Handler) -> str:
    """Return the name under which Codex remembers that a handler is trusted: its place in its file."""
    return f"{hooks_path}:{_snake(handler.event)}:{handler.group}:{handler.position}"


def trust_hash(handler: Handler) -> str:
    """Return the hash that Codex compares: of the normalised handler, not of the file it starts."""
    default, most = _SHORT_EVENTS.get(handler.event, (_DEFAULT_TIMEOUT_SECONDS, None))
    given = handler.values.get("timeout", default)
    timeout = given if isinstance(given, int) else default
    entry: dict[str, Any] = {
        "async": bool(handler.values.get("async", False)),
        "command": handler.values.get("command"),
        "timeout": max(1, timeout if most is None else min(timeout, most)),
        "type": "command",
    }
    if "statusMessage" in handler.values:
        entry["statusMessage"] = handler.values["statusMessage"]
    identity: dict[str, Any] = {"event_name": _snake(handler.event), "hooks": [entry]}
    if handler.matcher is not None:
        identity["matcher"] = handler.matcher
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def _snake(event: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
