-- The first ledger: projects with their marks, findings with evidence, and the audit trail.
--
-- Events are the truth: each row is chained to the one before it by a keyed hash, and what a finding
-- is now can be replayed from them. The other tables hold the same facts in the form queries need.
-- An event's text stands in its own deletable table and the chain covers a salted hash of it, so that a purge
-- can take the words away and leave the chain whole. Uids survive export and import; numbers do not.

create table ledger (
  id integer primary key check (id = 1),
  uid text not null,
  created_at text not null,
  -- Grows by one with every write: what an injection was judged against.
  revision integer not null default 0
) strict;

create table projects (
  id integer primary key,
  uid text not null unique,
  name text not null,
  created_at text not null
) strict;

-- Any of these resolves a repository to its project (context/projects.py has the order).
create table project_marks (
  project_id integer not null references projects (id),
  kind text not null check (kind in ('id', 'remote', 'root_commit', 'path')),
  value text not null,
  -- For a path: device and inode of what stood there, so that another repository in its place is noticed.
  detail text not null default '',
  noted_at text not null,
  primary key (project_id, kind, value)
) strict, without rowid;

create index project_marks_by_value on project_marks (kind, value);

-- What a person accepted for one clone: its project id, or its declared facts by content.
create table confirmations (
  clone text not null,
  kind text not null check (kind in ('id', 'facts')),
  digest text not null,
  value text not null,
  confirmed_at text not null,
  primary key (clone, kind)
) strict, without rowid;

create table findings (
  -- AUTOINCREMENT: F-<n> counts over the whole ledger and is never used twice.
  id integer primary key autoincrement,
  uid text not null unique,
  project_id integer not null references projects (id),
  claim text not null,
  claim_kind text not null
    check (claim_kind in ('observation', 'diagnosis', 'constraint', 'decision', 'procedure')),
  epistemic_state text not null
    check (epistemic_state in ('unassessed', 'provisional', 'supported', 'contested', 'refuted',
                               'inconclusive', 'not_applicable')),
  lifecycle_state text not null check (lifecycle_state in ('current', 'superseded', 'withdrawn', 'archived')),
  retrieval_policy text not null check (retrieval_policy in ('always', 'relevant', 'on_demand', 'never')),
  -- JSON: {match, context, revalidate_on, paths, everywhere}, canonical.
  scope text not null,
  -- JSON lists of strings.
  tags text not null,
  aliases text not null,
  task text not null default '',
  promotion_state text not null default 'none'
    check (promotion_state in ('none', 'proposed', 'approved', 'rejected', 'landed')),
  -- Counts the changes of this finding: a write that depends on one names the version it read.
  version integer not null default 1,
  -- The event that last settled the epistemic state on purpose; 0 while nobody did. Evidence newer than
  -- that on the other side is a conflict that nobody has settled.
  decided_event integer not null default 0,
  created_at text not null,
  updated_at text not null,
  actor text not null check (actor in ('user', 'agent', 'system')),
  host text not null default '',
  session text not null default ''
) strict;

-- For injection at start: everything that policy or kind makes a candidate without words.
create index findings_standing on findings (project_id, claim_kind, retrieval_policy)
  where lifecycle_state = 'current' and (retrieval_policy = 'always' or claim_kind = 'constraint');
-- For the declared task.
create index findings_by_task on findings (project_id, task) where task <> '';
create index findings_by_state on findings (project_id, lifecycle_state, epistemic_state, retrieval_policy);

create table evidence (
  id integer primary key autoincrement,
  uid text not null unique,
  project_id integer not null references projects (id),
  source_kind text not null
    check (source_kind in ('log', 'file', 'experiment_run', 'git_commit', 'user_statement',
                           'session_event', 'test_run', 'url', 'other')),
  source_ref text not null,
  locator text not null default '',
  revision text not null default '',
  excerpt text not null default '',
  content_hash text not null default '',
  resolution text not null check (resolution in ('resolved', 'unresolved', 'not_found')),
  observed_at text not null,
  created_at text not null,
  actor text not null check (actor in ('user', 'agent', 'system'))
) strict;

create table finding_evidence (
  id integer primary key autoincrement,
  finding_id integer not null references findings (id),
  evidence_id integer not null references evidence (id),
  role text not null check (role in ('supports', 'contradicts', 'context')),
  method text not null
    check (method in ('experiment', 'code_inspection', 'runtime_observation', 'user_assertion',
                      'static_analysis', 'test')),
  rationale text not null default '',
  created_at text not null,
  -- The event that recorded the link.
  event integer not null,
  unique (finding_id, evidence_id, role)
) strict;

create index finding_evidence_by_evidence on finding_evidence (evidence_id);

create table finding_relations (
  from_id integer not null references findings (id),
  kind text not null check (kind in ('supersedes', 'derived_from', 'contradicts', 'duplicate_of', 'related_to')),
  to_id integer not null references findings (id),
  created_at text not null,
  primary key (from_id, kind, to_id),
  check (from_id <> to_id)
) strict, without rowid;

create index finding_relations_to on finding_relations (to_id, kind);

-- The contexts a claim is known to hold in: the one it was written in first, later ones by revalidation.
create table finding_contexts (
  id integer primary key autoincrement,
  finding_id integer not null references findings (id),
  -- JSON: the facts of that moment that its scope names.
  facts text not null,
  -- JSON: {pattern: {"digest": ..., "files": n}}, the code anchor.
  anchor text not null,
  recorded_at text not null
) strict;

create index finding_contexts_by_finding on finding_contexts (finding_id);

create table finding_events (
  -- Contiguous from 1; the chain below depends on it.
  seq integer primary key,
  finding_id integer not null references findings (id),
  kind text not null,
  actor text not null check (actor in ('user', 'agent', 'system')),
  host text not null default '',
  session text not null default '',
  at text not null,
  -- Salted hash of the text in event_texts, and the keyed hash of this row over the row before.
  text_hash text not null,
  hash text not null
) strict;

create index finding_events_by_finding on finding_events (finding_id);
-- For what one conversation logged or changed.
create index finding_events_by_session on finding_events (session, host, finding_id) where session <> '';

create table event_texts (
  seq integer primary key references finding_events (seq),
  salt text not null,
  -- JSON: {"reason": ..., "before": {...}, "after": {...}}.
  text text not null
) strict;

create trigger finding_events_are_not_updated before update on finding_events
begin
  select raise(abort, 'finding_events is append-only');
end;

create trigger finding_events_are_not_deleted before delete on finding_events
begin
  select raise(abort, 'finding_events is append-only');
end;

create trigger event_texts_are_not_updated before update on event_texts
begin
  select raise(abort, 'event_texts is append-only');
end;

-- Words come with their event: none is replaced, and what was purged does not come back.
create trigger event_texts_come_with_their_event before insert on event_texts
  when new.seq <> (select max(seq) from finding_events) or exists (select 1 from event_texts where seq = new.seq)
begin
  select raise(abort, 'event_texts is append-only');
end;

-- A retried call finds its first answer here; it lives as long as its finding.
create table idempotency_keys (
  project_id integer not null references projects (id),
  tool text not null,
  key text not null,
  arguments_hash text not null,
  finding_id integer not null references findings (id),
  answer text not null,
  primary key (project_id, tool, key)
) strict, without rowid;

-- Words of claims, tags, aliases and paths, per project, so that nothing another project holds can
-- change a weight. `part` is 'c' (claim), 't' (tag or alias, as one phrase) or 'p' (path).
create table finding_words (
  project_id integer not null,
  part text not null check (part in ('c', 't', 'p')),
  word text not null,
  finding_id integer not null references findings (id),
  primary key (project_id, part, word, finding_id)
) strict, without rowid;

create index finding_words_by_finding on finding_words (finding_id);

-- How many findings of a project hold a word of part 'c': its weight is how rare that is.
create table project_words (
  project_id integer not null,
  word text not null,
  findings integer not null,
  primary key (project_id, word)
) strict, without rowid;
