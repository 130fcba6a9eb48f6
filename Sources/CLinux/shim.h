#pragma once
/* The Linux interfaces that Swift's Glibc module leaves out. */
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>

/* glibc shows it only to those who define _GNU_SOURCE, which a module cannot do for itself. */
int accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags);
