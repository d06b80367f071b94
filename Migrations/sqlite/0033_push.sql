-- Web Push. The key signs requests to push services (RFC 8292). Its secret is sealed by the key in `secrets.key`.
create table push_key (
  id integer primary key check (id = 1),
  secret blob not null,
  created_at integer not null
) strict;

-- Devices that receive notifications while the app is closed. Each ends with the session that made it.
create table push_subscription (
  id integer primary key,
  user_id integer not null references account (id) on delete cascade,
  session_id integer not null references session (id) on delete cascade,
  -- The name of the device.
  name text not null,
  -- A URL that is a secret of the device and its push service.
  endpoint text not null unique,
  -- The keys of the device: `p256dh` and `auth` of RFC 8291.
  point blob not null,
  auth blob not null,
  language text,
  created_at integer not null,
  last_sent_at integer,
  -- The push service takes no request before.
  retry_at integer
) strict;

create index push_subscription_of_user on push_subscription (user_id, id);
create index push_subscription_of_session on push_subscription (session_id);

-- The queue. A row is a topic on a device: a conversation, or one other notification.
create table push_delivery (
  id integer primary key,
  subscription_id integer not null references push_subscription (id) on delete cascade,
  topic text not null,
  -- The newest notification of the topic. Null: sent; the row then keeps the next one back until `due_at`.
  notification_id integer,
  -- 0 low, 1 normal, 2 high.
  urgency integer not null,
  created_at integer not null,
  due_at integer not null,
  attempts integer not null default 0,
  -- Whether the push service refused the longer message.
  is_short integer not null default 0 check (is_short in (0, 1)),
  unique (subscription_id, topic)
) strict;

create index push_delivery_due on push_delivery (due_at, id) where notification_id is not null;
create index push_delivery_sent on push_delivery (due_at, id) where notification_id is null;
create index push_delivery_by_urgency on push_delivery (urgency, created_at, id) where notification_id is not null;
