-- Whether others see which messages a user has starred.
alter table account add column shows_stars integer not null default 0 check (shows_stars in (0, 1));

-- Saved filters of timelines: their criteria, as JSON.
create table timeline_filter (
  user_id integer not null references account (id) on delete cascade,
  name text not null,
  filter text not null,
  primary key (user_id, name)
) strict, without rowid;

-- The last read post of a user's timeline, with its sort key. The key never decreases.
create table timeline_position (
  user_id integer primary key references account (id) on delete cascade,
  message_at integer not null,
  message_id integer not null,
  read_at integer not null
) strict;
