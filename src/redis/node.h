/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One server: a connection that looks after itself, and a queue of requests
 * that have not been answered yet. It knows nothing of quorums or locks.
 *
 * It never blocks and never reads a clock: the owner passes the time (the
 * nanoseconds of src/core/time.h), watches the descriptor, and calls back in.
 *
 *     DOWN ──► CONNECTING ──► GREETING ──► READY ◄──► SUSPECT
 *      ▲  retry_at   │            │          │           │
 *      └─────────────┴────────────┴──────────┴───────────┘  any error
 *
 * What it promises, which the core relies upon (core/machine.h):
 *
 *  - Requests reach the server in the order in which they were sent, or not at
 *    all. Each keeps its place in the queue until its answer has come, however
 *    late, so that no reply is ever taken for another request's.
 *  - ql_node_send() either takes the request, and then answers exactly once
 *    through `answer`; or says at once why not, and then nothing was sent and
 *    `answer` is not called. Answers come from ql_node_io() and ql_node_time()
 *    only, never from ql_node_send(), ql_node_flush() or ql_node_connect().
 *  - When the connection breaks, every request in the queue is answered with
 *    the verdict of the break. A release that the server has not confirmed then
 *    becomes a debt, paid first after the next greeting, or forgotten when its
 *    key must have expired. So nothing is left behind on a node that comes
 *    back. (An acquire that broke needs no debt: its lock, having sent it, will
 *    send a release.) A release that the server puts off (BUSY, MISCONF and the
 *    like) is a debt too, and tried again twice a second.
 *  - A node that gives no answer for node_timeout while one is due is SUSPECT:
 *    it takes no requests but releases, and becomes READY again at the next
 *    whole answer: a server that drips single bytes does not count as alive.
 *    The connection is kept, because closing it would give up the order between
 *    an acquire and its release that are on their way.
 *  - What could not be sent within node_timeout, because a connection was not
 *    ready or took no more, is not sent any more, releases excepted.
 *  - The queue is bounded in requests and bytes, whatever the server does.
 */
#ifndef QL_REDIS_NODE_H
#define QL_REDIS_NODE_H

#include "base/mem.h"
#include "guard/record.h"
#include "redis/address.h"

struct ql_node;

enum ql_command_kind {
    QL_CMD_SET,     /* SET name "token label" NX PX ttl */
    QL_CMD_EXTEND,  /* lua/extend.lua */
    QL_CMD_RELEASE, /* lua/release.lua */
    QL_CMD_INSPECT, /* lua/inspect.lua */
    QL_CMD_CONFIRM, /* lua/guarded_confirm.lua */
    QL_CMD_RECORD,  /* lua/node.lua: the node's own record */
};

/*
 * With it a command is carried out by its guarded script, lua/guarded_*.lua.
 * The node adds what it knows itself: its run_id, and the largest number that
 * it has answered with.
 */
struct ql_guard {
    const char *cfg; /* the group, as this client knows it */
    uint64_t fence;  /* ACQUIRE: proposed. CONFIRM, EXTEND: the token */
    uint64_t low_us, high_us; /* of the node's TIME */
    uint64_t linger_ms, keep_ms;
    bool strict;
    bool held; /* RELEASE: of a lock, not of an attempt that failed */
};

#define QL_RECORD_ARGS 9

/* Copied as far as needed by ql_node_send(). */
struct ql_command {
    enum ql_command_kind kind;
    uint32_t round;   /* comes back with the answer */
    void *owner;      /* comes back with the answer */
    const char *name; /* the key; may hold any bytes */
    size_t name_len;
    const char *token; /* a string; "" for an INSPECT that has none */
    const char *label; /* SET, guarded EXTEND: a string; "" for none */
    uint64_t ttl_ms;   /* SET, EXTEND: at least 1. RELEASE: the longest that
                          any of its keys was to live, for the debt */
    const struct ql_guard *guard; /* NULL: the plain level */
    /* RECORD: the verb and what follows it; NULL after the last. No name. */
    const char *record[QL_RECORD_ARGS + 1];
};

/*
 * The verdicts that a command can bring, besides the errors:
 *
 *   SET      GRANTED; HELD (nothing is known of the holder)
 *   EXTEND   GRANTED; MISSING; HELD with text and remaining_ms
 *   RELEASE  GRANTED (deleted); MISSING; HELD with text and remaining_ms
 *   INSPECT  GRANTED (our token) with remaining_ms; MISSING; HELD with both
 *   CONFIRM  GRANTED with fence; MISSING (not ours)
 *   RECORD   GRANTED with record
 *
 * With a guard also, and nothing was done then: NOTREADY with the script's
 * reason in text, CLOCK, TTL, GROUP (the reason is "cfg"); and for an EXTEND
 * REPAIRED.
 */
struct ql_answer {
    enum ql_command_kind kind;
    uint32_t round;
    void *owner;
    ql_verdict verdict;
    bool sent; /* false: not a byte of it has left this process */
    /* HELD: the value that is there, up to 160 bytes as the server sent them.
     * Errors: the server's or the system's words. Lives during the call. */
    const char *text;
    size_t text_len;
    int64_t remaining_ms; /* -1: not known, or the key has no expiry */
    uint64_t took_ns;     /* since it was sent */
    uint64_t time_us;     /* the node's TIME; 0: it was not in the answer */
    uint64_t fence;       /* GRANTED, REPAIRED, guarded INSPECT; 0: none */
    int prev;             /* GRANTED SET: 0 none, 1 released, 2 ended */
    uint64_t prev_fence;  /* and whose that was */
    const char *prev_token;
    const char *earlier; /* tokens, each after a space: holders before that one
                            who ended without a release */
    const struct ql_record *record; /* RECORD: as it is now */
};

/* Must not call back into the node, except for ql_node_send(). */
typedef void ql_node_answer_fn(struct ql_node *node,
                               const struct ql_answer *answer, void *ctx);
/* The greeting has ended, and run_id is known if it ever will be. Not called
 * when a SUSPECT node is READY again. It may call ql_node_bar(). */
typedef void ql_node_ready_fn(struct ql_node *node, void *ctx);

/* `fd` is about to be closed, and must not be watched any more. */
typedef void ql_node_closing_fn(struct ql_node *node, int fd, void *ctx);

struct ql_node_config {
    const ql_allocator *mem;          /* outlives the node */
    const struct ql_address *address; /* outlives the node */
    const char *user, *password;      /* for addresses without; may be NULL */
    uint64_t node_timeout_ns;
    uint64_t connect_timeout_ns;
    uint64_t seed; /* for the jitter of reconnecting */
    bool guarded;  /* the greeting also looks at the node's record */
    ql_node_answer_fn *answer;
    ql_node_ready_fn *ready;
    ql_node_closing_fn *closing;
    void *ctx;
};

enum ql_node_state {
    QL_NODE_DOWN,       /* no connection; the next try is at a known time */
    QL_NODE_CONNECTING, /* the kernel is at it */
    QL_NODE_GREETING,   /* AUTH, SELECT, INFO, SCRIPT LOAD are on their way */
    QL_NODE_READY,
    QL_NODE_SUSPECT,
};

/* NULL: out of memory. Resolves the host name, which may block; does not
 * connect yet. */
struct ql_node *ql_node_new(const struct ql_node_config *config);

/* Closes the connection: abortively if an acquire is unanswered and no release
 * stands behind it, so that the kernel will not deliver it after all; else in
 * order, so that the kernel still delivers the pair. `forked`: only gives the
 * descriptor and the memory back, because the connection is the parent's.
 * Unanswered requests are not answered any more. NULL is allowed. */
void ql_node_free(struct ql_node *node, bool forked);

/* Starts to connect if DOWN, whatever the time of the next try. */
void ql_node_connect(struct ql_node *node, uint64_t now);

/*
 * Queues a command; the bytes go out at ql_node_flush(). Returns QL_V_NONE if
 * it was taken. Otherwise the verdict says why not: the reason for which it is
 * DOWN, QL_V_SUSPECT, QL_V_QUEUE, QL_V_NOMEM, QL_V_DUPLICATE. While CONNECTING
 * or GREETING commands are taken, and go out when READY; but never while DOWN.
 *
 * RELEASE is special, since somebody must do it. When SUSPECT it is put on the
 * connection; when CONNECTING or GREETING it goes behind what is held back
 * there, so that it still undoes an acquire; when DOWN it becomes a debt. The
 * verdict returned then says that it will not be answered, and `owner` is
 * forgotten. Only for QL_V_QUEUE and QL_V_NOMEM is it not taken at all.
 */
ql_verdict ql_node_send(struct ql_node *node, const struct ql_command *command,
                        uint64_t now);

/* Writes what is queued, as much as the socket takes. */
void ql_node_flush(struct ql_node *node, uint64_t now);

/* The descriptor is readable, writable, or in error. */
void ql_node_io(struct ql_node *node, bool readable, bool writable,
                uint64_t now);

/* Does what is due: suspicion, time limits, reconnecting. */
void ql_node_time(struct ql_node *node, uint64_t now);

/* When ql_node_time() is due next; UINT64_MAX: never. */
uint64_t ql_node_deadline(const struct ql_node *node);

/*
 * The descriptor to watch, or -1, and whether it wants to write. The number
 * changes with each connection, so that a reused descriptor is not mistaken
 * for the one watched before.
 */
int ql_node_fd(const struct ql_node *node);
bool ql_node_wants_write(const struct ql_node *node);
uint64_t ql_node_connection(const struct ql_node *node);

enum ql_node_state ql_node_state(const struct ql_node *node);

/* Requests without an answer, and debts, that matter before closing: releases
 * that the server has not confirmed. */
unsigned ql_node_pending_releases(const struct ql_node *node);

/* READY from now on counts as `verdict`, in the words `text`, and nothing but
 * releases and RECORD is taken: QL_V_DUPLICATE. Until the next greeting, or
 * until QL_V_NONE is said. */
void ql_node_bar(struct ql_node *node, ql_verdict verdict, const char *text);

/* What the last greeting saw, for ql_group_judge(); reachable or not. */
void ql_node_sight(const struct ql_node *node, struct ql_sight *ret_sight);

/* What is known of it; the strings are copied. */
void ql_node_describe(const struct ql_node *node, ql_node_info *ret_info);

/* The SUSPECT or DOWN node's own words, "" if there are none. */
const char *ql_node_text(const struct ql_node *node);

#endif
