#pragma once
/* The Linux interfaces that Swift's Glibc module leaves out. */
#include <linux/sockios.h>
#include <linux/filter.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

/* glibc shows it only to those who define _GNU_SOURCE, which a module cannot do for itself. */
int accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags);

/* ioctl takes a variable number of arguments, which Swift cannot call. */
static inline int CLinux_unacknowledged(int descriptor, int *count) { return ioctl(descriptor, SIOCOUTQ, count); }
