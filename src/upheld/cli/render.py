"""Results as text for people: plain lines anywhere, tables and colour only on a terminal."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from upheld.findings.explain import REASONS
from upheld.findings.model import FOREVER
from upheld.findings.sections import quote_wanted
from upheld.text.quote import quote, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def print_json(envelope: Mapping[str, Any]) -> None:
    """Print an envelope as one line of JSON; half a surrogate pair survives as an escape."""
    click.echo(json.dumps(envelope, ensure_ascii=True))


def warn(messages: Iterable[str]) -> None:
    """Print warnings to standard error."""
    for message in messages:
        click.secho(f"warning: {quote_lines(message)}", err=True, fg="yellow")


def quote_lines(text: str) -> str:
    """Return a message of ours with anything that could move a terminal's cursor made visible."""
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)


_DID = {
    "log_finding": "Logged",
    "add_evidence": "Added evidence to",
    "set_finding_state": "Set",
    "refute_finding": "Refuted",
    "supersede_finding": "Logged",
    "revalidate_finding": "Looked again at",
    "link_finding": "Linked",
    "propose_rule": "Proposed a rule from",
    "approve_rule": "Approved the rule from",
    "reject_rule": "Rejected the rule from",
    "land_rule": "Landed the rule from",
    "amend_finding": "Amended",
    "merge_findings": "Kept",
    "mute_finding": "Muted",
    "withdraw_finding": "Withdrew",
    "archive_finding": "Archived",
    "restore_finding": "Restored",
}


def print_written(name: str, data: Mapping[str, Any]) -> None:
    """Print what a write did: to which finding, its states now, and what it was about."""
    states = [data["epistemic_state"], data["lifecycle_state"], f"version {data['version']}"]
    did = "Unmuted" if data.get("muted_until") == "" else _DID.get(name, "Changed")
    line = f"{did} {data['finding_id']} ({', '.join(states)})"
    told = [_TOLD[name].format(quote(str(data[name]))) for name in _TOLD if data.get(name)]
    if "relation" in data:
        told.append(f"{'no longer ' if data['removed'] else ''}{data['relation']} {data['to']}")
    if "changed" in data:
        told.append(f"changed: {', '.join(data['changed'])}")
    if "supersedes" in data:
        line += f" in place of {data['supersedes']}"
    click.echo(": ".join([line, "; ".join(told)]) if told else line)


_TOLD = {
    "outcome": "it {}",
    "merged": "{} was merged into it",
    "muted_until": "until {}",
}


def print_review(data: Mapping[str, Any]) -> None:
    """Print what waits, by reason, with how many there are of each."""
    headings = {
        "contested": "Contested: settle with `upheld state` or `upheld refute`",
        "needs_revalidation": "To be checked again: `upheld revalidate`",
        "unassessed": "Unassessed: add evidence and a state, or withdraw",
        "proposed_rules": "Proposed rules: `upheld rule approve` or `reject`",
    }
    for name, heading in headings.items():
        listed, count = data["waiting"].get(name, ()), data["counts"].get(name, 0)
        if count:
            click.echo(f"{heading} ({count})")
            _print_lines(listed, indent="  ")
            if count > len(listed):
                click.echo(f"  and {count - len(listed)} more")
    if not any(data["counts"].values()):
        click.echo("Nothing waits.")


def print_drift(data: Mapping[str, Any]) -> None:
    """Print what drifted and why."""
    for one in data["drifted"]:
        click.echo(
            f"[{one['finding_id']} | {one['epistemic_state']} | {', '.join(one['drift'])}]  {quote(one['claim'])}"
        )
        click.echo("    " + "; ".join(one["because"]))
    if data["more"]:
        click.echo(f"and {data['more']} more")
    count = len(data["drifted"]) + data["more"]
    click.echo(f"{count or 'Nothing'} drifted of {data['looked_at']} current findings.")


def print_recalled(data: Mapping[str, Any]) -> None:
    """Print the findings of a conversation."""
    if not data["findings"]:
        click.echo("No findings." if data["session"] else "No conversation was handed anything yet.")
        return
    click.echo(f"Conversation {quote(data['session'])}:")
    for one in data["findings"]:
        was = f" (as {one['handed_out_as']})" if "handed_out_as" in one else ""
        click.echo(f"  {_states(one)}  {quote(one['claim'])}")
        click.echo(f"      {', '.join(one['how'])}{was}")


def print_context(data: Mapping[str, Any]) -> None:
    """Print the facts, and how many findings ask for each."""
    click.echo(f"Project:  {quote(data['project']) if data['project'] else 'not in the ledger yet'}")
    for name, fact in data["facts"].items():
        value = "unknown" if fact["value"] is None else quote(fact["value"])
        asked = f", asked for by {fact['findings']}" if fact["findings"] else ""
        click.echo(f"  {quote(name):<16} {value}  ({fact['source']}{asked})")


def _print_lines(findings: Iterable[Mapping[str, Any]], *, indent: str = "") -> None:
    for finding in findings:
        click.echo(f"{indent}{_states(finding)}  {quote(finding['claim'])}")
        if finding.get("because"):
            click.echo(f"{indent}    " + "; ".join(finding["because"]))


def print_rules(data: Mapping[str, Any]) -> None:
    """Print the proposed rules, one in two lines."""
    for rule in data["rules"]:
        owner = f" -> {rule['owner']}" if rule["owner"] else ""
        click.echo(f"{_states(rule)}  {rule['promotion_state']}{owner}: {quote(rule['rule'])}")
        click.echo(f"    from: {quote(rule['claim'])}")
    if not data["rules"]:
        click.echo("No rules.")


def print_findings(data: Mapping[str, Any]) -> None:
    """Print a list of findings: a table on a terminal, else a line each."""
    findings = data["findings"]
    if not findings:
        click.echo("No findings.")
    elif sys.stdout.isatty():
        _print_table(findings)
    else:
        _print_lines(findings)
    if data["more"]:
        click.echo(f"More: upheld query --before {findings[-1]['finding_id']}")


def print_finding(data: Mapping[str, Any]) -> None:
    """Print one finding whole."""
    click.echo(f"{_states(data)}  {data['claim_kind']}, version {data['version']}")
    click.echo(f"  {quote(data['claim']) if data['claim'] else '(purged)'}")
    for key in ("because", "tags", "aliases"):
        if data.get(key):
            label = {"because": "Check first"}.get(key, key.capitalize())
            click.echo(f"  {label}: {'; '.join(one if key == 'because' else quote(one) for one in data[key])}")
    click.echo(f"  Scope: {'; '.join(_scope_parts(data['scope'])) or 'not given'}")
    for link in data["evidence"]:
        reported = " (reported)" if link.get("reported") else ""
        where = f"{link['source_kind']}{reported} {quote(link['source_ref'])} ({link['resolution']})"
        click.echo(f"  {link['evidence_id']} {link['role']}, {link['method']}: {where}")
        for key in ("rationale", "excerpt"):
            if link.get(key):
                click.echo(f"      {key}: {quote(shorten(link[key], 300))}")
    for relation in data["relations"]:
        other = relation["other"]
        states = f"{other['epistemic_state']}, {other['lifecycle_state']}"
        click.echo(f"  {relation['from']} {relation['kind']} {relation['to']} ({states}): {quote(other['claim'])}")
    if "rule" in data:
        click.echo(f"  Rule ({data['promotion_state']}): {quote(data['rule'])}")
    for link in data["doc_links"]:
        where = f" at {quote(link['locator'])}" if link["locator"] else ""
        click.echo(f"  landed in {quote(link['target'])}{where}")
    for event in data["events"]:
        changes = ", ".join(
            f"{quote(a or 'none')} -> {quote(b or 'none')}" for a, b in event.get("changes", {}).values()
        )
        reason = quote(event["reason"]) if "reason" in event else "purged"
        actor = event["actor"] + (" elsewhere, as the import says" if event.get("imported") else "")
        click.echo(f"  {event['at']}  {event['kind']} by {actor}{': ' + changes if changes else ''} ({reason})")
    if "left_out" in data:
        counts = ", ".join(f"{name} {count:,}" for name, count in data["left_out"].items())
        click.echo(f"  Older entries are left out ({counts}): upheld get {data['finding_id']} --whole")


def _scope_parts(scope: Mapping[str, Any]) -> list[str]:
    parts = [
        f"{part} {quote(name)} "
        + " or ".join(quote_wanted(name, one) for one in (wanted if isinstance(wanted, list) else [wanted]))
        for part in ("match", "context")
        for name, wanted in scope.get(part, {}).items()
    ]
    parts += [f"revalidate on {quote(name)}" for name in scope.get("revalidate_on", ())]
    for path in scope.get("paths", ()):
        quoted = isinstance(path, dict)
        parts.append(
            f"code {quote(path['path'])}, the piece {quote(path['quote'])}" if quoted else f"code {quote(path)}"
        )
    if scope.get("everywhere"):
        parts.append("everywhere in this project")
    return parts


def print_status(data: Mapping[str, Any]) -> None:
    """Print what there is here."""
    project = data["project"]
    click.echo(
        f"Ledger:   {quote(data['ledger'])}" + ("" if data["ledger_exists"] else " (none yet; log_finding makes it)")
    )
    if project is None:
        click.echo(f"Project:  not in the ledger yet (git: {quote(data['git'])})")
    else:
        counts = f"{project['current']} of {project['total']} findings current, dead ends: {project['dead_ends']}"
        click.echo(f"Project:  {quote(project['name'])}: {counts} (ledger revision {data['revision']})")
    click.echo("Facts:")
    for name, fact in data["facts"].items():
        value = "unknown" if fact["value"] is None else quote(fact["value"])
        click.echo(f"  {name:<12} {value}  ({fact['source']})")
    for problem in data["problems"]:
        click.echo(f"  problem: {quote_lines(problem)}")
    if data["settings"]:
        click.echo("Settings:")
    for name, setting in data["settings"].items():
        click.echo(f"  {name:<12} {setting['value']}  ({setting['origin']})")
    if data["paused_until"]:
        click.echo(f"Paused:   {describe_pause(data['paused_until'])}")
    if project is not None:
        _print_injections(data)


def describe_pause(until: str) -> str:
    """Say until when it is paused."""
    return "until it is ended: upheld pause --off" if until == FOREVER else f"until {until}"


def _print_injections(data: Mapping[str, Any]) -> None:
    click.echo("Injections:")
    if not data["injections"]:
        click.echo("  none yet: no host has asked for this project (upheld doctor codex)")
    for trigger, counts in data["injections"].items():
        click.echo(f"  {trigger:<18} {counts['injected']} with findings, {counts['empty']} empty")
    last = data["last_injection"]
    if last is not None:
        what = f"{last['bytes']} bytes: " + ", ".join(f"{name} {outcome}" for name, outcome in last["items"])
        click.echo(f"  last: {last['trigger']}: {what if last['bytes'] else 'nothing: ' + REASONS[last['reason']]}")


def _states(finding: Mapping[str, Any]) -> str:
    parts = [finding["finding_id"], finding["epistemic_state"], finding["applicability"]]
    if finding["lifecycle_state"] != "current":
        parts.append(finding["lifecycle_state"])
    if finding.get("in_conflict"):
        parts.append("in conflict")
    if finding.get("muted_until"):
        parts.append("muted")
    return f"[{' | '.join(parts)}]"


def _print_table(findings: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for heading in ("id", "state", "here", "claim"):
        table.add_column(heading, overflow="fold")
    colours = {"supported": "green", "refuted": "red", "contested": "yellow"}
    for finding in findings:
        state = finding["epistemic_state"]
        lifecycle = "" if finding["lifecycle_state"] == "current" else f" ({finding['lifecycle_state']})"
        claim = quote(finding["claim"])
        if finding.get("because"):
            claim += "\n" + "; ".join(finding["because"])
        table.add_row(
            finding["finding_id"],
            Text(state + lifecycle, style=colours.get(state, "")),
            finding["applicability"],
            Text(claim),
        )
    Console(highlight=False).print(table)
