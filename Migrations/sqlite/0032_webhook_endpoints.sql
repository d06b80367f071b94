-- Outgoing webhooks. An endpoint is a URL that receives the events of some topics, as its owner may read them.
create table webhook_endpoint (
  id integer primary key,
  -- Events are read with the rights of this user.
  owner_id integer not null references account (id),
  name text not null,
  url text not null,
  -- Topics of subscriptions and kinds of events, separated by commas. No kinds: all of them.
  topics text not null,
  events text not null,
  -- Sealed by the key in `secrets.key`.
  secret blob not null,
  -- The secret before a rotation, which signs, too, until then.
  previous_secret blob,
  previous_until integer,
  -- The token that made or last changed it. It ends with the token.
  token_id integer,
  enabled integer not null check (enabled in (0, 1)),
  disabled_reason text check (
    disabled_reason in (
      'request', 'failing', 'gone', 'owner_inactive', 'token_revoked', 'secret_lost', 'restored'
    )
  ),
  disabled_at integer,
  -- Every event up to this cursor is delivered.
  cursor text not null,
  -- The first failed attempt since the last delivery, and the number of attempts since then.
  failing_since integer,
  failures integer not null default 0,
  next_attempt_at integer,
  last_delivered_at integer,
  created_at integer not null,
  revision integer not null default 1,
  check ((previous_secret is null) = (previous_until is null)),
  check ((enabled = 0) = (disabled_reason is not null)),
  check ((failing_since is null) = (failures = 0))
) strict;

create index webhook_endpoint_of_owner on webhook_endpoint (owner_id);
create index webhook_endpoint_of_token on webhook_endpoint (token_id) where token_id is not null;
create index webhook_endpoint_enabled on webhook_endpoint (id) where enabled = 1;
create index webhook_endpoint_rotated on webhook_endpoint (previous_until) where previous_until is not null;

-- Attempts to deliver an event. The log has no content: a redelivery reads the event again.
create table webhook_delivery (
  id integer primary key,
  endpoint_id integer not null references webhook_endpoint (id) on delete cascade,
  -- The header `webhook-id`.
  webhook_id text not null,
  -- The kind of the event, or `reset`.
  type text not null,
  -- Null for a reset.
  event_id integer,
  -- A pending one is a redelivery that was asked for.
  state text not null check (state in ('pending', 'delivered', 'failed')),
  redelivery integer not null check (redelivery in (0, 1)),
  attempt integer not null,
  -- Status of the response, or why there is none.
  status integer,
  error text,
  at integer not null,
  -- In milliseconds.
  duration integer,
  check (state <> 'pending' or redelivery = 1)
) strict;

create index webhook_delivery_of_endpoint on webhook_delivery (endpoint_id, id);
create index webhook_delivery_pending on webhook_delivery (endpoint_id, id) where state = 'pending';
create index webhook_delivery_by_time on webhook_delivery (at, id);

-- Notifications of disabled endpoints: SQLite changes a check only with a new table.
create table notification_copy (
  id integer primary key,
  user_id integer not null references account (id) on delete cascade,
  kind text not null check (
    kind in (
      'mention', 'reply', 'direct', 'room', 'request', 'report', 'warning', 'token', 'second_factor_enabled',
      'second_factor_disabled', 'recovery_codes_created', 'recovery_code_used', 'sign_in', 'endpoint_disabled'
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
