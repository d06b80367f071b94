-- Content that an owner destroyed. A restore of an older backup destroys it again, and the same bytes cannot be uploaded
-- again.
create table destroyed_message (
  message_id integer primary key
) strict;

create table destroyed_content (
  digest blob primary key
) strict, without rowid;
