-- The chain of a conversation. Each entry has a hash over the one before: `chain_head` is that of the last of `chain_length` entries.
-- Messages up to `chained_seq` have an entry for their creation. Older ones get theirs in the background.
alter table conversation add column chained_seq integer not null default 0 check (chained_seq >= 0);
alter table conversation add column chain_length integer not null default 0 check (chain_length >= chained_seq);
alter table conversation add column chain_head blob check (length(chain_head) = 32);

create index conversation_unchained on conversation (id) where chained_seq < last_seq and state <> 'importing';

-- The entry of the creation: its position, and the SHA-256 of a salt with the content, followed by the salt. Erasing the content cuts off
-- the salt. Null for a message that was deleted before it got an entry.
alter table message add column chain_position integer check (chain_position > 0);
alter table message add column proof blob check (length(proof) in (32, 48));

-- The other entries. An edit and a restore have a proof of the content, a deletion has none.
create table chain_entry (
  conversation_id integer not null references conversation (id),
  position integer not null check (position > 0),
  message_id integer not null references message (id),
  -- The revision of the message since then.
  revision integer not null,
  kind text not null check (kind in ('edited', 'deleted', 'restored')),
  actor_id integer not null,
  at integer not null,
  proof blob check (length(proof) in (32, 48)),
  primary key (conversation_id, position),
  check ((kind = 'deleted') = (proof is null))
) strict, without rowid;

create index chain_entry_of_message on chain_entry (message_id, revision);
