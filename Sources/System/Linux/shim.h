// Functions that Swift's Glibc module lacks.
#pragma once
#include <malloc.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/timex.h>

// glibc declares them only with _GNU_SOURCE, which would conflict with types that the Glibc module has imported.
extern int syncfs(int descriptor);
extern int renameat2(int folder, const char *path, int other_folder, const char *other_path, unsigned flags);
extern int pipe2(int descriptors[2], int flags);
extern int accept4(int descriptor, struct sockaddr *restrict address, socklen_t *restrict length, int flags);

// 1 if a time service keeps the clock right, 0 if none does, -1 if the kernel does not tell.
static inline int parley_clock_is_synchronized(void) {
  struct timex state = {0};
  return adjtimex(&state) < 0 ? -1 : (state.status & STA_UNSYNC) == 0;
}
