/* SPDX-License-Identifier: BSD-2-Clause */
#include "node.h"

#include <stdio.h>

#include "guarded.h"
#include "redis/script.h"
#include "soundness.h"
#include "world.h"

#define WORDS_MAX 24
#define UP_US     INT64_C(10000000000) /* when the world begins */

static void new_run_id(struct world *w, struct sim_node *node)
{
    for (unsigned i = 0; i < 5; i++)
        snprintf(node->redis.run_id + 8 * i, 9, "%08x",
                 (unsigned)dice_next(&w->dice));
}

void node_open(struct world *w, unsigned index)
{
    struct sim_node *node = &w->node[index];

    /* Some time between 1970 and today. */
    node->clock.base = dice_below(&w->dice, UINT64_C(1700000000) * S);
    new_run_id(w, node);
    if (w->swarm.guarded)
        soundness_open(w, node);
    node->redis.began_us = node_clock_us(w, node) - UP_US;
}

void node_free(struct sim_node *node)
{
    keyspace_free(&node->redis.keys);
    keyspace_free(&node->synced);
    keyspace_free(&node->replica);
}

int64_t node_clock_us(const struct world *w, const struct sim_node *node)
{
    int64_t stray_ns = w->swarm.guarded ? wobble_ns(w, node) : 0;

    return ((int64_t)vclock_read(&node->clock, w->now) + stray_ns) /
           (int64_t)US;
}

const struct key *node_key(const struct world *w, unsigned index,
                           const char *name, const char *token)
{
    const struct sim_node *node = &w->node[index];
    const struct key *key = keyspace_find(
        &node->redis.keys, node_clock_us(w, node) / 1000, name, strlen(name));
    size_t len = strlen(token);

    if (!key || !key->value || key->len < len ||
        memcmp(key->value, token, len) != 0)
        return NULL;
    return key->value[len] == '\0' || key->value[len] == ' ' ? key : NULL;
}

bool node_lease(const struct world *w, unsigned index, const char *record,
                const char *token)
{
    const struct sim_node *node = &w->node[index];
    int64_t now_us = node_clock_us(w, node);
    const struct key *key =
        keyspace_find(&node->redis.keys, now_us / 1000, record, strlen(record));
    size_t len = strlen(token);
    char *rest;

    /* "<token> <end in us> <number> held", and perhaps more. */
    if (!key || !key->value || key->len <= len ||
        memcmp(key->value, token, len) != 0 || key->value[len] != ' ')
        return false;
    if (strtoll(key->value + len, &rest, 10) <= now_us)
        return false;
    (void)strtoll(rest, &rest, 10);
    return strncmp(rest, " held", 5) == 0;
}

/* --- Commands ------------------------------------------------------------- */

/* "*2\r\n$3\r\nGET\r\n...": the length of the whole, 0: not all is there. */
static size_t parse(const char *at, size_t size, unsigned *ret_argc,
                    struct word *argv)
{
    const char *end = at + size, *start = at;
    const char *line = memchr(at, '\n', size);
    unsigned argc;

    if (!line)
        return 0;
    argc = (unsigned)strtoul(at + 1, NULL, 10);
    assert(at[0] == '*' && argc >= 1 && argc <= WORDS_MAX);
    at = line + 1;
    for (unsigned i = 0; i < argc; i++) {
        line = memchr(at, '\n', (size_t)(end - at));
        if (!line)
            return 0;
        assert(at[0] == '$');
        argv[i].len = strtoul(at + 1, NULL, 10);
        argv[i].bytes = line + 1;
        if ((size_t)(end - argv[i].bytes) < argv[i].len + 2)
            return 0;
        at = argv[i].bytes + argv[i].len + 2;
    }
    *ret_argc = argc;
    return (size_t)(at - start);
}

/* With everysec, what a crash leaves is a second old at most. */
static void sync_if_due(struct world *w, struct sim_node *node)
{
    if (w->swarm.every_ns[FAULT_NODE_EVERYSEC] == 0 ||
        w->now - node->synced_at < S)
        return;
    keyspace_copy(&node->synced, &node->redis.keys);
    node->synced_at = w->now;
}

/* So does a replica, now and then. */
static void replicate_if_due(struct world *w, struct sim_node *node)
{
    if ((w->swarm.every_ns[FAULT_PROMOTE] == 0 &&
         w->swarm.every_ns[FAULT_SWAP] == 0) ||
        w->now - node->replica_at < w->swarm.replica_ns)
        return;
    keyspace_copy(&node->replica, &node->redis.keys);
    node->replica_at = w->now;
}

/* What to call a command: by its script, if it has one; and the beginning of
 * the token that it is about, or the verb. */
static const char *name_of(unsigned argc, const struct word *argv)
{
    static char name[24];
    const char *word = argv[0].bytes;
    int len = argv[0].len < 10 ? (int)argv[0].len : 10;
    unsigned token = 0;

    if (argc > 4 && word_is(&argv[0], "EVALSHA")) {
        for (unsigned i = 0; i < QL_SCRIPTS; i++)
            if (memcmp(argv[1].bytes, ql_script_at(i)->sha1, 40) == 0)
                word = ql_script_at(i)->name;
        if (strncmp(word, "guarded_", 8) == 0)
            word += 8;
        len = (int)strlen(word);
        token = 3 + (unsigned)(argv[2].bytes[0] - '0');
        if (token + 2 < argc && argv[2].bytes[0] > '1' && argv[token].len != 40)
            token += 2; /* after cfg and run */
        token = token < argc ? token : 0;
    } else if (argc > 2 && word_is(&argv[0], "SET")) {
        token = 2;
    }
    snprintf(name, sizeof name, "%.*s %.*s", len, word,
             !token                ? 0
             : argv[token].len < 6 ? (int)argv[token].len
                                   : 6,
             argv[token].bytes);
    return name;
}

static void serve(struct world *w, struct conn *conn)
{
    static struct bytes reply;
    struct sim_node *node = &w->node[conn->node];
    struct word argv[WORDS_MAX];
    unsigned argc;
    size_t len;

    if (node->state != NODE_RUNS || conn->theirs != END_OPEN)
        return;
    sync_if_due(w, node);
    replicate_if_due(w, node);
    bytes_take(&reply, bytes_count(&reply));
    node->redis.now_us = node_clock_us(w, node);
    node->redis.now_ms = node->redis.now_us / 1000;
    node->redis.stray =
        conn->mine == END_CLOSED || conn->my_error || conn->their_eof;
    if (w->now >= node->loading_until && node->redis.refusal == REFUSES_LOADING)
        node->redis.refusal = REFUSES_NOTHING;
    while (bytes_count(&conn->at_node) > 0 &&
           (len = parse(bytes_first(&conn->at_node),
                        bytes_count(&conn->at_node), &argc, argv)) > 0) {
        size_t before = bytes_count(&reply);

        redis_run(&node->redis, argc, argv, &reply);
        w->tally.commands++;
        if (w->swarm.guarded)
            guarded_note(w, conn->node, argc, argv,
                         bytes_first(&reply) + before);
        tell(w, "%n runs %s for %c", conn->node, conn->client, 0,
             w->tale.aloud      ? name_of(argc, argv)
             : argv[0].len == 3 ? "SET"
                                : "script");
        bytes_take(&conn->at_node, len);
    }
    if (bytes_count(&reply) > 0)
        network_reply(w, conn, bytes_first(&reply), bytes_count(&reply));
    if (w->client[conn->client].wants_room) {
        w->client[conn->client].wants_room = false;
        client_plan(w, &w->client[conn->client]);
    }
    if (conn->their_eof)
        network_hang_up(w, conn, true);
}

static void serve_later(struct world *w, uint64_t id, uint64_t unused)
{
    struct conn *conn = network_conn(w, id);

    (void)unused;
    if (conn)
        serve(w, conn);
}

void node_receive(struct world *w, struct conn *conn)
{
    struct sim_node *node = &w->node[conn->node];

    if (node->slow_ns > 0 && node->state == NODE_RUNS)
        events_plan(&w->events, w->now + dice_below(&w->dice, node->slow_ns),
                    serve_later, network_id(w, conn), 0);
    else
        serve(w, conn);
}

/* --- Troubles ------------------------------------------------------------- */

enum acceptance node_accept(struct world *w, unsigned index)
{
    switch (w->node[index].state) {
    case NODE_RUNS:
    case NODE_FROZEN:
        return NODE_ACCEPTS;
    case NODE_DOWN:
        return NODE_REFUSES;
    default:
        return NODE_IS_SILENT;
    }
}

/* Something for each of the node's connections, from a random one on. */
static void for_each_conn(struct world *w, unsigned index,
                          void (*act)(struct world *w, struct conn *conn))
{
    unsigned conns = w->network.conns;
    unsigned first = (unsigned)dice_below(&w->dice, conns);

    for (unsigned i = 0; i < conns; i++) {
        struct conn *conn = &w->network.conn[(first + i) % conns];

        if (conn->used && conn->node == index && conn->theirs == END_OPEN)
            act(w, conn);
    }
}

static void drop_orderly(struct world *w, struct conn *conn)
{
    /* A process that dies with bytes unread resets the connection. */
    network_hang_up(w, conn, bytes_count(&conn->at_node) == 0);
}

void node_hang_up_all(struct world *w, unsigned index)
{
    for_each_conn(w, index, drop_orderly);
}

void node_freeze(struct world *w, unsigned index)
{
    if (w->node[index].state == NODE_RUNS)
        w->node[index].state = NODE_FROZEN;
}

void node_thaw(struct world *w, unsigned index)
{
    if (w->node[index].state != NODE_FROZEN)
        return;
    w->node[index].state = NODE_RUNS;
    for_each_conn(w, index, serve);
}

void node_kill(struct world *w, unsigned index, bool off)
{
    struct sim_node *node = &w->node[index];

    if (node->state == NODE_DOWN || node->state == NODE_OFF)
        return;
    for_each_conn(w, index, off ? network_forget : drop_orderly);
    node->state = off ? NODE_OFF : NODE_DOWN;
    node->redis.scripts = 0;
}

void node_start(struct world *w, unsigned index)
{
    struct sim_node *node = &w->node[index];

    if (node->state != NODE_DOWN && node->state != NODE_OFF)
        return;
    node->state = NODE_RUNS;
    new_run_id(w, node);
    node->redis.began_us = node_clock_us(w, node);
    if (dice_chance(&w->dice, 500000)) {
        node->redis.refusal = REFUSES_LOADING;
        node->loading_until = w->now + dice_below(&w->dice, S);
    }
}

void node_swap(struct world *w, unsigned index)
{
    struct sim_node *node = &w->node[index];

    if (node->state != NODE_RUNS)
        return;
    keyspace_copy(&node->redis.keys, &node->replica);
    node->redis.scripts = 0;
    node->disguised = true;
    new_run_id(w, node);
    node->redis.began_us = node_clock_us(w, node);
}

void node_taint(struct world *w, unsigned index, uint64_t ns)
{
    struct sim_node *node = &w->node[index];
    uint64_t until = w->now + ns + world_lease_ns(w);

    if (until > node->tainted_until)
        node->tainted_until = until;
}

unsigned nodes_tainted(const struct world *w)
{
    unsigned count = 0;

    for (unsigned i = 0; i < w->swarm.nodes; i++)
        count += w->now < w->node[i].tainted_until;
    return count;
}
