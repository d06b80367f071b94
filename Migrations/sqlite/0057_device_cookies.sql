-- Cookies of devices from sign-ins before the session with this id no longer count: the password was changed or removed.
alter table account add column devices_after integer not null default 0;
