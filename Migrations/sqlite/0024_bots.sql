-- The member of the staff that created a bot. Null for other users, and for a bot that was added without an owner.
alter table account add column owner_id integer references account (id);

create index account_of_owner on account (owner_id) where owner_id is not null;
create index account_of_bot on account (id) where role = 'bot';
