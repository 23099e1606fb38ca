"""What a write does and what it leaves when it fails: versions, retries, projects, supersession, the audit trail."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import apsw
import pytest

from support.desk import AGAINST, AGENT, FOR, PERSON, Desk, git, make_repository, ticking
from upheld.errors import (
    CONCURRENT_MODIFICATION,
    INVALID_ARGUMENT,
    NOT_FOUND,
    PROJECT_SCOPE_MISMATCH,
    StorageError,
    UpheldError,
)
from upheld.findings.check import check_ledger
from upheld.findings.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from upheld.storage.places import Places


def _dump(places: Places) -> list[tuple[object, ...]]:
    """Every row of every table."""
    db = apsw.Connection(places.ledger, flags=apsw.SQLITE_OPEN_READONLY)
    tables = [row[0] for row in db.execute("select name from sqlite_schema where type = 'table' order by name")]
    rows = [(table, *row) for table in tables for row in db.execute(f"select * from {table}")]
    db.close()
    return rows


class TestVersions:
    def test_each_change_counts_one_up(self, desk: Desk) -> None:
        finding = desk.log()
        desk.run("add_evidence", finding_id=finding, evidence=FOR)
        desk.run("set_finding_state", finding_id=finding, epistemic_state="supported", reason="seen", version=2)
        desk.run("refute_finding", finding_id=finding, reason="not so", evidence=[AGAINST], version=3)
        desk.run("supersede_finding", finding_id=finding, claim="Newer", reason="better", version=4)
        assert desk.get(finding)["version"] == 5

    @pytest.mark.parametrize(
        ("name", "given"),
        [
            ("set_finding_state", {"epistemic_state": "provisional", "reason": "r"}),
            ("refute_finding", {"reason": "r", "evidence": [AGAINST]}),
            ("supersede_finding", {"claim": "Newer", "reason": "r"}),
        ],
    )
    def test_a_stale_version_is_refused(self, desk: Desk, places: Places, name: str, given: dict[str, object]) -> None:
        finding = desk.log()
        desk.run("add_evidence", finding_id=finding, evidence=FOR)
        before = _dump(places)
        with pytest.raises(UpheldError, match=f"{finding} is at version 2, you read version 1") as refused:
            desk.run(name, finding_id=finding, version=1, **given)
        assert refused.value.code == CONCURRENT_MODIFICATION
        assert _dump(places) == before


class TestRetries:
    CALLS = (
        ("log_finding", {"claim": "Once", "claim_kind": "observation"}, {"claim": "Twice"}),
        ("add_evidence", {"finding_id": "F-1", "evidence": FOR}, {"evidence": AGAINST}),
        (
            "set_finding_state",
            {"finding_id": "F-1", "epistemic_state": "provisional", "reason": "r"},
            {"reason": "other"},
        ),
        ("refute_finding", {"finding_id": "F-1", "reason": "r", "evidence": [AGAINST]}, {"reason": "other"}),
        ("supersede_finding", {"finding_id": "F-1", "claim": "Newer", "reason": "r"}, {"claim": "Newest"}),
    )

    @pytest.mark.parametrize(("name", "given", "other"), CALLS)
    def test_a_retried_call_gets_its_first_answer(
        self, desk: Desk, places: Places, name: str, given: dict[str, object], other: dict[str, object]
    ) -> None:
        desk.log()
        first = desk.run(name, **given, idempotency_key="k")
        before = _dump(places)
        again = desk.run(name, **given, idempotency_key="k")
        assert again.data == first.data
        assert "made before" in again.warnings[0]
        with pytest.raises(UpheldError, match="idempotency_key was used before with other arguments"):
            desk.run(name, **{**given, **other}, idempotency_key="k")
        assert _dump(places) == before

    def test_a_key_is_of_one_tool_and_one_project(self, desk: Desk, tmp_path: Path) -> None:
        first = desk.log(idempotency_key="k")
        (tmp_path / "next door").mkdir()
        assert Desk(tmp_path / "next door", ledger=desk.ledger).log(idempotency_key="k") != first
        desk.run("add_evidence", finding_id=first, evidence=FOR, idempotency_key="k")

    def test_a_call_that_was_refused_leaves_its_key_free(self, desk: Desk) -> None:
        with pytest.raises(UpheldError, match="evidence"):
            desk.log(epistemic_state="supported", idempotency_key="k")
        desk.log(epistemic_state="supported", evidence=[FOR], idempotency_key="k")


class TestProjects:
    @pytest.fixture
    def next_door(self, repository_desk: Desk, tmp_path: Path) -> Desk:
        return Desk(make_repository(tmp_path / "next-door"), ledger=repository_desk.ledger)

    @pytest.mark.parametrize(
        ("name", "given"),
        [
            ("get_finding", {}),
            ("add_evidence", {"evidence": FOR}),
            ("set_finding_state", {"epistemic_state": "provisional", "reason": "r"}),
            ("refute_finding", {"reason": "r", "evidence": [AGAINST]}),
            ("supersede_finding", {"claim": "Newer", "reason": "r"}),
        ],
    )
    def test_a_finding_of_another_project_is_not_the_same_as_none(
        self, repository_desk: Desk, next_door: Desk, places: Places, name: str, given: dict[str, object]
    ) -> None:
        theirs = repository_desk.log("The neighbour's secret plan")
        next_door.log()
        before = _dump(places)
        with pytest.raises(UpheldError, match=f"{theirs} belongs to another project") as refused:
            next_door.run(name, finding_id=theirs, **given)
        assert refused.value.code == PROJECT_SCOPE_MISMATCH
        assert "secret plan" not in refused.value.message
        with pytest.raises(UpheldError, match="There is no finding F-77") as unknown:
            next_door.run(name, finding_id="F-77", **given)
        assert unknown.value.code == NOT_FOUND
        assert unknown.value.argument == refused.value.argument == "finding_id"
        assert _dump(places) == before

    def test_before_its_first_finding_a_project_sees_no_other(self, repository_desk: Desk, next_door: Desk) -> None:
        theirs = repository_desk.log()
        with pytest.raises(UpheldError, match="another project"):
            next_door.get(theirs)
        assert next_door.run("query_findings").data["findings"] == []

    def test_evidence_of_another_project_cannot_be_used(self, repository_desk: Desk, next_door: Desk) -> None:
        repository_desk.log(evidence=[FOR])
        mine = next_door.log()
        events = next_door.count("finding_events")
        reuse = {"evidence_id": "E-1", "method": "test"}
        with pytest.raises(UpheldError, match="E-1 belongs to another project") as refused:
            next_door.run("add_evidence", finding_id=mine, evidence=reuse)
        assert refused.value.code == PROJECT_SCOPE_MISMATCH
        with pytest.raises(UpheldError, match="no evidence E-9") as unknown:
            next_door.run("add_evidence", finding_id=mine, evidence={**reuse, "evidence_id": "E-9"})
        assert unknown.value.code == NOT_FOUND
        assert next_door.count("finding_events") == events

    def test_a_clone_shares_the_findings(self, repository_desk: Desk, tmp_path: Path) -> None:
        finding = repository_desk.log()
        git(tmp_path, "clone", "-q", str(repository_desk.cwd), "second")
        assert Desk(tmp_path / "second", ledger=repository_desk.ledger).get(finding)["claim"] == "The sky is blue"

    def test_a_query_returns_no_row_of_another_project(self, repository_desk: Desk, next_door: Desk) -> None:
        repository_desk.log("Shared words here", tags=["shared"])
        mine = next_door.log("Shared words here", tags=["shared"])
        for given in ({}, {"words": "shared words"}, {"tags": ["shared"]}, {"history": True}):
            found = next_door.run("query_findings", **given).data["findings"]
            assert [finding["finding_id"] for finding in found] == [mine]


class TestEvidence:
    def test_the_same_evidence_may_support_one_claim_and_contradict_another(self, desk: Desk) -> None:
        one, other = desk.log("One", evidence=[FOR]), desk.log("Other")
        reuse = {"evidence_id": "E-1", "method": "experiment", "role": "contradicts", "rationale": "rules it out"}
        desk.run("refute_finding", finding_id=other, reason="ruled out", evidence=[reuse])
        (link,) = desk.get(other)["evidence"]
        assert (link["evidence_id"], link["role"], link["source_ref"]) == ("E-1", "contradicts", "run-1")
        assert desk.get(one)["evidence"][0]["role"] == "supports"
        assert desk.count("evidence") == 1
        assert check_ledger(desk.ledger).ok

    def test_the_same_link_twice_is_refused_in_words(self, desk: Desk) -> None:
        finding = desk.log(evidence=[FOR])
        reuse = {"evidence_id": "E-1", "method": "test"}
        with pytest.raises(UpheldError, match="is E-1, which F-1 has with role supports already") as refused:
            desk.run("add_evidence", finding_id=finding, evidence=reuse)
        assert refused.value.code == INVALID_ARGUMENT
        with pytest.raises(UpheldError, match="is E-1, which F-2 has"):
            desk.log("Other", evidence=[reuse, reuse])
        desk.run("add_evidence", finding_id=finding, evidence={**reuse, "role": "context"})
        assert desk.count("findings") == 1

    @pytest.mark.parametrize("name", ["source_kind", "source_ref", "locator", "revision", "excerpt", "observed_at"])
    def test_existing_evidence_cannot_be_changed(self, desk: Desk, name: str) -> None:
        finding = desk.log(evidence=[FOR])
        reuse = {"evidence_id": "E-1", "method": "test", name: "log"}
        with pytest.raises(UpheldError, match=f"evidence.{name} can't change existing evidence"):
            desk.run("add_evidence", finding_id=finding, evidence=reuse)

    def test_files_and_commits_are_looked_up(self, repository_desk: Desk, tmp_path: Path) -> None:
        (tmp_path / "outside.txt").write_text("private\n")
        commit = git(repository_desk.cwd, "rev-parse", "HEAD")
        sources = [
            ("file", "engine.py", "resolved"),
            ("file", str(repository_desk.cwd / "engine.py"), "resolved"),
            ("file", "missing.py", "not_found"),
            ("file", "../outside.txt", "unresolved"),
            ("file", ".", "unresolved"),
            ("git_commit", commit, "resolved"),
            ("git_commit", "HEAD", "resolved"),
            ("git_commit", "0" * 40, "not_found"),
            ("git_commit", "--all", "unresolved"),
            ("url", "https://example.org", "unresolved"),
        ]
        evidence = [{"source_kind": kind, "source_ref": ref, "role": "context"} for kind, ref, _ in sources]
        links = repository_desk.get(repository_desk.log(evidence=evidence))["evidence"][::-1]
        assert [link["resolution"] for link in links] == [wanted for *_, wanted in sources]
        assert links[1]["source_ref"] == "engine.py"
        assert links[6]["content_hash"] == commit
        assert all(("content_hash" in link) == (link["resolution"] == "resolved") for link in links)

    def test_without_git_no_commit_is_resolved(self, desk: Desk) -> None:
        finding = desk.log(evidence=[{"source_kind": "git_commit", "source_ref": "HEAD"}])
        assert desk.get(finding)["evidence"][0]["resolution"] == "unresolved"

    def test_what_an_agent_says_a_user_said_is_reported(self, desk: Desk) -> None:
        said = {"source_kind": "user_statement", "source_ref": "the user"}
        assert desk.get(desk.log(evidence=[said]))["evidence"][0]["reported"] == "true"
        person = Desk(desk.cwd, caller=PERSON, ledger=desk.ledger)
        assert "reported" not in person.get(person.log(evidence=[said]))["evidence"][0]


class TestSupersession:
    def test_closes_the_old_and_relates_the_new_one(self, desk: Desk) -> None:
        old = desk.log("Old", evidence=[FOR], epistemic_state="supported", tags=["t"], aliases=["a"], task="job")
        new = str(desk.run("supersede_finding", finding_id=old, claim="New", reason="better").data["finding_id"])
        before, after = desk.get(old), desk.get(new)
        assert (before["lifecycle_state"], before["epistemic_state"]) == ("superseded", "supported")
        assert (after["lifecycle_state"], after["epistemic_state"]) == ("current", "unassessed")
        assert [after[name] for name in ("tags", "aliases", "task", "scope")] == [
            before[name] for name in ("tags", "aliases", "task", "scope")
        ]
        for whole in (before, after):
            assert [(r["from"], r["kind"], r["to"]) for r in whole["relations"]] == [(new, "supersedes", old)]
        assert before["events"][-1]["changes"] == {"lifecycle_state": ["current", "superseded"]}
        assert before["events"][-1]["reason"] == after["events"][0]["reason"] == "better"

    def test_a_closed_finding_is_not_superseded_again_so_no_cycle_can_arise(self, desk: Desk, places: Places) -> None:
        old = desk.log("Old")
        desk.run("supersede_finding", finding_id=old, claim="New", reason="better")
        before = _dump(places)
        with pytest.raises(UpheldError, match="F-1 is superseded"):
            desk.run("supersede_finding", finding_id=old, claim="Newest", reason="better")
        assert _dump(places) == before

    @pytest.mark.parametrize(
        "step",
        [
            "insert on findings when new.claim = 'Zebra'",
            "insert on finding_words when new.word = 'zebra'",
            "insert on finding_contexts",
            "insert on finding_relations",
            "update on findings when new.lifecycle_state = 'superseded'",
            "insert on finding_events when new.kind = 'superseded'",
            "insert on event_texts when new.seq = 3",
            "insert on idempotency_keys",
            "update on ledger",
        ],
    )
    def test_a_failure_at_any_step_leaves_nothing(self, desk: Desk, places: Places, step: str) -> None:
        desk.log("Old")
        desk.ledger.close()
        db = apsw.Connection(places.ledger)
        db.execute(f"create trigger stumble before {step} begin select raise(abort, 'stumbled'); end")
        db.close()
        before = _dump(places)
        given = {"finding_id": "F-1", "claim": "Zebra", "reason": "better", "idempotency_key": "k"}
        with pytest.raises(StorageError) as refused:
            desk.run("supersede_finding", **given)
        assert "stumbled" not in refused.value.message
        assert _dump(places) == before
        db = apsw.Connection(places.ledger)
        db.execute("drop trigger stumble")
        db.close()
        assert desk.run("supersede_finding", **given).data["finding_id"] == "F-2"
        assert check_ledger(desk.ledger).ok

    @pytest.mark.parametrize(
        "step",
        ["insert on evidence", "insert on finding_evidence", "update on findings", "insert on finding_events"],
    )
    def test_a_refutation_is_all_or_nothing_too(self, desk: Desk, places: Places, step: str) -> None:
        desk.log("Old")
        desk.ledger.close()
        db = apsw.Connection(places.ledger)
        db.execute(f"create trigger stumble before {step} begin select raise(abort, 'stumbled'); end")
        db.close()
        before = _dump(places)
        with pytest.raises(StorageError):
            desk.run("refute_finding", finding_id="F-1", reason="no", evidence=[AGAINST])
        assert _dump(places) == before


class TestAuditTrail:
    @pytest.mark.parametrize(
        "script",
        [
            "update finding_events set actor = 'user'",
            "delete from finding_events",
            "insert or replace into finding_events select * from finding_events",
            "replace into event_texts select seq, salt, 'x' from event_texts",
            "update event_texts set text = 'x'",
        ],
    )
    def test_is_append_only(self, desk: Desk, script: str) -> None:
        desk.log()
        with pytest.raises(StorageError), desk.ledger.write(AGENT) as write:
            write.db.execute(script)
        assert check_ledger(desk.ledger).ok

    def test_a_clock_that_was_set_back_is_told_and_does_not_show(self, places: Places, tmp_path: Path) -> None:
        now = [1_800_000_000.0]
        desk = Desk(tmp_path, ledger=Ledger(places, clock=lambda: now[0]))
        first = desk.log("First")
        now[0] -= 86_400
        answer = desk.run("log_finding", claim="Second", claim_kind="observation", scope={"everywhere": True})
        assert "The clock is behind the last event" in answer.warnings[0]
        assert desk.get("F-2")["created_at"] == desk.get(first)["created_at"]
        desk.ledger.close()

    def test_events_carry_who_and_when(self, places: Places, tmp_path: Path) -> None:
        desk = Desk(tmp_path, ledger=Ledger(places, clock=ticking()))
        (event,) = desk.get(desk.log())["events"]
        assert (event["actor"], event["host"], event["kind"]) == ("agent", "codex", "logged")
        assert event["at"].startswith("2023-11-14T22:13:2")
        desk.ledger.close()


class TestPolicy:
    def test_an_agent_may_only_propose_always(self, desk: Desk) -> None:
        answer = desk.run("log_finding", claim="c", claim_kind="constraint", retrieval_policy="always")
        assert any("granted by a person" in warning for warning in answer.warnings)
        assert desk.get("F-1")["retrieval_policy"] == "relevant"

    def test_what_a_person_granted_stays_when_an_agent_supersedes(self, desk: Desk) -> None:
        person = Desk(desk.cwd, caller=PERSON, ledger=desk.ledger)
        finding = person.log(claim_kind="constraint", retrieval_policy="always")
        assert person.get(finding)["retrieval_policy"] == "always"
        desk.run("supersede_finding", finding_id=finding, claim="Newer", reason="better")
        assert desk.get("F-2")["retrieval_policy"] == "always"


class TestReading:
    def test_history_is_shown_only_when_asked(self, desk: Desk) -> None:
        desk.log("Old")
        desk.run("supersede_finding", finding_id="F-1", claim="New", reason="better")

        def ids(**given: object) -> list[str]:
            return [finding["finding_id"] for finding in desk.run("query_findings", **given).data["findings"]]

        assert ids() == ["F-2"]
        assert ids(history=True) == ["F-2", "F-1"]
        assert ids(words="old", history=True) == ["F-1"]
        assert ids(words="old") == []
        assert ids(states=["supported"]) == []
        assert ids(kinds=["observation"], tags=["none"]) == []
        assert ids(applicability=["applicable"]) == ["F-2"]
        assert ids(applicability=["unknown"]) == []

    def test_a_long_list_is_read_page_by_page(self, desk: Desk) -> None:
        for number in range(5):
            desk.log(f"Claim {number}")
        first = desk.run("query_findings", limit=3).data
        assert (first["more"], [f["finding_id"] for f in first["findings"]]) == (True, ["F-5", "F-4", "F-3"])
        rest = desk.run("query_findings", limit=3, before="F-3").data
        assert (rest["more"], [f["finding_id"] for f in rest["findings"]]) == (False, ["F-2", "F-1"])

    def test_an_empty_ledger_answers_and_stays_unmade(self, desk: Desk, places: Places) -> None:
        answer = desk.run("query_findings")
        assert answer.data == {"findings": [], "more": False}
        assert "knows nothing of this project" in answer.warnings[0]
        with pytest.raises(UpheldError, match="no finding F-1"):
            desk.get("F-1")
        assert not os.path.exists(places.data)

    def test_reading_changes_no_byte(self, desk: Desk, places: Places) -> None:
        finding = desk.log()
        before = _dump(places)
        desk.run("query_findings", words="sky")
        desk.get(finding)
        assert _dump(places) == before


def test_conditions_on_what_only_a_provider_supplies_are_allowed(repository_desk: Desk) -> None:
    scope = {
        "match": {"git.branch": "main", "os": ["linux", "darwin", "win32"]},
        "context": {"arch": "*", "session": "codex:session-1"},
        "revalidate_on": ["git.commit", "paths"],
    }
    finding = repository_desk.get(repository_desk.log(scope=scope))
    assert finding["scope"] == scope
    assert {condition["key"] for condition in finding["conditions"]} >= {"git.branch", "os", "arch", "session"}
    with pytest.raises(UpheldError, match="cannot be declared"):
        repository_desk.log(scope=scope, facts={"git.branch": "main"})


def test_a_server_follows_a_ledger_that_was_restored_under_it(desk: Desk, places: Places) -> None:
    desk.log("Before")
    other = Ledger(places)
    Desk(desk.cwd, ledger=other).log("Beside")
    other.close()
    desk.ledger.close()
    with open(places.ledger, "rb") as file:
        whole = file.read()
    desk.log("Third")
    for suffix in ("", "-wal", "-shm"):
        os.rename(places.ledger + suffix, places.ledger + suffix + ".gone")
    with open(os.open(places.ledger, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
        file.write(whole)
    with pytest.raises(StorageError, match="it holds 2 events, and 3 were written"):
        desk.log("Would be lost in the file that has no name any more")
    assert desk.run("query_findings").data["findings"][0]["finding_id"] == "F-2"


def test_the_ledger_takes_one_writer_after_the_other(desk: Desk, places: Places) -> None:
    other: Callable[[], str] = Desk(desk.cwd, ledger=Ledger(places)).log
    assert [desk.log(), other(), desk.log(), other()] == ["F-1", "F-2", "F-3", "F-4"]
    assert check_ledger(desk.ledger).ok
