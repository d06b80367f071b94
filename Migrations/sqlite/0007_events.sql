-- The event log: all durable changes in one order. It has no content; delivery reads the subject at its present revision.

-- `stream` is 4 × the id of its owner plus the kind: 0 site, 1 user, 2 forum, 3 conversation.
create table stream (
  id integer primary key,
  head integer not null,
  last_event integer not null
) strict;

create table event (
  id integer primary key,
  stream integer not null,
  stream_offset integer not null,
  kind integer not null,
  subject integer not null,
  revision integer not null,
  actor integer not null,
  at integer not null,
  unique (stream, stream_offset)
) strict;
