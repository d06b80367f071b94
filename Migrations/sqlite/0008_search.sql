-- Words, not texts. The table keeps no copy of what it indexed, so removing needs exactly the text that was added;
-- `prepared` in the settings names the version of the function that made it.
create virtual table search using fts5 (
  words, scope,
  content = '', columnsize = 0, prefix = '1 2', tokenize = 'unicode61 remove_diacritics 2'
);
