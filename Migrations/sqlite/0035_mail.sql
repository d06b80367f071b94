-- Mail. The key signs the links that unsubscribe, sealed by the key in `secrets.key`. Notifications up to `last_notification`
-- were looked at: earlier ones are not sent.
create table mail_state (
  id integer primary key check (id = 1),
  key blob,
  last_notification integer not null
) strict;

insert into mail_state (id, last_notification)
select 1, coalesce(max(id), 0)
from notification;

-- The email addresses of users. Several users may have the same one.
create table email (
  user_id integer primary key references account (id) on delete cascade,
  -- Null until the user has confirmed one.
  address text,
  -- An address that waits for its confirmation, and the digest of the code that was sent there.
  pending text,
  code_digest blob unique,
  code_expires_at integer,
  -- The addresses that the user has asked to confirm within a day, and the first time.
  requests integer not null default 0,
  requested_since integer not null default 0,
  -- How often mail servers refused the address since a message was accepted, and since when mail has stopped.
  refusals integer not null default 0,
  stopped_at integer
) strict;

create index email_by_address on email (lower(address)) where address is not null;

-- Requests to reset a password, before the user is looked up.
create table password_reset (
  login text primary key,
  requested_at integer not null
) strict;

create index password_reset_by_time on password_reset (requested_at, login);

-- The queue. A row is a topic of a user: a conversation, one other notification, or a message about the account.
create table mail_delivery (
  id integer primary key,
  user_id integer not null references account (id) on delete cascade,
  topic text not null,
  kind text not null check (kind in ('notification', 'reset', 'confirmation', 'password_changed', 'address_changed')),
  -- For a notification in a conversation: the mail has the unread ones.
  conversation_id integer,
  -- The notification outside of conversations; of a sent mail the last one that it has.
  notification_id integer,
  -- Null for the confirmed address of the user.
  address text,
  created_at integer not null,
  due_at integer not null,
  attempts integer not null default 0,
  -- The row then keeps the next mail of the topic back until `due_at`.
  sent_at integer,
  unique (user_id, topic)
) strict;

create index mail_delivery_due on mail_delivery (due_at, id) where sent_at is null;
create index mail_delivery_sent on mail_delivery (due_at, id) where sent_at is not null;

-- Kinds that mail does not tell of, separated by spaces.
alter table notification_settings add column mail text not null default '';
