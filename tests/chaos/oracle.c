/* SPDX-License-Identifier: BSD-2-Clause */
/* The writers' side of the oracle. */
#include "oracle.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TICKS_PER_LOOK 64 /* at the owner, which costs a system call */

_Static_assert(sizeof(struct oracle_entry) == 56, "as in oracle.py");
_Static_assert(sizeof(struct oracle_slot) == 16, "as in oracle.py");
_Static_assert(offsetof(struct oracle, inside) == 32, "as in oracle.py");
_Static_assert(offsetof(struct oracle, entries) ==
                   32 + 8 * ORACLE_LOCKS + 16 * ORACLE_SLOTS,
               "as in oracle.py");

static void die(const char *path, const char *what)
{
    fprintf(stderr, "oracle %s: %s\n", path, what);
    exit(70);
}

struct oracle *oracle_open(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    struct stat stat;
    struct oracle *oracle;

    if (fd < 0 || fstat(fd, &stat))
        die(path, "cannot be opened");
    oracle = mmap(NULL, (size_t)stat.st_size, PROT_READ | PROT_WRITE,
                  MAP_SHARED, fd, 0);
    close(fd);
    if (oracle == MAP_FAILED || oracle->magic != ORACLE_MAGIC)
        die(path, "is not an oracle's");
    return oracle;
}

uint64_t oracle_now_ns(void)
{
    struct timespec now;

    if (clock_gettime(CLOCK_MONOTONIC, &now))
        abort();
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void oracle_sleep_us(unsigned us)
{
    struct timespec time = {us / 1000000, us % 1000000 * 1000};

    nanosleep(&time, NULL);
}

bool oracle_over(const struct oracle *oracle)
{
    return oracle->stop || (kill(oracle->owner, 0) && errno == ESRCH);
}

static void append(struct witness *witness, enum oracle_kind kind,
                   struct oracle_entry entry)
{
    struct oracle *oracle = witness->oracle;
    uint64_t index = atomic_fetch_add(&oracle->count, 1);
    struct oracle_entry *to = &oracle->entries[index];

    if (index >= oracle->capacity) {
        fprintf(stderr, "the oracle's log is full\n");
        exit(70);
    }
    to->slot = (uint16_t)witness->slot;
    to->lock = (uint16_t)witness->lock;
    to->pid = getpid();
    to->detail = entry.detail;
    to->at_ns = entry.at_ns;
    to->valid_until_ns = entry.valid_until_ns;
    to->company = entry.company;
    to->last_tick_ns = entry.last_tick_ns;
    to->fence = entry.fence;
    atomic_store(&to->kind, kind);
}

/* Who is inside, without those that were killed there and left their bit. */
static uint64_t living(const struct oracle *oracle, uint64_t slots)
{
    for (unsigned i = 0; i < ORACLE_SLOTS; i++)
        if (slots >> i & 1 && kill(oracle->slots[i].pid, 0) && errno == ESRCH)
            slots &= ~(UINT64_C(1) << i);
    return slots;
}

/*
 * The bit is set before the time is read, and the bit of whoever leaves is
 * cleared after: so of two that are inside together at least one sees the
 * other, whatever the clock says.
 */
void oracle_enter(struct witness *witness, uint64_t valid_until_ns,
                  uint64_t fence)
{
    struct oracle *oracle = witness->oracle;
    struct oracle_slot *slot = &oracle->slots[witness->slot];
    uint64_t bit = UINT64_C(1) << witness->slot;
    struct oracle_entry entry = {.valid_until_ns = valid_until_ns,
                                 .fence = fence};

    atomic_store(&slot->pid, getpid());
    entry.company = atomic_fetch_or(&oracle->inside[witness->lock], bit) & ~bit;
    entry.company = living(oracle, entry.company);
    entry.at_ns = oracle_now_ns();
    entry.last_tick_ns = atomic_exchange(&slot->tick_ns, entry.at_ns);
    atomic_fetch_add(&slot->entered, 1);
    append(witness, ORACLE_ENTER, entry);
}

void oracle_valid(struct witness *witness, uint64_t valid_until_ns)
{
    append(witness, ORACLE_VALID,
           (struct oracle_entry){.at_ns = oracle_now_ns(),
                                 .valid_until_ns = valid_until_ns});
}

void oracle_leave(struct witness *witness)
{
    struct oracle *oracle = witness->oracle;
    uint64_t now_ns = oracle_now_ns();

    atomic_store(&oracle->slots[witness->slot].tick_ns, now_ns);
    append(witness, ORACLE_LEAVE, (struct oracle_entry){.at_ns = now_ns});
    atomic_fetch_and(&oracle->inside[witness->lock],
                     ~(UINT64_C(1) << witness->slot));
}

void oracle_stale(struct witness *witness, uint64_t fence)
{
    append(witness, ORACLE_STALE,
           (struct oracle_entry){.at_ns = oracle_now_ns(), .fence = fence});
}

void oracle_tell(struct witness *witness, enum oracle_kind kind, int detail)
{
    append(witness, kind,
           (struct oracle_entry){.at_ns = oracle_now_ns(), .detail = detail});
}

bool oracle_tick(struct witness *witness)
{
    struct oracle *oracle = witness->oracle;

    atomic_store(&oracle->slots[witness->slot].tick_ns, oracle_now_ns());
    if (witness->ticks++ % TICKS_PER_LOOK == 0)
        return oracle_over(oracle);
    return oracle->stop;
}
