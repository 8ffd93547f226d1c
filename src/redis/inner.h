/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A node from inside. node.c is its face, due.c its clockwork, connection.c
 * makes and breaks connections and writes, receive.c reads, greet.c says hello,
 * seen.c remembers what a guarded server showed, and tell.c answers the owner.
 */
#ifndef QL_REDIS_INNER_H
#define QL_REDIS_INNER_H

#include "redis/node.h"
#include "redis/queue.h"
#include "redis/reply.h"
#include "redis/resolve.h"
#include "redis/script.h"
#include "redis/socket.h"

#define QL_NS_PER_S UINT64_C(1000000000)

/* What must be so for a server to have every write on disk before it answers,
 * and to have had every write that was ever answered. */
enum {
    QL_SAVES_LOG = 1,     /* it has an AOF, and could write to it */
    QL_SAVES_ALWAYS = 2,  /* it waits for the disk each time */
    QL_SAVES_REWRITE = 4, /* while it rewrites the AOF, too */
    QL_SAVES_ITS_OWN = 8, /* it was no replica, which may miss the last ones */
    QL_SAVES_ALL = 15,
};

struct ql_node {
    struct ql_node_config config; /* user and password are copies */
    struct ql_places places;
    unsigned place; /* to be tried next, or in use */
    unsigned tried; /* in this attempt to connect */

    enum ql_node_state state;
    int fd; /* -1: none */
    uint64_t connection;
    int write_error; /* an errno; the connection is broken soon */
    redisReader *reader;
    struct ql_queue queue; /* empty while DOWN */
    struct ql_queue debts; /* releases that no connection carries now */
    uint64_t pay_at;       /* READY: when the debts are tried again */
    bool loading[QL_SCRIPTS];

    uint64_t until;      /* CONNECTING, GREETING: the time limit */
    uint64_t retry_at;   /* DOWN */
    uint64_t backoff_ns; /* before the last retry */
    uint64_t ready_at;   /* when the greeting ended */
    uint64_t heard_at;   /* when the last reply came */
    uint64_t suspect_at;
    uint64_t greeted_at; /* when the greeting began to be sent */
    uint64_t seed;

    ql_verdict reason; /* QL_V_GRANTED while READY */
    char text[QL_TEXT_MAX];
    ql_verdict bar; /* QL_V_NONE: not barred */
    char bar_text[QL_TEXT_MAX];
    bool barring; /* what is queued must be looked through */

    char run_id[41];
    char version[16];
    char eviction[32];
    bool replica;

    /* The guarded level only. What is not above is in the sight. */
    struct ql_sight sight;
    unsigned saves; /* QL_SAVES_... */
    /* The largest number that it answered in this run_id's life, and the TIME
     * of that answer. */
    uint64_t seen, seen_us;

    struct ql_reply reply;
};

/* connection.c */

/* DOWN to CONNECTING, or further, or DOWN again. */
void ql_connection_start(struct ql_node *node, uint64_t now);
/* The kernel may have finished connecting. */
void ql_connection_check(struct ql_node *node, uint64_t now);
/* The next attempt shall begin with another of the host's addresses. */
void ql_connection_rotate(struct ql_node *node);
void ql_connection_write(struct ql_node *node);
void ql_connection_close(struct ql_node *node, enum ql_socket_end end);
/*
 * Closes the connection, answers what is in the queue, and plans the next
 * attempt. `text` is `len` bytes of anybody's words.
 */
void ql_connection_break(struct ql_node *node, ql_verdict verdict,
                         const char *text, size_t len, uint64_t now);
/* The same with a sentence of ours. */
void ql_connection_fail(struct ql_node *node, ql_verdict verdict,
                        const char *text, uint64_t now);
/* Takes over a release that no connection carries: a debt. The oldest ones are
 * forgotten when there are too many; their keys expire by themselves. */
void ql_connection_owe(struct ql_node *node, struct ql_request *request,
                       uint64_t now);
/* Sends the debts. False: out of memory. */
bool ql_connection_pay(struct ql_node *node, uint64_t now);
/* Answers what must not be sent to a barred node. */
void ql_connection_bar(struct ql_node *node, uint64_t now);
/* Answers what has waited to be sent for longer than it is waited for: a key
 * that is set so late would outlive what its owner was told. */
void ql_connection_expire(struct ql_node *node, uint64_t now);

/* receive.c */

/* Reads what is there and deals with each reply. */
void ql_receive(struct ql_node *node, uint64_t now);

/* seen.c */

/* The node's record, as answered to a question that was sent at `sent_ns`. */
void ql_seen_record(struct ql_node *node, const struct ql_record *record,
                    uint64_t sent_ns, uint64_t now);
/* The largest number that an answer had. */
void ql_seen_number(struct ql_node *node, const struct ql_answer *answer);

/* tell.c */

/* Hands the answer to whoever sent the request, if he wants it. */
void ql_tell_answer(struct ql_node *node, const struct ql_request *request,
                    struct ql_answer *answer, uint64_t now);
/* An answer that no reply brought. */
void ql_tell_without(struct ql_node *node, const struct ql_request *request,
                     bool sent, ql_verdict verdict, const char *text,
                     uint64_t now);

/* greet.c */

/* Queues the greeting. False: out of memory. */
bool ql_greet(struct ql_node *node, uint64_t now);
/* One of its replies. QL_V_NONE: good; else the connection must be broken, for
 * the reason in `text`. */
ql_verdict ql_greet_reply(struct ql_node *node,
                          const struct ql_request *request,
                          char text[QL_TEXT_MAX], uint64_t now);

#endif
