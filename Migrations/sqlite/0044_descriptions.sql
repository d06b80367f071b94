-- The author's description of an attached picture, for readers who do not see it. Null without one.
alter table attachment add column description text;
alter table sealed_attachment add column description text;
