-- Sessions that a passkey opened, which end with it.
create table passkey_session (
  session_id integer primary key references session (id) on delete cascade,
  passkey_id integer not null references passkey (id) on delete cascade
) strict;

create index passkey_session_of_passkey on passkey_session (passkey_id);
