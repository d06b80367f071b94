// What Swift's Glibc module leaves out.
#pragma once
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

// Declared by the system only under _GNU_SOURCE, which would change other types that the Glibc module has already seen.
extern int accept4(int descriptor, struct sockaddr *restrict address, socklen_t *restrict length, int flags);
