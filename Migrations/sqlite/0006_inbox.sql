-- What waits for a person, and what waits for the moderators.

create table inbox (
  id integer primary key,
  user_id integer not null references account (id) on delete cascade,
  kind text not null check (kind in ('mention', 'reply', 'direct', 'room', 'request', 'report', 'warning')),
  conversation_id integer,
  message_id integer,
  report_id integer,
  sanction_id integer,
  actor_id integer,
  created_at integer not null,
  read_at integer
) strict;

create index inbox_of_user on inbox (user_id, id);
create index inbox_unread on inbox (user_id, id) where read_at is null;
create index inbox_of_conversation on inbox (user_id, conversation_id, message_id) where read_at is null;
-- Of one message at most one thing waits for each.
create unique index inbox_of_message on inbox (message_id, user_id) where message_id is not null;

create table report (
  id integer primary key,
  reporter_id integer not null references account (id),
  -- Who is reported: of a message, who wrote it.
  user_id integer,
  message_id integer,
  conversation_id integer,
  forum_id integer,
  reason text not null,
  -- The message as it was and those around it, for those who judge; gone at `copy_until`. What was around it goes as soon
  -- as it was judged.
  surroundings text,
  copy text,
  copy_until integer,
  state text not null default 'open' check (state in ('open', 'dismissed', 'acted')),
  assignee_id integer,
  -- What was done about it.
  outcome text,
  handled_by integer,
  handled_at integer,
  created_at integer not null,
  revision integer not null default 1,
  check (surroundings is null or copy is not null),
  check ((copy is null) = (copy_until is null)),
  check ((state = 'open') = (handled_at is null))
) strict;

create index report_by_state on report (state, id);
create index report_of_forum on report (forum_id, state, id) where forum_id is not null;
create index report_of_user on report (user_id, state, id) where user_id is not null;
create index report_by_reporter on report (reporter_id, state, message_id, user_id);
create index report_of_message on report (message_id) where message_id is not null;
create index report_copies on report (copy_until) where copy is not null;
