-- The buttons under a bot's message: a JSON array. Null for all other messages.
alter table message add column buttons text;

-- Presses of buttons, until the events about them are old.
create table button_press (
  id integer primary key,
  message_id integer not null references message (id) on delete cascade,
  button text not null,
  user_id integer not null references account (id),
  -- The author of the message.
  bot_id integer not null references account (id),
  -- The revision of the message that the user saw.
  revision integer not null,
  created_at integer not null
) strict;

create index button_press_of_message on button_press (message_id);
create index button_press_of_user on button_press (user_id);
create index button_press_of_bot on button_press (bot_id);
create index button_press_by_time on button_press (created_at);
