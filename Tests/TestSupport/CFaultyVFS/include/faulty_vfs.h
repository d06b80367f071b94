// A disk that loses power, fills up and fails on command: a VFS of SQLite for tests.
#pragma once
#include <stdint.h>

typedef struct faulty_vfs faulty_vfs;

// What a power cut leaves of the writes that were not synced.
typedef enum {
  FAULTY_LOSE_ALL,     // nothing
  FAULTY_LOSE_WRITES,  // any of them, each whole, in any order
  FAULTY_LOSE_SECTORS, // any 512 bytes of any of them: pages are torn
} faulty_loss;

// What a fault can hit. A fault of any kind counts all of them.
typedef enum { FAULTY_READ, FAULTY_WRITE, FAULTY_SYNC, FAULTY_TRUNCATE, FAULTY_DELETE, FAULTY_KINDS } faulty_kind;

// Registers a VFS of that name, which is to be unique. Whatever is random in it comes from the seed. NULL: no memory.
faulty_vfs *faulty_vfs_create(const char *name, uint64_t seed, faulty_loss loss);

// Unregisters and frees it. All files must be closed; what was not synced is written out, unless the power was cut.
void faulty_vfs_destroy(faulty_vfs *vfs);

// Cuts the power now: the real files get the state that the disk would have, and all further I/O fails. Close the
// connections, then open the files with the ordinary VFS.
void faulty_vfs_cut_power(faulty_vfs *vfs);

// Cuts the power in the middle of the n-th write, sync, truncation or deletion from now; 1 is the next. 0: never.
void faulty_vfs_cut_power_at(faulty_vfs *vfs, int64_t nth);

int faulty_vfs_is_without_power(faulty_vfs *vfs);

// Lets the n-th operation of that kind from now fail with a result code of SQLite, and as many after it as `times` says
// (-1: until it is armed anew). FAULTY_READ with SQLITE_IOERR_SHORT_READ reads the first half and zeros; a failing write
// may have written some of it; a failing sync may have forgotten what it should have kept, as Linux does.
void faulty_vfs_fail(faulty_vfs *vfs, faulty_kind kind, int64_t nth, int64_t times, int code);

// Ends all faults that are armed.
void faulty_vfs_heal(faulty_vfs *vfs);

// A disk that lies: syncs succeed and keep nothing.
void faulty_vfs_ignore_syncs(faulty_vfs *vfs, int ignores);

// How many operations of the kind there were.
int64_t faulty_vfs_count(faulty_vfs *vfs, faulty_kind kind);

// How many faults have hit.
int64_t faulty_vfs_hits(faulty_vfs *vfs);
