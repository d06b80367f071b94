-- The search index. It is contentless: removing an entry needs exactly the text that was added, and the setting
-- `search_version` names the version of the function that prepared it. `scope` has the conversation and the features of a
-- message, `location` the name of its location. Marks (M) are parts of words: in Hindi the vowels are marks.
create virtual table search using fts5 (
  words, scope, location,
  content = '', columnsize = 0, prefix = '1 2 3',
  tokenize = "unicode61 remove_diacritics 2 categories 'L* M* N* Co'"
);

-- Merging begins with eight segments of a level instead of four: a third less work per post, and a search reads a few
-- more segments.
insert into search (search, rank) values ('automerge', 8);
