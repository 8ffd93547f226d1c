/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The nodes of a group as an operator sees them: asked one after the other,
 * each with its time limits. No locks here; those are in lock.h.
 */
#ifndef QL_ADMIN_NODE_H
#define QL_ADMIN_NODE_H

#include "admin/link.h"
#include "guard/group.h"

#define ADMIN_NODE_KEY "quorlock:node"

/* What of its data a server finds again after a crash. */
enum admin_keeps {
    ADMIN_KEEPS_UNKNOWN, /* CONFIG GET or INFO is not allowed */
    ADMIN_KEEPS_NOTHING,
    ADMIN_KEEPS_SNAPSHOTS, /* RDB only */
    ADMIN_KEEPS_MOST,      /* AOF, but not fsynced at each write */
    ADMIN_KEEPS_ALL,       /* AOF with appendfsync always */
};

struct admin_node {
    struct ql_address address;
    struct admin_link link;
    ql_verdict verdict; /* GRANTED: it could be looked at */
    char text[QL_TEXT_MAX];
    struct ql_sight sight;
    char version[24];
    bool valkey;
    bool promoted; /* it was a replica in this life */
    enum admin_keeps keeps;
    int64_t maxmemory; /* -1: not known; 0: no limit */
    /* What its TIME was, and when by our clock; took_us is the round trip. */
    uint64_t time_us;
    int64_t at_ns;
    int64_t took_us;
};

struct admin {
    struct admin_node *node;
    unsigned count, quorum;
    const char *user, *password; /* for addresses without; the caller's */
    int64_t connect_ms, answer_ms;
    uint32_t drift_ppm;
};

/*
 * Reads the list, and connects to nothing. 0, QL_E_NOMEM, or QL_E_INVALID
 * with a sentence in `error`. The caller has set the other members.
 */
int admin_open(struct admin *admin, const char *servers, char *error,
               size_t size);
void admin_close(struct admin *admin);

/* Puts one more at the end of the list; as above. */
int admin_add(struct admin *admin, const char *text, char *error, size_t size);

/* Takes node `index` out of the list. */
void admin_drop(struct admin *admin, unsigned index);

/* Connects and logs in, if that is not done. False: verdict and text. */
bool admin_reach(const struct admin *admin, struct admin_node *node);

/* Looks at the node: what it is, what it keeps, its record, its TIME. False:
 * it could not be reached; verdict and text say why. */
bool admin_look(const struct admin *admin, struct admin_node *node);
/* At all of them; returns how many could be. */
unsigned admin_look_all(struct admin *admin);

/*
 * Asks one command, a string per word. NULL: the connection is gone, verdict
 * and text say why. An error reply is an answer; but verdict and text tell of
 * it, too.
 */
redisReply *admin_ask(const struct admin *admin, struct admin_node *node,
                      const char *const *words);

/*
 * Runs the script `name` of lua/, loading it where that is wanted. `words` are
 * keys, of which there are `keys`, and arguments.
 */
redisReply *admin_script(const struct admin *admin, struct admin_node *node,
                         const char *name, int keys,
                         const struct admin_words *words);

/* Verdict and text of the node from an error reply; false if it is none. */
bool admin_is_error(struct admin_node *node, const redisReply *reply);

/* Runs a verb of lua/node.lua; the record in `sight` is then as it answered. */
bool admin_record(const struct admin *admin, struct admin_node *node,
                  const char *const *words);

/* Its TIME, the sample with the shortest round trip of some. */
bool admin_time(const struct admin *admin, struct admin_node *node);

/* What the node's TIME is now, by its last sample; 0: not known. */
uint64_t admin_time_now(const struct admin_node *node);
/* The median of the nodes' TIME now; the lower of two. 0: none is known. */
uint64_t admin_median(const struct admin *admin);

#endif
