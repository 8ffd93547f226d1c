/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A wall clock that can be stepped: for LD_PRELOAD in a server. The eight
 * bytes of the file that CHAOS_CLOCK names are how many nanoseconds
 * CLOCK_REALTIME is ahead; whoever writes them steps the clock of the running
 * process. Other clocks are left alone, as a step leaves them in the kernel.
 *
 * The kernel is asked directly: finding the real functions by dlsym(3) would
 * allocate, and a server's allocator asks for the time while it starts.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000

static _Atomic int64_t *offset_ns;

__attribute__((constructor)) static void map_offset(void)
{
    const char *path = getenv("CHAOS_CLOCK");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *memory;

    if (fd < 0)
        return;
    memory = mmap(NULL, sizeof(*offset_ns), PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (memory != MAP_FAILED)
        offset_ns = memory;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    long result = syscall(SYS_clock_gettime, clock, time);
    int64_t ns;

    if (result || !offset_ns ||
        (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE))
        return (int)result;
    ns = time->tv_sec * INT64_C(1000000000) + time->tv_nsec + *offset_ns;
    time->tv_sec = ns / NS_PER_S;
    time->tv_nsec = ns % NS_PER_S;
    return 0;
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
    struct timespec now;

    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &now))
        return -1;
    tv->tv_sec = now.tv_sec;
    tv->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *ret_time)
{
    struct timespec now;

    if (clock_gettime(CLOCK_REALTIME, &now))
        return -1;
    if (ret_time)
        *ret_time = now.tv_sec;
    return now.tv_sec;
}
