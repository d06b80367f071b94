// What Swift's Glibc module leaves out.
#pragma once
#define _GNU_SOURCE 1
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

// accept4 is declared only under _GNU_SOURCE, which the module cache of Glibc may have left undefined.
extern int accept4(int descriptor, struct sockaddr *restrict address, socklen_t *restrict length, int flags);
