-- Custom emoji of the site: pictures that stand for `:name:` in messages and reactions.
create table emoji (
  id integer primary key,
  name text not null unique,
  file_id integer not null
) strict;

create index emoji_of_file on emoji (file_id);
