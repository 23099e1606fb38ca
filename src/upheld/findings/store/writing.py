"""Write findings and what belongs to them, inside a transaction of the caller."""

from __future__ import annotations

from typing import TYPE_CHECKING

from upheld.findings.model import Evidence, Finding, KnownContext, Scope, scope_as_data
from upheld.text import jsontext

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import apsw

    from upheld.storage.chain import Row


def ensure_ledger(db: apsw.Connection, uid: str, now: str) -> str:
    """Return the ledger's uid; the first write gives it one."""
    db.execute("insert or ignore into ledger (id, uid, created_at) values (1, ?, ?)", (uid, now))
    return str(db.execute("select uid from ledger").get)


def advance_revision(db: apsw.Connection) -> int:
    """Count one more write and return the ledger's new revision."""
    return int(db.execute("update ledger set revision = revision + 1 returning revision").get)


def add_finding(db: apsw.Connection, finding: Finding) -> int:
    """Store a new finding and return its number; `finding.id` is not used."""
    db.execute(
        """insert into findings (uid, project_id, claim, claim_kind, epistemic_state, lifecycle_state,
             retrieval_policy, scope, tags, aliases, task, promotion_state, version, decided_event, created_at,
             updated_at, actor, host, session, muted_until)
           values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        (
            finding.uid,
            finding.project_id,
            finding.claim,
            finding.claim_kind,
            finding.epistemic_state,
            finding.lifecycle_state,
            finding.retrieval_policy,
            jsontext.dumps_canonical(scope_as_data(finding.scope)),
            jsontext.dumps(list(finding.tags)),
            jsontext.dumps(list(finding.aliases)),
            finding.task,
            finding.promotion_state,
            finding.version,
            finding.decided_event,
            finding.created_at,
            finding.updated_at,
            finding.actor,
            finding.host,
            finding.session,
            finding.muted_until,
        ),
    )
    return db.last_insert_rowid()


def change_finding(
    db: apsw.Connection,
    finding_id: int,
    version: int,
    now: str,
    **columns: object,
) -> bool:
    """Change columns of a finding that still has this version; say whether it had.

    The columns are those of `model.Finding`: `scope` a `Scope`, `tags` and `aliases` tuples.
    """
    stored = {name: _as_stored(value) for name, value in columns.items()}
    assigned = "".join(f"{name} = :{name}, " for name in stored)
    db.execute(
        f"""update findings set {assigned}version = version + 1, updated_at = :now
           where id = :id and version = :version""",
        {**stored, "now": now, "id": finding_id, "version": version},
    )
    return db.changes() == 1


def _as_stored(value: object) -> object:
    if isinstance(value, Scope):
        return jsontext.dumps_canonical(scope_as_data(value))
    return jsontext.dumps(list(value)) if isinstance(value, tuple) else value


def add_evidence(db: apsw.Connection, project_id: int, evidence: Evidence, now: str) -> int:
    """Store a piece of evidence and return its number; `evidence.id` is not used."""
    db.execute(
        """insert into evidence (uid, project_id, source_kind, source_ref, locator, revision, excerpt, content_hash,
             resolution, observed_at, created_at, actor) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        (
            evidence.uid,
            project_id,
            evidence.source_kind,
            evidence.source_ref,
            evidence.locator,
            evidence.revision,
            evidence.excerpt,
            evidence.content_hash,
            evidence.resolution,
            evidence.observed_at,
            now,
            evidence.actor,
        ),
    )
    return db.last_insert_rowid()


def link_evidence(db: apsw.Connection, finding_id: int, evidence_id: int, evidence: Evidence, now: str) -> None:
    """Say what a piece of evidence does for a finding."""
    db.execute(
        """insert into finding_evidence (finding_id, evidence_id, role, method, rationale, created_at, event)
           values (?, ?, ?, ?, ?, ?, ?)""",
        (finding_id, evidence_id, evidence.role, evidence.method, evidence.rationale, now, evidence.event),
    )


def add_relation(db: apsw.Connection, from_id: int, kind: str, to_id: int, now: str) -> None:
    """Relate two findings, for `supersedes` from the new one to the old."""
    db.execute("insert into finding_relations values (?, ?, ?, ?)", (from_id, kind, to_id, now))


def remove_relation(db: apsw.Connection, from_id: int, kind: str, to_id: int) -> bool:
    """Take a relation away; say whether it was there."""
    db.execute("delete from finding_relations where from_id = ? and kind = ? and to_id = ?", (from_id, kind, to_id))
    return db.changes() == 1


def keep_rule(db: apsw.Connection, finding_id: int, rule: str, owner: str, now: str) -> None:
    """Store the rule that a finding is proposed to become; a newer proposal replaces an older one."""
    db.execute("insert or replace into rules values (?, ?, ?, ?)", (finding_id, rule, owner, now))


def add_doc_link(db: apsw.Connection, finding_id: int, *, target: str, locator: str, event: int, now: str) -> None:
    """Store where a rule landed."""
    db.execute(
        "insert into doc_links (finding_id, target, locator, created_at, event) values (?, ?, ?, ?, ?)",
        (finding_id, target, locator, now, event),
    )


def add_known_context(db: apsw.Connection, finding_id: int, known: KnownContext, now: str) -> None:
    """Store a context in which a claim is known to hold."""
    db.execute(
        """insert into finding_contexts (finding_id, facts, anchor, kind, basis, sources, recorded_at)
           values (?, ?, ?, ?, ?, ?, ?)""",
        (
            finding_id,
            jsontext.dumps_canonical(known.facts),
            jsontext.dumps_canonical(known.anchor),
            known.kind,
            jsontext.dumps(list(known.basis)),
            jsontext.dumps_canonical({str(number): digest for number, digest in known.sources.items()}),
            now,
        ),
    )


def add_words(db: apsw.Connection, project_id: int, finding_id: int, words: Mapping[str, Iterable[str]]) -> None:
    """Index a new finding: part (`c`, `t`, `p`) to its words. Counts the words of its claim for the project."""
    claim = list(words.get("c", ()))
    db.executemany(
        "insert or ignore into finding_words values (?, ?, ?, ?)",
        [(project_id, part, word, finding_id) for part, held in words.items() for word in held],
    )
    db.executemany(
        "insert into project_words values (?, ?, 1) on conflict do update set findings = findings + 1",
        [(project_id, word) for word in ("", *claim)],
    )


def forget_words(db: apsw.Connection, project_id: int, finding_id: int) -> None:
    """Take a finding out of the word index and its words out of the project's counts."""
    db.execute(
        """update project_words set findings = findings - 1
           where project_id = :project and (word = '' or word in
             (select word from finding_words where finding_id = :finding and part = 'c'))""",
        {"project": project_id, "finding": finding_id},
    )
    db.execute(
        """delete from project_words where project_id = :project and findings <= 0 and word <> '' and word in
             (select word from finding_words where finding_id = :finding and part = 'c')""",
        {"project": project_id, "finding": finding_id},
    )
    db.execute("delete from finding_words where finding_id = ?", (finding_id,))


def get_last_event(db: apsw.Connection) -> tuple[int, str]:
    """Return seq and hash of the newest event; (0, "") when there is none."""
    row = db.execute("select seq, hash from finding_events order by seq desc limit 1").get
    return (0, "") if row is None else (row[0], row[1])


def find_event_hash(db: apsw.Connection, seq: int) -> str | None:
    """Return the hash of one event, None if it is not there."""
    found: str | None = db.execute("select hash from finding_events where seq = ?", (seq,)).get
    return found


def add_event(db: apsw.Connection, row: Row, hash_: str, salt: str, text: str) -> None:
    """Append an event with its words."""
    db.execute(
        "insert into finding_events values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (row.seq, row.finding_id, row.kind, row.actor, row.host, row.session, row.at, row.text_hash, hash_),
    )
    db.execute("insert into event_texts values (?, ?, ?)", (row.seq, salt, text))


def find_answer(db: apsw.Connection, project_id: int, tool: str, key: str) -> tuple[str, str] | None:
    """Return (arguments hash, answer) of an earlier call under this idempotency key."""
    row = db.execute(
        "select arguments_hash, answer from idempotency_keys where project_id = ? and tool = ? and key = ?",
        (project_id, tool, key),
    ).get
    return None if row is None else (row[0], row[1])


def keep_answer(
    db: apsw.Connection,
    project_id: int,
    tool: str,
    key: str,
    *,
    arguments_hash: str,
    finding_id: int,
    answer: str,
) -> None:
    """Keep the answer of a call for its retries."""
    db.execute(
        "insert into idempotency_keys values (?, ?, ?, ?, ?, ?)",
        (project_id, tool, key, arguments_hash, finding_id, answer),
    )


def find_project_of_evidence(db: apsw.Connection, evidence_id: int) -> int | None:
    """Return which project holds a piece of evidence, None if nobody does."""
    found: int | None = db.execute("select project_id from evidence where id = ?", (evidence_id,)).get
    return found


def has_link(db: apsw.Connection, finding_id: int, evidence_id: int, role: str) -> bool:
    """Say whether a piece of evidence does this for a finding already."""
    return bool(
        db.execute(
            "select exists (select 1 from finding_evidence where finding_id = ? and evidence_id = ? and role = ?)",
            (finding_id, evidence_id, role),
        ).get
    )


def get_last_refutation(db: apsw.Connection, finding_id: int) -> int:
    """Return the seq of the last event that made a finding refuted; -1 if none did."""
    return int(
        db.execute(
            """select coalesce(max(e.seq), -1) from finding_events e join event_texts t on t.seq = e.seq
               where e.finding_id = ? and json_extract(t.text, '$.after.epistemic_state') = 'refuted'""",
            (finding_id,),
        ).get
    )
