-- What makes findings whole: contexts learned by revalidation, muting, proposed rules and where they landed,
-- settings, and full text over everything a finding says.

-- What is known of the claim there: it was logged there, held there when somebody looked again, or was refuted there.
alter table finding_contexts add column kind text not null default 'logged' check (kind in ('logged', 'revalidated', 'refuted'));
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

-- The words of tags and aliases, whole and with any one letter left out: a prompt with a typing error meets them there
-- (two words that are one slip apart share such a form). Kept by triggers, so that whatever writes or purges
-- finding_words cannot forget it.
create table phrase_spellings (
  project_id integer not null,
  spelling text not null,
  word text not null,
  -- How many tags and aliases of findings hold the word.
  phrases integer not null,
  primary key (project_id, spelling, word)
) strict, without rowid;

-- Place 0 leaves no letter out: substr(..., 1, -1) is empty. Shorter words are one slip from too many others; those with
-- digits are versions and ids, where one digit is another thing; U+3040 begins the scripts without spaces.
create view spellings as
  select distinct f.project_id, f.finding_id, f.word as phrase, w.value as word,
    substr(w.value, 1, place.value - 1) || substr(w.value, place.value + 1) as spelling
  from finding_words f, json_each('["' || replace(f.word, ' ', '","') || '"]') w,
    json_each('[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]') place
  where f.part = 't' and length(w.value) between 5 and 20 and place.value <= length(w.value)
    and w.value not glob '*[0-9]*' and unicode(w.value) < 0x3040;

create trigger phrases_are_spelled after insert on finding_words when new.part = 't'
begin
  insert into phrase_spellings
    select project_id, spelling, word, 1 from spellings
      where project_id = new.project_id and phrase = new.word and finding_id = new.finding_id
    on conflict do update set phrases = phrases + 1;
end;

create trigger phrases_are_no_longer_spelled before delete on finding_words when old.part = 't'
begin
  update phrase_spellings set phrases = phrases - 1
    where project_id = old.project_id and (spelling, word) in
      (select spelling, word from spellings
        where project_id = old.project_id and phrase = old.word and finding_id = old.finding_id);
  delete from phrase_spellings
    where project_id = old.project_id and phrases = 0 and (spelling, word) in
      (select spelling, word from spellings
        where project_id = old.project_id and phrase = old.word and finding_id = old.finding_id);
end;

insert into phrase_spellings
  select project_id, spelling, word, count(*) from spellings group by project_id, spelling, word;

-- Everything that a finding says.
create view finding_says (id, project_id, claim, names, evidence) as
select f.id, f.project_id, f.claim,
  f.tags || ' ' || f.aliases || ' ' || f.task || ' ' || coalesce(json_extract(f.scope, '$.paths'), ''),
  coalesce((select group_concat(e.source_ref || ' ' || e.locator || ' ' || e.excerpt || ' ' || l.rationale, char(10))
    from finding_evidence l join evidence e on e.id = l.evidence_id where l.finding_id = f.id), '')
from findings f;

-- Full text over everything that a finding says, spelled by `text.words.spell`, so that every language and every kind of identifier is found by the same words. It keeps no text itself.
create virtual table finding_texts using fts5 (
  claim,
  -- Tags, aliases, task and paths.
  names,
  -- References, locators, excerpts and rationales of its evidence.
  evidence,
  content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 0'
);

-- What was deleted leaves no bytes behind.
insert into finding_texts (finding_texts, rank) values ('secure-delete', 1);

insert into finding_texts (rowid, claim, names, evidence)
select id, spell(claim), spell(names), spell(evidence) from finding_says;

-- The same texts by every three neighbouring characters, for what stands inside a word.
create virtual table finding_pieces using fts5 (
  says, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram case_sensitive 1'
);
insert into finding_pieces (finding_pieces, rank) values ('secure-delete', 1);
insert into finding_pieces (rowid, says)
select id, fold(claim || char(10) || names || char(10) || evidence) from finding_says;
