-- Messages and what hangs on them. A message is never taken out of its conversation: deleted, it stays as a tombstone.

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
  -- Mentions, hashtags and links with their places in the text.
  entities text,
  annotations text,
  reply_to integer,
  machine_only integer not null default 0 check (machine_only in (0, 1)),
  created_at integer not null,
  -- The latest time in the conversation up to here, where the clock went back; null where that is `created_at`.
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
  -- A tombstone holds nothing of what was said.
  check (deletion is null or (text is null and entities is null and annotations is null)),
  check (deletion is not null or text is not null)
) strict;

create index message_of_author on message (author_id, id);
-- Grows with `seq`, so the first message that is not earlier than a time is found in one step.
create index message_by_time on message (conversation_id, coalesce(latest_at, created_at), seq);
create index replies on message (reply_to, id) where reply_to is not null;
-- Live, written for people: what is unread is counted in it, and pages without the rest are found by it. The last two
-- columns are always the same; without them SQLite would look at each row to ask for them.
create index message_for_people on message (conversation_id, seq, author_id, moved_from, deletion, machine_only)
where deletion is null and machine_only = 0;

-- A create that is repeated finds what it made, over whatever transport, for ever.
create table idempotency (
  author_id integer not null,
  kind text not null,
  client_id text not null,
  subject integer not null,
  -- SHA-256 of what was sent; empty once nothing is compared any longer, since a short text can be guessed from it.
  fingerprint blob not null,
  primary key (author_id, kind, client_id)
) strict, without rowid;

-- What a message said before it was edited, numbered by the revision that it was; `edited_at` and `edited_by` say when
-- and by whom that text was written.
create table revision (
  message_id integer not null references message (id),
  revision integer not null,
  text text not null,
  entities text,
  edited_at integer not null,
  edited_by integer not null,
  primary key (message_id, revision)
) strict, without rowid;

-- What a moderator removed, kept for a while so that it can be put back: all that hung on the message, as JSON.
create table sealed (
  message_id integer primary key references message (id),
  content text not null,
  -- What took it away together with others, so that all of them can be put back.
  removal_id integer references removal (id),
  until integer not null
) strict;

create index sealed_until on sealed (until);
create index sealed_by_removal on sealed (removal_id, message_id) where removal_id is not null;

-- All that somebody wrote since a time, or those who came by an invite and by what grew from it, taken away at once.
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

-- Its files stay named, and so are kept as long as the seal.
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

-- What can be looked up of a live message. Scope stands first, so that a look-up never leaves what one may read.
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

create index location_by_place on location (latitude, longitude);

create table action (
  message_id integer not null references message (id),
  type text not null,
  user_id integer not null references account (id) on delete cascade,
  created_at integer not null,
  -- When the message was written, which never changes: by it a person's marks are listed.
  message_at integer not null,
  primary key (message_id, type, user_id)
) strict, without rowid;

create index actions_of_user on action (user_id, type, message_at, message_id);
-- A star is looked up by who set it.
create index action_by_type on action (type, message_id) where type <> 'star';
