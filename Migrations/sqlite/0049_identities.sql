-- Accounts at OpenID providers that sign their users in (OpenID Connect Core §5.7: by issuer and subject).
create table identity (
  id integer primary key,
  user_id integer not null references account (id) on delete cascade,
  -- `iss`, byte by byte.
  issuer text not null,
  -- `sub`.
  subject text not null,
  -- The user there in words.
  name text not null,
  created_at integer not null,
  last_used_at integer,
  unique (issuer, subject)
) strict;

create index identity_of_user on identity (user_id, id);

-- Sessions that an issuer opened, for its logout.
create table issuer_session (
  session_id integer primary key references session (id) on delete cascade,
  identity_id integer not null references identity (id) on delete cascade,
  -- `sid`: the session at the issuer, if it names it.
  sid text
) strict;

create index issuer_session_of_identity on issuer_session (identity_id, sid);
create index issuer_session_by_sid on issuer_session (sid) where sid is not null;

-- Sign-ins by an issuer: SQLite changes a check only with a new table.
create table sign_in_copy (
  id integer primary key,
  user_id integer not null references account (id) on delete cascade,
  created_at integer not null,
  method text not null check (
    method in ('password', 'app_code', 'recovery_code', 'link', 'sign_up', 'passkey', 'issuer')
  ),
  result text not null check (
    result in ('signed_in', 'wrong_password', 'code_required', 'wrong_code', 'used_code', 'wrong_passkey', 'refused')
  ),
  device text not null,
  -- The network of the client.
  address text,
  new_device integer not null check (new_device in (0, 1)),
  session_id integer
) strict;

insert into sign_in_copy (id, user_id, created_at, method, result, device, address, new_device, session_id)
select id, user_id, created_at, method, result, device, address, new_device, session_id
from sign_in;

drop table sign_in;

alter table sign_in_copy rename to sign_in;

create index sign_in_of_user on sign_in (user_id, id);
create index sign_in_by_time on sign_in (created_at, id);

-- Notifications of linked accounts.
create table notification_copy (
  id integer primary key,
  user_id integer not null references account (id) on delete cascade,
  kind text not null check (
    kind in (
      'mention', 'reply', 'direct', 'room', 'request', 'report', 'warning', 'token', 'second_factor_enabled',
      'second_factor_disabled', 'recovery_codes_created', 'recovery_code_used', 'sign_in', 'endpoint_disabled',
      'alert', 'passkey_created', 'passkey_deleted', 'passkey_copied', 'identity_linked', 'identity_unlinked'
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
  id, user_id, kind, conversation_id, message_id, report_id, sanction_id, actor_id, created_at, read_at, session_id,
  alert)
select id, user_id, kind, conversation_id, message_id, report_id, sanction_id, actor_id, created_at, read_at, session_id,
  alert
from notification;

drop table notification;

alter table notification_copy rename to notification;

create index notification_of_user on notification (user_id, id);
create index notification_unread on notification (user_id, id) where read_at is null;
create index notification_of_conversation on notification (user_id, conversation_id, message_id) where read_at is null;
-- A user gets at most one notification per message.
create unique index notification_of_message on notification (message_id, user_id) where message_id is not null;
