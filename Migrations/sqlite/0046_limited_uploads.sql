-- The token limited to forums that uploaded the file or began the upload; null for other credentials.
alter table file add column session_id integer;
alter table upload add column session_id integer;
