-- Words, not texts. The table keeps no copy of what it indexed, so removing needs exactly the text that was added;
-- `search_version` in the settings names the version of the function that prepared it.
-- `scope` has where a message stands and what it has, `place` the name of the place that it gives.
-- Marks (M) are parts of words, as in Hindi, where the vowels are marks.
create virtual table search using fts5 (
  words, scope, place,
  content = '', columnsize = 0, prefix = '1 2 3',
  tokenize = "unicode61 remove_diacritics 2 categories 'L* M* N* Co'"
);

-- Merging begins with eight segments of a size instead of four, so that a word is rewritten less often: a third less work
-- for who posts, and a search looks into a few more segments.
insert into search (search, rank) values ('automerge', 8);
