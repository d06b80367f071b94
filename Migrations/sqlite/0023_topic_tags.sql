-- Tags of topics: the hashtags of the first message, in its order, at most five, as a JSON array. Null without any.
alter table conversation add column tags text;

-- The open topics of each tag, in the order of the list. Triggers keep it, so that no change of a topic can miss it.
create table topic_tag (
  forum_id integer not null,
  tag text not null,
  pinned integer not null,
  activity integer not null,
  conversation_id integer not null references conversation (id) on delete cascade,
  primary key (forum_id, tag, pinned, activity, conversation_id)
) strict, without rowid;

create index topic_tags_of_topic on topic_tag (conversation_id);

create trigger topic_tags_of_new_topic after insert on conversation
when new.tags is not null
begin
  insert into topic_tag (forum_id, tag, pinned, activity, conversation_id)
  select new.forum_id, value, new.pinned, max(new.last_message_id, new.id), new.id
  from json_each(new.tags)
  where new.state = 'open';
end;

-- A new message sets the tags of a tagged topic to themselves, so that a post elsewhere runs no trigger.
create trigger topic_tags_of_changed_topic
after update of forum_id, tags, pinned, state on conversation
when old.tags is not null or new.tags is not null
begin
  delete from topic_tag
  where conversation_id = old.id;

  insert into topic_tag (forum_id, tag, pinned, activity, conversation_id)
  select new.forum_id, value, new.pinned, max(new.last_message_id, new.id), new.id
  from json_each(new.tags)
  where new.state = 'open';
end;

-- Members with a late start of their history. They may not know the tags of earlier topics.
create index late_forum_members on forum_member (forum_id, from_id) where from_id > 0;

update conversation
set tags = (
  select json_group_array(tag)
  from (
    select h.tag
    from message m
    join hashtag h on h.message_id = m.id
    where m.conversation_id = conversation.id and m.seq = 1
    order by instr(lower(m.text), '#' || h.tag), h.tag
    limit 5
  )
)
where kind = 'topic' and exists (
  select 1
  from message m
  join hashtag h on h.message_id = m.id
  where m.conversation_id = conversation.id and m.seq = 1
);
