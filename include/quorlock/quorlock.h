/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * quorlock: a lock held on a majority of independent Redis or Valkey masters.
 *
 *     ql_client *client;
 *     ql_lock *lock;
 *
 *     ql_client_open(&client, "db1:6379,db2:6379,db3:6379", NULL);
 *     ql_lock_new(&lock, client, "order-42", NULL);
 *     if (ql_lock_acquire(lock) == QL_OK) {
 *         ... the work, for as long as ql_lock_valid_ms(lock) > 0 ...
 *         ql_lock_release(lock);
 *     }
 *     ql_lock_free(lock);
 *     ql_client_close(client);
 *
 * CAVEATS, before anything else
 *
 *  1. A lock with a time limit does not stop a holder that is paused. If your
 *     process is stopped for longer than the validity (SIGSTOP, swap, a live
 *     migration) another one may hold the lock when it wakes up. Ask
 *     ql_lock_valid_ms() before each step that must be exclusive, keep those
 *     steps short, and hand ql_lock_fence() to the resource, which refuses
 *     whoever comes with a smaller one than it has seen.
 *  2. Exclusion rests on clocks that run at about the same rate: one percent
 *     is allowed for (drift_ppm). A server expires keys by its wall clock. At
 *     the guarded level the clocks of a minority of nodes may be stepped, ahead
 *     by up to record_keep_ms; at the plain level one such step can give a lock
 *     that rests on a bare majority away again. The order of fencing tokens
 *     rests on no clock.
 *  3. A node that restarts without its data forgets its vote; so it does by
 *     FLUSHALL and by eviction. At the guarded level it then does not vote
 *     until that can do no harm, as long as a majority keeps its data. At the
 *     plain level nothing guards against it.
 *  4. The nodes must be independent masters. A replica that is promoted may
 *     have missed a vote. Every client must be given the same list of nodes.
 *  5. "Released" and "expired" are facts about a majority. A node that could
 *     not be reached keeps its key until the ttl runs out.
 *
 * CONVENTIONS
 *
 *  - Functions return QL_OK (0), a positive outcome that is no error (QL_HELD,
 *    QL_GONE), or a negative QL_E_ code. Out-parameters are named ret_ and are
 *    not touched on failure. ql_result_text() has a sentence for each code.
 *  - Names end in their unit: ttl_ms, wait_ms. Time is measured by a clock
 *    that counts suspend (CLOCK_BOOTTIME), never by the wall clock, except
 *    that a wall clock that ran ahead by more than a second (a virtual machine
 *    that was paused) may shorten a validity.
 *  - Strings handed in are copied; strings handed out belong to the object
 *    they were asked of and live until the next operation on it.
 *  - Threads: a client may be used by any number of threads at once. A lock
 *    handle belongs to one operation at a time: a second one started while one
 *    runs gets QL_E_STATE, except ql_lock_cancel(), ql_lock_valid_ms() and
 *    ql_lock_lost(), which may be called by any thread at any time.
 *  - The library writes nothing to stdio, installs no signal handler and
 *    changes no signal mask but that of its own thread.
 *  - fork(): a child may call ql_lock_free() and ql_client_close() to give
 *    memory and descriptors back, which does not touch the parent's locks.
 *    Everything else fails there with QL_E_FORKED.
 */
#ifndef QUORLOCK_QUORLOCK_H
#define QUORLOCK_QUORLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define QL_VERSION_MAJOR 0
#define QL_VERSION_MINOR 1
#define QL_VERSION_PATCH 0
#define QL_VERSION       "0.1.0"

#if defined(__GNUC__)
#define QL_API __attribute__((visibility("default")))
#else
#define QL_API
#endif

/* The version of the library in use, which may be newer than this header. */
QL_API const char *ql_version(void);

/* --- Results ------------------------------------------------------------ */

/*
 * X(name, value, sentence). What to do about each:
 *
 *   QL_HELD      Somebody else holds the lock. Wait, or do something else.
 *   QL_GONE      Release, extend or verify: the lock was not ours any more. If
 *                work was done under it, it may have overlapped with another's.
 *   QL_E_QUORUM  Too few nodes could be used. See the report; mend the nodes.
 *   QL_E_SPLIT   Enough nodes answered, but no majority came together in time:
 *                contention, a ttl shorter than the round trips, slow nodes.
 *                Try again.
 *   QL_E_LOST    The validity ended, or a majority no longer has our token.
 *                Stop the work. ql_lock_release() still tidies up.
 *   QL_E_UNSURE  Release: too few nodes answered to tell. The lock expires by
 *                itself, at the latest ql_lock_expires_ms() from now.
 *   QL_E_CAP     Extend: the cap on total hold time is reached.
 *   QL_E_CANCELLED  ql_lock_cancel() was called. Nothing is held.
 *   QL_E_AUTH    A majority is unusable because servers refuse the password or
 *                the user's rights. The report has the server's own words.
 *   QL_E_CONFIG  A majority is unusable because of how it is set up: a name
 *                that holds another type, a cluster's redirection, a replica,
 *                one server listed twice, nodes that were not initialised or
 *                are not this group's, a ttl above the group's longest.
 *   QL_E_INVALID An argument is out of range. Nothing was done.
 *   QL_E_STATE   Not possible now: the lock is not held, or is already held,
 *                or another operation runs on it.
 *   QL_E_NOMEM   Out of memory. Nothing is held unless it was before.
 *   QL_E_SYSTEM  A system call failed; errno says why.
 *   QL_E_RANDOM  The source of random bytes failed. Nothing is held.
 *   QL_E_FORKED  The client was opened by another process (see fork above).
 */
#define QL_RESULT_MAP(X)                                                       \
    X(QL_OK, 0, "done")                                                        \
    X(QL_HELD, 1, "held by another holder")                                    \
    X(QL_GONE, 2, "no longer ours: expired, or taken by another holder")       \
    X(QL_E_QUORUM, -1, "too few nodes could be used")                          \
    X(QL_E_SPLIT, -2, "the nodes answered, but no majority in time")           \
    X(QL_E_LOST, -3, "the lock was lost")                                      \
    X(QL_E_UNSURE, -4, "too few nodes answered to tell")                       \
    X(QL_E_CAP, -5, "the cap on total hold time is reached")                   \
    X(QL_E_CANCELLED, -6, "cancelled")                                         \
    X(QL_E_AUTH, -7, "the servers refuse the password or the user's rights")   \
    X(QL_E_CONFIG, -8, "the servers are not set up for this lock")             \
    X(QL_E_INVALID, -9, "invalid argument")                                    \
    X(QL_E_STATE, -10, "not possible in the lock's present state")             \
    X(QL_E_NOMEM, -11, "out of memory")                                        \
    X(QL_E_SYSTEM, -12, "a system call failed")                                \
    X(QL_E_RANDOM, -13, "the source of random bytes failed")                   \
    X(QL_E_FORKED, -14, "the client belongs to another process")

#define QL_RESULT_ENUM(name, value, text) name = value,
enum ql_result { QL_RESULT_MAP(QL_RESULT_ENUM) };
#undef QL_RESULT_ENUM

/* "QL_HELD" and "held by another holder"; never NULL. */
QL_API const char *ql_result_name(int result);
QL_API const char *ql_result_text(int result);

/* --- One node's answer -------------------------------------------------- */

/* X(name, word, class). The word is what reports and --json print. */
#define QL_VERDICT_MAP(X)                                                      \
    X(QL_V_NONE, "not asked")                                                  \
    X(QL_V_PENDING, "pending") /* decided without it; may yet come */          \
    X(QL_V_GRANTED, "granted")                                                 \
    X(QL_V_HELD, "held")             /* another's token is there */            \
    X(QL_V_MISSING, "missing")       /* no key there */                        \
    X(QL_V_TIMEOUT, "timeout")       /* no answer in time */                   \
    X(QL_V_SUSPECT, "suspect")       /* silent before; not waited for */       \
    X(QL_V_CONNECTING, "connecting") /* no connection in time */               \
    X(QL_V_REFUSED, "refused")       /* connection refused */                  \
    X(QL_V_CONNECTION, "connection") /* other connection error */              \
    X(QL_V_RESOLVE, "resolve")       /* the host name has no address */        \
    X(QL_V_NOAUTH, "noauth")         /* password wanted or wrong */            \
    X(QL_V_NOPERM, "noperm")         /* the ACL forbids a command */           \
    X(QL_V_LOADING, "loading")       /* the server is starting */              \
    X(QL_V_READONLY, "readonly")     /* a replica */                           \
    X(QL_V_MISCONF, "misconf")       /* it cannot save, and refuses */         \
    X(QL_V_OOM, "oom")               /* maxmemory is reached */                \
    X(QL_V_BUSY, "busy")             /* a script runs too long */              \
    X(QL_V_WRONGTYPE, "wrongtype")   /* the name holds another type */         \
    X(QL_V_MOVED, "moved")           /* a cluster node without the slot */     \
    X(QL_V_NOREPLICAS, "noreplicas") /* min-replicas-to-write */               \
    X(QL_V_MAXCLIENTS, "maxclients") /* no connection left */                  \
    X(QL_V_DUPLICATE, "duplicate")   /* the same server is listed twice */     \
    X(QL_V_ERROR, "error")           /* another error of the server */         \
    X(QL_V_PROTOCOL, "protocol")     /* bytes that are no valid answer */      \
    X(QL_V_QUEUE, "queue")           /* too much unanswered already */         \
    X(QL_V_REPAIRED, "repaired")     /* our key was gone; put back, no vote */ \
    X(QL_V_NOTREADY, "not ready")    /* restarted, or lost its data */         \
    X(QL_V_CLOCK, "clock")           /* its clock disagrees with the others */ \
    X(QL_V_GROUP, "group")           /* not initialised, or of other nodes */  \
    X(QL_V_TTL, "ttl")               /* longer than the group allows */        \
    X(QL_V_EVICTION, "eviction")     /* it may throw keys away */              \
    X(QL_V_NOMEM, "nomem")           /* out of memory on our side */

#define QL_VERDICT_ENUM(name, word) name,
typedef enum ql_verdict {
    QL_VERDICT_MAP(QL_VERDICT_ENUM) QL_V_COUNT
} ql_verdict;
#undef QL_VERDICT_ENUM

QL_API const char *ql_verdict_word(ql_verdict verdict);

#define QL_NODES_MAX  32         /* nodes of one client */
#define QL_NAME_MAX   (1u << 20) /* bytes of a lock's name */
#define QL_TOKEN_MAX  64         /* characters of a token */
#define QL_LABEL_MAX  87         /* characters of an owner label */
#define QL_TEXT_MAX   160        /* bytes of a report's text, with the NUL */
#define QL_TTL_MAX_MS ((uint32_t)24 * 3600 * 1000) /* one day */

/* What one node said in the last operation on a lock. */
typedef struct ql_node_report {
    const char *address; /* as listed, without user and password */
    ql_verdict verdict;
    int64_t remaining_ms; /* of the holder's key there; -1: not known */
    int64_t took_us;      /* from our request to its answer; -1: none */
    /*
     * QL_V_HELD: the holder's label, or the start of a foreign client's value.
     * Errors: the server's or the system's own words. Otherwise "". Control
     * characters have been replaced; it is safe to print.
     */
    char text[QL_TEXT_MAX];
} ql_node_report;

/* --- Client ------------------------------------------------------------- */

typedef struct ql_client ql_client;
typedef struct ql_lock ql_lock;

/*
 * How much is done for the lock's safety. The levels exclude each other and
 * other Redlock clients, since each of them writes the plain key.
 *
 *   QL_LEVEL_PLAIN    Redlock as its page describes it. Works without Lua
 *                     rights on other keys, and on nodes that nobody prepared.
 *   QL_LEVEL_GUARDED  Also a fencing token; a node whose clock is off, or that
 *                     was restarted, flushed or promoted, does not vote. The
 *                     nodes are initialised once: quorlock-init(1).
 *   QL_LEVEL_STRICT   Also looks in each request whether the server behind the
 *                     connection is still the same process: for proxies.
 */
enum ql_level {
    QL_LEVEL_DEFAULT, /* guarded */
    QL_LEVEL_PLAIN,
    QL_LEVEL_GUARDED,
    QL_LEVEL_STRICT,
};

/*
 * Memory functions with malloc(3)'s contracts. They are called by any thread
 * that uses the client. The RESP codec (hiredis) uses malloc(3) itself.
 */
typedef struct ql_allocator {
    void *(*allocate)(size_t size, void *arg);
    void *(*resize)(void *memory, size_t size, void *arg);
    void (*release)(void *memory, void *arg);
    void *arg;
} ql_allocator;

/*
 * Writes a token of 1 to QL_TOKEN_MAX printable characters without spaces, and
 * a NUL. It must not be guessable and never come twice. Returns 0, or -1 to
 * fail the attempt (QL_E_RANDOM).
 */
typedef int ql_token_fn(char token[QL_TOKEN_MAX + 1], void *arg);

/* Set with QL_CLIENT_OPTIONS_INIT; a zero or NULL asks for the default. */
typedef struct ql_client_options {
    size_t size; /* sizeof(ql_client_options): lets fields be added */
    /*
     * How long one node is waited for, per request. Small against the ttl, so
     * that a dead node costs nothing. Default 50, at most 60000.
     */
    uint32_t node_timeout_ms;
    /* How long connecting to a node may take, apart. Default 500. */
    uint32_t connect_timeout_ms;
    /*
     * How much faster another clock may run than ours, in millionths of the
     * ttl; 2 ms come on top. Default 10000 (one percent), as on the Redlock
     * page. At most 500000.
     */
    uint32_t drift_ppm;
    /*
     * Who we are, for others to read: up to QL_LABEL_MAX characters. NULL:
     * "host:pid:program". "": none.
     */
    const char *label;
    /* Used for servers whose URL has no user or password of its own. */
    const char *user;
    const char *password;
    ql_token_fn *token; /* NULL: 20 bytes of getrandom(2), as 40 hex digits */
    void *token_arg;
    const ql_allocator *allocator; /* NULL: malloc(3) and friends; copied */
    enum ql_level level;           /* default QL_LEVEL_GUARDED */
    /*
     * Guarded: how long a node remembers a lock after its end, for the fencing
     * token and to tell that its holder died. Default one day.
     */
    uint32_t record_keep_ms;
} ql_client_options;

#define QL_CLIENT_OPTIONS_INIT                                                 \
    {                                                                          \
        sizeof(ql_client_options), 0, 0, 0, NULL, NULL, NULL, NULL, NULL,      \
            NULL, QL_LEVEL_DEFAULT, 0                                          \
    }

/*
 * Opens a client for the masters listed in `servers`, separated by commas or
 * white space: redis://[[user]:password@]host[:port][/db], host[:port],
 * [v6address]:port, unix:///path[?db=N], or /path. Parts of user and password
 * may be percent-encoded. The number of nodes is fixed here, and so is the
 * majority: floor(N/2)+1.
 *
 * Host names are resolved here, so this call can take as long as the
 * resolver does; it connects to nothing yet, and a host that cannot be
 * resolved is a node that is down. QL_E_INVALID: the list is empty, too long
 * (QL_NODES_MAX) or malformed: ql_servers_check() has the sentence.
 */
QL_API int ql_client_open(ql_client **ret_client, const char *servers,
                          const ql_client_options *options);

/*
 * Checks a list as ql_client_open() would. Returns the number of nodes, or
 * QL_E_INVALID and, in `error`, a sentence that names the faulty part but no
 * password.
 */
QL_API int ql_servers_check(const char *servers, char *error, size_t size);

/*
 * Lets go of the client. Its locks must have been freed before. Releases that
 * are still on their way are given up to node_timeout_ms; to a node whose
 * connection broke over one, up to connect_timeout_ms. NULL is allowed.
 */
QL_API void ql_client_close(ql_client *client);

QL_API unsigned ql_client_nodes(const ql_client *client);
QL_API unsigned ql_client_quorum(const ql_client *client);

/* What is known of one node: from its last handshake, or why there is none. */
typedef struct ql_node_info {
    const char *address;    /* as listed, without user and password */
    bool ready;             /* connected, and answering */
    ql_verdict verdict;     /* QL_V_GRANTED if ready, else what is wrong */
    char text[QL_TEXT_MAX]; /* the words that go with the verdict */
    char run_id[41];        /* "" where INFO is not allowed */
    char version[16];       /* of the server; "" likewise */
    char eviction[32];      /* maxmemory-policy; "" likewise */
    bool replica;           /* it said so itself */
} ql_node_info;

/* Fills in what is known of node `index`. QL_E_INVALID: no such node. */
QL_API int ql_client_node(ql_client *client, unsigned index,
                          ql_node_info *ret_info);

/*
 * Connects to all nodes and waits until each is ready or has failed, at most
 * connect_timeout_ms. Not needed before a lock; useful for looking at nodes.
 * QL_OK when a majority is ready, otherwise as ql_lock_acquire() would fail.
 */
QL_API int ql_client_connect(ql_client *client);

/* --- Lock --------------------------------------------------------------- */

/*
 * How long to wait before attempt `attempt` (2, 3, ...), in milliseconds. It is
 * called with internal locks held: it must not call the library or block.
 */
typedef uint32_t ql_retry_fn(unsigned attempt, void *arg);

/*
 * Told once that a lock is lost: `result` is QL_E_LOST (no majority could be
 * renewed in time, or a majority has no key of ours) or QL_E_CAP. Called by the
 * thread that notices: ql_client_process(), a blocking call, or the library's
 * own thread. Other locks may be worked on from it, and `lock` too, except that
 * it must not be freed.
 */
typedef void ql_lost_fn(ql_lock *lock, int result, void *arg);

#define QL_WAIT_FOREVER ((int64_t)-1)

/* Set with QL_LOCK_OPTIONS_INIT. */
typedef struct ql_lock_options {
    size_t size;     /* sizeof(ql_lock_options) */
    size_t name_len; /* 0: the name is a string; else its bytes, NULs too */
    /* How long the lock lasts without renewal. 1 to QL_TTL_MAX_MS; 10000. */
    uint32_t ttl_ms;
    /*
     * How long ql_lock_acquire() goes on trying: 0 tries once. It may return up
     * to two node timeouts later. Default QL_WAIT_FOREVER.
     */
    int64_t wait_ms;
    uint32_t tries; /* at most so many attempts; 0: no limit. */
    /*
     * Between attempts: uniformly random in [retry_delay_ms / 2,
     * retry_delay_ms]. Default 200. Or the caller's own function.
     */
    uint32_t retry_delay_ms;
    ql_retry_fn *retry;
    void *retry_arg;
    /* Renew by itself, at a third of the ttl, until released or lost. */
    bool renew;
    /* The lock is never held longer than this in all; 0: no cap. */
    uint32_t max_hold_ms;
    /*
     * With renew: how long before the validity ends a failing renewal is
     * reported as loss. 0: a tenth of the ttl, at most 1000.
     */
    uint32_t loss_notice_ms;
    ql_lost_fn *lost;
    void *lost_arg;
    /*
     * Guarded: if this holder ends without releasing, nobody gets the lock for
     * so much longer, so that what it had begun can come to an end. Default 0;
     * at most QL_TTL_MAX_MS.
     */
    uint32_t lock_delay_ms;
} ql_lock_options;

#define QL_LOCK_OPTIONS_INIT                                                   \
    {                                                                          \
        sizeof(ql_lock_options), 0, 0, QL_WAIT_FOREVER, 0, 0, NULL, NULL,      \
            false, 0, 0, NULL, NULL, 0                                         \
    }

/*
 * Makes a handle for the lock called `name`. The name is the key on the
 * servers, byte for byte, 1 to QL_NAME_MAX bytes: it must not be the key of any
 * data, and at the guarded level it must not begin with "quorlock:". Talks to
 * no server. QL_E_INVALID, QL_E_NOMEM, QL_E_FORKED.
 */
QL_API int ql_lock_new(ql_lock **ret_lock, ql_client *client, const char *name,
                       const ql_lock_options *options);

/*
 * Frees the handle. A lock that is held is released first, without waiting for
 * the answers; an operation that runs is cancelled and its callback not called.
 * NULL is allowed.
 */
QL_API void ql_lock_free(ql_lock *lock);

/*
 * Frees the handle like ql_lock_free(), but leaves the lock to whoever knows
 * its token: it is neither released nor renewed, and lasts until its ttl ends.
 */
QL_API void ql_lock_leave(ql_lock *lock);

/*
 * Acquires the lock as the handle's options say: waits, or tries once.
 *
 * QL_OK: held for ql_lock_valid_ms() from now. QL_HELD, QL_E_QUORUM,
 * QL_E_SPLIT, QL_E_AUTH, QL_E_CONFIG, QL_E_CANCELLED, QL_E_RANDOM: nothing is
 * held, and every node that was sent anything has been sent a release too.
 * QL_E_SYSTEM: the thread for renewal could not be started. QL_E_STATE: this
 * handle holds the lock already, or has lost it and was not released since.
 */
QL_API int ql_lock_acquire(ql_lock *lock);

/* The same, but one attempt only, or for at most `wait_ms`. */
QL_API int ql_lock_try(ql_lock *lock);
QL_API int ql_lock_timed(ql_lock *lock, int64_t wait_ms);

/*
 * Takes over a lock that another process acquired, by its token, so that it can
 * be extended, verified or released here. Talks to no server and promises no
 * validity: ql_lock_valid_ms() is 0 until ql_lock_extend() has said QL_OK. Then
 * the lock is ours from that moment on; whether another held it in between
 * cannot be told from a token alone.
 */
QL_API int ql_lock_adopt(ql_lock *lock, const char *token);

/*
 * Lets the lock last `ttl_ms` from now (0: the handle's ttl_ms), if a majority
 * still has our token and our own validity has not ended.
 *
 * QL_OK. QL_GONE: a majority does not have our token; the lock is lost.
 * QL_E_LOST: our own validity has ended, nothing was asked. QL_E_CAP: not
 * longer, by max_hold_ms. QL_E_QUORUM: too few nodes answered; the lock lasts
 * as long as it did.
 */
QL_API int ql_lock_extend(ql_lock *lock, uint32_t ttl_ms);

/*
 * Releases the lock on every node that was ever sent it.
 *
 * QL_OK: a majority deleted our key. QL_GONE: the lock was already gone, or
 * somebody else's: check what was done under it. QL_E_UNSURE: too few
 * answered. In each case the handle holds nothing any more. QL_E_STATE: it
 * held nothing before.
 */
QL_API int ql_lock_release(ql_lock *lock);

/*
 * Asks the servers whether a majority still has our token. QL_OK, QL_GONE,
 * QL_E_QUORUM (cannot tell). Can shorten the validity, never lengthen it.
 */
QL_API int ql_lock_verify(ql_lock *lock);

/*
 * Looks at the lock without touching it, whoever holds it; the handle need
 * hold nothing. QL_OK: free (no key on a majority). QL_HELD: one holder has a
 * majority. QL_E_SPLIT: keys, but no majority. QL_E_QUORUM: cannot tell. The
 * report has each node's view.
 */
QL_API int ql_lock_inspect(ql_lock *lock);

/*
 * Makes a running ql_lock_acquire() or other operation on this handle return
 * QL_E_CANCELLED (or its own result, if that came first). The tidying up is
 * not cancelled. May be called from any thread, but not from a signal handler.
 */
QL_API void ql_lock_cancel(ql_lock *lock);

/*
 * For how long the lock is surely ours: by our own clock alone, no network. 0:
 * it is not. Ask before each step that must be exclusive.
 */
QL_API int64_t ql_lock_valid_ms(const ql_lock *lock);

/*
 * When the keys have expired on every node, at the latest: in so many
 * milliseconds. 0: there are none. For QL_E_UNSURE. A request that is held up
 * on its way for longer than the node timeout can set one that much later.
 */
QL_API int64_t ql_lock_expires_ms(const ql_lock *lock);

/* 0, or the result with which the held lock was lost. */
QL_API int ql_lock_lost(const ql_lock *lock);

/*
 * A descriptor that becomes readable when the lock is lost; made at the first
 * call, closed with the handle. Do not read it or close it. -1: errno.
 */
QL_API int ql_lock_lost_fd(ql_lock *lock);

/* The token of the last attempt; "" before the first. */
QL_API const char *ql_lock_token(const ql_lock *lock);

/*
 * The fencing token of the lock that is or was last held: larger than that of
 * every earlier holder of the name, and below 2^53. Hand it to the resource,
 * which refuses smaller ones than it has seen. 0: none (plain level, never
 * held, or adopted and not extended yet).
 */
QL_API uint64_t ql_lock_fence(const ql_lock *lock);

/*
 * Whether the holder before us ended without releasing (the mark of a robust
 * mutex, EOWNERDEAD): what the lock protects may be half done. Guarded level
 * only. A contender that died in the middle of an attempt can look the same.
 */
QL_API bool ql_lock_owner_died(const ql_lock *lock);

/*
 * What each node said in the last operation: ql_client_nodes() entries, or
 * NULL when there was none or memory ran out. Do not call it while an
 * operation runs. A late answer still changes it.
 */
QL_API const ql_node_report *ql_lock_report(const ql_lock *lock);

/* The last operation's result and the nodes' verdicts in one sentence. */
QL_API const char *ql_lock_error(ql_lock *lock);

/* --- For programs with their own event loop ------------------------------ */

/*
 * A descriptor that is readable whenever ql_client_process() has something to
 * do: bytes to read, a deadline that passed. It is for poll(2) and its kin
 * alone. The client keeps it. -1: errno.
 */
QL_API int ql_client_fd(ql_client *client);

/*
 * Does what can be done without waiting: reads, writes, deadlines, renewals;
 * then calls the callbacks of operations that have ended. Returns QL_OK, or
 * QL_E_FORKED, QL_E_SYSTEM.
 */
QL_API int ql_client_process(ql_client *client);

/*
 * Told once that the operation has ended; `result` is what the blocking
 * function would have returned. Called by whoever notices: ql_client_process(),
 * a blocking call of another thread on the same client, or the library's own
 * thread if there is one; never from the function that started the operation.
 * It may call any function here, free the lock included.
 */
typedef void ql_done_fn(ql_lock *lock, int result, void *arg);

/*
 * Start the operation and return at once: QL_OK, or the error for which it was
 * not started (then the callback is not called).
 */
QL_API int ql_lock_acquire_start(ql_lock *lock, ql_done_fn *done, void *arg);
QL_API int ql_lock_acquire_start_timed(ql_lock *lock, int64_t wait_ms,
                                       ql_done_fn *done, void *arg);
QL_API int ql_lock_extend_start(ql_lock *lock, uint32_t ttl_ms,
                                ql_done_fn *done, void *arg);
QL_API int ql_lock_release_start(ql_lock *lock, ql_done_fn *done, void *arg);
QL_API int ql_lock_verify_start(ql_lock *lock, ql_done_fn *done, void *arg);
QL_API int ql_lock_inspect_start(ql_lock *lock, ql_done_fn *done, void *arg);

#ifdef __cplusplus
}
#endif

#endif
