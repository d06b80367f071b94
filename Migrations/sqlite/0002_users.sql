-- Users, credentials, invites, relations and sanctions.

create table account (
  id integer primary key,
  name text not null,
  -- The lower-case name, for comparison. Null once the name is free again.
  name_key text unique,
  display_name text,
  bio text not null default '',
  role text not null check (role in ('owner', 'admin', 'moderator', 'member', 'bot', 'guest')),
  state text not null check (state in ('pending', 'active', 'disabled', 'deactivated', 'left', 'erased')),
  -- Created by an import. The user cannot sign in until an invite claims the account.
  imported integer not null default 0 check (imported in (0, 1)),
  password text,
  avatar_file_id integer,
  discoverable integer not null default 0 check (discoverable in (0, 1)),
  -- Users that may start a direct conversation with this user.
  reachable_by text not null default 'anyone' check (reachable_by in ('anyone', 'shared', 'nobody')),
  -- Whether others see this user's read position.
  shows_receipts integer not null default 1 check (shows_receipts in (0, 1)),
  -- Whether others see this user's presence.
  shows_presence integer not null default 1 check (shows_presence in (0, 1)),
  preferences text not null default '{}',
  created_at integer not null,
  last_seen_at integer,
  revision integer not null default 1
) strict;

create index account_by_state on account (state, id);
create index account_of_moderator on account (role) where role in ('owner', 'admin', 'moderator');
create index account_of_avatar on account (avatar_file_id) where avatar_file_id is not null;

-- Contact addresses for discovery, as HMAC under the site's key. The addresses themselves are not stored.
create table address (
  digest blob not null,
  user_id integer not null references account (id) on delete cascade,
  primary key (digest, user_id)
) strict, without rowid;

create index address_of_user on address (user_id);

-- Credentials: the session of a device, or a token for a program. Only the digest of the secret is stored.
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
  -- The invite that its creator used. Invites form a tree; revoking one can revoke its descendants.
  parent_id integer references invite (id),
  role text not null check (role in ('admin', 'moderator', 'member', 'guest')),
  forum_id integer,
  -- The imported account that this invite claims.
  claims_user_id integer references account (id) on delete cascade,
  max_uses integer check (max_uses > 0),
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

-- Setup links and password reset links. A link can be used once.
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

-- Bans, silences and warnings, on the site or in one forum. During a ban the account is `disabled`. At most one sanction
-- of a kind is in force per user and forum.
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

-- Counters for the rate limits of new users. They count from `since`, for one hour.
create table probation (
  user_id integer primary key references account (id) on delete cascade,
  since integer not null,
  messages integer not null default 0,
  links integer not null default 0,
  mentions integer not null default 0
) strict;
