/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One node in the hands of a test, with a clock that only the test moves: so
 * time limits are met to the nanosecond, and nothing depends on how fast the
 * machine is.
 */
#ifndef TESTS_LIB_PROBE_H
#define TESTS_LIB_PROBE_H

#include "redis/node.h"

#define PROBE_ANSWERS    64
#define PROBE_TIMEOUT_MS 50
#define PROBE_CONNECT_MS 500
#define PROBE_NS_PER_MS  UINT64_C(1000000)

struct probe_answer {
    struct ql_answer answer; /* `text` is the copy below */
    char text[512];
    char prev_token[80], earlier[256];
};

struct probe {
    struct ql_node *node;
    struct ql_address address;
    uint64_t now;
    unsigned count; /* of answers, those beyond the array too */
    unsigned ready; /* how often it was */
    unsigned closed;
    struct probe_answer answers[PROBE_ANSWERS];
    ql_verdict bar; /* what the ready callback bars it for */
    /* Sent when an answer comes, once; NULL: nothing. */
    const struct ql_command *chain;
    struct ql_guard guard; /* of a guarded one: what its commands carry */
};

/* malloc(3), and how many bytes are out. */
extern const ql_allocator probe_mem;
extern size_t probe_mem_used;
/* So many allocations succeed, and then one fails, or all do. */
extern unsigned probe_mem_good;
extern bool probe_mem_all_fail;
#define PROBE_MEM_ALWAYS_GOOD (~0u)

/* A node for the address, not connected. */
struct probe *probe_new(const char *url);
/* The same, or NULL if there is no memory for the node. */
struct probe *probe_try(const char *url, const char *user,
                        const char *password);
struct probe *probe_new_login(const char *url, const char *user,
                              const char *password);
/* The same at the guarded level: its commands have a guard. */
struct probe *probe_new_guarded(const char *url);
void probe_free(struct probe *probe);
/* Only the memory; the node has been freed. */
void probe_forget(struct probe *probe);

/* Connects, and waits for READY. */
struct probe *probe_ready(const char *url);
struct probe *probe_ready_guarded(const char *url);

/* Sends a command with the round `round`, the name "lock" and a token. A
 * RECORD looks. */
ql_verdict probe_send(struct probe *probe, enum ql_command_kind kind,
                      uint32_t round, const char *token);
void probe_flush(struct probe *probe);

/* Moves the clock and lets the node do what is due. */
void probe_advance(struct probe *probe, uint64_t ms);
/* Moves the clock to the node's deadline. */
void probe_skip(struct probe *probe);

/* Real waiting for the socket, with the clock standing still. */
void probe_until_state(struct probe *probe, enum ql_node_state state);
void probe_until_answers(struct probe *probe, unsigned count);
/* One look at the socket, for at most `ms`. */
void probe_once(struct probe *probe, int ms);

/* Retries, moving the clock, until READY. */
void probe_reconnect(struct probe *probe);

/* The `index`th answer is for `round` and says `verdict`. */
const struct ql_answer *probe_expect(const struct probe *probe, unsigned index,
                                     uint32_t round, ql_verdict verdict);

#endif
