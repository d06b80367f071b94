-- Passkeys: public keys of authenticators, which sign their users in.
create table passkey (
  id integer primary key,
  user_id integer not null references account (id) on delete cascade,
  credential_id blob not null unique,
  -- COSE_Key (RFC 9052 §7).
  public_key blob not null,
  -- The host that the authenticator made it for.
  host text not null,
  name text not null,
  -- Of the authenticator at its last use; 0 if it does not count.
  sign_count integer not null,
  backup_eligible integer not null check (backup_eligible in (0, 1)),
  backed_up integer not null check (backed_up in (0, 1)),
  -- Separated by spaces.
  transports text not null,
  created_at integer not null,
  last_used_at integer
) strict;

create index passkey_of_user on passkey (user_id, id);

-- Challenges that were answered, by their digest, until they expire.
create table used_challenge (
  digest blob primary key,
  expires_at integer not null
) strict, without rowid;

create index used_challenge_by_time on used_challenge (expires_at);

-- Sign-ins by passkey: SQLite changes a check only with a new table.
create table sign_in_copy (
  id integer primary key,
  user_id integer not null references account (id) on delete cascade,
  created_at integer not null,
  method text not null check (method in ('password', 'app_code', 'recovery_code', 'link', 'sign_up', 'passkey')),
  result text not null check (
    result in ('signed_in', 'wrong_password', 'code_required', 'wrong_code', 'used_code', 'wrong_passkey', 'refused')
  ),
  device text not null,
  -- The network of the client.
  address text,
  new_device integer not null check (new_device in (0, 1)),
  session_id integer
) strict;

insert into sign_in_copy (id, user_id, created_at, method, result, device, address, new_device, session_id)
select id, user_id, created_at, method, result, device, address, new_device, session_id
from sign_in;

drop table sign_in;

alter table sign_in_copy rename to sign_in;

create index sign_in_of_user on sign_in (user_id, id);
create index sign_in_by_time on sign_in (created_at, id);
