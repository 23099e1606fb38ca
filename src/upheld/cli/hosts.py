"""`upheld install | uninstall | doctor`: wire a host, take exactly that out again, say what is amiss."""

from __future__ import annotations

import os
import secrets
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from upheld import __version__
from upheld.api import find_cwd
from upheld.cli.agreement import ask, yes_option
from upheld.cli.render import print_json
from upheld.cli.run import REFUSED, json_option
from upheld.envelope import succeed
from upheld.hosts.codex import wiring
from upheld.hosts.codex.chain import try_chain
from upheld.hosts.codex.doctor import diagnose
from upheld.hosts.codex.install import plan_install, plan_uninstall
from upheld.hosts.codex.plan import apply_plan
from upheld.hosts.hook_file import find_roots
from upheld.hosts.instructions import TEXTS
from upheld.hosts.purge import purge
from upheld.storage.places import find_places

if TYPE_CHECKING:
    from collections.abc import Sequence

    from upheld.hosts.check import Check
    from upheld.hosts.codex.plan import Plan

HOSTS = ("codex",)
_MARKS = {True: "ok", False: "PROBLEM", None: "note"}


def install(host: str, *, yes: bool, skill: bool, agents_md: str | None, language: str, as_json: bool) -> int:
    """Wire a host after showing what that changes, then run the chain once."""
    del host  # one so far
    places, environ = find_places(os.environ), os.environ
    plan = plan_install(
        _codex_home(),
        places,
        version=__version__,
        python=sys.executable,
        roots=find_roots(),
        environ=environ,
        agents_md=None if agents_md is None else os.path.abspath(agents_md),
        skill=skill,
        language=language,
    )
    backups: Sequence[str] = ()
    if not plan.changed:
        _say("Codex is wired already; nothing changes.", as_json=as_json)
    else:
        _agree(plan, yes=yes, as_json=as_json)
        backups = apply_plan(plan, places, datetime.now(UTC))
    for path in backups:
        _say(f"Backup: {_shown(path)}", as_json=as_json)
    checks = try_chain(
        wiring.hook_command(sys.executable, places),
        wiring.server_values(sys.executable, environ),
        environ,
        find_cwd(),
        f"upheld-install-{secrets.token_hex(8)}",
    )
    _report(checks, "install", as_json=as_json, extra={"changed": plan.changed, "next": plan.hint})
    _say(f"\n{plan.hint}", as_json=as_json)
    return REFUSED if any(check.ok is False for check in checks) else 0


def uninstall(host: str, *, yes: bool, agents_md: str | None, purge_data: bool, as_json: bool) -> int:
    """Take exactly our entries out of a host again; the findings stay unless asked otherwise."""
    del host
    places = find_places(os.environ)
    plan = plan_uninstall(_codex_home(), places, agents_md=None if agents_md is None else os.path.abspath(agents_md))
    left: Sequence[str] = ()
    if purge_data and not yes:
        ask("Delete all findings of all projects, and their backups?")
    if plan.changed:
        _agree(plan, yes=yes, as_json=as_json)
        apply_plan(plan, places, datetime.now(UTC))
        _say("Upheld was taken out of Codex.", as_json=as_json)
    else:
        _say("Codex is not wired; nothing changes.", as_json=as_json)
    if purge_data:
        left = purge(places)
        _say("All data of Upheld was deleted." + (f" Left: {', '.join(left)}" if left else ""), as_json=as_json)
    if as_json:
        data = {"changed": plan.changed, "notes": list(plan.notes), "purged": purge_data, "left": list(left)}
        print_json(succeed(data, command="uninstall"))
    return 0


def doctor(host: str, *, as_json: bool) -> int:
    """Look at every link between a host and the ledger."""
    del host
    checks = diagnose(
        _codex_home(),
        find_places(os.environ),
        version=__version__,
        python=sys.executable,
        roots=find_roots(),
        environ=os.environ,
        cwd=find_cwd(),
    )
    _report(checks, "doctor", as_json=as_json, extra={})
    return REFUSED if any(check.ok is False for check in checks) else 0


def _codex_home() -> str:
    return os.environ.get("CODEX_HOME") or os.path.expanduser("~/.codex")


def _agree(plan: Plan, *, yes: bool, as_json: bool) -> None:
    """Show what would change and ask."""
    _say(plan.render_diff().rstrip("\n"), as_json=as_json)
    for note in plan.notes:
        _say(f"note: {note}", as_json=as_json)
    if not yes:
        ask("Change these files?")


def _report(checks: Sequence[Check], command: str, *, as_json: bool, extra: dict[str, object]) -> None:
    if as_json:
        data = [{"name": c.name, "ok": c.ok, "what": c.what, "do": c.do} for c in checks]
        print_json(succeed({"checks": data, **extra}, command=command))
        return
    for check in checks:
        colour = {True: "green", False: "red", None: None}[check.ok]
        click.echo(click.style(f"{_MARKS[check.ok]:<8}", fg=colour) + f"{check.name}: {check.what}")
        if check.do:
            click.echo(f"        -> {check.do}")


def _say(text: str, *, as_json: bool) -> None:
    """Print what is no result: with `--json` to standard error, which nobody parses."""
    if text.strip():
        click.echo(text, err=as_json)


def _shown(path: str) -> str:
    home = os.path.expanduser("~")
    return path.replace(home, "~", 1) if path.startswith(home) else path


def _host() -> click.Argument:
    return click.Argument(["host"], type=click.Choice(HOSTS), metavar="HOST")


commands = [
    click.Command(
        "install",
        callback=install,
        params=[
            _host(),
            yes_option(),
            click.Option(["--skill"], is_flag=True, help="also write a skill with the agent's instructions"),
            click.Option(["--agents-md"], metavar="PATH", help="also append the agent's instructions to this file"),
            click.Option(["--language"], type=click.Choice(sorted(TEXTS)), default="en", help="of skill and block"),
            json_option(),
        ],
        help="Wire a host: hooks and MCP server. Shows the change first, keeps a backup, tries the chain once.",
        epilog="\b\nExample:\n  upheld install codex",
    ),
    click.Command(
        "uninstall",
        callback=uninstall,
        params=[
            _host(),
            yes_option(),
            click.Option(["--agents-md"], metavar="PATH", help="take our block out of this file"),
            click.Option(["--purge-data"], is_flag=True, help="also delete all findings, databases and backups"),
            json_option(),
        ],
        help="Take exactly our entries out of a host again. The findings stay.",
        epilog="\b\nExample:\n  upheld uninstall codex",
    ),
    click.Command(
        "doctor",
        callback=doctor,
        params=[_host(), json_option()],
        help="Look at every link between a host and the ledger, and say what to do.",
        epilog="\b\nExample:\n  upheld doctor codex",
    ),
]
