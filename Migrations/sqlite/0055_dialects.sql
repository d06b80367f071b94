-- UUIDs that clients of dialects chose for what they made. All other UUIDs are derived from the id.
create table supplied_uuid (
  kind text not null check (kind in ('forum', 'message')),
  -- In the spelling of the client.
  uuid text not null collate nocase,
  subject integer not null,
  -- The user of the client.
  user_id integer not null references account (id),
  primary key (kind, uuid)
) strict, without rowid;

create unique index supplied_uuid_subject on supplied_uuid (kind, subject);
create index supplied_uuid_user on supplied_uuid (user_id);

-- Subscriptions of MorMessages: the topics of its WebSockets, for an hour.
create table mormessages_subscription (
  uuid text not null primary key,
  user_id integer not null references account (id) on delete cascade,
  forum_id integer not null,
  -- The forum as the client named it.
  topic text not null,
  expires_at integer not null
) strict, without rowid;

create index mormessages_subscription_user on mormessages_subscription (user_id, expires_at);
create index mormessages_subscription_end on mormessages_subscription (expires_at);

-- The last change of a forum, in microseconds since 1970. The writer gives each change a later value than all before.
alter table forum add column changed_at integer not null default 0;
alter table forum add column changed_by integer references account (id);

-- The creation of each forum. Forums of one millisecond have successive values, and more than a thousand reach into the next one.
update forum
set
  changed_at = numbered.changed_at,
  changed_by = forum.created_by
from (
  with ranked as (
    select id, created_at * 1000 as at, row_number() over (order by created_at, id) as rank
    from forum
  )
  select id, max(at - rank + 1) over (order by rank) + rank - 1 as changed_at
  from ranked
) as numbered
where numbered.id = forum.id;

create index forum_by_change on forum (changed_at);
