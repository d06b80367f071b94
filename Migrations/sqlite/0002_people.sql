-- People, how they get in, and what they are to each other.

create table account (
  id integer primary key,
  name text not null,
  -- The name as it is compared: lower case. Null once it is free again.
  name_key text unique,
  display_name text,
  bio text not null default '',
  role text not null check (role in ('owner', 'admin', 'moderator', 'member', 'bot', 'guest')),
  state text not null check (state in ('waiting', 'active', 'disabled', 'deactivated', 'left', 'erased')),
  -- Came with an import: no way in until an invite claims it.
  imported integer not null default 0 check (imported in (0, 1)),
  password text,
  avatar_file_id integer,
  discoverable integer not null default 0 check (discoverable in (0, 1)),
  -- Who may write first.
  reachable_by text not null default 'anyone' check (reachable_by in ('anyone', 'shared', 'nobody')),
  -- Whether others see how far this person has read.
  shows_receipts integer not null default 1 check (shows_receipts in (0, 1)),
  -- Whether others see that this person is here.
  shows_presence integer not null default 1 check (shows_presence in (0, 1)),
  preferences text not null default '{}',
  created_at integer not null,
  last_seen_at integer,
  revision integer not null default 1
) strict;

create index account_by_state on account (state, id);
create index account_keeping_order on account (role) where role in ('owner', 'admin', 'moderator');
create index account_of_avatar on account (avatar_file_id) where avatar_file_id is not null;

-- Addresses to be found by, as HMAC under the site's key: the addresses themselves are nowhere.
create table address (
  digest blob not null,
  user_id integer not null references account (id) on delete cascade,
  primary key (digest, user_id)
) strict, without rowid;

create index address_of_user on address (user_id);

-- A way in: a session of a device, or a token that someone made for a program. Only the hash of the secret is here.
create table session (
  id integer primary key,
  user_id integer not null references account (id) on delete cascade,
  kind text not null check (kind in ('session', 'token')),
  digest blob not null unique,
  name text not null,
  scope text not null check (scope in ('read', 'write', 'admin')),
  created_at integer not null,
  last_used_at integer,
  expires_at integer
) strict;

create index session_of_user on session (user_id, id);
create index session_by_expiry on session (expires_at, id) where expires_at is not null;

create table invite (
  id integer primary key,
  digest blob not null unique,
  code text not null,
  created_by integer not null references account (id),
  -- The invite by which its maker came: invites form a tree that can be cut.
  parent_id integer references invite (id),
  role text not null check (role in ('admin', 'moderator', 'member', 'guest')),
  forum_id integer,
  -- The imported person whom it lets in.
  claims_user_id integer references account (id) on delete cascade,
  most_uses integer check (most_uses > 0),
  uses integer not null default 0,
  expires_at integer,
  created_at integer not null,
  revoked_at integer
) strict;

create index invite_of_maker on invite (created_by, id);
create index invite_of_parent on invite (parent_id) where parent_id is not null;

create table invite_use (
  user_id integer primary key references account (id) on delete cascade,
  invite_id integer not null references invite (id),
  at integer not null
) strict;

create index invite_uses on invite_use (invite_id, at);

-- Works once: makes the owner, or sets a new password.
create table link (
  digest blob primary key,
  kind text not null check (kind in ('setup', 'reset')),
  user_id integer references account (id) on delete cascade,
  created_by integer,
  created_at integer not null,
  expires_at integer,
  used_at integer
) strict, without rowid;

create index link_by_expiry on link (expires_at, digest) where expires_at is not null;
create index link_of_user on link (user_id) where user_id is not null;

create table relation (
  user_id integer not null references account (id) on delete cascade,
  kind text not null check (kind in ('follow', 'mute', 'block')),
  other_id integer not null references account (id) on delete cascade,
  created_at integer not null,
  primary key (user_id, kind, other_id)
) strict, without rowid;

create index relation_back on relation (other_id, kind, user_id);

-- Kept out, silenced, or warned: everywhere, or silenced in one forum. While a ban is in force its person's account is
-- `disabled`. Of each kind and forum one at most is in force.
create table sanction (
  id integer primary key,
  user_id integer not null references account (id) on delete cascade,
  kind text not null check (kind in ('ban', 'silence', 'warning')),
  forum_id integer check (forum_id is null or kind = 'silence'),
  until integer check (until is null or kind <> 'warning'),
  reason text,
  created_by integer not null,
  created_at integer not null,
  lifted_at integer,
  lifted_by integer
) strict;

create index sanction_of_user on sanction (user_id, id);
create index sanction_in_force on sanction (user_id, kind, forum_id) where lifted_at is null;
create index ban_by_end on sanction (until, id) where kind = 'ban' and lifted_at is null and until is not null;

-- What somebody new has done in the hour that began at `since`: those who are new may do only so much.
create table probation (
  user_id integer primary key references account (id) on delete cascade,
  since integer not null,
  messages integer not null default 0,
  links integer not null default 0,
  mentions integer not null default 0
) strict;
