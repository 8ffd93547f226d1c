/* SPDX-License-Identifier: BSD-2-Clause */
#include "shares.h"

#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Read while others write: a figure may be a moment old, and that is all. */
struct shares {
    atomic_bool failed;
    struct share share[];
};

static struct shares *all;
static unsigned count;

bool shares_start(unsigned jobs)
{
    void *memory =
        mmap(NULL, sizeof *all + jobs * sizeof all->share[0],
             PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        return false;
    all = memory;
    count = jobs;
    return true;
}

struct share *shares_of(unsigned job)
{
    return &all->share[job];
}

void shares_add(struct share *sum)
{
    *sum = (struct share){0};
    for (unsigned job = 0; job < count; job++) {
        tally_add(&sum->sum, &all->share[job].sum);
        sum->violations += all->share[job].violations;
    }
}

void shares_fail(void)
{
    atomic_store(&all->failed, true);
}

bool shares_failed(void)
{
    return atomic_load(&all->failed);
}

/* A process that died of an assertion has failed as well. */
static unsigned reap(void)
{
    unsigned ended = 0;
    int status;

    while (waitpid(-1, &status, WNOHANG) > 0) {
        ended++;
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            shares_fail();
    }
    return ended;
}

void shares_run(bool (*work)(void *plan, unsigned job),
                void (*tell)(void *plan), void *plan)
{
    unsigned running = 0;

    for (unsigned job = 0; job < count; job++) {
        pid_t child = fork();

        if (child == 0) {
            bool good = work(plan, job);

            fflush(stdout);
            _exit(good ? 0 : 1);
        }
        if (child > 0)
            running++;
        else
            shares_fail();
    }
    while (running > 0) {
        usleep(100000);
        running -= reap();
        tell(plan);
    }
}
