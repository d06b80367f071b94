-- Incoming webhooks: a URL with a secret that posts to one conversation. A deleted webhook keeps its row: its bot remains
-- the author of its messages.
create table webhook (
  id integer primary key,
  conversation_id integer not null references conversation (id),
  -- The author of its messages. The display name is the name of the webhook, the owner is the member of the staff that
  -- received the secret.
  bot_id integer not null unique references account (id),
  -- SHA-256 of the secret. Null once it is revoked.
  digest blob unique,
  enabled integer not null check (enabled in (0, 1)),
  -- The token that made the secret. It ends with the token.
  token_id integer,
  created_at integer not null,
  last_used_at integer,
  revision integer not null default 1,
  deleted_at integer,
  check (deleted_at is null or digest is null)
) strict;

create index webhook_of_conversation on webhook (conversation_id);
create index webhook_of_token on webhook (token_id) where token_id is not null;
create index webhook_in_use on webhook (id) where deleted_at is null;
