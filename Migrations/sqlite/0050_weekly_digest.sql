-- The weekly digest: a mail with what a user has not read.
alter table notification_settings add column weekly_digest integer not null default 1 check (weekly_digest in (0, 1));
-- The time zone of the user, by its IANA name.
alter table notification_settings add column time_zone text;

update notification_settings
set weekly_digest = 0
where user_id in (select id from account where role = 'guest');

-- The next time at which the user may get a digest, 0 before it is planned, and the time of the last one.
alter table email add column digest_due_at integer not null default 0;
alter table email add column digested_at integer;

create index email_by_digest on email (digest_due_at, user_id) where address is not null and stopped_at is null;

-- The queue without a check of its kinds: SQLite changes a check only with a new table.
create table mail_delivery_copy (
  id integer primary key,
  user_id integer not null references account (id) on delete cascade,
  topic text not null,
  kind text not null,
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

insert into mail_delivery_copy (
  id, user_id, topic, kind, conversation_id, notification_id, address, created_at, due_at, attempts, sent_at)
select id, user_id, topic, kind, conversation_id, notification_id, address, created_at, due_at, attempts, sent_at
from mail_delivery;

drop table mail_delivery;

alter table mail_delivery_copy rename to mail_delivery;

create index mail_delivery_due on mail_delivery (due_at, id) where sent_at is null;
create index mail_delivery_sent on mail_delivery (due_at, id) where sent_at is not null;
create index mail_delivery_created on mail_delivery (created_at, id) where sent_at is null;
