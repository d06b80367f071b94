// SQLite 3, and functions for its macros and variadic functions.
#pragma once
#include <sqlite3.h>

// SQLITE_TRANSIENT: SQLite copies the bytes before the call returns. A null pointer binds NULL, so an empty text or blob
// without an address gets one.
static inline int parley_sqlite3_bind_text(sqlite3_stmt *statement, int index, const unsigned char *text, sqlite3_uint64 count) {
  return sqlite3_bind_text64(statement, index, text ? (const char *)text : "", count, SQLITE_TRANSIENT, SQLITE_UTF8);
}
static inline int parley_sqlite3_bind_blob(sqlite3_stmt *statement, int index, const unsigned char *bytes, sqlite3_uint64 count) {
  return sqlite3_bind_blob64(statement, index, bytes ? (const void *)bytes : "", count, SQLITE_TRANSIENT);
}
// Treats the schema as untrusted: it must not call functions with side effects or write shadow tables or the schema itself;
// "x" is never a string literal.
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
// Disables the mutexes of connections and statements, which makes column values protected (sqlite.org/c3ref/value.html), and
// the memory statistics, whose mutex per allocation costs a twentieth of a write. Must be called before SQLite is used;
// later calls have no effect.
static inline int parley_sqlite3_configure(void) {
  int code = sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
  return code == SQLITE_OK ? sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) : code;
}
