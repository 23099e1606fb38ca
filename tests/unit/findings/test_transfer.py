"""Findings leave the ledger and come into another one unchanged; what is purged is gone from everywhere."""

from __future__ import annotations

import hashlib
import io
import json
import os
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from support.desk import AGAINST, AGENT, FOR, PERSON, Desk, make_repository
from upheld.errors import UpheldError
from upheld.findings.check import check_ledger
from upheld.findings.exporting import export_findings
from upheld.findings.importing import BadImportError, OtherFileProjectError, import_findings
from upheld.findings.ledger import Ledger, format_time
from upheld.findings.lifecycle import PurgedError
from upheld.findings.purging import CitedError, purge_finding
from upheld.findings.refusals import PersonRequiredError
from upheld.findings.store import shown
from upheld.storage import backup, database
from upheld.storage.places import Places

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MARKER = "zebrafinch"
CLOCK = 4_000_000_000.0


def make_ledger(top: Path) -> Ledger:
    return Ledger(Places(f"{top}/data", f"{top}/state", f"{top}/cache"))


@pytest.fixture
def here(tmp_path: Path) -> Desk:
    return Desk(make_repository(tmp_path / "engine"), caller=PERSON, ledger=make_ledger(tmp_path / "one"))


@pytest.fixture
def there(here: Desk, tmp_path: Path) -> Desk:
    """The same repository on another machine."""
    return Desk(here.cwd, caller=PERSON, ledger=make_ledger(tmp_path / "two"))


def fill(desk: Desk) -> None:
    """Leave something of everything that a finding can have."""
    first = desk.log(
        "The cache is never read", evidence=[FOR], epistemic_state="supported", scope={"paths": ["engine.py"]}
    )
    desk.run("add_evidence", finding_id=first, evidence=AGAINST)
    second = desk.log("Speed is three", tags=["speed"], aliases=["pace"], task="tuning", evidence=[FOR])
    desk.run("refute_finding", finding_id=second, reason="it is four", evidence=[AGAINST])
    third = desk.log(
        "Never flush twice", claim_kind="constraint", scope={"match": {"backend": "cuda"}}, facts={"backend": "cuda"}
    )
    desk.run("propose_rule", finding_id=third, rule="No double flush", owner="test", reason="it cost a day")
    desk.run("approve_rule", finding_id=third, reason="agreed")
    desk.run("land_rule", finding_id=third, target="tests/test_flush.py", reason="guarded")
    desk.run("link_finding", finding_id=first, relation="derived_from", to=second, reason="it rests on it")
    desk.run("revalidate_finding", finding_id=first, outcome="held", reason="again", evidence=[FOR])
    desk.run("supersede_finding", finding_id=third, claim="Never flush at all", reason="safer")
    fifth = desk.log("The cache is not read", evidence=[{"evidence_id": "E-1", "method": "test"}])
    desk.run("merge_findings", finding_id=fifth, into=first, reason="the same")
    desk.run("mute_finding", finding_id=second, reason="known by now")
    desk.run("withdraw_finding", finding_id=desk.log("An error"), reason="wrong project")


def export(desk: Desk) -> bytes:
    parts: list[bytes] = []
    export_findings(desk.findings, parts.append)
    return b"".join(parts)


def comparable(exported: bytes) -> list[dict[str, Any]]:
    """Return the findings of an export without numbers and what the import itself left."""
    found = []
    for line in exported.splitlines()[1:-1]:
        data = json.loads(line)
        del data["number"]
        data["history"] = [
            {k: v for k, v in one.items() if k not in ("imported", "seq")}
            for one in data["history"]
            if not one["kind"].startswith("imported")
        ]
        found.append(data)
    return found


def bring(desk: Desk, exported: bytes, **given: Any) -> dict[str, Any]:
    return import_findings(desk.findings, io.BytesIO(exported), **given)


def test_an_export_imported_elsewhere_is_the_same_ledger(here: Desk, there: Desk) -> None:
    fill(here)
    exported = export(here)
    there.log("Something else was here before")

    came = bring(there, exported)

    assert came == {"imported": 6, "known": 0, "warnings": []}
    assert check_ledger(there.ledger).problems == ()
    again = [one for one in comparable(export(there)) if one["finding"]["claim"] != "Something else was here before"]
    assert again == comparable(exported)
    assert bring(there, exported)["known"] == 6


def test_an_unsettled_conflict_and_a_settled_one_stay_what_they_are(here: Desk, there: Desk) -> None:
    fill(here)
    bring(there, export(here))
    for number in ("F-1", "F-2"):
        assert there.get(number).get("in_conflict") == here.get(number).get("in_conflict")
    assert here.get("F-1")["in_conflict"]


def test_an_imported_finding_is_found_judged_and_shows_its_history(here: Desk, there: Desk) -> None:
    fill(here)
    bring(there, export(here))
    found = there.run("query_findings", words="cache never read").data["findings"][0]
    assert found["finding_id"] == "F-1"
    assert found["applicability"] == here.run("query_findings", words="cache").data["findings"][0]["applicability"]
    events = there.get("F-1")["events"]
    assert events[0] == {**here.get("F-1")["events"][0], "imported": True}
    assert events[-1]["kind"].startswith("imported")


def test_what_was_imported_can_be_changed_and_exported_again(here: Desk, there: Desk) -> None:
    fill(here)
    bring(there, export(here))
    there.run("add_evidence", finding_id="F-1", evidence=FOR)
    there.run("amend_finding", finding_id="F-1", claim="The cache is hardly read", reason="more exact")
    assert check_ledger(there.ledger).problems == ()
    history = json.loads(export(there).splitlines()[1])["history"]
    assert [one["kind"] for one in history][-1] == "amended"


def _without_line(exported: bytes, number: int) -> bytes:
    lines = exported.splitlines(keepends=True)
    return b"".join(lines[:number] + lines[number + 1 :])


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda _: b"", "is empty or cut"),
        (lambda text: text[: len(text) // 2], "cut"),
        (lambda text: text.rsplit(b"\n", 2)[0] + b"\n", "is cut: its last line is missing"),
        (lambda text: _without_line(text, 2), "was changed, or lines of it are missing"),
        (lambda text: text.replace(b"never", b"always", 1), "was changed"),
        (lambda text: text.replace(b'"version":1}', b'"version":2}', 1), "has format version 2"),
        (lambda text: text.replace(b"upheld-findings", b"other-findings", 1), "is no export"),
        (lambda _: b"\x00\xff binary", "cut"),
        (lambda text: b"[]\n" + text, "line 1 is no JSON object"),
        (lambda text: text.replace(b'"supported"', b'"certain"', 1), "epistemic_state"),
        (lambda text: text.replace(b'"role":"supports"', b'"role":"proves"', 1), "role"),
        (lambda text: text.replace(b'"claim":', b'"clain":', 1), "line 2"),
    ],
)
def test_a_file_that_is_not_whole_brings_nothing(here: Desk, there: Desk, spoil: Any, said: str) -> None:
    fill(here)
    with pytest.raises(BadImportError, match=said) as refused:
        bring(there, spoil(export(here)))
    assert refused.value.argument == "file"
    assert refused.value.message.endswith("Nothing was written.")
    assert there.count("findings") == 0


def forge(exported: bytes, change: Callable[[list[Any]], object]) -> bytes:
    """Change an export and give it the count and digest that it would have: nobody needs a key for that."""
    lines = [json.loads(line) for line in exported.splitlines()[:-1]]
    change(lines)
    lines[0]["findings"] = len(lines) - 1
    body = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    footer = {"lines": len(lines), "digest": hashlib.blake2b(body, digest_size=32).hexdigest()}
    return body + json.dumps(footer).encode() + b"\n"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda lines: lines[1].update(relations=[["contradicts", "a", "b"]]), "relations"),
        (lambda lines: lines[1].update(relations=[["related_to", lines[1]["finding"]["uid"]] * 2]), "line 2"),
        (lambda lines: lines.append(lines[1]), "in two lines"),
        (lambda lines: lines[0]["project"].update(remotes=7), "first line"),
        (lambda lines: lines[0].update(version=-3), "first line"),
        (lambda lines: lines[1]["contexts"][0].update(facts=["x"]), "line 2"),
        (lambda lines: lines[1]["contexts"][0].update(basis=[["x", 7]]), "contexts.basis"),
        (lambda lines: lines[1]["finding"].update(uid=""), "uid"),
        (lambda lines: lines[1]["finding"].update(created_at="yesterday"), "created_at"),
        (lambda lines: lines[1]["finding"].update(muted_until="whenever"), "muted_until"),
        (lambda lines: lines[1].update(decided="no"), "decided"),
        (lambda lines: lines[1].update(rule={"rule": "r", "owner": "nobody"}), "rule.owner"),
        (lambda lines: lines[1].update(doc_links=[{"target": 7, "locator": ""}]), "doc_links.target"),
        (lambda lines: lines[1].update(history=["x"]), "line 2"),
        (lambda lines: lines[1]["history"][0].update(after=[1]), "history.after"),
        (lambda lines: lines[1]["evidence"][0].pop("after_decision"), "line 2"),
        (lambda lines: lines[1]["evidence"][0]["source"].update(resolution="great"), "resolution"),
        (lambda lines: lines[1]["evidence"][0]["source"].update(actor="root"), "actor"),
        (lambda lines: lines[1]["evidence"][0]["source"].update(content_hash=[1]), "content_hash"),
        (lambda lines: lines[1]["evidence"].append(lines[1]["evidence"][0]), "a link twice"),
    ],
)
def test_a_forged_file_is_refused_by_its_field_and_brings_nothing(
    here: Desk, there: Desk, change: Callable[[list[Any]], object], said: str
) -> None:
    fill(here)
    with pytest.raises(BadImportError, match=said):
        bring(there, forge(export(here), change))
    assert there.count("findings") == 0


def test_secrets_of_a_forged_file_are_taken_out_wherever_they_stand(here: Desk, there: Desk) -> None:
    fill(here)
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"

    def hide(lines: list[Any]) -> None:
        lines[1]["contexts"][0].update(facts={"backend": secret}, anchor={"engine.py": secret})
        lines[1]["finding"]["host"] = secret
        lines[1]["evidence"][0]["source"]["observed_at"] = secret

    came = bring(there, forge(export(here), hide))
    assert came["warnings"]
    there.ledger.close()
    with open(there.ledger.places.ledger, "rb") as file:
        assert secret.encode() not in file.read()


def test_what_outgrew_the_limits_of_a_log_comes_in_as_well(here: Desk, there: Desk) -> None:
    kept = here.log("password=a1b2c3 " * 60, tags=[f"one {number}" for number in range(16)])
    other = here.log("The same", tags=[f"two {number}" for number in range(16)])
    here.run("merge_findings", finding_id=other, into=kept, reason="the same")
    assert len(here.get(kept)["claim"]) > 1000
    assert bring(there, export(here))["imported"] == 2
    assert comparable(export(there)) == comparable(export(here))
    assert check_ledger(there.ledger).problems == ()


def test_another_projects_export_is_refused_unless_it_is_meant(here: Desk, tmp_path: Path) -> None:
    fill(here)
    other = Desk(make_repository(tmp_path / "other"), caller=PERSON, ledger=make_ledger(tmp_path / "three"))
    with pytest.raises(OtherFileProjectError, match="shares no remote"):
        bring(other, export(here))
    assert other.count("findings") == 0
    assert bring(other, export(here), into_this_project=True)["imported"] == 6


def test_an_agent_may_not_import_and_an_unknown_project_has_nothing_to_export(here: Desk, there: Desk) -> None:
    fill(here)
    there.findings.caller = AGENT
    with pytest.raises(PersonRequiredError):
        bring(there, export(here))
    with pytest.raises(UpheldError, match="nothing to export"):
        export(there)


# Purge


def find_marker(desk: Desk) -> list[str]:
    """Return the files under the ledger's home that hold the marker."""
    desk.ledger.close()
    top = os.path.dirname(desk.ledger.places.data)
    holding = []
    for folder, _, names in os.walk(top):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                content = file.read().lower()
            if any(form in content for form in (MARKER.encode(), MARKER.encode()[:6])):
                holding.append(name)
    return holding


def log_marked(desk: Desk) -> str:
    piece = {
        "source_kind": "other", "source_ref": f"{MARKER} ref", "locator": f"{MARKER} at", "rationale": f"{MARKER} why",
        "excerpt": f"{MARKER} lines",
    }  # fmt: skip
    finding = desk.log(
        f"The {MARKER} sings",
        evidence=[piece],
        tags=[f"{MARKER} tag"],
        aliases=[f"{MARKER} alias"],
        task=f"{MARKER} task",
        claim_kind="constraint",
        scope={"match": {"backend": MARKER}, "paths": [f"{MARKER}.py"]},
        facts={"backend": MARKER},
        idempotency_key=MARKER,
    )
    desk.run("propose_rule", finding_id=finding, rule=f"{MARKER} rule", reason=f"{MARKER} reason")
    desk.run("approve_rule", finding_id=finding, reason=f"{MARKER} reason")
    desk.run(
        "land_rule", finding_id=finding, target=f"{MARKER}.md", locator=f"{MARKER} line", reason=f"{MARKER} reason"
    )
    desk.run("amend_finding", finding_id=finding, claim=f"The {MARKER} sang", reason=f"{MARKER} amended")
    return finding


def test_what_is_purged_is_in_no_byte_of_any_file(here: Desk) -> None:
    finding = log_marked(here)
    for number in range(40):
        here.log(f"Something else {number}", evidence=[FOR])
    places = here.ledger.places
    conversations = database.open_for_writing(places.conversations, database.CONVERSATIONS)
    conversation = shown.Conversation("codex", "s")
    generation = shown.begin_generation(conversations, conversation, "startup", "2026-12-01T00:00:00Z")
    shown.keep_shown(conversations, generation, [shown.Shown(1, "not_applicable", "current", "applicable")])
    row = shown.LogRow(
        project_uid="p", host="codex", trigger="startup", bytes_=9, items=[[1, "kept"], [2, "kept"]], reason=""
    )
    shown.log_injection(conversations, row, "2026-12-01T00:00:00Z")
    conversations.close()
    backup.make_backup(places, "2026-12-01T00:00:00.000Z")
    assert find_marker(here)

    done = purge_finding(here.findings, 1, "it named a customer")

    assert done["finding_id"] == finding
    assert (done["backups_deleted"], done["warnings"]) == (1, [])
    assert len(backup.list_backups(places)) == 1
    assert find_marker(here) == []
    assert check_ledger(here.ledger).problems == ()
    assert check_ledger(here.ledger).counts["purged"] > 0
    kept = apsw.Connection(places.conversations)
    assert kept.execute("select count(*) from shown").get == 0
    assert kept.execute("select items from injections").get == '[[2,"kept"]]'
    kept.close()


def test_the_tombstone_stays_and_nobody_brings_it_back(here: Desk) -> None:
    finding = log_marked(here)
    purge_finding(here.findings, 1, "it named a customer")
    data = here.get(finding)
    assert data["claim"] == ""
    assert [event.get("reason", "") for event in data["events"]][-1] == "it named a customer"
    with pytest.raises(PurgedError):
        purge_finding(here.findings, 1, "again")
    with pytest.raises(PurgedError):
        here.run("restore_finding", finding_id=finding, reason="no")
    assert here.run("query_findings", history=True).data["findings"] == []
    assert export(here).count(b"\n") == 2


def test_what_others_rest_on_is_purged_only_when_that_is_said(here: Desk) -> None:
    basis = here.log("The basis", evidence=[FOR])
    resting = here.log("It rests", evidence=[{"evidence_id": "E-1", "method": "test"}])
    here.run("link_finding", finding_id=resting, relation="derived_from", to=basis, reason="r")
    with pytest.raises(CitedError, match=resting):
        purge_finding(here.findings, 1, "why")
    done = purge_finding(here.findings, 1, "why", cited=True)
    assert done["evidence_kept"] == ["E-1"]
    judged = here.get(resting)
    assert judged["applicability"] == "needs_revalidation"
    assert check_ledger(here.ledger).problems == ()


def test_a_purge_that_was_interrupted_is_finished_by_asking_again(here: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    log_marked(here)
    here.log("Another one")
    places = here.ledger.places
    backup.make_backup(places, "2026-12-01T00:00:00.000Z")

    def stop(_: Ledger) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "squeeze", stop)
        with pytest.raises(KeyboardInterrupt):
            purge_finding(here.findings, 1, "it named a customer")
    assert find_marker(here)
    for _ in range(2):
        with pytest.raises(PurgedError):
            purge_finding(here.findings, 1, "it named a customer")
        assert find_marker(here) == []
        # Deleted and made anew once: the second time there is none from before.
        assert len(backup.list_backups(places)) == 1
    assert check_ledger(here.ledger).problems == ()


def test_a_purge_reaches_what_an_interrupted_backup_left(here: Desk) -> None:
    log_marked(here)
    made = backup.make_backup(here.ledger.places, "2026-12-01T00:00:00.000Z")
    folder = f"{here.ledger.places.data}/backups"
    os.rename(f"{folder}/{made.name}", f"{folder}/{made.name}.new")
    purge_finding(here.findings, 1, "it named a customer")
    assert find_marker(here) == []


def test_a_purge_says_so_when_no_new_backup_can_be_made(here: Desk) -> None:
    here.log()
    places = here.ledger.places
    backup.make_backup(places, "2026-12-01T00:00:00.000Z")
    here.ledger = here.findings.ledger = Ledger(places, clock=lambda: CLOCK)
    # Something else stands where the new one would.
    os.mkdir(f"{places.data}/backups/ledger-{format_time(CLOCK).replace(':', '').replace('.', '')}.db")
    done = purge_finding(here.findings, 1, "why")
    assert done["warnings"][-1].startswith("The backups that held it were deleted, and no new one")


def test_what_gave_way_to_it_cites_it_and_what_took_it_over_is_named(here: Desk) -> None:
    old = here.log("The old one")
    here.run("supersede_finding", finding_id=old, claim="The new one", reason="r")
    with pytest.raises(CitedError, match=old):
        purge_finding(here.findings, 2, "why")
    kept, merged = here.log("Kept"), here.log("The same", tags=["shared"])
    here.run("merge_findings", finding_id=merged, into=kept, reason="r")
    assert purge_finding(here.findings, 4, "why")["warnings"][-1].startswith(f"{kept} took over")


def test_an_agent_may_not_purge(here: Desk) -> None:
    here.log()
    here.findings.caller = AGENT
    with pytest.raises(PersonRequiredError):
        purge_finding(here.findings, 1, "why")


# Backup


def test_a_backup_is_a_whole_ledger_and_the_oldest_go(here: Desk) -> None:
    fill(here)
    places = here.ledger.places
    for second in range(4):
        made = backup.make_backup(places, f"2026-12-01T00:00:0{second}.000Z", keep=2)
    names = [one.name for one in backup.list_backups(places)]
    assert names == [made.name, "ledger-2026-12-01T000002000Z.db"]
    path = f"{places.data}/backups/{made.name}"
    assert os.stat(path).st_mode & 0o777 == 0o600
    copy = apsw.Connection(path)
    assert copy.execute("select count(*) from findings").get == here.count("findings")
    copy.close()


def test_without_a_ledger_there_is_nothing_to_back_up(there: Desk) -> None:
    with pytest.raises(UpheldError, match="no ledger to back up"):
        backup.make_backup(there.ledger.places, "2026-12-01T00:00:00.000Z")
