"""Read findings and what belongs to them. Every function takes the project: no row of another comes back."""

from __future__ import annotations

from upheld.findings.model import Evidence, Finding, KnownContext, scope_from_data
from upheld.text import jsontext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import apsw

_FINDING = """select id, uid, project_id, claim, claim_kind, epistemic_state, lifecycle_state, retrieval_policy,
  scope, tags, aliases, task, promotion_state, version, decided_event, created_at, updated_at, actor, host, session,
  muted_until from findings"""


def _finding(row: tuple) -> Finding:  # type: ignore[type-arg]
    return Finding(
        id=row[0],
        uid=row[1],
        project_id=row[2],
        claim=row[3],
        claim_kind=row[4],
        epistemic_state=row[5],
        lifecycle_state=row[6],
        retrieval_policy=row[7],
        scope=scope_from_data(jsontext.loads(row[8])),
        tags=tuple(jsontext.loads(row[9])),
        aliases=tuple(jsontext.loads(row[10])),
        task=row[11],
        promotion_state=row[12],
        version=row[13],
        decided_event=row[14],
        created_at=row[15],
        updated_at=row[16],
        actor=row[17],
        host=row[18],
        session=row[19],
        muted_until=row[20],
    )


def get_revision(db: apsw.Connection) -> int:
    """Return the ledger's revision: it grows with each write."""
    return int(db.execute("select coalesce((select revision from ledger), 0)").get)


def get_ledger_uid(db: apsw.Connection) -> str:
    """Return the uid of this ledger; "" before its first write."""
    return str(db.execute("select coalesce((select uid from ledger), '')").get)


def find_findings(db: apsw.Connection, project_id: int, ids: Iterable[int]) -> list[Finding]:
    """Return those of the given findings that this project holds, by id ascending."""
    # The plus keeps SQLite from walking the whole project for the sake of an index on it.
    rows = db.execute(
        _FINDING + " where +project_id = ? and id in (select value from json_each(?)) order by id",
        (project_id, jsontext.dumps(list(ids))),
    )
    return [_finding(row) for row in rows]


def find_project_of(db: apsw.Connection, finding_id: int) -> int | None:
    """Return which project holds a finding, None if nobody does: tells a foreign id from an unknown one."""
    project: int | None = db.execute("select project_id from findings where id = ?", (finding_id,)).get
    return project


def find_successor(db: apsw.Connection, finding_id: int) -> int | None:
    """Return the finding that superseded this one, the newest if there are several."""
    successor: int | None = db.execute(
        "select max(from_id) from finding_relations where to_id = ? and kind = 'supersedes'", (finding_id,)
    ).get
    return successor


def find_evidence(db: apsw.Connection, finding_ids: Iterable[int], *, newest: int = 1000) -> dict[int, list[Evidence]]:
    """Return the evidence of each finding, newest link first, at most `newest` of each role."""
    rows = db.execute(
        """select finding_id, id, uid, source_kind, source_ref, locator, revision, excerpt, content_hash, resolution,
             observed_at, actor, role, method, rationale, event
           from (select l.finding_id, e.id, e.uid, e.source_kind, e.source_ref, e.locator, e.revision, e.excerpt,
                   e.content_hash, e.resolution, e.observed_at, e.actor, l.role, l.method, l.rationale, l.event,
                   l.id as link, row_number() over (partition by l.finding_id, l.role order by l.id desc) as place
                 from finding_evidence l join evidence e on e.id = l.evidence_id
                 where l.finding_id in (select value from json_each(?)))
           where place <= ? order by finding_id, link desc""",
        (jsontext.dumps(list(finding_ids)), newest),
    )
    found: dict[int, list[Evidence]] = {}
    for row in rows:
        found.setdefault(row[0], []).append(
            Evidence(
                id=row[1],
                uid=row[2],
                source_kind=row[3],
                source_ref=row[4],
                locator=row[5],
                revision=row[6],
                excerpt=row[7],
                content_hash=row[8],
                resolution=row[9],
                observed_at=row[10],
                actor=row[11],
                role=row[12],
                method=row[13],
                rationale=row[14],
                event=row[15],
            )
        )
    return found


def find_known_contexts(db: apsw.Connection, finding_ids: Iterable[int]) -> dict[int, list[KnownContext]]:
    """Return the contexts each finding is known to hold in, oldest first."""
    rows = db.execute(
        """select finding_id, facts, anchor, kind, basis, sources from finding_contexts
           where finding_id in (select value from json_each(?)) order by id""",
        (jsontext.dumps(list(finding_ids)),),
    )
    found: dict[int, list[KnownContext]] = {}
    for finding_id, facts, anchor, kind, basis, sources in rows:
        known = KnownContext(
            jsontext.loads(facts),
            jsontext.loads(anchor),
            kind,
            tuple(jsontext.loads(basis)),
            {int(number): digest for number, digest in jsontext.loads(sources).items()},
        )
        found.setdefault(finding_id, []).append(known)
    return found


def leads_to(db: apsw.Connection, from_id: int, kind: str, to_id: int) -> bool:
    """Say whether relations of one kind lead from a finding to another, through others too."""
    return bool(
        db.execute(
            """with recursive reached (id) as (
                 select to_id from finding_relations where from_id = :from and kind = :kind
                 union
                 select r.to_id from reached x join finding_relations r on r.from_id = x.id and r.kind = :kind)
               select exists (select 1 from reached where id = :to)""",
            {"from": from_id, "kind": kind, "to": to_id},
        ).get
    )


def find_replacements(db: apsw.Connection, finding_id: int) -> list[int]:
    """Return the findings that took the place of this one and stand: current and not refuted, by number."""
    rows = db.execute(
        """select f.id from findings f join (
             select from_id as id from finding_relations where to_id = :id and kind = 'supersedes'
             union select to_id from finding_relations where from_id = :id and kind = 'duplicate_of') r on r.id = f.id
           where f.lifecycle_state = 'current' and f.epistemic_state <> 'refuted' order by f.id""",
        {"id": finding_id},
    )
    return [row[0] for row in rows]


def find_canonicals(db: apsw.Connection, finding_ids: Iterable[int]) -> dict[int, int]:
    """Return, for each finding that is a duplicate, the one that it is a duplicate of in the end."""
    rows = db.execute(
        """with recursive chain (start, id, depth) as (
             select from_id, to_id, 1 from finding_relations
             where kind = 'duplicate_of' and from_id in (select value from json_each(?))
             union
             select c.start, r.to_id, c.depth + 1 from chain c join finding_relations r
               on r.from_id = c.id and r.kind = 'duplicate_of')
           select start, id from chain order by start, depth, id""",
        (jsontext.dumps(list(finding_ids)),),
    )
    return {row[0]: row[1] for row in rows}


def find_contradictions(db: apsw.Connection, finding_ids: Iterable[int]) -> dict[int, list[int]]:
    """Return the current findings that each one contradicts or is contradicted by, by number; refuted ones left out."""
    rows = db.execute(
        """with asked (id) as (select value from json_each(?)),
           pairs (id, other) as (
             select from_id, to_id from finding_relations where kind = 'contradicts' and from_id in asked
             union
             select to_id, from_id from finding_relations where kind = 'contradicts' and to_id in asked)
           select p.id, p.other from pairs p join findings f on f.id = p.other
           where f.lifecycle_state = 'current' and f.epistemic_state <> 'refuted' order by p.id, p.other""",
        (jsontext.dumps(list(finding_ids)),),
    )
    found: dict[int, list[int]] = {}
    for finding_id, other in rows:
        found.setdefault(finding_id, []).append(other)
    return found


def find_superseded(db: apsw.Connection, finding_ids: Iterable[int]) -> dict[int, list[int]]:
    """Return the findings that each one superseded, newest first."""
    rows = db.execute(
        """select from_id, to_id from finding_relations
           where kind = 'supersedes' and from_id in (select value from json_each(?)) order by from_id, to_id desc""",
        (jsontext.dumps(list(finding_ids)),),
    )
    found: dict[int, list[int]] = {}
    for finding_id, old in rows:
        found.setdefault(finding_id, []).append(old)
    return found


def find_rules(db: apsw.Connection, project_id: int, states: Iterable[str]) -> list[tuple[int, str, str]]:
    """Return (finding, rule, owner) of the proposed rules of a project, newest finding first.

    Args:
        db: The ledger.
        project_id: Whose.
        states: Only these promotion states; all but `none` when empty.
    """
    rows = db.execute(
        """select f.id, r.rule, r.owner from findings f join rules r on r.finding_id = f.id
           where f.project_id = :project and f.promotion_state <> 'none'
             and (:any or f.promotion_state in (select value from json_each(:states)))
           order by f.id desc""",
        {"project": project_id, "any": not (listed := list(states)), "states": jsontext.dumps(listed)},
    )
    return [(row[0], row[1], row[2]) for row in rows]


def find_rule(db: apsw.Connection, finding_id: int) -> tuple[str, str] | None:
    """Return rule and owner that a finding is proposed to become, None if there is none."""
    row = db.execute("select rule, owner from rules where finding_id = ?", (finding_id,)).get
    return None if row is None else (row[0], row[1])


def find_doc_links(db: apsw.Connection, finding_id: int) -> list[tuple[str, str, str]]:
    """Return (target, locator, time) of the places where the rule of a finding landed, oldest first."""
    rows = db.execute(
        "select target, locator, created_at from doc_links where finding_id = ? order by id", (finding_id,)
    )
    return [(row[0], row[1], row[2]) for row in rows]


def find_fallen_rules(db: apsw.Connection, project_id: int) -> list[Finding]:
    """Return the findings whose rule landed and that do not stand any more, by id ascending."""
    rows = db.execute(
        _FINDING
        + """ where project_id = ? and promotion_state = 'landed'
               and (lifecycle_state <> 'current' or epistemic_state in ('refuted', 'contested')) order by id""",
        (project_id,),
    )
    return [_finding(row) for row in rows]


def count_scope_facts(db: apsw.Connection, project_id: int) -> dict[str, int]:
    """Return how many current findings of a project ask for each fact in their scope."""
    rows = db.execute(
        """select name, count(*) from (
             select f.id, j.key as name from findings f, json_each(f.scope, '$.match') j
               where f.project_id = :project and f.lifecycle_state = 'current'
             union select f.id, j.key from findings f, json_each(f.scope, '$.context') j
               where f.project_id = :project and f.lifecycle_state = 'current'
             union select f.id, j.value from findings f, json_each(f.scope, '$.revalidate_on') j
               where f.project_id = :project and f.lifecycle_state = 'current' and j.value <> 'paths')
           group by name order by name""",
        {"project": project_id},
    )
    return {row[0]: row[1] for row in rows}


def find_fallen_bases(db: apsw.Connection, finding_ids: Iterable[int]) -> dict[int, list[str]]:
    """Return what each finding is derived from, through others too, and does not stand: `F-<n> <state>`, by number."""
    rows = db.execute(
        """with recursive basis (start, id) as (
             select from_id, to_id from finding_relations
             where kind = 'derived_from' and from_id in (select value from json_each(?))
             union
             select b.start, r.to_id from basis b join finding_relations r
               on r.from_id = b.id and r.kind in ('derived_from', 'duplicate_of'))
           select b.start, f.id, iif(f.epistemic_state = 'refuted', 'refuted', f.lifecycle_state)
           from basis b join findings f on f.id = b.id
           where f.epistemic_state = 'refuted' or f.lifecycle_state in ('superseded', 'withdrawn')
           order by b.start, f.id""",
        (jsontext.dumps(list(finding_ids)),),
    )
    found: dict[int, list[str]] = {}
    for start, number, state in rows:
        found.setdefault(start, []).append(f"F-{number} {state}")
    return found


def find_checkable_sources(
    db: apsw.Connection, finding_ids: Iterable[int]
) -> list[tuple[int, int, str, str, str, str]]:
    """Return the supporting sources that can be looked at again, in the order in which they were linked.

    Each is (finding, evidence number, source kind, reference, content hash, excerpt).
    """
    rows = db.execute(
        """select l.finding_id, e.id, e.source_kind, e.source_ref, e.content_hash, e.excerpt
           from finding_evidence l join evidence e on e.id = l.evidence_id
           where l.finding_id in (select value from json_each(?)) and l.role = 'supports'
             and e.resolution = 'resolved' and e.source_kind in ('file', 'git_commit') and e.content_hash <> ''
           order by l.finding_id, l.id""",
        (jsontext.dumps(list(finding_ids)),),
    )
    return [(row[0], row[1], row[2], row[3], row[4], row[5]) for row in rows]


def find_standing(db: apsw.Connection, project_id: int, limit: int) -> list[int]:
    """Return the current findings that need no words: policy always, and constraints; newest first."""
    rows = db.execute(
        """select id from findings indexed by findings_standing
           where project_id = ? and lifecycle_state = 'current'
             and (retrieval_policy = 'always' or claim_kind = 'constraint')
             and retrieval_policy in ('always', 'relevant')
           order by id desc limit ?""",
        (project_id, limit),
    )
    return [row[0] for row in rows]


def find_of_task(db: apsw.Connection, project_id: int, task: str, limit: int) -> list[int]:
    """Return the current findings of a declared task, newest first."""
    rows = db.execute(
        """select id from findings where project_id = ? and task = ? and task <> ''
             and lifecycle_state = 'current' and retrieval_policy in ('always', 'relevant')
           order by id desc limit ?""",
        (project_id, task, limit),
    )
    return [row[0] for row in rows]


def find_of_session(db: apsw.Connection, project_id: int, host: str, session: str, limit: int) -> list[int]:
    """Return the findings that a session logged or changed, newest first."""
    rows = db.execute(
        """select distinct f.id from finding_events e join findings f on f.id = e.finding_id
           where e.session = ? and e.host = ? and f.project_id = ? and e.session <> ''
           order by f.id desc limit ?""",
        (session, host, project_id, limit),
    )
    return [row[0] for row in rows]


def count_findings(db: apsw.Connection, project_id: int) -> dict[str, int]:
    """Return how many findings a project has: in all, current, dead ends."""
    total = current = dead = 0
    # Grouped, it is one walk over the index findings_by_state, three times as fast as conditional sums.
    for lifecycle, state, count in db.execute(
        "select lifecycle_state, epistemic_state, count(*) from findings where project_id = ? group by 1, 2",
        (project_id,),
    ):
        total += count
        current += count if lifecycle == "current" else 0
        dead += count if lifecycle == "current" and state == "refuted" else 0
    return {"total": total, "current": current, "dead_ends": dead}


def get_word_counts(db: apsw.Connection, project_id: int, words: Iterable[str]) -> dict[str, int]:
    """Return how many findings of a project hold each word; `""` counts the findings themselves."""
    rows = db.execute(
        "select word, findings from project_words where project_id = ? and word in (select value from json_each(?))",
        (project_id, jsontext.dumps(["", *words])),
    )
    return dict(row for row in rows)


def find_postings(db: apsw.Connection, project_id: int, part: str, word: str, limit: int) -> list[int]:
    """Return the findings that hold a word in a part (`c` claim, `t` tag or alias, `p` path), newest first."""
    rows = db.execute(
        "select finding_id from finding_words where project_id = ? and part = ? and word = ? "
        "order by finding_id desc limit ?",
        (project_id, part, word, limit),
    )
    return [row[0] for row in rows]


def find_phrases(
    db: apsw.Connection, project_id: int, part: str, phrases: Iterable[str], limit: int
) -> list[tuple[str, int]]:
    """Return (phrase, finding) for every phrase that a finding has as tag, alias or path."""
    rows = db.execute(
        """select word, finding_id from finding_words
           where project_id = ? and part = ? and word in (select value from json_each(?))
           order by finding_id desc, word limit ?""",
        (project_id, part, jsontext.dumps(list(phrases)), limit),
    )
    return [(row[0], row[1]) for row in rows]


def find_by_states(
    db: apsw.Connection,
    project_id: int,
    *,
    filters: Mapping[str, tuple[str, ...]],
    history: bool,
    before: int,
    limit: int,
) -> list[Finding]:
    """Return findings by their columns, newest first.

    Args:
        db: The ledger.
        project_id: Whose.
        filters: Column to allowed values; the columns are `epistemic_state` and `claim_kind`.
        history: Also those that are no longer current, but for purged ones.
        before: Only ids below this one; for the next page.
        limit: How many at the most.
    """
    asked = jsontext.dumps({column: list(values) for column, values in filters.items() if values})
    rows = db.execute(
        _FINDING
        + """ where project_id = :project and id < :before and claim <> '' and (:history or lifecycle_state = 'current')
             and (json_extract(:asked, '$.epistemic_state') is null
                  or epistemic_state in (select value from json_each(:asked, '$.epistemic_state')))
             and (json_extract(:asked, '$.claim_kind') is null
                  or claim_kind in (select value from json_each(:asked, '$.claim_kind')))
           order by id desc limit :limit""",
        {"project": project_id, "before": before, "history": history, "asked": asked, "limit": limit},
    )
    return [_finding(row) for row in rows]


def iter_events(db: apsw.Connection, finding_id: int | None = None) -> Iterable[tuple[object, ...]]:
    """Stream events by seq: seq, finding id, kind, actor, host, session, at, text hash, hash, salt, text.

    Salt and text are None where the words were purged.
    """
    # Two statements: one for both cases would walk every event for the sake of one finding.
    only = "" if finding_id is None else "where e.finding_id = :finding"
    return db.execute(
        f"""select e.seq, e.finding_id, e.kind, e.actor, e.host, e.session, e.at, e.text_hash, e.hash, t.salt, t.text
           from finding_events e left join event_texts t on t.seq = e.seq {only} order by e.seq""",
        {} if finding_id is None else {"finding": finding_id},
    )


def find_relations(db: apsw.Connection, finding_id: int) -> list[tuple[int, str, int, str]]:
    """Return every relation a finding takes part in: from, kind, to, time."""
    rows = db.execute(
        "select from_id, kind, to_id, created_at from finding_relations where from_id = :id or to_id = :id "
        "order by created_at, from_id, to_id",
        {"id": finding_id},
    )
    return [(row[0], row[1], row[2], row[3]) for row in rows]


def iter_events_after(db: apsw.Connection, after: int) -> Iterable[tuple[int, int, str, str, str, str, str, str, str]]:
    """Stream the chained columns of every event after one, by seq; the hash comes last."""
    return db.execute(
        "select seq, finding_id, kind, actor, host, session, at, text_hash, hash from finding_events "
        "where seq > ? order by seq",
        (after,),
    )


def get_last_time(db: apsw.Connection) -> str:
    """Return the time of the newest event, "" when there is none."""
    return str(db.execute("select coalesce((select at from finding_events order by seq desc limit 1), '')").get)


def count_all(db: apsw.Connection) -> int:
    """Return how many findings the ledger holds, of all projects together."""
    return int(db.execute("select count(*) from findings").get)
