-- Conversations that a user has put off. The inbox omits them until a time, until the user reads on or until a
-- notification about them arrives.
create table later (
  user_id integer not null references account (id) on delete cascade,
  conversation_id integer not null references conversation (id) on delete cascade,
  until integer not null,
  -- The read position then.
  read_seq integer not null,
  -- The user's last notification then.
  notification_id integer not null,
  primary key (user_id, conversation_id)
) strict, without rowid;

create index later_by_end on later (until, user_id, conversation_id);
create index later_of_conversation on later (conversation_id);
