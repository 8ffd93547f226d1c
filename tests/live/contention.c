/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many who want the same lock: split votes end, everybody gets his turn, and
 * nobody is in while another is.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live.h"

#define NAME        "the name"
#define LONG        3600000
#define PROCESSES   16
#define THREADS     4
#define CONTENDERS  (PROCESSES * THREADS)
#define TURNS       3
#define SPLITTERS   8
#define SPLIT_TURNS 10

/* In memory that all processes share. */
struct shared {
    volatile unsigned counter; /* guarded by the lock alone */
    atomic_int inside;         /* never more than one */
    atomic_uint overlaps;
    atomic_uint failures;
    unsigned turns[CONTENDERS];
};

struct contender {
    pthread_t thread;
    const char *servers;
    ql_client *client;
    struct shared *shared;
    unsigned index;
};

static void work(struct shared *shared)
{
    unsigned before = shared->counter;

    if (atomic_fetch_add(&shared->inside, 1) != 0)
        shared->overlaps++;
    usleep(500);
    shared->counter = before + 1;
    atomic_fetch_sub(&shared->inside, 1);
}

static void *contend(void *arg)
{
    struct contender *contender = arg;
    ql_lock_options options = QL_LOCK_OPTIONS_INIT;
    ql_lock *lock;

    options.ttl_ms = LONG;
    options.retry_delay_ms = 40;
    if (ql_lock_new(&lock, contender->client, NAME, &options) != QL_OK) {
        contender->shared->failures++;
        return NULL;
    }
    for (int i = 0; i < TURNS; i++) {
        if (ql_lock_acquire(lock) != QL_OK) {
            contender->shared->failures++;
            continue;
        }
        work(contender->shared);
        contender->shared->turns[contender->index]++;
        if (ql_lock_release(lock) != QL_OK)
            contender->shared->failures++;
    }
    ql_lock_free(lock);
    return NULL;
}

static int run_process(const char *servers, struct shared *shared,
                       unsigned process)
{
    ql_client_options options = PLAIN_OPTIONS_INIT;
    struct contender contender[THREADS];
    ql_client *client;

    options.node_timeout_ms = PATIENT_MS;
    options.connect_timeout_ms = PATIENT_MS;
    if (ql_client_open(&client, servers, &options) != QL_OK)
        return 1;
    for (unsigned i = 0; i < THREADS; i++) {
        contender[i] = (struct contender){
            .client = client, .shared = shared, .index = process * THREADS + i};
        pthread_create(&contender[i].thread, NULL, contend, &contender[i]);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(contender[i].thread, NULL);
    ql_client_close(client);
    return 0;
}

static struct shared *share(void)
{
    struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    assert_ptr_not_equal(shared, MAP_FAILED);
    return shared;
}

static void sixty_four_contenders_all_get_their_turns(void **state)
{
    struct live *live = *state;
    struct shared *shared = share();
    pid_t child[PROCESSES];
    int status;

    fflush(NULL);
    for (unsigned i = 0; i < PROCESSES; i++) {
        child[i] = fork();
        if (child[i] == 0)
            _exit(run_process(servers_list(live->servers), shared, i));
        assert_true(child[i] > 0);
    }
    for (unsigned i = 0; i < PROCESSES; i++) {
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(shared->failures, 0);
    assert_int_equal(shared->overlaps, 0);
    assert_int_equal(shared->counter, CONTENDERS * TURNS);
    for (unsigned i = 0; i < CONTENDERS; i++)
        assert_int_equal(shared->turns[i], TURNS);
    assert_no_key_soon(live->servers, NAME);
    munmap(shared, sizeof(*shared));
}

/* --- Split votes ---------------------------------------------------------- */

/* Each with a client of its own, and trying again at once: with two or four
 * nodes their votes are split most of the time. */
static uint32_t at_once(unsigned attempt, void *arg)
{
    unsigned *seed = arg;

    /* Xorshift: two who collided must not move in step for ever. */
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed % (4 * (attempt < 10 ? attempt : 10));
}

static void *split(void *arg)
{
    struct contender *contender = arg;
    ql_client_options client_options = PLAIN_OPTIONS_INIT;
    ql_lock_options options = QL_LOCK_OPTIONS_INIT;
    unsigned seed = contender->index + 1;
    ql_client *client;
    ql_lock *lock;

    client_options.node_timeout_ms = PATIENT_MS;
    options.ttl_ms = LONG;
    options.retry = at_once;
    options.retry_arg = &seed;
    if (ql_client_open(&client, contender->servers, &client_options) != QL_OK ||
        ql_lock_new(&lock, client, NAME, &options) != QL_OK) {
        contender->shared->failures++;
        return NULL;
    }
    for (int i = 0; i < SPLIT_TURNS; i++) {
        if (ql_lock_acquire(lock) != QL_OK)
            contender->shared->failures++;
        work(contender->shared);
        if (ql_lock_release(lock) != QL_OK)
            contender->shared->failures++;
    }
    ql_lock_free(lock);
    ql_client_close(client);
    return NULL;
}

static void trap_01_split_votes_of_an_even_number_of_nodes_end(void **state)
{
    struct live *live = *state;
    struct contender contender[SPLITTERS];
    struct shared *shared = share();

    for (unsigned i = 0; i < SPLITTERS; i++) {
        contender[i] =
            (struct contender){.servers = servers_list(live->servers),
                               .shared = shared,
                               .index = i};
        pthread_create(&contender[i].thread, NULL, split, &contender[i]);
    }
    for (unsigned i = 0; i < SPLITTERS; i++)
        pthread_join(contender[i].thread, NULL);
    assert_int_equal(shared->failures, 0);
    assert_int_equal(shared->overlaps, 0);
    assert_int_equal(shared->counter, SPLITTERS * SPLIT_TURNS);
    assert_no_key_soon(live->servers, NAME);
    munmap(shared, sizeof(*shared));
}

/* The votes are split for good: every attempt returns, and leaves nothing. */
static void trap_01_a_lasting_split_is_reported(void **state)
{
    struct live *live = *state;
    unsigned nodes = servers_count(live->servers);
    ql_lock *lock = live_lock(live->client, NAME, LONG);

    for (unsigned i = 0; i < nodes / 2; i++)
        server_command(servers_at(live->servers, i), "SET", NAME, "a", NULL);
    assert_result(QL_E_SPLIT, ql_lock_try(lock), lock);
    assert_int_equal(servers_with_key(live->servers, NAME), nodes / 2);
    for (unsigned i = nodes / 2; i < nodes; i++)
        server_command(servers_at(live->servers, i), "SET", NAME, "b", NULL);
    assert_result(QL_E_SPLIT, ql_lock_try(lock), lock);
    assert_result(QL_E_SPLIT, ql_lock_timed(lock, 300), lock);
    assert_result(QL_E_SPLIT, ql_lock_inspect(lock), lock);
    assert_int_equal(servers_with_key(live->servers, NAME), nodes);
    ql_lock_free(lock);
}

/* Tries that only try: whoever gets it keeps it, the others return. */
static void *try_once(void *arg)
{
    struct contender *contender = arg;
    ql_client_options options = PLAIN_OPTIONS_INIT;
    ql_client *client;
    ql_lock *lock;
    int result;

    options.node_timeout_ms = PATIENT_MS;
    if (ql_client_open(&client, contender->servers, &options) != QL_OK ||
        ql_lock_new(&lock, client, NAME, NULL) != QL_OK) {
        contender->shared->failures++;
        return NULL;
    }
    result = ql_lock_try(lock);
    if (result == QL_OK)
        contender->shared->counter++;
    else if (result != QL_HELD && result != QL_E_SPLIT)
        contender->shared->failures++;
    ql_lock_leave(lock);
    ql_client_close(client);
    return NULL;
}

static void of_many_who_try_at_most_one_gets_it(void **state)
{
    struct live *live = *state;
    struct contender contender[SPLITTERS];
    struct shared *shared = share();

    for (int round = 0; round < 10; round++) {
        shared->counter = 0;
        for (unsigned i = 0; i < SPLITTERS; i++) {
            contender[i] =
                (struct contender){.servers = servers_list(live->servers),
                                   .shared = shared,
                                   .index = i};
            pthread_create(&contender[i].thread, NULL, try_once, &contender[i]);
        }
        for (unsigned i = 0; i < SPLITTERS; i++)
            pthread_join(contender[i].thread, NULL);
        assert_int_equal(shared->failures, 0);
        assert_in_range(shared->counter, 0, 1);
        for (unsigned i = 0; i < servers_count(live->servers); i++)
            server_command(servers_at(live->servers, i), "DEL", NAME, NULL);
    }
    munmap(shared, sizeof(*shared));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON(1, sixty_four_contenders_all_get_their_turns),
        ON(5, sixty_four_contenders_all_get_their_turns),
        ON(2, trap_01_split_votes_of_an_even_number_of_nodes_end),
        ON(4, trap_01_split_votes_of_an_even_number_of_nodes_end),
        ON(2, trap_01_a_lasting_split_is_reported),
        ON(4, trap_01_a_lasting_split_is_reported),
        ON(2, of_many_who_try_at_most_one_gets_it),
        ON(5, of_many_who_try_at_most_one_gets_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
