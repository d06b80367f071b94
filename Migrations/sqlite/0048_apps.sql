-- OAuth 2.1: other programs that users let act for them. Codes, refresh tokens and secrets are stored as SHA-256 alone.
create table app (
  id integer primary key,
  name text not null,
  website text,
  -- A JSON array.
  redirect_uris text not null,
  -- The most that it may ask for.
  scope text not null check (scope in ('profile', 'read', 'write', 'admin')),
  -- Digest of the secret. Null for a public client, which can keep none.
  digest blob,
  -- Whether an owner vouches for it. One that registered itself is not verified.
  verified integer not null check (verified in (0, 1)),
  enabled integer not null check (enabled in (0, 1)),
  -- Null for one that registered itself.
  created_by integer references account (id),
  created_at integer not null,
  revision integer not null default 1
) strict;

create index app_of_maker on app (created_by) where created_by is not null;
create index app_enabled on app (id) where enabled = 1;
create index app_self_registered on app (created_at, id) where created_by is null;

-- A user's consent to an app, once for each authorization: the family of its tokens (RFC 9700 §4.14.2).
create table app_grant (
  id integer primary key,
  app_id integer not null references app (id) on delete cascade,
  user_id integer not null references account (id) on delete cascade,
  scope text not null check (scope in ('profile', 'read', 'write', 'admin')),
  -- The ids of its forums, separated by commas; null for all that its user reads.
  forums text check (forums is null or forums <> ''),
  created_at integer not null,
  -- The last exchange of the code or of a refresh token.
  used_at integer not null
) strict;

create index app_grant_of_app on app_grant (app_id, user_id);
create index app_grant_of_user on app_grant (user_id, app_id, used_at, id);
create index app_grant_by_use on app_grant (used_at, id);

-- Authorization codes. A used code remains as long as its grant: its second use ends the grant.
create table app_code (
  digest blob primary key,
  app_id integer not null references app (id) on delete cascade,
  user_id integer not null references account (id) on delete cascade,
  scope text not null,
  forums text,
  redirect_uri text not null,
  challenge text not null,
  expires_at integer not null,
  -- The grant of its use; null before.
  grant_id integer references app_grant (id) on delete cascade
) strict, without rowid;

create index app_code_of_app on app_code (app_id);
create index app_code_of_user on app_code (user_id) where grant_id is null;
create index app_code_of_grant on app_code (grant_id) where grant_id is not null;
create index app_code_by_expiry on app_code (expires_at) where grant_id is null;

-- Refresh tokens. A used one remains for 30 days, also after its grant: its second use ends the grant. No reference, since the
-- used tokens of a grant can be more than one write may delete.
create table app_refresh (
  digest blob primary key,
  grant_id integer not null,
  created_at integer not null,
  used_at integer
) strict, without rowid;

create index app_refresh_of_grant on app_refresh (grant_id) where used_at is null;
create index app_refresh_by_use on app_refresh (used_at) where used_at is not null;

-- Sessions of the scope `profile`, and access tokens of a grant: SQLite changes a check only with a new table.
create table session_copy (
  id integer primary key,
  user_id integer not null references account (id) on delete cascade,
  kind text not null check (kind in ('session', 'token')),
  digest blob not null unique,
  name text not null,
  scope text not null check (scope in ('profile', 'read', 'write', 'admin')),
  created_at integer not null,
  last_used_at integer,
  expires_at integer,
  parent_id integer references session (id) on delete set null,
  proved_at integer,
  address text,
  -- The ids of its forums, separated by commas (null: all that its user reads), and its messages and other changes per
  -- minute (null: the limit of its user).
  forums text check (forums is null or kind = 'token' and forums <> ''),
  rate_limit integer check (rate_limit is null or kind = 'token' and rate_limit > 0),
  -- The grant of an access token.
  grant_id integer references app_grant (id) on delete cascade check (grant_id is null or kind = 'token')
) strict;

insert into session_copy (
  id, user_id, kind, digest, name, scope, created_at, last_used_at, expires_at, parent_id, proved_at, address, forums,
  rate_limit)
select id, user_id, kind, digest, name, scope, created_at, last_used_at, expires_at, parent_id, proved_at, address,
  forums, rate_limit
from session;

drop table session;

alter table session_copy rename to session;

create index session_of_user on session (user_id, id);
create index session_by_expiry on session (expires_at, id) where expires_at is not null;
create index session_of_parent on session (parent_id) where parent_id is not null;
create index session_of_grant on session (grant_id) where grant_id is not null;
