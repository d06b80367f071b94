-- Forums that each new user joins.
alter table forum add column is_default integer not null default 0 check (is_default in (0, 1));

create index forum_default on forum (id) where is_default = 1 and deleted_at is null;
