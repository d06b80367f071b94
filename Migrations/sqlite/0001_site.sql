-- The site: settings, counters, jobs, backups and the audit log.
-- Times are milliseconds since 1970, flags are 0 or 1, JSON is text.

-- "Parl" identifies a database file of Parley.
pragma application_id = 0x5061726c;

create table setting (
  name text primary key,
  value text not null
) strict, without rowid;

-- `id` numbers every row of the site, `event` every event. No number is issued twice.
create table counter (
  name text primary key check (name in ('id', 'event')),
  value integer not null check (value >= 0)
) strict, without rowid;

insert into counter (name, value) values ('id', 0), ('event', 0);

-- Jobs run in chunks. `state` is the progress, as JSON.
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

-- Backups requested over the API, in the folder `backups`. A failed backup has no size.
create table backup (
  id integer primary key,
  name text not null unique,
  created_by integer not null,
  created_at integer not null,
  finished_at integer,
  size integer,
  -- The number of files that could not be copied.
  missing integer not null default 0
) strict;

create index backup_unfinished on backup (id) where finished_at is null;

-- The audit log. `subject` is the id of the affected row, 0 for the site.
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

-- The audit log is append-only.
create trigger audit_refuses_update before update on audit
begin
  select raise(abort, 'the audit log is append-only');
end;

create trigger audit_refuses_delete before delete on audit
begin
  select raise(abort, 'the audit log is append-only');
end;
