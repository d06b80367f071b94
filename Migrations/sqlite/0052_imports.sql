-- Rows that an import has made, by their ids in the source, so that a repeated import finds them. A row of the kind `site` names the
-- source itself, one of the kind `address` an address of it. `email` is that of an imported user in the source.
create table imported (
  source text not null check (source in ('discord', 'slack', 'discourse', 'parley')),
  kind text not null check (
    kind in ('site', 'user', 'group', 'emoji', 'forum', 'conversation', 'message', 'address')
  ),
  key text not null,
  subject integer not null,
  email text,
  primary key (source, kind, key)
) strict, without rowid;

create index imported_user on imported (subject) where kind = 'user';
create index imported_address on imported (subject) where kind = 'address';
create index imported_by_email on imported (lower(email)) where email is not null;

-- The last `seq` that an import has written. A longer export is appended while it is the end of the conversation.
alter table conversation add column import_seq integer;
