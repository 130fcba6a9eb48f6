#pragma once
/* The Linux interfaces that Swift's Glibc module leaves out. */
#include <linux/sockios.h>
#include <linux/filter.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

/* glibc shows it only to those who define _GNU_SOURCE, which a module cannot do for itself. */
int accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags);

/* The same. */
int sync_file_range(int descriptor, long offset, long count, unsigned int flags);
enum { CLinux_send = 2 /* SYNC_FILE_RANGE_WRITE */, CLinux_wait = 4 /* SYNC_FILE_RANGE_WAIT_AFTER */ };

/* The same: a policy for sched_setscheduler(2). */
enum { CLinux_batch = 3 /* SCHED_BATCH */ };

/* As unistd.h has it, which belongs to Swift's own module of the C library. */
extern long syscall(long number, ...);

/* Keeps the calling thread on one core of the first 1024, or lets it go anywhere again (-1). 0 on success. */
static inline long CLinux_stay_on_core(int core) {
    unsigned long mask[16];
    for (int i = 0; i < 16; i++) mask[i] = core < 0 ? ~0UL : core / 64 == i ? 1UL << core % 64 : 0;
    return syscall(SYS_sched_setaffinity, 0, sizeof mask, mask);
}

/* ioctl takes a variable number of arguments, which Swift cannot call. */
static inline int CLinux_unacknowledged(int descriptor, int *count) { return ioctl(descriptor, SIOCOUTQ, count); }
