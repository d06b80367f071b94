-- Sessions end after 90 days without use. Older sessions had no end.
update session
set expires_at = coalesce(last_used_at, created_at) + 7776000000
where kind = 'session' and expires_at is null;
