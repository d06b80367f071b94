-- The second factor of sign-in. Its secret is sealed by the key in `secrets.key`, which no backup has.
create table totp (
  user_id integer primary key references account (id) on delete cascade,
  secret blob not null,
  created_at integer not null,
  -- Null until a code has confirmed it.
  confirmed_at integer,
  -- The step of the last code in use. Its code and earlier ones are not taken again.
  last_step integer not null default 0
) strict;

-- Codes for users without their authenticator app. Only the digest is stored; each is valid once.
create table recovery_code (
  user_id integer not null references account (id) on delete cascade,
  digest blob not null,
  used_at integer,
  primary key (user_id, digest)
) strict, without rowid;

-- When the user last proved with password and second factor that the session is theirs. Null for tokens.
alter table session add column proved_at integer;

update session
set proved_at = created_at
where kind = 'session';

-- When the user got the role. Null for the role that the user began with.
alter table account add column role_since integer;
