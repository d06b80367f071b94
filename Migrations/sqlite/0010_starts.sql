-- The starts of the daemon, in order. `number` is 64 random bits, `first_event` the id that the first event of the start
-- gets. A cursor names its start, so that an older copy of the database recognizes cursors of the events that it lost.
create table start (
  ordinal integer primary key,
  number integer not null unique,
  first_event integer not null check (first_event > 0)
) strict;
