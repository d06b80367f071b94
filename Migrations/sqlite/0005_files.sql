-- Uploaded files. The content is in the files folder under its SHA-256; equal content is stored once.

create table file (
  id integer primary key,
  owner_id integer not null references account (id),
  digest blob not null,
  size integer not null check (size >= 0),
  name text not null,
  type text,
  kind text not null,
  mime_type text not null,
  public integer not null default 0 check (public in (0, 1)),
  width integer,
  height integer,
  preview_digest blob,
  preview_size integer,
  preview_mime_type text,
  preview_width integer,
  preview_height integer,
  created_at integer not null,
  -- The time since when no row refers to the file. Housekeeping deletes it after a grace period.
  unused_since integer
) strict;

create index file_of_owner on file (owner_id, id);
create index file_by_digest on file (digest);
create index file_by_preview on file (preview_digest) where preview_digest is not null;
create index file_unused on file (unused_since) where unused_since is not null;

-- Resumable uploads in progress.
create table upload (
  id integer primary key,
  owner_id integer not null references account (id) on delete cascade,
  name text not null,
  size integer not null check (size > 0),
  -- The number of bytes that have been fsynced.
  received integer not null default 0,
  type text,
  public integer not null default 0 check (public in (0, 1)),
  client_id text,
  created_at integer not null,
  touched_at integer not null
) strict;

create index upload_touched on upload (touched_at);
create index upload_of_owner on upload (owner_id);

-- Bytes of files per user, previews included. Owner 0 is the whole site.
create table file_use (
  owner_id integer primary key,
  bytes integer not null check (bytes >= 0)
) strict;

-- Content that may have lost its last reference. Housekeeping checks and deletes it.
create table unreferenced_content (
  digest blob primary key
) strict, without rowid;
