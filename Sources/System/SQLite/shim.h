// SQLite 3, and functions for what it offers only as macros or with a variable count of arguments.
#pragma once
#include <sqlite3.h>

// SQLITE_TRANSIENT: SQLite copies the bytes before the call returns. A null pointer would bind NULL, so an empty text
// or blob that has no address gets one.
static inline int parley_sqlite3_bind_text(sqlite3_stmt *statement, int index, const unsigned char *text, sqlite3_uint64 count) {
  return sqlite3_bind_text64(statement, index, text ? (const char *)text : "", count, SQLITE_TRANSIENT, SQLITE_UTF8);
}
static inline int parley_sqlite3_bind_blob(sqlite3_stmt *statement, int index, const unsigned char *bytes, sqlite3_uint64 count) {
  return sqlite3_bind_blob64(statement, index, bytes ? (const void *)bytes : "", count, SQLITE_TRANSIENT);
}
// A schema is data: nothing in it may call functions with side effects, write shadow tables or the schema itself; "x" is
// never a text.
static inline int parley_sqlite3_harden(sqlite3 *database) {
  int code = sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
  if (code == SQLITE_OK) code = sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
  if (code == SQLITE_OK) code = sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DML, 0, (int *)0);
  if (code == SQLITE_OK) code = sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DDL, 0, (int *)0);
  return code;
}
static inline int parley_sqlite3_never_checkpoint_on_close(sqlite3 *database) {
  return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}
// Without mutexes in connections and statements, which makes the values of columns as good as any others
// (sqlite.org/c3ref/value.html), and without counting the memory: each allocation would take a mutex for it, which is a
// twentieth of what a write costs. Only before SQLite is first used; later it changes nothing.
static inline int parley_sqlite3_configure(void) {
  int code = sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
  return code == SQLITE_OK ? sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) : code;
}
