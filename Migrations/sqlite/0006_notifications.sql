-- Notifications and reports.

create table notification (
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

create index notification_of_user on notification (user_id, id);
create index notification_unread on notification (user_id, id) where read_at is null;
create index notification_of_conversation on notification (user_id, conversation_id, message_id) where read_at is null;
-- A user gets at most one notification per message.
create unique index notification_of_message on notification (message_id, user_id) where message_id is not null;

create table report (
  id integer primary key,
  reporter_id integer not null references account (id),
  -- The reported user; for a message, its author.
  user_id integer,
  message_id integer,
  conversation_id integer,
  forum_id integer,
  reason text not null,
  -- A copy of the message and of its context for the moderators, deleted at `copy_until`. The context is deleted when the
  -- report is closed.
  surroundings text,
  copy text,
  copy_until integer,
  state text not null default 'open' check (state in ('open', 'dismissed', 'acted')),
  assignee_id integer,
  -- The outcome, as text.
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
