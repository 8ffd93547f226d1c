/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A contender that uses the library: acquires, works, releases, over and over,
 * in one of four ways chosen at random, and tells the oracle.
 *
 *     chaos_worker ORACLE SLOT BASE LOCKS SERVERS TTL_MS SEED LEVEL
 *                  [LOCK [hold]]
 *
 * The locks are BASE-0, BASE-1, ...  With LOCK it acquires that one, once, and
 * ends: the next holder, in the tests that know which lock they attack. "hold":
 * not before its validity has ended.
 *
 * It keeps the rule that every user must keep: before each step it asks for
 * the validity, and when there is none left it stops at once.
 */
#include <stdio.h>
#include <stdlib.h>

#include <quorlock/quorlock.h>

#include "level.h"
#include "oracle.h"

#define NS_PER_MS       UINT64_C(1000000)
#define WAIT_MS         3000 /* then tries anew, with fresh luck */
#define RETRY_DELAY_MS  40
#define NODE_TIMEOUT_MS 60
#define PATIENCE_MS     4000 /* of most: longer than any ttl here */
#define STEP_US         500
#define NOISE_NS        (2 * NS_PER_MS) /* validity is told in whole ms */

enum way { BRIEF, TO_THE_END, EXTENDED, RENEWED, WAYS };

struct worker {
    struct witness witness;
    ql_client *client;
    ql_lock *plain[ORACLE_LOCKS];
    ql_lock *renewing[ORACLE_LOCKS];
    unsigned locks;
    uint32_t ttl_ms;
    enum ql_level level;
    uint64_t rand;
    uint64_t valid_until_ns;
};

static unsigned below(struct worker *w, unsigned bound)
{
    w->rand = w->rand * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (unsigned)(w->rand >> 33) % bound;
}

/* Mostly brief, so that there are many sections. */
static enum way choose_way(struct worker *w)
{
    unsigned dice = below(w, 1000);

    if (dice < 985)
        return BRIEF;
    return dice < 991 ? TO_THE_END : dice < 995 ? EXTENDED : RENEWED;
}

static uint64_t hold_ms(struct worker *w, enum way way)
{
    if (way == BRIEF)
        return below(w, 25);
    if (way == TO_THE_END)
        return UINT32_MAX;
    return w->ttl_ms + below(w, w->ttl_ms);
}

/* The clock is read first: a pause in between makes this too early, not late.
 */
static uint64_t ask_validity(const ql_lock *lock)
{
    uint64_t now_ns = oracle_now_ns();
    int64_t valid_ms = ql_lock_valid_ms(lock);

    return valid_ms > 0 ? now_ns + (uint64_t)valid_ms * NS_PER_MS : 0;
}

/* Returns whether the lock is still ours; tells the oracle if for longer. */
static bool look(struct worker *w, const ql_lock *lock)
{
    uint64_t until_ns = ask_validity(lock);

    if (until_ns > w->valid_until_ns + NOISE_NS) {
        w->valid_until_ns = until_ns;
        oracle_valid(&w->witness, until_ns);
    }
    return until_ns != 0;
}

static void work(struct worker *w, ql_lock *lock, enum way way)
{
    uint64_t end_ns = oracle_now_ns() + hold_ms(w, way) * NS_PER_MS;

    while (look(w, lock) && oracle_now_ns() < end_ns) {
        if (oracle_tick(&w->witness))
            return;
        if (way == EXTENDED && ql_lock_valid_ms(lock) < w->ttl_ms / 2)
            ql_lock_extend(lock, 0);
        oracle_sleep_us(STEP_US);
    }
}

static void section(struct worker *w, unsigned index, enum way way)
{
    ql_lock *lock = (way == RENEWED ? w->renewing : w->plain)[index];
    int result = ql_lock_timed(lock, WAIT_MS);

    w->witness.lock = index;
    if (result != QL_OK) {
        oracle_tell(&w->witness, ORACLE_RESULT, result);
        return;
    }
    w->valid_until_ns = ask_validity(lock);
    if (w->valid_until_ns) {
        oracle_enter(&w->witness, w->valid_until_ns, ql_lock_fence(lock));
        work(w, lock, way);
        oracle_leave(&w->witness);
    } else {
        oracle_stale(&w->witness, ql_lock_fence(lock));
    }
    oracle_tell(&w->witness, ORACLE_RELEASE, ql_lock_release(lock));
}

static ql_lock *make_lock(struct worker *w, const char *name, bool renew)
{
    ql_lock_options options = QL_LOCK_OPTIONS_INIT;
    ql_lock *lock;

    options.ttl_ms = w->ttl_ms;
    options.retry_delay_ms = RETRY_DELAY_MS;
    options.renew = renew;
    if (ql_lock_new(&lock, w->client, name, &options)) {
        fprintf(stderr, "chaos_worker: no lock\n");
        exit(70);
    }
    return lock;
}

static void open_all(struct worker *w, const char *base, const char *servers)
{
    ql_client_options options = QL_CLIENT_OPTIONS_INIT;

    options.level = w->level;
    /* Whoever waits so long is protected by the validity rule alone. */
    options.node_timeout_ms =
        w->witness.slot % 3 ? PATIENCE_MS : NODE_TIMEOUT_MS;
    if (ql_client_open(&w->client, servers, &options)) {
        fprintf(stderr, "chaos_worker: no client\n");
        exit(70);
    }
    for (unsigned i = 0; i < w->locks; i++) {
        char name[64];

        snprintf(name, sizeof(name), "%s-%u", base, i);
        w->plain[i] = make_lock(w, name, false);
        w->renewing[i] = make_lock(w, name, true);
    }
}

static void close_all(struct worker *w)
{
    for (unsigned i = 0; i < w->locks; i++) {
        ql_lock_free(w->plain[i]);
        ql_lock_free(w->renewing[i]);
    }
    ql_client_close(w->client);
}

/* Until it was inside once. */
static void once(struct worker *w, unsigned index, enum way way)
{
    struct witness *witness = &w->witness;
    uint32_t before = witness->oracle->slots[witness->slot].entered;

    while (!oracle_over(witness->oracle) &&
           witness->oracle->slots[witness->slot].entered == before)
        section(w, index, way);
}

int main(int argc, char **argv)
{
    struct worker w = {0};

    if (argc < 9) {
        fprintf(stderr, "usage: chaos_worker ORACLE SLOT BASE LOCKS SERVERS "
                        "TTL_MS SEED LEVEL [LOCK [hold]]\n");
        return 64;
    }
    w.witness.oracle = oracle_open(argv[1]);
    w.witness.slot = (unsigned)atoi(argv[2]) % ORACLE_SLOTS;
    w.locks = (unsigned)atoi(argv[4]) % (ORACLE_LOCKS + 1);
    w.ttl_ms = (uint32_t)atoi(argv[6]);
    w.rand = strtoull(argv[7], NULL, 10) * 2 + 1;
    w.level = level_of(argv[8]);
    open_all(&w, argv[3], argv[5]);
    if (argc > 9)
        once(&w, (unsigned)atoi(argv[9]) % w.locks,
             argc > 10 ? TO_THE_END : BRIEF);
    else
        while (!oracle_over(w.witness.oracle)) {
            section(&w, below(&w, w.locks), choose_way(&w));
            oracle_sleep_us(below(&w, below(&w, 3) ? 10000 : 100000));
        }
    close_all(&w);
    return 0;
}
