-- Forums, conversations, and who is in them.

create table forum (
  id integer primary key,
  title text not null,
  -- The title as it is looked for: without case and accents.
  title_key text not null default '',
  description text not null default '',
  icon_url text,
  icon_file_id integer,
  visibility text not null check (visibility in ('public', 'members', 'private')),
  section text,
  position integer not null default 0,
  write text not null default 'readers' check (write in ('readers', 'members', 'moderators')),
  start_topics text not null default 'readers' check (start_topics in ('readers', 'members', 'moderators')),
  -- Whether topics can be marked as solved, and whether everyone sees earlier texts of edited messages.
  solvable integer not null default 0 check (solvable in (0, 1)),
  shows_revisions integer not null default 0 check (shows_revisions in (0, 1)),
  call_url text,
  -- Who rings all members at once.
  ring text not null default 'moderators' check (ring in ('readers', 'members', 'moderators')),
  slow_seconds integer not null default 0 check (slow_seconds >= 0),
  locked integer not null default 0 check (locked in (0, 1)),
  -- Its live conversation, made with it.
  room_id integer not null,
  created_by integer not null references account (id),
  created_at integer not null,
  -- The newest message anywhere in it.
  last_message_id integer not null default 0,
  -- What happened last: ids grow with time, so a forum without messages stands where it was made. No two are the same.
  activity integer not null generated always as (max(last_message_id, id)) virtual,
  -- The message after which those may read whom a wider visibility has let in: people with an account, and everyone.
  people_from_id integer not null default 0,
  anyone_from_id integer not null default 0,
  -- When all members were last rung at once.
  rung_at integer,
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
  -- The message after which they may read, for who came in by a visibility that did not open what was before.
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
  -- Whose feed it is.
  owner_id integer references account (id),
  title text,
  type text,
  annotations text not null default '[]',
  -- Who reads and writes beside the participants, and whether that is settled for good.
  readers text not null default 'listed' check (readers in ('anyone', 'people', 'listed')),
  writers text not null default 'listed' check (writers in ('people', 'listed')),
  readers_immutable integer not null default 0 check (readers_immutable in (0, 1)),
  writers_immutable integer not null default 0 check (writers_immutable in (0, 1)),
  -- Whether who joins reads what was said before.
  history_visible integer not null default 1 check (history_visible in (0, 1)),
  -- Where history begins for who reads because it is open to people with an account, or to everyone.
  people_from_seq integer not null default 1,
  anyone_from_seq integer not null default 1,
  -- The message that solved the topic.
  solved_by integer,
  -- The participants of a conversation that is the only one of theirs, in one text.
  distinct_key text unique,
  slow_seconds integer not null default 0 check (slow_seconds >= 0),
  locked integer not null default 0 check (locked in (0, 1)),
  pinned integer not null default 0 check (pinned in (0, 1)),
  -- Its messages bring their own times and are all there before anyone sees it.
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
-- What is read by others than those who take part.
create index conversation_open on conversation (readers, id)
where readers <> 'listed' and forum_id is null and state = 'open';
create index conversation_by_type on conversation (type, id) where type is not null;

create table participant (
  conversation_id integer not null references conversation (id) on delete cascade,
  user_id integer not null references account (id) on delete cascade,
  role text not null default 'member' check (role in ('reader', 'member', 'admin')),
  joined_at integer not null,
  -- Where this person's history begins.
  from_seq integer not null default 1,
  from_offset integer not null default 1,
  -- The conversation's last message when this person was added, so that status counts only those who were there.
  joined_seq integer not null default 0,
  -- A stranger's first message waits to be taken.
  request integer not null default 0 check (request in (0, 1)),
  primary key (conversation_id, user_id)
) strict, without rowid;

create index conversations_of_user on participant (user_id, conversation_id);
create index requests_to_user on participant (user_id, conversation_id) where request = 1;

-- How far a person's devices have come, by `seq`; never backwards.
create table mark (
  user_id integer not null references account (id) on delete cascade,
  conversation_id integer not null references conversation (id) on delete cascade,
  read_seq integer not null default 0,
  delivered_seq integer not null default 0,
  read_at integer,
  delivered_at integer,
  -- When the conversation was last told of it, and whether it has moved too soon after to be told yet.
  told_at integer not null default 0,
  owes_receipt integer not null default 0 check (owes_receipt in (0, 1)),
  primary key (user_id, conversation_id),
  check (read_seq <= delivered_seq)
) strict, without rowid;

create index marks_of_conversation on mark (conversation_id, read_seq);
create index receipt_owed on mark (told_at, user_id, conversation_id) where owes_receipt = 1;

-- What a person wants to hear of a forum or a conversation. Ids are unique over both.
create table level (
  user_id integer not null references account (id) on delete cascade,
  place_id integer not null,
  level text not null check (level in ('everything', 'mentions', 'nothing')),
  primary key (user_id, place_id)
) strict, without rowid;

create index level_of_place on level (place_id, level, user_id);
