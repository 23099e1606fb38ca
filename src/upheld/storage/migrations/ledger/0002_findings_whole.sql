-- What makes findings whole: contexts learned by revalidation, muting, proposed rules and where they landed,
-- settings, and full text over everything a finding says.

-- How a claim came to be known to hold there: it was logged there, or revalidated there.
alter table finding_contexts add column kind text not null default 'logged' check (kind in ('logged', 'revalidated'));
-- JSON list of "F-<n> <state>": what a claim is derived from and what had fallen by then. A revalidation settles that.
alter table finding_contexts add column basis text not null default '[]';
-- JSON: {evidence number: content hash} of the sources as they were at a revalidation.
alter table finding_contexts add column sources text not null default '{}';

-- Until when a person does not want to be shown it; '' for not muted, 'forever' until unmuted.
alter table findings add column muted_until text not null default '';

-- A rule that a finding is proposed to become; its state is findings.promotion_state.
create table rules (
  finding_id integer primary key references findings (id),
  rule text not null,
  -- Where it is meant to go: test, checker, attention, project-doc, adr, upstream; '' for not said.
  owner text not null default '',
  proposed_at text not null
) strict;

create index findings_by_promotion on findings (project_id, promotion_state) where promotion_state <> 'none';

-- Where a rule landed.
create table doc_links (
  id integer primary key autoincrement,
  finding_id integer not null references findings (id),
  target text not null,
  locator text not null default '',
  created_at text not null,
  -- The event that recorded the link.
  event integer not null
) strict;

create index doc_links_by_finding on doc_links (finding_id);

-- What a person set: for one project, or everywhere (project 0).
create table settings (
  project_id integer not null,
  name text not null,
  value text not null,
  set_at text not null,
  primary key (project_id, name)
) strict, without rowid;

-- For what a person lists or waits for, by id: the same order as every list.
create index findings_by_project on findings (project_id, id);
