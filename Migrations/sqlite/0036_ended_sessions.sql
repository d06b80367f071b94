-- Sessions and tokens that were revoked, by the digest of their secret: a device that was offline learns that its copy has to go. A
-- session that expired, or that a restore ended, is not among them: its user may continue it.
create table ended_session (
  digest blob primary key,
  ended_at integer not null
) strict, without rowid;

create index ended_session_by_time on ended_session (ended_at);
