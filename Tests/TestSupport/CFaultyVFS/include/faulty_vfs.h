// An SQLite VFS for tests: a disk that loses power, fills up and fails on command.
#pragma once
#include <stdint.h>

typedef struct faulty_vfs faulty_vfs;

// The unsynced writes that a power cut may apply.
typedef enum {
  FAULTY_LOSE_ALL,     // none
  FAULTY_LOSE_WRITES,  // any of them, each whole, in any order
  FAULTY_LOSE_SECTORS, // any 512 bytes of any of them: pages are torn
} faulty_loss;

// Operations that can fail. Each kind has its own counter.
typedef enum { FAULTY_READ, FAULTY_WRITE, FAULTY_SYNC, FAULTY_TRUNCATE, FAULTY_DELETE, FAULTY_KINDS } faulty_kind;

// Registers a VFS with a unique name. The seed determines all randomness. NULL: out of memory.
faulty_vfs *faulty_vfs_create(const char *name, uint64_t seed, faulty_loss loss);

// Unregisters and frees the VFS. All files must be closed. Applies unsynced writes, unless the power was cut.
void faulty_vfs_destroy(faulty_vfs *vfs);

// Cuts the power now: the real files get the state that the disk would have, and all further I/O fails. Close the
// connections, then open the files with the ordinary VFS.
void faulty_vfs_cut_power(faulty_vfs *vfs);

// Cuts the power in the middle of the n-th write, sync, truncation or deletion from now; 1 is the next. 0: never.
void faulty_vfs_cut_power_at(faulty_vfs *vfs, int64_t nth);

int faulty_vfs_is_without_power(faulty_vfs *vfs);

// Fails `times` operations of the kind with an SQLite result code, starting with the n-th from now (-1: until the next
// call). FAULTY_READ with SQLITE_IOERR_SHORT_READ reads the first half and zeros; a failed write may be partly applied; a
// failed sync may drop its changes, as Linux does.
void faulty_vfs_fail(faulty_vfs *vfs, faulty_kind kind, int64_t nth, int64_t times, int code);

// Clears all pending faults.
void faulty_vfs_heal(faulty_vfs *vfs);

// Makes syncs succeed without effect.
void faulty_vfs_ignore_syncs(faulty_vfs *vfs, int ignores);

// Number of operations of the kind.
int64_t faulty_vfs_count(faulty_vfs *vfs, faulty_kind kind);

// Number of injected faults.
int64_t faulty_vfs_hits(faulty_vfs *vfs);
