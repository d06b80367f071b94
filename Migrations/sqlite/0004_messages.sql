-- Messages, revisions, attachments, features and actions. A deleted message stays in its conversation as a tombstone.

create table message (
  id integer primary key,
  conversation_id integer not null references conversation (id),
  seq integer not null check (seq > 0),
  -- The message with `seq` one less; null for the first. Never changes.
  previous_message integer,
  author_id integer not null references account (id),
  client_id text,
  kind text not null default 'message' check (kind in ('message', 'system')),
  text text,
  -- Mentions, hashtags and links with their ranges in the text, as JSON.
  entities text,
  annotations text,
  reply_to integer,
  machine_only integer not null default 0 check (machine_only in (0, 1)),
  created_at integer not null,
  -- The latest time in the conversation up to this message, if the clock went back; null if that is `created_at`.
  latest_at integer check (latest_at > created_at),
  sent_at integer,
  edited_at integer,
  edited_by integer,
  revision integer not null default 1,
  deletion text check (deletion in ('author', 'moderator', 'moved', 'erased')),
  deleted_at integer,
  deleted_by integer,
  reason text,
  moved_from integer,
  moved_to integer,
  unique (conversation_id, seq),
  check ((seq = 1) = (previous_message is null)),
  check ((deletion is null) = (deleted_at is null)),
  -- A tombstone has no content.
  check (deletion is null or (text is null and entities is null and annotations is null)),
  check (deletion is not null or text is not null)
) strict;

create index message_of_author on message (author_id, id);
-- The indexed time never decreases with `seq`, so `before_time` and `after_time` are one index lookup.
create index message_by_time on message (conversation_id, coalesce(latest_at, created_at), seq);
create index replies on message (reply_to, id) where reply_to is not null;
-- Live messages that are not machine-only, for unread counts and filtered pages. The last two columns are constant; they
-- make the index covering.
create index message_unread on message (conversation_id, seq, author_id, moved_from, deletion, machine_only)
where deletion is null and machine_only = 0;

-- Idempotency keys: a repeated create returns the stored row, over any transport, without expiry.
create table idempotency (
  author_id integer not null,
  kind text not null,
  client_id text not null,
  subject integer not null,
  -- SHA-256 of the request; empty after the first change, since a short text can be guessed from its digest.
  fingerprint blob not null,
  primary key (author_id, kind, client_id)
) strict, without rowid;

-- Earlier texts of edited messages. `edited_at` and `edited_by` belong to that text.
create table revision (
  message_id integer not null references message (id),
  revision integer not null,
  text text not null,
  entities text,
  edited_at integer not null,
  edited_by integer not null,
  primary key (message_id, revision)
) strict, without rowid;

-- Content of removed messages, as JSON, until the restore period ends.
create table sealed (
  message_id integer primary key references message (id),
  content text not null,
  -- The removal of several messages, which can be undone as a whole.
  removal_id integer references removal (id),
  until integer not null
) strict;

create index sealed_until on sealed (until);
create index sealed_by_removal on sealed (removal_id, message_id) where removal_id is not null;

-- Removals of all messages of an author, or of all users of an invite and its descendants, since a time.
create table removal (
  id integer primary key,
  author_id integer references account (id),
  invite_id integer references invite (id),
  forum_id integer references forum (id),
  since integer not null,
  reason text,
  created_by integer not null references account (id),
  created_at integer not null,
  removed integer not null default 0,
  finished_at integer,
  undone_by integer references account (id),
  undone_at integer,
  restored integer not null default 0,
  restored_at integer,
  check ((author_id is null) <> (invite_id is null)),
  check ((undone_by is null) = (undone_at is null))
) strict;

-- References that keep the files of removed messages until the restore period ends.
create table sealed_attachment (
  message_id integer not null references sealed (message_id) on delete cascade,
  position integer not null,
  file_id integer not null,
  primary key (message_id, position)
) strict, without rowid;

create index sealed_attachment_of_file on sealed_attachment (file_id);

create table attachment (
  message_id integer not null references message (id),
  position integer not null,
  file_id integer not null,
  primary key (message_id, position)
) strict, without rowid;

create index attachment_of_file on attachment (file_id, message_id);

-- Features of live messages, for filters. Keys begin with the feature and the conversation, so that a query reads only
-- conversations in its scope.
create table annotation (
  type text not null,
  conversation_id integer not null,
  message_id integer not null references message (id),
  primary key (type, conversation_id, message_id)
) strict, without rowid;

create index annotation_of_message on annotation (message_id);

create table hashtag (
  tag text not null,
  conversation_id integer not null,
  message_id integer not null references message (id),
  primary key (tag, conversation_id, message_id)
) strict, without rowid;

create index hashtag_of_message on hashtag (message_id);

create table mention (
  user_id integer not null,
  message_id integer not null references message (id),
  primary key (user_id, message_id)
) strict, without rowid;

create index mention_of_message on mention (message_id);

create table hyperlink (
  message_id integer not null references message (id),
  position integer not null,
  url text not null,
  primary key (message_id, position)
) strict, without rowid;

create table location (
  message_id integer primary key references message (id),
  conversation_id integer not null,
  name text,
  latitude real not null check (latitude between -90 and 90),
  longitude real not null check (longitude between -180 and 180)
) strict;

create index location_by_coordinates on location (latitude, longitude);

create table action (
  message_id integer not null references message (id),
  type text not null,
  user_id integer not null references account (id) on delete cascade,
  created_at integer not null,
  -- The message's `created_at`, the sort key of a user's actions.
  message_at integer not null,
  primary key (message_id, type, user_id)
) strict, without rowid;

create index actions_of_user on action (user_id, type, message_at, message_id);
-- Stars are private and listed by user only.
create index action_by_type on action (type, message_id) where type <> 'star';
