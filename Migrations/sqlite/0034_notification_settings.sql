-- Which notifications leave the inbox, and when. Without a row all of them do.
create table notification_settings (
  user_id integer primary key references account (id) on delete cascade,
  paused integer not null check (paused in (0, 1)),
  snoozed_until integer,
  -- JSON.
  quiet_hours text,
  -- Kinds that push messages do not tell of, separated by spaces.
  push text not null,
  push_shows text not null
) strict;

insert into notification_settings (user_id, paused, push, push_shows)
select id, 0, '', json_extract(preferences, '$.push_shows')
from account
where json_extract(preferences, '$.push_shows') in ('sender', 'nothing');

update account
set preferences = json_remove(preferences, '$.push_shows')
where json_extract(preferences, '$.push_shows') is not null;
