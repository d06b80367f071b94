-- The limits of a token: the ids of its forums, separated by commas (null: all that its user reads), and its messages and
-- other changes per minute (null: the limit of its user).
alter table session add column forums text check (forums is null or kind = 'token' and forums <> '');
alter table session add column rate_limit integer check (rate_limit is null or kind = 'token' and rate_limit > 0);
