-- 1 for a message with a poll, so that pages without polls read no other table. Null for all other messages.
alter table message add column has_poll integer;

-- The poll of a message. Its question is the text of the message.
create table poll (
  message_id integer primary key references message (id),
  -- The options that one vote may name.
  choices integer not null check (choices between 1 and 10),
  anonymous integer not null check (anonymous in (0, 1)),
  -- From then on no vote is accepted. A poll that is closed early gets the present time.
  closes_at integer,
  -- Users who have voted.
  voters integer not null default 0 check (voters >= 0)
) strict;

create table poll_option (
  message_id integer not null references poll (message_id) on update cascade on delete cascade,
  position integer not null check (position between 0 and 9),
  text text not null,
  votes integer not null default 0 check (votes >= 0),
  primary key (message_id, position)
) strict, without rowid;

-- One row per option that a user has chosen.
create table vote (
  message_id integer not null references poll (message_id) on update cascade on delete cascade,
  position integer not null,
  user_id integer not null references account (id),
  primary key (message_id, position, user_id)
) strict, without rowid;

create index vote_of_user on vote (user_id, message_id, position);
