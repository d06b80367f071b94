-- Slash commands: names that users type, and the URLs of other programs that run them.
create table command (
  id integer primary key,
  name text not null unique,
  description text not null,
  usage text not null,
  -- The author of the replies.
  bot_id integer not null references account (id),
  url text not null,
  -- The origin of the site, for replies where the operator has set none.
  origin text not null,
  -- Sealed by the key in `secrets.key`.
  secret blob not null,
  -- The secret before a rotation, which signs, too, until then.
  previous_secret blob,
  previous_until integer,
  owner_id integer not null references account (id),
  -- The token that made or last changed it. It ends with the token.
  token_id integer,
  enabled integer not null check (enabled in (0, 1)),
  disabled_reason text check (
    disabled_reason in ('request', 'owner_inactive', 'token_revoked', 'secret_lost', 'restored')
  ),
  -- Whether only the forums in `command_forum` have it.
  is_limited integer not null check (is_limited in (0, 1)),
  created_at integer not null,
  revision integer not null default 1,
  check ((previous_secret is null) = (previous_until is null)),
  check ((enabled = 0) = (disabled_reason is not null))
) strict;

create index command_of_bot on command (bot_id);
create index command_of_owner on command (owner_id);
create index command_of_token on command (token_id) where token_id is not null;
create index command_rotated on command (previous_until) where previous_until is not null;

create table command_forum (
  command_id integer not null references command (id) on delete cascade,
  forum_id integer not null references forum (id),
  primary key (command_id, forum_id)
) strict, without rowid;

create index command_of_forum on command_forum (forum_id);

-- Uses of commands, for a day. They have no text: the program has it. A deleted command leaves them behind.
create table command_invocation (
  id integer primary key,
  command_id integer not null,
  name text not null,
  bot_id integer not null references account (id),
  user_id integer not null references account (id),
  conversation_id integer not null references conversation (id),
  -- SHA-256 of the secret in `response_url`.
  digest blob not null unique,
  state text not null check (state in ('pending', 'delivered', 'unreachable', 'timed_out', 'answer_invalid')),
  created_at integer not null
) strict;

create index command_invocation_of_user on command_invocation (user_id);
create index command_invocation_of_bot on command_invocation (bot_id);
create index command_invocation_of_conversation on command_invocation (conversation_id);
create index command_invocation_by_time on command_invocation (created_at);

create table command_reply (
  id integer primary key,
  invocation_id integer not null references command_invocation (id) on delete cascade,
  visible_to text not null check (visible_to in ('caller', 'all')),
  -- Null for a reply to all, which is a message.
  text text,
  message_id integer,
  client_id text,
  created_at integer not null,
  check ((visible_to = 'caller') = (text is not null)),
  check ((visible_to = 'all') = (message_id is not null)),
  unique (invocation_id, client_id)
) strict;

create index command_reply_of_invocation on command_reply (invocation_id, id);
