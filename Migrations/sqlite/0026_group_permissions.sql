-- Groups of users with access to a forum beside its own readers and writers. A row `ended` gives no access: it stays until
-- a job has logged the loss in the streams of the members.
create table forum_group (
  forum_id integer not null references forum (id) on delete cascade,
  access text not null check (access in ('read', 'write', 'ended')),
  group_id integer not null,
  primary key (forum_id, access, group_id)
) strict, without rowid;

create index forum_group_of_group on forum_group (group_id, forum_id, access);

-- Users that may mention a group, and the last mention of a large one.
alter table user_group add column mentionable_by text not null default 'members'
  check (mentionable_by in ('users', 'members', 'staff'));
alter table user_group add column mentioned_at integer;
