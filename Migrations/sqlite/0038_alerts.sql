-- Alerts for owners and admins, and notifications of passkeys: SQLite changes a check only with a new table.
create table notification_copy (
  id integer primary key,
  user_id integer not null references account (id) on delete cascade,
  kind text not null check (
    kind in (
      'mention', 'reply', 'direct', 'room', 'request', 'report', 'warning', 'token', 'second_factor_enabled',
      'second_factor_disabled', 'recovery_codes_created', 'recovery_code_used', 'sign_in', 'endpoint_disabled',
      'alert', 'passkey_created', 'passkey_deleted', 'passkey_copied'
    )
  ),
  conversation_id integer,
  message_id integer,
  report_id integer,
  sanction_id integer,
  actor_id integer,
  created_at integer not null,
  read_at integer,
  -- The session of a sign-in.
  session_id integer,
  -- The state of the server that an alert is about.
  alert text
) strict;

insert into notification_copy (
  id, user_id, kind, conversation_id, message_id, report_id, sanction_id, actor_id, created_at, read_at, session_id)
select id, user_id, kind, conversation_id, message_id, report_id, sanction_id, actor_id, created_at, read_at, session_id
from notification;

drop table notification;

alter table notification_copy rename to notification;

create index notification_of_user on notification (user_id, id);
create index notification_unread on notification (user_id, id) where read_at is null;
create index notification_of_conversation on notification (user_id, conversation_id, message_id) where read_at is null;
-- A user gets at most one notification per message.
create unique index notification_of_message on notification (message_id, user_id) where message_id is not null;
