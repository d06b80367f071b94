-- The reset links that were mailed to a user within a day, and the time of the first one.
alter table email add column resets integer not null default 0;
alter table email add column resets_since integer not null default 0;

-- For housekeeping: mail that has waited too long.
create index mail_delivery_created on mail_delivery (created_at, id) where sent_at is null;
