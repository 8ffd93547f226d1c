/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many contenders in one thread, with one client: for numbers. Each acquires
 * one of the locks, holds it for a moment, releases it, over and over, and
 * tells the oracle.
 *
 *     chaos_swarm ORACLE SLOT SLOTS BASE LOCKS SERVERS TTL_MS SEED LEVEL
 *
 * They have the oracle's slots from SLOT on. The locks are those of
 * chaos_worker. Like any user they ask for the validity before they begin; what
 * they do after its end, because the process was stopped, does not count.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include <quorlock/quorlock.h>

#include "level.h"
#include "oracle.h"

#define NS_PER_MS       UINT64_C(1000000)
#define NS_PER_US       1000
#define WAIT_MS         1000
#define RETRY_DELAY_MS  20
#define NODE_TIMEOUT_MS 150 /* many are in the queue before one */
#define HOLD_US         3000
#define REST_US         3000
#define TICK_MS         20
#define LONG_ONE_IN     2000

struct one {
    struct witness witness;
    ql_lock *lock[ORACLE_LOCKS];
    uint64_t wake_ns; /* 0: the library calls back */
    bool inside;
};

static struct one ones[ORACLE_SLOTS];
static unsigned ones_count, locks;
static uint32_t ttl_ms;
static uint64_t rand_state;

static unsigned below(unsigned bound)
{
    rand_state =
        rand_state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (unsigned)(rand_state >> 33) % bound;
}

static void fail(const char *what, int result)
{
    fprintf(stderr, "chaos_swarm: %s: %d\n", what, result);
    exit(70);
}

static ql_lock *lock_of(struct one *one)
{
    return one->lock[one->witness.lock];
}

static void rest(struct one *one)
{
    one->inside = false;
    one->wake_ns = oracle_now_ns() + below(REST_US) * NS_PER_US;
}

static void released(ql_lock *lock, int result, void *arg)
{
    struct one *one = arg;

    (void)lock;
    oracle_tell(&one->witness, ORACLE_RELEASE, result);
    rest(one);
}

static void release(struct one *one)
{
    int result = ql_lock_release_start(lock_of(one), released, one);

    one->wake_ns = 0;
    if (result != QL_OK)
        fail("release", result);
}

/* The clock is read first: a pause in between makes this too early, not late.
 */
static uint64_t ask_validity(const ql_lock *lock)
{
    uint64_t now_ns = oracle_now_ns();
    int64_t valid_ms = ql_lock_valid_ms(lock);

    return valid_ms > 0 ? now_ns + (uint64_t)valid_ms * NS_PER_MS : 0;
}

/* Mostly for a moment, sometimes for longer than the lock lasts. */
static uint64_t hold_ns(void)
{
    if (below(LONG_ONE_IN) == 0)
        return (ttl_ms / 2 + below(ttl_ms)) * NS_PER_MS;
    return below(HOLD_US) * NS_PER_US;
}

static void acquired(ql_lock *lock, int result, void *arg)
{
    struct one *one = arg;
    uint64_t until_ns;

    if (result != QL_OK) {
        oracle_tell(&one->witness, ORACLE_RESULT, result);
        rest(one);
        return;
    }
    until_ns = ask_validity(lock);
    if (!until_ns) {
        oracle_stale(&one->witness, ql_lock_fence(lock));
        release(one);
        return;
    }
    oracle_enter(&one->witness, until_ns, ql_lock_fence(lock));
    one->inside = true;
    one->wake_ns = oracle_now_ns() + hold_ns();
}

static void leave(struct one *one)
{
    one->inside = false;
    oracle_leave(&one->witness);
    release(one);
}

static void wake(struct one *one)
{
    int result;

    if (one->inside) {
        leave(one);
        return;
    }
    one->wake_ns = 0;
    one->witness.lock = below(locks);
    result = ql_lock_acquire_start(lock_of(one), acquired, one);
    if (result != QL_OK)
        fail("acquire", result);
}

/* Wakes those whose time has come. Returns in how many ms the next one's. */
static int wake_all(void)
{
    uint64_t now_ns = oracle_now_ns(), next_ns = now_ns + TICK_MS * NS_PER_MS;

    for (unsigned i = 0; i < ones_count; i++) {
        struct one *one = &ones[i];

        if (one->inside && ql_lock_valid_ms(lock_of(one)) <= 0)
            leave(one);
        if (one->wake_ns && one->wake_ns <= now_ns)
            wake(one);
        if (one->wake_ns && one->wake_ns < next_ns)
            next_ns = one->wake_ns;
    }
    return next_ns > now_ns ? (int)((next_ns - now_ns) / NS_PER_MS) + 1 : 0;
}

static void serve(ql_client *client)
{
    struct pollfd watched = {ql_client_fd(client), POLLIN, 0};

    while (!oracle_over(ones[0].witness.oracle)) {
        int result;

        (void)poll(&watched, 1, wake_all());
        result = ql_client_process(client);
        if (result != QL_OK)
            fail("process", result);
    }
}

static void make_locks(struct one *one, ql_client *client, const char *base)
{
    ql_lock_options options = QL_LOCK_OPTIONS_INIT;
    char name[64];

    options.ttl_ms = ttl_ms;
    options.retry_delay_ms = RETRY_DELAY_MS;
    options.wait_ms = WAIT_MS;
    for (unsigned i = 0; i < locks; i++) {
        snprintf(name, sizeof(name), "%s-%u", base, i);
        if (ql_lock_new(&one->lock[i], client, name, &options))
            fail("no lock", 0);
    }
}

/* Those that are inside leave: the handles release. */
static void close_all(ql_client *client)
{
    for (unsigned i = 0; i < ones_count; i++) {
        if (ones[i].inside)
            oracle_leave(&ones[i].witness);
        for (unsigned k = 0; k < locks; k++)
            ql_lock_free(ones[i].lock[k]);
    }
    ql_client_close(client);
}

int main(int argc, char **argv)
{
    ql_client_options options = QL_CLIENT_OPTIONS_INIT;
    struct oracle *oracle;
    ql_client *client;
    unsigned first;

    if (argc < 10) {
        fprintf(stderr, "usage: chaos_swarm ORACLE SLOT SLOTS BASE LOCKS "
                        "SERVERS TTL_MS SEED LEVEL\n");
        return 64;
    }
    oracle = oracle_open(argv[1]);
    first = (unsigned)atoi(argv[2]) % ORACLE_SLOTS;
    ones_count = (unsigned)atoi(argv[3]) % (ORACLE_SLOTS - first + 1);
    locks = (unsigned)atoi(argv[5]) % (ORACLE_LOCKS + 1);
    ttl_ms = (uint32_t)atoi(argv[7]);
    rand_state = strtoull(argv[8], NULL, 10) * 2 + 1;
    options.level = level_of(argv[9]);
    options.node_timeout_ms = NODE_TIMEOUT_MS;
    if (ql_client_open(&client, argv[6], &options))
        fail("no client", 0);
    for (unsigned i = 0; i < ones_count; i++) {
        ones[i].witness.oracle = oracle;
        ones[i].witness.slot = first + i;
        make_locks(&ones[i], client, argv[4]);
        rest(&ones[i]);
    }
    serve(client);
    close_all(client);
    return 0;
}
