-- A short status that users show beside their name, with its end. Housekeeping clears an ended status.
alter table account add column status_text text;
alter table account add column status_emoji text;
alter table account add column status_expires_at integer;

create index account_by_status_end on account (status_expires_at, id) where status_expires_at is not null;
