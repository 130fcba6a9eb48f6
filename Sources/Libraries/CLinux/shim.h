#pragma once
/* The Linux interfaces that Swift's Glibc module leaves out. */
#include <linux/sockios.h>
#include <linux/filter.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

/* glibc declares it only with _GNU_SOURCE, which a module cannot define for itself. */
int accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags);

/* glibc declares it only with _GNU_SOURCE, too. */
int sync_file_range(int descriptor, long offset, long count, unsigned int flags);
enum { CLinux_send = 2 /* SYNC_FILE_RANGE_WRITE */, CLinux_wait = 4 /* SYNC_FILE_RANGE_WAIT_AFTER */ };

/* A policy for sched_setscheduler(2), which glibc declares only with _GNU_SOURCE. */
enum { CLinux_batch = 3 /* SCHED_BATCH */ };

/* Declared as in unistd.h, which belongs to Swift's own module of the C library. */
extern long syscall(long number, ...);

/* Binds the calling thread to one core of the first 1024, or to all again (-1). Returns 0 on success. */
static inline long CLinux_stay_on_core(int core) {
    unsigned long mask[16];
    for (int i = 0; i < 16; i++) mask[i] = core < 0 ? ~0UL : core / 64 == i ? 1UL << core % 64 : 0;
    return syscall(SYS_sched_setaffinity, 0, sizeof mask, mask);
}

/* Swift cannot call prctl, because it is variadic. From then on the memory of this process is in no core file, and no process
   of its user can read it. Returns 0 on success. */
static inline int CLinux_keep_memory_private(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

/* Swift cannot call ioctl, because it is variadic. */
static inline int CLinux_unacknowledged(int descriptor, int *count) { return ioctl(descriptor, SIOCOUTQ, count); }
