-- Named sets of users. A group shares its name space with users, since both can be mentioned.
create table user_group (
  id integer primary key,
  name text not null,
  -- The lower-case name, for comparison.
  name_key text not null unique,
  hue integer not null check (hue between 0 and 359),
  self_chosen integer not null default 0 check (self_chosen in (0, 1)),
  revision integer not null default 1
) strict;

-- A deleted group loses its members in a job, so its rows may be gone from `user_group` before.
create table user_group_member (
  user_id integer not null references account (id),
  group_id integer not null,
  created_at integer not null,
  primary key (user_id, group_id)
) strict, without rowid;

create index user_group_member_of_group on user_group_member (group_id, user_id);
