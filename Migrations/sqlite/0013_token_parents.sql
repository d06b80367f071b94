-- The token that created a token. Revoking it revokes the tokens that it created.

alter table session add column parent_id integer references session (id) on delete set null;

create index session_of_parent on session (parent_id) where parent_id is not null;

-- Notifications of new tokens: SQLite changes a check only with a new table.

create table notification_copy (
  id integer primary key,
  user_id integer not null references account (id) on delete cascade,
  kind text not null check (
    kind in ('mention', 'reply', 'direct', 'room', 'request', 'report', 'warning', 'token')
  ),
  conversation_id integer,
  message_id integer,
  report_id integer,
  sanction_id integer,
  actor_id integer,
  created_at integer not null,
  read_at integer
) strict;

insert into notification_copy (
  id, user_id, kind, conversation_id, message_id, report_id, sanction_id, actor_id, created_at, read_at)
select id, user_id, kind, conversation_id, message_id, report_id, sanction_id, actor_id, created_at, read_at
from notification;

drop table notification;

alter table notification_copy rename to notification;

create index notification_of_user on notification (user_id, id);
create index notification_unread on notification (user_id, id) where read_at is null;
create index notification_of_conversation on notification (user_id, conversation_id, message_id) where read_at is null;
-- A user gets at most one notification per message.
create unique index notification_of_message on notification (message_id, user_id) where message_id is not null;
