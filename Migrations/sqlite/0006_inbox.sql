-- What waits for a person, and what waits for the moderators.

create table inbox (
  id integer primary key,
  user_id integer not null references account (id) on delete cascade,
  kind text not null,
  conversation_id integer,
  message_id integer,
  actor_id integer,
  detail text not null default '{}',
  created_at integer not null,
  read_at integer
) strict;

create index inbox_of_user on inbox (user_id, id);
create index inbox_unread on inbox (user_id, id) where read_at is null;
create index inbox_of_message on inbox (message_id) where message_id is not null;

create table report (
  id integer primary key,
  reporter_id integer not null references account (id),
  message_id integer,
  user_id integer,
  forum_id integer,
  conversation_id integer,
  reason text not null,
  -- The message as it was, for those who judge; gone at `copy_until`.
  copy text,
  copy_until integer,
  state text not null default 'open' check (state in ('open', 'dismissed', 'acted')),
  handled_by integer,
  handled_at integer,
  note text,
  created_at integer not null,
  revision integer not null default 1
) strict;

create index report_open on report (forum_id, id) where state = 'open';
create index report_of_message on report (message_id) where message_id is not null;
create index report_copies on report (copy_until) where copy is not null;
