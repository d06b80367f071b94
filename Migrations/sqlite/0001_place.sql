-- The place itself: what its hosts set, the counters, and work that is too large for one transaction.
-- Times are milliseconds since 1970, flags are 0 or 1, JSON is text.

-- "Parl": by this a database file is known as one of ours.
pragma application_id = 0x5061726c;

create table setting (
  name text primary key,
  value text not null
) strict, without rowid;

-- `id` names every thing of the site, `event` every event. None is ever issued twice.
create table counter (
  name text primary key check (name in ('id', 'event')),
  value integer not null check (value >= 0)
) strict, without rowid;

insert into counter (name, value) values ('id', 0), ('event', 0);

-- Large work in chunks: what it is, and how far it has come.
create table job (
  id integer primary key,
  kind text not null,
  subject integer,
  state text not null default '{}',
  created_at integer not null,
  created_by integer,
  finished_at integer,
  error text
) strict;

create index job_open on job (id) where finished_at is null;
create index job_of_subject on job (subject, kind, id) where subject is not null;
create index job_finished on job (finished_at, id) where finished_at is not null;

-- Copies of everything that were asked for by the owners, in the folder `backups`. Without a size it came to nothing.
create table backup (
  id integer primary key,
  name text not null unique,
  created_by integer not null,
  created_at integer not null,
  finished_at integer,
  size integer,
  -- Files that could not be copied.
  missing integer not null default 0
) strict;

create index backup_unfinished on backup (id) where finished_at is null;

-- What was done by those who may, and why. `subject` is the thing that it was done to, 0 for the place.
create table audit (
  id integer primary key,
  at integer not null,
  actor_id integer not null,
  action text not null,
  subject integer not null,
  forum_id integer,
  reason text
) strict;

create index audit_of_subject on audit (subject, id);
create index audit_of_actor on audit (actor_id, id);
create index audit_of_kind on audit (action, id);
create index audit_of_forum on audit (forum_id, id) where forum_id is not null;

-- What has been written in it stays as it is, whoever asks.
create trigger audit_is_not_changed before update on audit
begin
  select raise(abort, 'the audit is only added to');
end;

create trigger audit_is_not_removed before delete on audit
begin
  select raise(abort, 'the audit is only added to');
end;
