-- Mails that a mail server has reported as not delivered for good, until they are a week old.
create table mail_bounce (
  user_id integer not null references account (id) on delete cascade,
  -- The id of the mail in the queue: a report counts once.
  mail_id integer not null,
  bounced_at integer not null,
  primary key (user_id, mail_id)
) strict, without rowid;

create index mail_bounce_by_time on mail_bounce (bounced_at);

create index email_stopped on email (user_id) where stopped_at is not null;

-- The reason of a notice about a reply by mail.
alter table mail_delivery add column detail text;
