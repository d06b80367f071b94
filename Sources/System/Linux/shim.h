// Functions that Swift's Glibc module lacks.
#pragma once
#include <malloc.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

// glibc declares them only with _GNU_SOURCE, which would conflict with types that the Glibc module has imported.
extern int syncfs(int descriptor);
extern int accept4(int descriptor, struct sockaddr *restrict address, socklen_t *restrict length, int flags);
