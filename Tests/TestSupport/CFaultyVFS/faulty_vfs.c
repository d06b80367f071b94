// How it works.
//
// Databases, journals and write-ahead logs exist twice: `view`, in memory, is the content for SQLite; the real file is the
// content of the disk. A write changes the view and is recorded as a change. A sync applies the recorded changes of its
// file to the real file, in order, and clears them. A power cut applies some of the recorded changes, or parts of them,
// chosen by the seed; then all I/O fails.
//
// Directory entries are included. A file that was created or deleted without a sync of its folder is recorded until the
// folder is synced: SQLite does so with the first sync of a new journal or log, and when it deletes with `syncDir`. After
// a power cut a new file may be missing, and a deleted one may exist with its synced content.
//
// Locks, shared memory and temporary files are passed to SQLite's unix VFS: none of them survives a power cut.

#include "faulty_vfs.h"
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SECTOR = 512 };

typedef struct change {
  struct change *next;
  int is_truncation;
  int64_t offset; // of a truncation: the new size
  int64_t count;
  unsigned char bytes[];
} change;

typedef struct file_state {
  struct file_state *next;
  char *path;
  int handles;
  int is_new;     // its directory entry is not synced
  int is_dropped; // deleted while it was open
  unsigned char *view;
  int64_t size, capacity;
  change *first, *last;
} file_state;

// A deleted file with a directory entry that is still on the disk.
typedef struct ghost {
  struct ghost *next;
  char *path;
  int64_t size;
  unsigned char bytes[];
} ghost;

typedef struct {
  int64_t countdown; // 0: not armed
  int64_t times;
  int code;
} fault;

struct faulty_vfs {
  sqlite3_vfs base;
  sqlite3_vfs *real;
  pthread_mutex_t mutex;
  char *name;
  uint64_t random;
  faulty_loss loss;
  int has_power, ignores_syncs;
  int64_t cut_countdown;
  int64_t counts[FAULTY_KINDS];
  int64_t hits;
  fault faults[FAULTY_KINDS];
  file_state *files;
  ghost *ghosts;
};

typedef struct {
  sqlite3_file base;
  faulty_vfs *vfs;
  file_state *state; // NULL: passed through
  int syncs_folder;  // the first sync of a new journal or log
  sqlite3_file *real;
} faulty_file;

// ---- random -------------------------------------------------------------------------------------------------------

// SplitMix64.
static uint64_t draw(faulty_vfs *vfs) {
  uint64_t z = (vfs->random += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

static int coin(faulty_vfs *vfs) { return (int)(draw(vfs) >> 63); }

// ---- the view -----------------------------------------------------------------------------------------------------

static int reserve(file_state *state, int64_t size) {
  if (size <= state->capacity) return 1;
  int64_t capacity = state->capacity ? state->capacity : 65536;
  while (capacity < size) capacity *= 2;
  unsigned char *grown = realloc(state->view, (size_t)capacity);
  if (!grown) return 0;
  memset(grown + state->capacity, 0, (size_t)(capacity - state->capacity));
  state->view = grown;
  state->capacity = capacity;
  return 1;
}

static void resize_view(file_state *state, int64_t size) {
  if (size < state->size) memset(state->view + size, 0, (size_t)(state->size - size));
  state->size = size;
}

static int remember(file_state *state, int is_truncation, const void *bytes, int64_t offset, int64_t count) {
  change *made = malloc(sizeof(change) + (size_t)count);
  if (!made) return 0;
  *made = (change){.is_truncation = is_truncation, .offset = offset, .count = count};
  if (count > 0) memcpy(made->bytes, bytes, (size_t)count);
  if (state->last) state->last->next = made; else state->first = made;
  state->last = made;
  return 1;
}

static void clear_changes(file_state *state) {
  for (change *each = state->first; each;) {
    change *next = each->next;
    free(each);
    each = next;
  }
  state->first = state->last = NULL;
}

static int write_view(file_state *state, const void *bytes, int64_t offset, int64_t count) {
  if (!reserve(state, offset + count) || !remember(state, 0, bytes, offset, count)) return SQLITE_IOERR_NOMEM;
  memcpy(state->view + offset, bytes, (size_t)count);
  if (offset + count > state->size) state->size = offset + count;
  return SQLITE_OK;
}

static int truncate_view(file_state *state, int64_t size) {
  if (!reserve(state, size) || !remember(state, 1, NULL, size, 0)) return SQLITE_IOERR_NOMEM;
  resize_view(state, size);
  return SQLITE_OK;
}

// ---- the disk -----------------------------------------------------------------------------------------------------

static unsigned char *read_whole(const char *path, int64_t *size) {
  *size = 0;
  struct stat status;
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return NULL;
  unsigned char *bytes = NULL;
  if (fstat(descriptor, &status) == 0 && status.st_size > 0 && (bytes = malloc((size_t)status.st_size))) {
    ssize_t got;
    while (*size < status.st_size && (got = pread(descriptor, bytes + *size, (size_t)(status.st_size - *size), *size)) > 0) {
      *size += got;
    }
  }
  close(descriptor);
  return bytes;
}

static void store(int descriptor, const unsigned char *bytes, int64_t offset, int64_t count) {
  while (count > 0) {
    ssize_t done = pwrite(descriptor, bytes, (size_t)count, offset);
    if (done <= 0) return;
    bytes += done, offset += done, count -= done;
  }
}

static void set_size(int descriptor, int64_t size) { (void)!ftruncate(descriptor, size); }

// Applies all changes, in order, by the handle of SQLite's VFS: closing another descriptor would release its locks.
static int carry_out(file_state *state, sqlite3_file *real) {
  for (change *each = state->first; each; each = each->next) {
    int code = each->is_truncation ? real->pMethods->xTruncate(real, each->offset)
                                   : real->pMethods->xWrite(real, each->bytes, (int)each->count, each->offset);
    if (code != SQLITE_OK) return code;
  }
  clear_changes(state);
  return SQLITE_OK;
}

// The length up to the next sector boundary of the file.
static int64_t sector_end(int64_t offset, int64_t end) {
  int64_t border = (offset / SECTOR + 1) * SECTOR;
  return border < end ? border : end;
}

// Applies some of the changes, each to the state after the previous one.
static void carry_out_some(faulty_vfs *vfs, file_state *state, int descriptor) {
  if (vfs->loss == FAULTY_LOSE_ALL) return;
  // The share of applied changes varies.
  uint64_t share = draw(vfs) % 101;
  for (change *each = state->first; each; each = each->next) {
    if (each->is_truncation) {
      if (draw(vfs) % 100 < share) set_size(descriptor, each->offset);
    } else if (vfs->loss == FAULTY_LOSE_WRITES) {
      if (draw(vfs) % 100 < share) store(descriptor, each->bytes, each->offset, each->count);
    } else {
      int64_t end = each->offset + each->count;
      for (int64_t at = each->offset; at < end;) {
        int64_t stop = sector_end(at, end);
        if (draw(vfs) % 100 < share) store(descriptor, each->bytes + (at - each->offset), at, stop - at);
        at = stop;
      }
    }
  }
}

static int is_same_folder(const char *one, const char *other) {
  const char *first = strrchr(one, '/'), *second = strrchr(other, '/');
  if (!first || !second) return first == second;
  return first - one == second - other && strncmp(one, other, (size_t)(first - one)) == 0;
}

static void sync_folder(faulty_vfs *vfs, const char *path) {
  if (vfs->ignores_syncs) return;
  for (file_state *each = vfs->files; each; each = each->next) {
    if (is_same_folder(each->path, path)) each->is_new = 0;
  }
  for (ghost **link = &vfs->ghosts; *link;) {
    ghost *each = *link;
    if (is_same_folder(each->path, path)) {
      *link = each->next;
      free(each->path);
      free(each);
    } else {
      link = &each->next;
    }
  }
}

// A file deleted or created without a sync of the folder: the old file, the new one, or none.
static void resurrect(faulty_vfs *vfs) {
  for (ghost *each = vfs->ghosts; each; each = each->next) {
    if (vfs->loss == FAULTY_LOSE_ALL || coin(vfs)) {
      int descriptor = open(each->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
      if (descriptor < 0) continue;
      store(descriptor, each->bytes, 0, each->size);
      close(descriptor);
    }
  }
}

static void cut_power(faulty_vfs *vfs) {
  if (!vfs->has_power) return;
  vfs->has_power = 0;
  for (file_state *each = vfs->files; each; each = each->next) {
    if (each->is_dropped) continue;
    if (each->is_new && (vfs->loss == FAULTY_LOSE_ALL || coin(vfs))) {
      unlink(each->path);
    } else {
      int descriptor = open(each->path, O_WRONLY | O_CLOEXEC);
      if (descriptor < 0) continue;
      carry_out_some(vfs, each, descriptor);
      close(descriptor);
    }
    clear_changes(each);
  }
  resurrect(vfs);
}

// ---- faults -------------------------------------------------------------------------------------------------------

// Counts an operation, cuts the power if it is due, and returns the result code to inject.
static int count_operation(faulty_vfs *vfs, faulty_kind kind, int otherwise) {
  vfs->counts[kind]++;
  if (kind != FAULTY_READ && vfs->cut_countdown > 0 && --vfs->cut_countdown == 0) {
    cut_power(vfs);
    vfs->hits++;
  }
  if (!vfs->has_power) return otherwise;
  fault *armed = &vfs->faults[kind];
  if (armed->countdown == 0 || --armed->countdown > 0) return SQLITE_OK;
  vfs->hits++;
  if (armed->times < 0 || --armed->times > 0) armed->countdown = 1;
  return armed->code;
}

// ---- files --------------------------------------------------------------------------------------------------------

static int close_file(sqlite3_file *file) {
  faulty_file *self = (faulty_file *)file;
  faulty_vfs *vfs = self->vfs;
  pthread_mutex_lock(&vfs->mutex);
  int code = self->real->pMethods ? self->real->pMethods->xClose(self->real) : SQLITE_OK;
  if (self->state) self->state->handles--;
  pthread_mutex_unlock(&vfs->mutex);
  return code;
}

static int read_file(sqlite3_file *file, void *into, int count, sqlite3_int64 offset) {
  faulty_file *self = (faulty_file *)file;
  if (!self->state) return self->real->pMethods->xRead(self->real, into, count, offset);
  pthread_mutex_lock(&self->vfs->mutex);
  int code = count_operation(self->vfs, FAULTY_READ, SQLITE_IOERR_READ);
  if (code == SQLITE_OK || code == SQLITE_IOERR_SHORT_READ) {
    int64_t there = self->state->size - offset;
    int64_t wanted = code == SQLITE_OK ? count : count / 2;
    int64_t got = there < 0 ? 0 : there < wanted ? there : wanted;
    if (got > 0) memcpy(into, self->state->view + offset, (size_t)got);
    if (got < count) {
      // SQLite requires zeros beyond the end of the file.
      memset((char *)into + got, 0, (size_t)(count - got));
      code = SQLITE_IOERR_SHORT_READ;
    }
  }
  pthread_mutex_unlock(&self->vfs->mutex);
  return code;
}

static int write_file(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
  faulty_file *self = (faulty_file *)file;
  if (!self->state) return self->real->pMethods->xWrite(self->real, bytes, count, offset);
  faulty_vfs *vfs = self->vfs;
  pthread_mutex_lock(&vfs->mutex);
  // A power cut during a write may leave a part of it.
  int64_t remaining = vfs->cut_countdown;
  if (remaining == 1) write_view(self->state, bytes, offset, count);
  int code = count_operation(vfs, FAULTY_WRITE, SQLITE_IOERR_WRITE);
  if (code == SQLITE_OK) {
    code = write_view(self->state, bytes, offset, count);
  } else if (vfs->has_power) {
    int64_t some = (int64_t)(draw(vfs) % (uint64_t)(count + 1));
    write_view(self->state, bytes, offset, some);
  }
  pthread_mutex_unlock(&vfs->mutex);
  return code;
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size) {
  faulty_file *self = (faulty_file *)file;
  if (!self->state) return self->real->pMethods->xTruncate(self->real, size);
  pthread_mutex_lock(&self->vfs->mutex);
  if (self->vfs->cut_countdown == 1) truncate_view(self->state, size);
  int code = count_operation(self->vfs, FAULTY_TRUNCATE, SQLITE_IOERR_TRUNCATE);
  if (code == SQLITE_OK) code = truncate_view(self->state, size);
  pthread_mutex_unlock(&self->vfs->mutex);
  return code;
}

static int sync_file(sqlite3_file *file, int flags) {
  faulty_file *self = (faulty_file *)file;
  if (!self->state) return self->real->pMethods->xSync(self->real, flags);
  faulty_vfs *vfs = self->vfs;
  pthread_mutex_lock(&vfs->mutex);
  int code = count_operation(vfs, FAULTY_SYNC, SQLITE_IOERR_FSYNC);
  if (code == SQLITE_OK && !vfs->ignores_syncs) {
    code = carry_out(self->state, self->real);
    if (code == SQLITE_OK && self->syncs_folder) {
      sync_folder(vfs, self->state->path);
      self->syncs_folder = 0;
    }
  } else if (code != SQLITE_OK && vfs->has_power && coin(vfs)) {
    // Linux marks a page clean after a failed write: reads return it, but it never reaches the disk.
    clear_changes(self->state);
  }
  pthread_mutex_unlock(&vfs->mutex);
  return code;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
  faulty_file *self = (faulty_file *)file;
  if (!self->state) return self->real->pMethods->xFileSize(self->real, size);
  pthread_mutex_lock(&self->vfs->mutex);
  int code = self->vfs->has_power ? SQLITE_OK : SQLITE_IOERR_FSTAT;
  *size = self->state->size;
  pthread_mutex_unlock(&self->vfs->mutex);
  return code;
}

static int control_file(sqlite3_file *file, int what, void *argument) {
  faulty_file *self = (faulty_file *)file;
  // Hints that would change the real file.
  if (self->state && (what == SQLITE_FCNTL_SIZE_HINT || what == SQLITE_FCNTL_CHUNK_SIZE)) return SQLITE_OK;
  return self->real->pMethods->xFileControl(self->real, what, argument);
}

#define PASS(name, parameters, ...)                                                                                    \
  static int name##_file parameters {                                                                                  \
    sqlite3_file *real = ((faulty_file *)file)->real;                                                                  \
    return real->pMethods->__VA_ARGS__;                                                                                \
  }
PASS(lock, (sqlite3_file * file, int level), xLock(real, level))
PASS(unlock, (sqlite3_file * file, int level), xUnlock(real, level))
PASS(check_lock, (sqlite3_file * file, int *is_locked), xCheckReservedLock(real, is_locked))
PASS(sector_size, (sqlite3_file * file), xSectorSize(real))
PASS(characteristics, (sqlite3_file * file), xDeviceCharacteristics(real))
PASS(shm_map, (sqlite3_file * file, int page, int size, int extend, void volatile **at), xShmMap(real, page, size, extend, at))
PASS(shm_lock, (sqlite3_file * file, int offset, int count, int flags), xShmLock(real, offset, count, flags))
PASS(shm_unmap, (sqlite3_file * file, int deletes), xShmUnmap(real, deletes))

static void shm_barrier_file(sqlite3_file *file) {
  sqlite3_file *real = ((faulty_file *)file)->real;
  real->pMethods->xShmBarrier(real);
}

// Version 2: without xFetch, so that SQLite can't bypass the view.
static const sqlite3_io_methods methods = {
  .iVersion = 2,
  .xClose = close_file,
  .xRead = read_file,
  .xWrite = write_file,
  .xTruncate = truncate_file,
  .xSync = sync_file,
  .xFileSize = file_size,
  .xLock = lock_file,
  .xUnlock = unlock_file,
  .xCheckReservedLock = check_lock_file,
  .xFileControl = control_file,
  .xSectorSize = sector_size_file,
  .xDeviceCharacteristics = characteristics_file,
  .xShmMap = shm_map_file,
  .xShmLock = shm_lock_file,
  .xShmBarrier = shm_barrier_file,
  .xShmUnmap = shm_unmap_file,
};

// ---- the VFS ------------------------------------------------------------------------------------------------------

static file_state *find(faulty_vfs *vfs, const char *path) {
  for (file_state *each = vfs->files; each; each = each->next) {
    if (!each->is_dropped && strcmp(each->path, path) == 0) return each;
  }
  return NULL;
}

static file_state *adopt(faulty_vfs *vfs, const char *path, int is_new) {
  file_state *made = calloc(1, sizeof *made);
  if (!made) return NULL;
  made->path = strdup(path);
  made->is_new = is_new;
  made->view = read_whole(path, &made->size);
  made->capacity = made->size;
  made->next = vfs->files;
  vfs->files = made;
  return made;
}

static int open_file(sqlite3_vfs *base, const char *path, sqlite3_file *file, int flags, int *out_flags) {
  faulty_vfs *vfs = base->pAppData;
  faulty_file *self = (faulty_file *)file;
  *self = (faulty_file){.vfs = vfs, .real = (sqlite3_file *)(self + 1)};
  memset(self->real, 0, (size_t)vfs->real->szOsFile);
  int lasting = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL | SQLITE_OPEN_SUPER_JOURNAL;
  int is_kept = path && (flags & lasting) && !(flags & SQLITE_OPEN_DELETEONCLOSE);
  pthread_mutex_lock(&vfs->mutex);
  int code = SQLITE_CANTOPEN;
  if (vfs->has_power) {
    int was_there = path && access(path, F_OK) == 0;
    code = vfs->real->xOpen(vfs->real, path, self->real, flags, out_flags);
    if (code == SQLITE_OK && is_kept) {
      self->state = find(vfs, path);
      if (!self->state) self->state = adopt(vfs, path, !was_there);
      if (self->state) {
        self->state->handles++;
        self->syncs_folder = self->state->is_new && !(flags & SQLITE_OPEN_MAIN_DB);
      } else {
        self->real->pMethods->xClose(self->real);
        code = SQLITE_NOMEM;
      }
    }
  }
  if (code == SQLITE_OK) self->base.pMethods = &methods;
  pthread_mutex_unlock(&vfs->mutex);
  return code;
}

static void keep_ghost(faulty_vfs *vfs, const char *path) {
  int64_t size;
  unsigned char *bytes = read_whole(path, &size);
  ghost *made = malloc(sizeof(ghost) + (size_t)size);
  if (made) {
    *made = (ghost){.next = vfs->ghosts, .path = strdup(path), .size = size};
    if (size > 0) memcpy(made->bytes, bytes, (size_t)size);
    vfs->ghosts = made;
  }
  free(bytes);
}

static int delete_file(sqlite3_vfs *base, const char *path, int syncs_folder) {
  faulty_vfs *vfs = base->pAppData;
  pthread_mutex_lock(&vfs->mutex);
  int code = count_operation(vfs, FAULTY_DELETE, SQLITE_IOERR_DELETE);
  if (code == SQLITE_OK) {
    file_state *state = find(vfs, path);
    // A file without a synced directory entry leaves no trace.
    if (access(path, F_OK) == 0 && !(state && state->is_new)) keep_ghost(vfs, path);
    code = vfs->real->xDelete(vfs->real, path, 0);
    if (state) {
      state->is_dropped = 1;
      clear_changes(state);
    }
    if (code == SQLITE_OK && syncs_folder) sync_folder(vfs, path);
  }
  pthread_mutex_unlock(&vfs->mutex);
  return code;
}

static int access_file(sqlite3_vfs *base, const char *path, int flags, int *result) {
  faulty_vfs *vfs = base->pAppData;
  // An empty journal or log counts as missing: the size of the view decides, not that of the disk.
  pthread_mutex_lock(&vfs->mutex);
  file_state *state = find(vfs, path);
  int code = vfs->real->xAccess(vfs->real, path, flags, result);
  if (state && flags == SQLITE_ACCESS_EXISTS) *result = state->size > 0;
  pthread_mutex_unlock(&vfs->mutex);
  return code;
}

#define REAL(base) (((faulty_vfs *)(base)->pAppData)->real)
static int full_path(sqlite3_vfs *base, const char *name, int count, char *path) {
  return REAL(base)->xFullPathname(REAL(base), name, count, path);
}
static int randomness(sqlite3_vfs *base, int count, char *bytes) {
  return REAL(base)->xRandomness(REAL(base), count, bytes);
}
static int pause_for(sqlite3_vfs *base, int microseconds) { return REAL(base)->xSleep(REAL(base), microseconds); }
static int now(sqlite3_vfs *base, double *time) { return REAL(base)->xCurrentTime(REAL(base), time); }
static int now_int64(sqlite3_vfs *base, sqlite3_int64 *time) {
  return REAL(base)->xCurrentTimeInt64(REAL(base), time);
}
static int last_error(sqlite3_vfs *base, int count, char *text) {
  return REAL(base)->xGetLastError(REAL(base), count, text);
}

// ---- control ------------------------------------------------------------------------------------------------------

faulty_vfs *faulty_vfs_create(const char *name, uint64_t seed, faulty_loss loss) {
  sqlite3_initialize();
  sqlite3_vfs *real = sqlite3_vfs_find("unix");
  faulty_vfs *vfs = calloc(1, sizeof *vfs);
  if (!vfs || !real || !(vfs->name = strdup(name))) {
    free(vfs);
    return NULL;
  }
  vfs->real = real;
  vfs->random = seed;
  vfs->loss = loss;
  vfs->has_power = 1;
  pthread_mutex_init(&vfs->mutex, NULL);
  vfs->base = (sqlite3_vfs){
    .iVersion = 2,
    .szOsFile = (int)sizeof(faulty_file) + real->szOsFile,
    .mxPathname = real->mxPathname,
    .zName = vfs->name,
    .pAppData = vfs,
    .xOpen = open_file,
    .xDelete = delete_file,
    .xAccess = access_file,
    .xFullPathname = full_path,
    .xRandomness = randomness,
    .xSleep = pause_for,
    .xCurrentTime = now,
    .xGetLastError = last_error,
    .xCurrentTimeInt64 = now_int64,
  };
  if (sqlite3_vfs_register(&vfs->base, 0) != SQLITE_OK) {
    free(vfs->name);
    free(vfs);
    return NULL;
  }
  return vfs;
}

void faulty_vfs_destroy(faulty_vfs *vfs) {
  sqlite3_vfs_unregister(&vfs->base);
  for (file_state *each = vfs->files; each;) {
    file_state *next = each->next;
    int descriptor = vfs->has_power && !each->is_dropped ? open(each->path, O_WRONLY | O_CLOEXEC) : -1;
    if (descriptor >= 0) {
      set_size(descriptor, each->size);
      store(descriptor, each->view, 0, each->size);
      close(descriptor);
    }
    clear_changes(each);
    free(each->view);
    free(each->path);
    free(each);
    each = next;
  }
  for (ghost *each = vfs->ghosts; each;) {
    ghost *next = each->next;
    free(each->path);
    free(each);
    each = next;
  }
  pthread_mutex_destroy(&vfs->mutex);
  free(vfs->name);
  free(vfs);
}

void faulty_vfs_cut_power(faulty_vfs *vfs) {
  pthread_mutex_lock(&vfs->mutex);
  cut_power(vfs);
  pthread_mutex_unlock(&vfs->mutex);
}

void faulty_vfs_cut_power_at(faulty_vfs *vfs, int64_t nth) {
  pthread_mutex_lock(&vfs->mutex);
  vfs->cut_countdown = nth;
  pthread_mutex_unlock(&vfs->mutex);
}

int faulty_vfs_is_without_power(faulty_vfs *vfs) {
  pthread_mutex_lock(&vfs->mutex);
  int is_without = !vfs->has_power;
  pthread_mutex_unlock(&vfs->mutex);
  return is_without;
}

void faulty_vfs_fail(faulty_vfs *vfs, faulty_kind kind, int64_t nth, int64_t times, int code) {
  pthread_mutex_lock(&vfs->mutex);
  vfs->faults[kind] = (fault){.countdown = nth, .times = times, .code = code};
  pthread_mutex_unlock(&vfs->mutex);
}

void faulty_vfs_heal(faulty_vfs *vfs) {
  pthread_mutex_lock(&vfs->mutex);
  memset(vfs->faults, 0, sizeof vfs->faults);
  pthread_mutex_unlock(&vfs->mutex);
}

void faulty_vfs_ignore_syncs(faulty_vfs *vfs, int ignores) {
  pthread_mutex_lock(&vfs->mutex);
  vfs->ignores_syncs = ignores;
  pthread_mutex_unlock(&vfs->mutex);
}

int64_t faulty_vfs_count(faulty_vfs *vfs, faulty_kind kind) {
  pthread_mutex_lock(&vfs->mutex);
  int64_t count = vfs->counts[kind];
  pthread_mutex_unlock(&vfs->mutex);
  return count;
}

int64_t faulty_vfs_hits(faulty_vfs *vfs) {
  pthread_mutex_lock(&vfs->mutex);
  int64_t hits = vfs->hits;
  pthread_mutex_unlock(&vfs->mutex);
  return hits;
}
