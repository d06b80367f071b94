-- Notifications up to `last_notification` are in the queue of push messages, as far as their users have devices.
create table push_state (
  id integer primary key check (id = 1),
  last_notification integer not null
) strict;

insert into push_state (id, last_notification)
select 1, coalesce(max(id), 0)
from notification;
