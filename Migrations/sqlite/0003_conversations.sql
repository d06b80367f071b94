-- Forums, conversations, members and participants.

create table forum (
  id integer primary key,
  title text not null,
  -- The folded title, for search: without case and accents.
  title_key text not null default '',
  description text not null default '',
  icon_url text,
  icon_file_id integer,
  visibility text not null check (visibility in ('public', 'members', 'private')),
  section text,
  position integer not null default 0,
  write text not null default 'readers' check (write in ('readers', 'members', 'moderators')),
  start_topics text not null default 'readers' check (start_topics in ('readers', 'members', 'moderators')),
  -- Whether topics can be marked as solved, and whether readers see earlier revisions of messages.
  solvable integer not null default 0 check (solvable in (0, 1)),
  shows_revisions integer not null default 0 check (shows_revisions in (0, 1)),
  call_url text,
  -- Users that may notify all members with @room.
  room_mention text not null default 'moderators' check (room_mention in ('readers', 'members', 'moderators')),
  slow_seconds integer not null default 0 check (slow_seconds >= 0),
  locked integer not null default 0 check (locked in (0, 1)),
  -- The chat conversation, created with the forum.
  room_id integer not null,
  created_by integer not null references account (id),
  created_at integer not null,
  -- The newest message anywhere in it.
  last_message_id integer not null default 0,
  -- The latest activity. Ids grow with time, so a forum without messages sorts by its creation. Values are unique.
  activity integer not null generated always as (max(last_message_id, id)) virtual,
  -- After the visibility was widened: new readers see messages after these ids (users; visitors).
  users_from_id integer not null default 0,
  anyone_from_id integer not null default 0,
  -- The time of the last @room notification.
  room_mentioned_at integer,
  revision integer not null default 1,
  archived_at integer,
  deleted_at integer,
  deleted_by integer
) strict;

create index forum_by_activity on forum (visibility, activity desc, id desc) where deleted_at is null;
create unique index forum_by_title on forum (title) where deleted_at is null;
create index forum_of_icon on forum (icon_file_id) where icon_file_id is not null;

create table forum_member (
  forum_id integer not null references forum (id) on delete cascade,
  user_id integer not null references account (id) on delete cascade,
  role text not null default 'member' check (role in ('member', 'moderator', 'admin')),
  -- The member reads messages after this id: earlier history was not opened when the visibility was widened.
  from_id integer not null default 0,
  created_at integer not null,
  primary key (forum_id, user_id)
) strict, without rowid;

create index forums_of_user on forum_member (user_id, forum_id);
create index forum_member_by_role on forum_member (forum_id, role, created_at, user_id);

create table conversation (
  id integer primary key,
  kind text not null check (kind in ('room', 'topic', 'direct', 'group', 'channel', 'feed')),
  forum_id integer references forum (id),
  -- The owner of a feed.
  owner_id integer references account (id),
  title text,
  type text,
  annotations text not null default '[]',
  -- Access beyond the participants, and whether it may change.
  readers text not null default 'listed' check (readers in ('anyone', 'users', 'listed')),
  writers text not null default 'listed' check (writers in ('users', 'listed')),
  readers_immutable integer not null default 0 check (readers_immutable in (0, 1)),
  writers_immutable integer not null default 0 check (writers_immutable in (0, 1)),
  -- Whether new participants read earlier messages.
  history_visible integer not null default 1 check (history_visible in (0, 1)),
  -- The first readable `seq` for readers that are not participants (users; visitors).
  users_from_seq integer not null default 1,
  anyone_from_seq integer not null default 1,
  -- The message that solved the topic.
  solved_by integer,
  -- The participants of a `distinct` conversation, as one text.
  distinct_key text unique,
  slow_seconds integer not null default 0 check (slow_seconds >= 0),
  locked integer not null default 0 check (locked in (0, 1)),
  pinned integer not null default 0 check (pinned in (0, 1)),
  -- Filled by an import: messages have their own times and exist before the conversation opens.
  imported integer not null default 0 check (imported in (0, 1)),
  state text not null default 'open' check (state in ('importing', 'open', 'inactive', 'deleted')),
  last_seq integer not null default 0,
  last_message_id integer not null default 0,
  activity integer not null generated always as (max(last_message_id, id)) virtual,
  created_by integer not null references account (id),
  created_at integer not null,
  revision integer not null default 1,
  deleted_at integer,
  check ((kind in ('room', 'topic')) = (forum_id is not null)),
  check ((kind = 'feed') = (owner_id is not null))
) strict;

create index topics_of_forum on conversation (forum_id, pinned desc, activity desc, id desc)
where kind = 'topic' and state = 'open';
create index conversations_of_forum on conversation (forum_id, id) where forum_id is not null;
create unique index room_of_forum on conversation (forum_id) where kind = 'room';
create unique index feed_of_user on conversation (owner_id) where kind = 'feed';
-- Conversations that are open to readers beyond the participants.
create index conversation_open on conversation (readers, id)
where readers <> 'listed' and forum_id is null and state = 'open';
create index conversation_by_type on conversation (type, id) where type is not null;

create table participant (
  conversation_id integer not null references conversation (id) on delete cascade,
  user_id integer not null references account (id) on delete cascade,
  role text not null default 'member' check (role in ('reader', 'member', 'admin')),
  joined_at integer not null,
  -- The start of the participant's history.
  from_seq integer not null default 1,
  from_offset integer not null default 1,
  -- The conversation's last `seq` when the participant joined. Delivery status counts earlier participants only.
  joined_seq integer not null default 0,
  -- A message request that the participant has not accepted.
  request integer not null default 0 check (request in (0, 1)),
  primary key (conversation_id, user_id)
) strict, without rowid;

create index conversations_of_user on participant (user_id, conversation_id);
create index requests_to_user on participant (user_id, conversation_id) where request = 1;

-- Read and delivered positions of a user, by `seq`. They never decrease.
create table read_position (
  user_id integer not null references account (id) on delete cascade,
  conversation_id integer not null references conversation (id) on delete cascade,
  read_seq integer not null default 0,
  delivered_seq integer not null default 0,
  read_at integer,
  delivered_at integer,
  -- The time of the last `receipt.updated` event, and whether a later move has not been published yet (throttled).
  receipt_sent_at integer not null default 0,
  receipt_pending integer not null default 0 check (receipt_pending in (0, 1)),
  primary key (user_id, conversation_id),
  check (read_seq <= delivered_seq)
) strict, without rowid;

create index read_positions_of_conversation on read_position (conversation_id, read_seq);
create index read_position_by_receipt on read_position (receipt_sent_at, user_id, conversation_id) where receipt_pending = 1;

-- Notification levels per forum or conversation. Ids are unique over both.
create table level (
  user_id integer not null references account (id) on delete cascade,
  scope_id integer not null,
  level text not null check (level in ('everything', 'mentions', 'nothing')),
  primary key (user_id, scope_id)
) strict, without rowid;

create index level_of_scope on level (scope_id, level, user_id);
