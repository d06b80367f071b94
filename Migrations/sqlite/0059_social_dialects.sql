-- Members of users for clients of App.net and pnut that have no place in the account. They come back as they were written.
create table dialect_profile (
  user_id integer primary key references account (id) on delete cascade,
  locale text,
  timezone text,
  cover_file_id integer
) strict;

create index dialect_profile_cover on dialect_profile (cover_file_id) where cover_file_id is not null;

-- Positions in lists of posts and messages, by the names of App.net and pnut: `global`, `channel:7`.
create table dialect_marker (
  user_id integer not null references account (id) on delete cascade,
  name text not null,
  message_id integer not null,
  -- The furthest position that the user has read. It falls only when a client resets it.
  last_read_id integer not null,
  percentage integer not null,
  updated_at integer not null,
  version integer not null,
  primary key (user_id, name)
) strict, without rowid;
