-- What was handed to which conversation. Losing this file costs repeats, never a finding.

-- What a model's context holds since it last began: a start, a clear or a compaction opens a new one.
create table generations (
  id integer primary key,
  host text not null,
  session text not null,
  -- '' for the root conversation, else the host's id of the subagent.
  agent text not null,
  -- What began it: startup, clear, compact, fork, subagent, or unseen (no start was seen).
  trigger text not null,
  began_at text not null,
  -- Whether its beginning was answered: a host may ask twice about one compaction.
  answered integer not null default 0
) strict;

create index generations_of_conversation on generations (host, session, agent, id);

-- The last form in which a finding stands in that context. A new state or applicability replaces it
-- once its correction line is out.
create table shown (
  generation_id integer not null references generations (id) on delete cascade,
  finding_id integer not null,
  epistemic_state text not null,
  lifecycle_state text not null,
  applicability text not null,
  primary key (generation_id, finding_id)
) strict, without rowid;

-- What this conversation itself looked up or cited, so that a compaction can hand it back.
create table touched (
  host text not null,
  session text not null,
  finding_id integer not null,
  touched_at text not null,
  primary key (host, session, finding_id)
) strict, without rowid;

-- The injection log: ids, sizes and reasons, no text.
create table injections (
  id integer primary key,
  project_uid text not null,
  host text not null,
  trigger text not null,
  at text not null,
  bytes integer not null,
  -- JSON: [[finding id, "kept" or "cut"], ...].
  items text not null,
  -- Why nothing was injected; '' when something was.
  reason text not null
) strict;
