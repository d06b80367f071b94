-- Notifications of sign-ins and of changes of the second factor: SQLite changes a check only with a new table.
create table notification_copy (
  id integer primary key,
  user_id integer not null references account (id) on delete cascade,
  kind text not null check (
    kind in (
      'mention', 'reply', 'direct', 'room', 'request', 'report', 'warning', 'token', 'second_factor_enabled',
      'second_factor_disabled', 'recovery_codes_created', 'recovery_code_used', 'sign_in'
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
  session_id integer
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

-- The time of the user's first role of the staff, for the days to set up a required second factor. Another role does not
-- renew them.
update account
set role_since = null
where role not in ('owner', 'admin');

-- Sign-ins and failed attempts of the last 90 days.
create table sign_in (
  id integer primary key,
  user_id integer not null references account (id) on delete cascade,
  created_at integer not null,
  method text not null check (method in ('password', 'app_code', 'recovery_code', 'link', 'sign_up')),
  result text not null check (result in ('signed_in', 'wrong_password', 'wrong_code', 'refused')),
  device text not null,
  -- The network of the client.
  address text,
  new_device integer not null check (new_device in (0, 1)),
  session_id integer
) strict;

create index sign_in_of_user on sign_in (user_id, id);
create index sign_in_by_time on sign_in (created_at, id);

-- The network of the last use.
alter table session add column address text;

-- Sessions end 400 days after the sign-in, those of the staff after 90, or after 14 without use.
update session
set expires_at = min(
  coalesce(expires_at, created_at + 34560000000),
  created_at + 34560000000,
  iif(
    user_id in (select id from account where role in ('owner', 'admin')),
    min(created_at + 7776000000, coalesce(last_used_at, created_at) + 1209600000),
    created_at + 34560000000
  )
)
where kind = 'session';
