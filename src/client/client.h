/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of the client share. Everything in a ql_client and in its
 * locks is guarded by the client's mutex, except what never changes after it
 * was opened.
 *
 * A call comes in at the top, and what it leads to is further down:
 *
 *   open.c  api_client.c  api_lock.c  api_operation.c   the public functions
 *   keeper.c      a thread that renews while the caller is busy elsewhere
 *   loop.c        waits for the nodes' sockets and the timers
 *   operation.c   how a caller's request begins
 *   drive.c       carries out the machine's actions on the nodes
 *   watch.c       which nodes may vote, at the guarded level
 *   ending.c      how a caller's request ends;  callback.c  tells him
 *   report.c      what each node said
 */
#ifndef QL_CLIENT_CLIENT_H
#define QL_CLIENT_CLIENT_H

#include <pthread.h>
#include <sys/types.h>

#include "base/mem.h"
#include "client/clock.h"
#include "client/timers.h"
#include "client/watch.h"
#include "core/machine.h"
#include "redis/node.h"

/* One of the client's nodes, and what the epoll set knows of it. */
struct ql_member {
    struct ql_client *client;
    struct ql_node *node;
    unsigned index;
    uint64_t connection;
    int fd;
    bool writes;
    bool barred; /* READY, but the same server as another: it cannot vote */
};

/* A thread that sleeps until what it waits for has come, or until it is its
 * turn to drive the loop. On that thread's stack. */
struct ql_waiter {
    pthread_cond_t woken;
    bool sleeps; /* else it drives, or calls back */
    struct ql_waiter *next, **link;
};

/* A callback that is running. On its thread's stack. */
struct ql_call {
    struct ql_lock *lock; /* NULL: was freed by the callback itself */
    pthread_t thread;
    struct ql_call *next, **link;
};

struct ql_client {
    pthread_mutex_t mutex;
    pid_t pid; /* who opened it: a forked child is refused */
    ql_allocator mem;
    struct ql_rules rules;
    char label[QL_LABEL_MAX + 1];
    ql_token_fn *token;
    void *token_arg;
    char *user, *password; /* NULL: none */
    uint64_t connect_timeout_ns;

    struct ql_clock clock;
    struct ql_rand rand; /* seeds the machines */
    struct ql_address *address;
    struct ql_member *member; /* rules.nodes of them */
    struct ql_watch *watch;   /* NULL: the plain level */
    uint32_t dirty;           /* nodes with something to write, one bit each */

    int epoll_fd;
    int wake_fd;  /* eventfd: the driver shall look again */
    int timer_fd; /* for those who poll our descriptor, and for the keeper */
    uint64_t timer_at; /* what it is set to, by the kernel's boot-time clock;
                          UINT64_MAX: nothing */
    bool timer_used;
    bool driving;          /* a thread is waiting in the loop */
    uint64_t drives_until; /* and will look again by itself then */
    struct ql_waiter *waiters;
    unsigned settlers; /* waiters that want to look after every turn */
    struct ql_call *calls;
    pthread_cond_t called; /* a callback has returned */

    struct ql_timers timers;
    struct ql_lock *locks;    /* all of them, also those freed but awaited */
    struct ql_lock *finished; /* callbacks to call, first to last */
    unsigned gated;           /* operations that wait for connections */
    bool seasoned;            /* an operation has begun before */
    unsigned busy;            /* machines with a round on its way */

    pthread_t keeper;
    int keeper_fd; /* eventfd: the keeper shall look again */
    bool keeper_runs;
    bool keeper_stops;
};

enum ql_op_kind {
    QL_OP_NONE,
    QL_OP_ACQUIRE,
    QL_OP_EXTEND,
    QL_OP_RELEASE,
    QL_OP_VERIFY,
    QL_OP_INSPECT,
};

/* The caller's request that runs on a lock. */
struct ql_op {
    uint8_t kind; /* enum ql_op_kind */
    bool gated;   /* waits for connections before it starts */
    bool done;
    bool tell_done; /* the callback is due */
    bool tell_lost;
    int result;
    uint64_t gate_until; /* while gated: when to start all the same */
    uint64_t until;      /* ACQUIRE: when to stop trying */
    uint64_t ttl_ns;     /* EXTEND */
    ql_done_fn *callback;
    void *arg;
    struct ql_waiter *waiter;
};

/* What one node said; the words only where there are any. */
struct ql_note {
    char *text;
    int64_t remaining_ms;
    uint64_t sent_at;
    uint32_t took_us; /* UINT32_MAX: no answer */
    uint8_t verdict;  /* ql_verdict */
};

struct ql_lock {
    struct ql_timer timer; /* first: the heap's entries are locks */
    struct ql_client *client;
    struct ql_lock *next, **link; /* in client->locks */
    struct ql_lock *next_finished;
    char *name;
    size_t name_len;
    struct ql_terms terms;
    ql_lost_fn *lost_fn;
    void *lost_arg;
    int64_t wait_ms;
    struct ql_op op;
    int last_result;
    int lost;            /* 0, or why */
    int lost_fd;         /* -1: never asked for */
    uint32_t awaited;    /* requests whose answers will name this lock */
    uint64_t longest_ns; /* the longest ttl that was sent with the token */
    bool freed;          /* by the caller; goes when nothing is awaited */
    bool queued;         /* in client->finished */
    bool counted_busy;
    char token[QL_TOKEN_MAX + 1];
    struct ql_guard guard;     /* of the round that is on its way */
    uint32_t aimed_round;      /* which that is */
    bool aimed;                /* else the nodes' clocks did not allow it */
    struct ql_note *note;      /* one per node, behind the machine */
    ql_node_report *report;    /* made when asked for */
    char *error;               /* likewise */
    struct ql_machine machine; /* last: its length depends on the nodes */
};

/* --- servers.c, memory.c, open.c ----------------------------------------- */

/* The number of addresses put into `address`, of which there is room for
 * QL_NODES_MAX; or a negative result and a sentence in `error`. */
int ql_servers_parse(struct ql_address *address, const ql_allocator *mem,
                     const char *servers, char *error, size_t size);
extern const ql_allocator ql_default_allocator;
void ql_client_dispose(struct ql_client *client, bool forked);

/* --- handle.c ------------------------------------------------------------ */

/* NULL: out of memory. */
struct ql_lock *ql_handle_new(struct ql_client *client, const char *name,
                              size_t name_len);
void ql_handle_link(struct ql_lock *lock);
/* The end of a handle that was freed, when no answer names it any more. */
void ql_handle_dispose(struct ql_lock *lock);

/* --- operation.c -------------------------------------------------------- */

/* Starts what lock->op says, or lets it wait for connections first. */
void ql_op_start(struct ql_lock *lock);
void ql_op_pass_gate(struct ql_lock *lock);
/* Starts those that need wait no longer. */
void ql_op_check_gates(struct ql_client *client);
void ql_op_cancel(struct ql_lock *lock);
/* Whether a majority is ready, or no more can become so soon. */
bool ql_op_gate_open(const struct ql_client *client);
/* Whether a node that cannot vote may soon. */
bool ql_op_is_hopeful(const struct ql_member *member);
void ql_op_connect(struct ql_client *client);

/* --- ending.c, callback.c ------------------------------------------------ */

void ql_op_tell(struct ql_lock *lock, enum ql_outcome outcome);
void ql_op_finish(struct ql_lock *lock, int result);
/* Calls the callbacks that are due, without the mutex. */
void ql_op_call_back(struct ql_client *client);
/* Forgets callbacks that are due, and waits for one that runs elsewhere. */
void ql_op_hush(struct ql_lock *lock);

/* --- drive.c ------------------------------------------------------------ */

/* One event for one lock's machine, and all that follows from it. */
void ql_drive(struct ql_lock *lock, struct ql_event event);
/* Sets the timer to what the machine, or the gate, waits for next. */
void ql_drive_timer(struct ql_lock *lock);
void ql_drive_answer(struct ql_node *node, const struct ql_answer *answer,
                     void *ctx);

/* --- loop.c ------------------------------------------------------------- */

int ql_loop_init(struct ql_client *client);
void ql_loop_free(struct ql_client *client);
/* Looks at the sockets, waiting until `until` at most, and does what is due.
 * The mutex is let go while it waits. */
int ql_loop_once(struct ql_client *client, uint64_t until);
/* Sends what is queued and sets the timers: after anything was started. */
void ql_loop_settle(struct ql_client *client);
uint64_t ql_loop_deadline(const struct ql_client *client);
void ql_loop_closing(struct ql_member *member, int fd);
/* Drives the loop, or lets another thread do it, until `done` says so. */
void ql_loop_wait(struct ql_client *client, bool (*done)(void *arg), void *arg,
                  uint64_t until, struct ql_waiter **ret_waiter);
/* After having driven: lets another thread that wants to. */
void ql_loop_hand_over(struct ql_client *client);
/* Calls the callbacks that are due; meanwhile another thread may drive. */
void ql_loop_call_back(struct ql_client *client);

/* --- report.c ----------------------------------------------------------- */

void ql_note_reset(struct ql_lock *lock);
void ql_note_sent(struct ql_lock *lock, unsigned node);
void ql_note_verdict(struct ql_lock *lock, unsigned node, ql_verdict verdict,
                     const char *text);
void ql_note_answer(struct ql_lock *lock, unsigned node,
                    const struct ql_answer *answer);
/* The operation has ended: who was waited for and has not answered is late. */
void ql_note_settle(struct ql_lock *lock);
void ql_note_free(struct ql_lock *lock);
/* What "too few nodes" comes down to, by their verdicts. */
int ql_note_refine(const struct ql_lock *lock);

/* --- keeper.c ----------------------------------------------------------- */

int ql_keeper_start(struct ql_client *client);
void ql_keeper_stop(struct ql_client *client);

/* --- wake.c -------------------------------------------------------------- */

void ql_loop_wake(struct ql_client *client);
void ql_keeper_wake(struct ql_client *client);

/* --- verdict.c ---------------------------------------------------------- */

enum ql_vote ql_vote_of(ql_verdict verdict, bool sent);
/* What to call it that there is no majority, if so many nodes lack the right or
 * are set up wrongly. */
int ql_result_of_failures(const struct ql_rules *rules, unsigned auth,
                          unsigned config);

#endif
