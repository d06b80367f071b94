-- Exports of users' own data, at most one for each user. The archive is in the folder `exports`, named by the id. A failed export has
-- the code of its error.
create table export (
  id integer primary key,
  user_id integer not null unique references account (id),
  created_at integer not null,
  -- Attempts to write the archive. A crash ends one.
  attempts integer not null default 0,
  finished_at integer,
  -- Size of the archive in bytes.
  size integer,
  -- Files whose content is missing on the server.
  missing integer not null default 0,
  error text
) strict;

create index export_finished on export (finished_at, id);
