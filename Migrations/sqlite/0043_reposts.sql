-- The post that an entry of a feed repeats: a repost, which has no text. Null for all other messages.
alter table message add column repost_of integer;

create index reposts on message (repost_of, author_id) where repost_of is not null;
