-- The texts by whose beginnings users are found: the folded name, and the folded display name from each of its words on.
-- "Zora Quill" has "zora quill" and "quill". The setting `search_version` names the version of the function that folded
-- them.
create table user_term (
  term text not null,
  user_id integer not null references account (id) on delete cascade,
  primary key (term, user_id)
) strict, without rowid;

create index terms_of_user on user_term (user_id, term);
