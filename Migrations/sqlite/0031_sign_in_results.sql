-- Sign-ins that wait for a code, and codes that were used before: SQLite changes a check only with a new table.
create table sign_in_copy (
  id integer primary key,
  user_id integer not null references account (id) on delete cascade,
  created_at integer not null,
  method text not null check (method in ('password', 'app_code', 'recovery_code', 'link', 'sign_up')),
  result text not null check (
    result in ('signed_in', 'wrong_password', 'code_required', 'wrong_code', 'used_code', 'refused')
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

-- When an imported user claimed the account, for the days to set up a required second factor.
alter table account add column claimed_at integer;

-- The marks of devices are signed with a key that no backup has.
delete from setting where name = 'device_key';
