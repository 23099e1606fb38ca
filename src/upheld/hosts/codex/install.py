"""Wire Codex to us, and take exactly that out again.

Four hook groups last in `hooks.json`, one server table at the end of `config.toml`, a hook file in our
data directory; on request a skill and a block in an AGENTS.md. Codex trusts hooks by position and asks
its user; that step is explained here and never taken. Nothing is written here either: the functions
return a `Plan` for the face to show, to ask about, and to apply.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from upheld.hosts.codex import wiring
from upheld.hosts.codex.plan import FileChange, Plan
from upheld.hosts.codex.receipt import FileRecord, Receipt, find_receipt, receipt_path, render_receipt
from upheld.hosts.edit import (
    EditRefusedError,
    Splice,
    Target,
    append_item,
    append_table,
    decode,
    find_array,
    load_toml,
    read_target,
    remove_item,
    remove_table,
    replace_scalar,
    update_table,
)
from upheld.hosts.hook_file import MARK, render_hook
from upheld.hosts.instructions import SNIPPET_BEGIN, SNIPPET_END, render_skill, render_snippet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from upheld.storage.places import Places

TRUST_HINT = (
    "Codex skips new hooks until you trust them, and `codex exec` does so without a word. Start `codex` once in a "
    "terminal, choose `Review hooks` (later: `/hooks`), look at the {count} entries with `hook.py codex`, and "
    "press `t`. Upheld never does this for you."
)


@dataclass(frozen=True, slots=True)
class _Edit:
    """A file's new text and what is recorded about it."""

    target: Target
    after: bytes | None
    record: FileRecord | None
    notes: tuple[str, ...] = ()
    made: tuple[str, ...] = ()


def plan_install(
    codex_home: str,
    places: Places,
    *,
    version: str,
    python: str,
    roots: Sequence[str],
    environ: Mapping[str, str],
    agents_md: str | None = None,
    skill: bool = False,
    language: str = "en",
) -> Plan:
    """Return what wiring Codex would change; nothing, if it is wired already.

    Args:
        codex_home: Codex's directory (`CODEX_HOME`, else `~/.codex`); it must exist.
        places: Our directories.
        version: Of upheld, for the hook file.
        python: The interpreter that hooks and server run with, links not resolved: the path must
            survive an upgrade of what it points to.
        roots: The directories that the hook imports upheld and apsw from.
        environ: The environment: says whether UPHELD_HOME is to be handed on.
        agents_md: An AGENTS.md to append our block to, only where the user named it.
        skill: Whether to write a skill, only where the user asked for it.
        language: Of skill and block: a key of `upheld.hosts.instructions.TEXTS`.

    Raises:
        EditRefusedError: A file cannot be edited safely, or somebody else's entry has our name.
    """
    if not os.path.isdir(codex_home):
        raise EditRefusedError("The Codex directory", "does not exist", "Start `codex` once, or set CODEX_HOME.")
    receipt, others = _split_receipt(codex_home, places)
    edits = [
        _edit_config(codex_home, receipt, wiring.server_values(python, environ)),
        _edit_hooks(codex_home, places, receipt, wiring.hook_command(python, places)),
    ]
    if skill:
        edits.append(_edit_skill(codex_home, receipt, render_skill(language)))
    if agents_md is not None:
        edits.append(_edit_agents(agents_md, receipt, render_snippet(language)))
    hook = read_target(wiring.hook_path(places), "hook.py")
    if hook.data is not None and not hook.data.startswith(MARK.encode()):
        raise EditRefusedError("hook.py", "in our data directory is not ours", "Move it away first.")
    files = [FileChange(hook, render_hook(roots, version).encode(), ours=True)]
    files += [FileChange(edit.target, edit.after, context=_context(edit)) for edit in edits]
    kept = [r for r in receipt.files if r.role not in {e.record.role for e in edits if e.record}]
    return Plan(
        changes=tuple(change for change in files if change.after != change.target.data),
        notes=tuple(note for edit in edits for note in edit.notes),
        receipt=Receipt(
            (*others.files, *kept, *(edit.record for edit in edits if edit.record)),
            (
                *others.directories,
                *dict.fromkeys([*receipt.directories, *(d for edit in edits for d in edit.made)]),
            ),
        ),
        made=tuple(directory for edit in edits for directory in edit.made),
        hint=TRUST_HINT.format(count=len(wiring.EVENTS)),
    )


def plan_uninstall(codex_home: str, places: Places, *, agents_md: str | None = None) -> Plan:
    """Return what taking us out of Codex would change; nothing, if we are not there.

    A file that nobody has written since install gets its old bytes back (or goes, if there was none).
    Of any other exactly our entries are taken. Needs no receipt: our entries are known by what they are.

    Args:
        codex_home: Codex's directory.
        places: Our directories.
        agents_md: An AGENTS.md to take our block out of; without it, the one that the receipt names.

    Raises:
        EditRefusedError: A file cannot be edited safely.
    """
    receipt, others = _split_receipt(codex_home, places)
    agents = receipt.find("agents")
    edits = [
        _unedit_hooks(codex_home, places, receipt.find("hooks")),
        _unedit_config(codex_home, receipt.find("config")),
        _unedit_skill(codex_home, receipt.find("skill")),
    ]
    if agents_md is not None or agents is not None:
        edits.append(_unedit_agents(agents_md or (agents.path if agents else ""), agents))
    hook = read_target(wiring.hook_path(places), "hook.py")
    ours = hook.data is not None and hook.data.startswith(MARK.encode()) and not others.files
    files = [FileChange(edit.target, edit.after, context=_context(edit)) for edit in edits]
    files.append(FileChange(hook, None if ours else hook.data, ours=True))
    kept = render_receipt(others) if others.files else None
    files.append(FileChange(read_target(receipt_path(places), "install/codex.json"), kept, ours=True))
    return Plan(
        changes=tuple(change for change in files if change.after != change.target.data),
        notes=(
            *(note for edit in edits for note in edit.notes),
            "Findings, their databases and the backups stay in our own directories; `--purge-data` removes them.",
            "What Codex remembers of trusted hooks stays in its config.toml; it is Codex's own.",
        ),
        receipt=others if others.files else None,
        emptied=tuple(reversed(receipt.directories)),
    )


def _split_receipt(codex_home: str, places: Places) -> tuple[Receipt, Receipt]:
    """Return the receipt as far as it speaks of this Codex directory, and the rest: there may be several."""
    receipt = find_receipt(places) or Receipt()
    here = os.path.realpath(codex_home) + "/"
    linked = {os.path.realpath(f"{codex_home}/{name}") for name in ("hooks.json", "config.toml")}
    mine = tuple(r for r in receipt.files if r.role == "agents" or r.path in linked or r.path.startswith(here))
    made = tuple(path for path in receipt.directories if os.path.realpath(path).startswith(here))
    return Receipt(mine, made), Receipt(
        tuple(r for r in receipt.files if r not in mine),
        tuple(path for path in receipt.directories if path not in made),
    )


def _context(edit: _Edit) -> int:
    return 2 if edit.target.name in ("hooks.json", "AGENTS.md") else 0


def _edit_hooks(codex_home: str, places: Places, receipt: Receipt, command: str) -> _Edit:
    target = read_target(f"{codex_home}/hooks.json", "hooks.json")
    mark, text = decode(target)
    splices: list[tuple[str, Splice]] = []
    found = False
    for event in wiring.EVENTS:
        text, present = _update_commands(text, event, places, command)
        found = found or present
        if not present:
            text, splice = append_item(text, ("hooks", event), wiring.hook_group(command), target.name)
            splices.append((event, splice))
    notes = []
    if mark:
        notes.append("hooks.json begins with a byte order mark, and Codex cannot read it: save it without one.")
    record = _record("hooks", target, mark + text, receipt, known=found)
    previous = receipt.find("hooks")
    kept = previous.splices if previous else ()
    return _Edit(
        target, (mark + text).encode(), replace(record, splices=(*kept, *splices)) if record else None, tuple(notes)
    )


def _update_commands(text: str, event: str, places: Places, command: str) -> tuple[str, bool]:
    """Return the text with our existing handlers of an event starting this command, and if there are any.

    In place: whatever stands behind them keeps its position, and with it its trust.
    """
    array = find_array(text, ("hooks", event), "hooks.json")
    commands = [
        member
        for group in (array.children if array else ())
        for entries in group.find_members("hooks")
        for handler in entries.children
        if wiring.is_our_handler(handler.value, places)
        for member in handler.find_members("command")
    ]
    for member in reversed(commands):
        if member.scalar != command:
            text = replace_scalar(text, member, command)
    return text, bool(commands)


def _edit_config(codex_home: str, receipt: Receipt, values: dict[str, Any]) -> _Edit:
    target = read_target(f"{codex_home}/config.toml", "config.toml")
    mark, text = decode(target)
    servers = load_toml(text, target.name).get(wiring.SERVER_TABLE[0], {})
    table = servers.get(wiring.SERVER_TABLE[1]) if isinstance(servers, dict) else None
    previous = receipt.find("config")
    added = previous.added if previous else None
    if table is None:
        text, added = append_table(text, wiring.SERVER_TABLE, values, target.name)
    elif not wiring.is_our_server(table):
        raise EditRefusedError(
            target.name, "already has an MCP server named upheld that is not ours", "Rename or remove that one first."
        )
    elif any(table.get(key) != value for key, value in values.items() if key != "startup_timeout_sec"):
        text, added = update_table(text, wiring.SERVER_TABLE, values, target.name), None
    record = _record("config", target, mark + text, receipt, known=table is not None)
    return _Edit(target, (mark + text).encode(), replace(record, added=added) if record else None)


def _edit_skill(codex_home: str, receipt: Receipt, skill: str) -> _Edit:
    folder = f"{codex_home}/skills/upheld"
    target = read_target(f"{folder}/SKILL.md", "skills/upheld/SKILL.md", new_mode=0o644)
    previous = receipt.find("skill")
    known = target.data is not None and previous is not None and previous.after == target.sha256
    if target.data not in (None, skill.encode()) and not known:
        raise EditRefusedError(target.name, "exists and is not as we wrote it", "Move it away first.")
    missing = tuple(path for path in (f"{codex_home}/skills", folder) if not os.path.isdir(path))
    record = _record("skill", target, skill, receipt, known=known)
    return _Edit(target, skill.encode(), record, made=missing)


def _edit_agents(path: str, receipt: Receipt, snippet: str) -> _Edit:
    target = read_target(path, "AGENTS.md", new_mode=0o644)
    mark, text = decode(target)
    if SNIPPET_BEGIN in text:
        return _Edit(target, target.data, receipt.find("agents"), ("AGENTS.md has our block already.",))
    newline = "\r\n" if "\r\n" in text else "\n"
    lead = "" if not text else newline if text.endswith("\n") else newline * 2
    added = lead + snippet.replace("\n", newline)
    record = _record("agents", target, mark + text + added, receipt, known=False)
    return _Edit(target, (mark + text + added).encode(), replace(record, added=added) if record else None)


def _record(role: str, target: Target, after: str, receipt: Receipt, *, known: bool) -> FileRecord | None:
    """Return what to remember about a file.

    Args:
        role: The file's role in the receipt.
        target: The file as it is.
        after: Its new text.
        receipt: What was remembered before.
        known: Entries of ours are in the file already, so its bytes are not those of before install.
    """
    previous = receipt.find(role)
    new = replace(target, data=after.encode()).sha256 or ""
    if new == target.sha256:
        return previous
    untouched = previous is not None and previous.path == target.path and previous.after == target.sha256
    if previous is not None and untouched:
        return replace(previous, after=new)
    return FileRecord(role, target.path, new, restorable=not known, before=None if known else target.sha256)


def _restore(target: Target, record: FileRecord | None) -> tuple[bool, bytes | None]:
    """Return whether a file can go back as a whole to what it was, and what that is."""
    if record is None or not record.restorable or record.path != target.path or record.after != target.sha256:
        return False, None
    if record.before is None:
        return True, None
    if record.backup is None:
        return False, None
    try:
        kept = read_target(record.backup, "the backup")
    except EditRefusedError:
        return False, None
    return kept.sha256 == record.before, kept.data


def _unedit_hooks(codex_home: str, places: Places, record: FileRecord | None) -> _Edit:
    target = read_target(f"{codex_home}/hooks.json", "hooks.json")
    whole, before = _restore(target, record)
    if whole or target.data is None:
        return _Edit(target, before, None)
    mark, text = decode(target)
    splices = dict(record.splices) if record is not None and record.path == target.path else {}
    notes = []
    for event in reversed(wiring.EVENTS):
        shifted = _count_behind(text, event, places)
        if shifted:
            notes.append(
                f"{event}: {shifted} hook group{'s' if shifted > 1 else ''} of others behind ours move up, and Codex "
                "trusts by position: review them again with `/hooks` in `codex`."
            )
        text = _remove_event(text, event, places, splices.get(event))
    return _Edit(target, (mark + text).encode(), None, tuple(reversed(notes)))


def _count_behind(text: str, event: str, places: Places) -> int:
    array = find_array(text, ("hooks", event), "hooks.json")
    groups = [wiring.is_our_group(child.value, places) for child in (array.children if array else ())]
    return groups[groups.index(True) :].count(False) if True in groups else 0


def _remove_event(text: str, event: str, places: Places, splice: Splice | None) -> str:
    path = ("hooks", event)
    while (
        rest := remove_item(text, path, lambda group: wiring.is_our_group(group, places), splice, "hooks.json")
    ) != text:
        text = rest
    # Somebody put a handler of his own into our group, or ours into his: only ours goes.
    array = find_array(text, path, "hooks.json")
    for index in range(len(array.children) if array else 0):
        text = _remove_handlers(text, event, index, places)
    return text


def _remove_handlers(text: str, event: str, index: int, places: Places) -> str:
    while True:
        array = find_array(text, ("hooks", event), "hooks.json")
        if array is None:
            return text
        group = array.children[index]
        part = text[group.start : group.end]
        entries = group.value.get("hooks") if group.kind == "object" else None
        if not isinstance(entries, list):
            return text
        rest = remove_item(
            part, ("hooks",), lambda h: wiring.is_our_handler(h, places), Splice(0, "", ""), "hooks.json"
        )
        if rest == part:
            return text
        text = text[: group.start] + rest + text[group.end :]


def _unedit_config(codex_home: str, record: FileRecord | None) -> _Edit:
    target = read_target(f"{codex_home}/config.toml", "config.toml")
    whole, before = _restore(target, record)
    if whole or target.data is None:
        return _Edit(target, before, None)
    mark, text = decode(target)
    servers = load_toml(text, target.name).get(wiring.SERVER_TABLE[0], {})
    table = servers.get(wiring.SERVER_TABLE[1]) if isinstance(servers, dict) else None
    if table is None:
        return _Edit(target, target.data, None)
    if not wiring.is_our_server(table):
        note = "config.toml has an MCP server named upheld that is not ours; it stays."
        return _Edit(target, target.data, None, (note,))
    text = remove_table(text, wiring.SERVER_TABLE, record.added if record else None, target.name)
    return _Edit(target, (mark + text).encode(), None)


def _unedit_skill(codex_home: str, record: FileRecord | None) -> _Edit:
    target = read_target(f"{codex_home}/skills/upheld/SKILL.md", "skills/upheld/SKILL.md")
    ours = {render_skill(language).encode() for language in ("en", "zh")}
    if target.data is None or target.data in ours or (record and record.after == target.sha256):
        return _Edit(target, None, None)
    note = f"{target.name} was changed since we wrote it; it stays."
    return _Edit(target, target.data, None, (note,))


def _unedit_agents(path: str, record: FileRecord | None) -> _Edit:
    target = read_target(path, "AGENTS.md")
    whole, before = _restore(target, record)
    if whole or target.data is None:
        return _Edit(target, before, None)
    mark, text = decode(target)
    if record is not None and record.added and text.count(record.added) == 1:
        return _Edit(target, (mark + text.replace(record.added, "")).encode(), None)
    begin = text.find(SNIPPET_BEGIN)
    end = text.find(SNIPPET_END, begin)
    if begin < 0 or end < 0:
        return _Edit(target, target.data, None)
    end += len(SNIPPET_END)
    end += 2 if text.startswith("\r\n", end) else 1 if text.startswith("\n", end) else 0
    return _Edit(target, (mark + text[:begin] + text[end:]).encode(), None)
