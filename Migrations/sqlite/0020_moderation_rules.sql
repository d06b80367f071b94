-- Rules of the staff about new messages. A message matches if all conditions of the rule hold.
create table moderation_rule (
  id integer primary key,
  name text not null,
  -- JSON arrays: the message has one of the words or phrases, and links to one of the domains. Empty: no condition.
  words text not null,
  domains text not null,
  -- The least number of mentions. 0: no condition.
  min_mentions integer not null check (min_mentions >= 0),
  has_picture integer not null check (has_picture in (0, 1)),
  -- The message is among so many first posts of its author. 0: no condition.
  first_posts integer not null check (first_posts >= 0),
  action text not null check (action in ('hold', 'refuse', 'report')),
  enabled integer not null check (enabled in (0, 1)),
  created_by integer not null references account (id),
  created_at integer not null,
  revision integer not null default 1
) strict;

-- Reports by rules and by visitors have no reporter, and a report by a rule may hold a post: SQLite drops a constraint
-- only with a new table.
create table report_copy (
  id integer primary key,
  -- Null for a rule and for a visitor.
  reporter_id integer references account (id),
  -- The rule that made the report. It may be deleted.
  rule_id integer,
  -- The reported user; for a message, its author.
  user_id integer,
  message_id integer,
  conversation_id integer,
  forum_id integer,
  reason text not null,
  -- A copy of the message and of its context for the moderators, deleted at `copy_until`. The context is deleted when the
  -- report is closed.
  surroundings text,
  copy text,
  copy_until integer,
  -- The post that waits for a moderator, as JSON. Null once it is published, and after `copy_until`.
  held text,
  state text not null default 'open' check (state in ('open', 'dismissed', 'acted')),
  assignee_id integer,
  -- The outcome, as text.
  outcome text,
  handled_by integer,
  handled_at integer,
  created_at integer not null,
  revision integer not null default 1,
  check (reporter_id is null or rule_id is null),
  check (held is null or rule_id is not null),
  check (surroundings is null or copy is not null),
  check ((copy is null and held is null) = (copy_until is null)),
  check ((state = 'open') = (handled_at is null))
) strict;

insert into report_copy (
  id, reporter_id, user_id, message_id, conversation_id, forum_id, reason, surroundings, copy, copy_until, state,
  assignee_id, outcome, handled_by, handled_at, created_at, revision)
select id, reporter_id, user_id, message_id, conversation_id, forum_id, reason, surroundings, copy, copy_until, state,
  assignee_id, outcome, handled_by, handled_at, created_at, revision
from report;

drop table report;

alter table report_copy rename to report;

create index report_by_state on report (state, id);
create index report_of_forum on report (forum_id, state, id) where forum_id is not null;
create index report_of_user on report (user_id, state, id) where user_id is not null;
create index report_by_reporter on report (reporter_id, state, message_id, user_id);
create index report_of_message on report (message_id) where message_id is not null;
create index report_copies on report (copy_until) where copy_until is not null;

-- References that keep the files of held posts.
create table held_attachment (
  report_id integer not null references report (id) on delete cascade,
  position integer not null,
  file_id integer not null,
  primary key (report_id, position)
) strict, without rowid;

create index held_attachment_of_file on held_attachment (file_id);
