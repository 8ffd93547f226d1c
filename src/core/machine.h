/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Redlock algorithm as a pure machine: one per lock handle.
 *
 * Events go in with the time at which they happened; actions come out, to be
 * carried out in the order in which they stand. Nothing here reads a clock,
 * draws a random number, allocates, or talks to a server, and a step cannot
 * fail. The client (src/client/) is the one that touches the world; so is the
 * story test's driver, with a clock of its own.
 *
 * The contract with whoever carries out the actions:
 *
 *  1. Requests to one node arrive there in the order in which they were sent,
 *     or not at all. A connection that breaks takes what it had not delivered
 *     with it, and reports every request it carried as failed. So a release
 *     sent behind an acquire undoes it, however late both arrive; and a confirm
 *     may be sent behind an acquire that has not been answered.
 *  2. Every SEND is answered by exactly one QL_EV_VOTE, possibly late, or by
 *     none if the lock has been given up since.
 *  3. Answers are voted at the time when they were parsed, not when they were
 *     received; `now` never goes back.
 *  4. ql_step(QL_EV_TIME) is called at ql_machine_deadline() or soon after.
 */
#ifndef QL_CORE_MACHINE_H
#define QL_CORE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/ballot.h"
#include "core/rand.h"

/* What a client's locks have in common; constant while any of them lives. */
struct ql_rules {
    unsigned nodes;
    unsigned quorum; /* floor(nodes / 2) + 1, never less */
    uint64_t node_timeout_ns;
    uint64_t linger_ns; /* fenced: nodes remember a lease so much longer */
    uint32_t drift_ppm;
    bool fenced; /* every grant carries a fencing token */
};

typedef uint32_t ql_delay_fn(unsigned attempt, void *arg);

/* What one lock's caller wants; constant while the lock lives. */
struct ql_terms {
    uint64_t ttl_ns;
    uint64_t retry_delay_ns;
    ql_delay_fn *delay; /* NULL: uniform in [retry_delay / 2, retry_delay] */
    void *delay_arg;
    uint64_t max_hold_ns;    /* QL_NEVER: no cap */
    uint64_t loss_notice_ns; /* with renew: loss is told so long before */
    uint64_t lock_delay_ns;  /* fenced: what nodes add to linger_ns */
    uint32_t tries;          /* 0: no limit */
    bool renew;
};

enum ql_request_kind {
    QL_REQ_ACQUIRE, /* set the key unless it is there */
    QL_REQ_CONFIRM, /* fenced: raise the number of our key to `fence` */
    QL_REQ_EXTEND,  /* let our key last ttl_ns from now */
    QL_REQ_RELEASE, /* delete our key */
    QL_REQ_INSPECT, /* say what is there */
};

enum ql_event_kind {
    QL_EV_ACQUIRE, /* until: when to stop trying */
    QL_EV_ADOPT,   /* the token of somebody else's acquisition is known */
    QL_EV_VOTE,    /* node, request, round, vote, remaining_ns, holder */
    QL_EV_TIME,    /* nothing happened but time */
    QL_EV_WAKE,    /* the lock may have become free */
    QL_EV_EXTEND,  /* ttl_ns */
    QL_EV_RELEASE,
    QL_EV_VERIFY,  /* is it still ours? */
    QL_EV_INSPECT, /* whose is it? */
    QL_EV_CANCEL,  /* give up what runs; tidy up all the same */
    QL_EV_ABORT, /* no token could be drawn; the SENDs after it were not done */
};

#define QL_EARLIER_MAX 3

/* Who had the key before, as a node remembers. */
struct ql_prev {
    enum {
        QL_PREV_NONE,
        QL_PREV_RELEASED,
        QL_PREV_ENDED, /* its lease ran out */
    } end;
    uint32_t holder; /* a hash of its token */
    /* Holders before that whose leases ran out, too; 0: no more. */
    uint32_t earlier[QL_EARLIER_MAX];
    uint64_t fence;
};

struct ql_event {
    enum ql_event_kind kind;
    uint64_t now;
    uint64_t until;               /* ACQUIRE */
    uint64_t ttl_ns;              /* EXTEND */
    uint32_t round;               /* VOTE: as in the SEND it answers */
    unsigned node;                /* VOTE */
    enum ql_vote vote;            /* VOTE */
    enum ql_request_kind request; /* VOTE */
    uint64_t remaining_ns;        /* VOTE: of the key that is there, if known */
    uint32_t holder;              /* VOTE: a hash of whose key; 0: not known */
    uint64_t fence;               /* VOTE YES: the key's number. ADOPT: 0: not
                                     known */
    bool repaired;                /* VOTE MISSING: put back by the node */
    struct ql_prev prev;          /* VOTE YES to an ACQUIRE */
};

enum ql_action_kind {
    QL_DO_TOKEN, /* draw a new token; every later SEND is for it */
    QL_DO_SEND,  /* send `request` to `node` */
    QL_DO_TELL,  /* tell the caller `outcome` */
};

/* What the caller is told. Each request of the caller ends in exactly one. */
enum ql_outcome {
    QL_OUT_NONE,
    QL_OUT_ACQUIRED,
    QL_OUT_HELD,      /* not acquired: somebody else holds it */
    QL_OUT_SPLIT,     /* not acquired: answers, but no majority in time */
    QL_OUT_NO_QUORUM, /* too few nodes answered, for any operation */
    QL_OUT_CANCELLED,
    QL_OUT_ABORTED, /* an action failed on our side */
    QL_OUT_EXTENDED,
    QL_OUT_GONE,     /* a majority does not have our token */
    QL_OUT_TOO_LATE, /* extend: our own validity has ended */
    QL_OUT_CAPPED,   /* extend: not beyond max_hold */
    QL_OUT_RELEASED,
    QL_OUT_UNSURE,   /* release: cannot tell */
    QL_OUT_VERIFIED, /* a majority has our token */
    QL_OUT_FREE,     /* inspect: a majority has no key */
    /* Not asked for by the caller; at most once per acquisition: */
    QL_OUT_LOST,        /* the lock is lost, or will be: renewals fail */
    QL_OUT_LOST_CAPPED, /* the same, for max_hold */
};

struct ql_action {
    enum ql_action_kind kind;
    enum ql_request_kind request; /* SEND */
    enum ql_outcome outcome;      /* TELL */
    unsigned node;                /* SEND */
    uint32_t round;               /* SEND: to come back with the vote */
    uint64_t ttl_ns;              /* SEND: ACQUIRE, EXTEND */
    uint64_t fence;               /* SEND: CONFIRM, EXTEND */
};

/* No step yields more: a token, a round of sends, a few things to tell. */
#define QL_ACTIONS_MAX (QL_BALLOT_MAX + 4)

struct ql_actions {
    unsigned count;
    struct ql_action list[QL_ACTIONS_MAX];
};

/* What the life of a lock passes through; round.c has the table of transitions.
 */
enum ql_state {
    QL_ST_IDLE,      /* nothing held */
    QL_ST_ACQUIRING, /* an attempt is on its way */
    QL_ST_CLEANING,  /* it failed; its keys are being released */
    QL_ST_WAITING,   /* for the next attempt */
    QL_ST_HELD,
    QL_ST_ADOPTED, /* the token is known, from elsewhere; the validity is not */
    QL_ST_LOST,    /* was held; keys may still be there */
    QL_ST_RELEASING,
    QL_ST_COUNT
};

/* What runs beside the state: at most one such round at a time. */
enum ql_errand {
    QL_ERRAND_NONE,
    QL_ERRAND_EXTEND, /* asked by the caller */
    QL_ERRAND_RENEW,  /* by ourselves */
    QL_ERRAND_VERIFY,
    QL_ERRAND_INSPECT,
};

/* What we know of our key on one node. */
enum ql_key {
    QL_KEY_NONE,  /* nothing of this attempt was ever sent there */
    QL_KEY_MAYBE, /* sent; what became of it we do not know */
    QL_KEY_OURS,
    QL_KEY_NOT, /* the node said so */
};

/* One node, as one lock sees it. */
struct ql_peer {
    uint32_t holder;       /* a hash of whose key is there; 0: not known */
    uint8_t vote;          /* enum ql_vote, in the running round */
    uint8_t key;           /* enum ql_key */
    uint64_t remaining_ns; /* of that key, when last heard of */
    uint64_t fence;        /* its number, as last answered with a yes */
    struct ql_prev prev;
};

struct ql_machine {
    const struct ql_rules *rules;
    const struct ql_terms *terms;
    struct ql_rand rand;
    uint64_t now;         /* of the last event */
    uint64_t ttl_ns;      /* asked for in the running or the last round */
    uint64_t t0;          /* when that round's first byte was due */
    uint64_t round_until; /* when it is no longer waited for */
    uint64_t valid_until; /* the lock is ours before this; 0: it is not */
    uint64_t hold_until;  /* it never will be after this: the cap */
    uint64_t expires_at;  /* no key of ours is left after this */
    uint64_t renew_at;
    uint64_t retry_at;   /* WAITING: when the next attempt starts */
    uint64_t wait_until; /* no attempt starts after this */
    uint64_t fence;      /* the lock's token, from the grant on; 0: none */
    uint64_t confirm;    /* ACQUIRING: what was sent in the last confirms */
    bool died;           /* a holder before ended without a release */
    bool second;         /* the attempt is one made again for the clocks */
    uint32_t attempt;    /* of this acquisition, from 1; second ones aside */
    uint32_t round;      /* of the last requests; each round has a new number */
    uint32_t acquire_round;  /* the last attempt's */
    uint32_t extend_round;   /* the last extension's; its repairs share it */
    uint8_t state;           /* enum ql_state */
    uint8_t errand;          /* enum ql_errand */
    uint8_t granted;         /* CLEANING: nodes that said yes to the attempt */
    uint8_t refused;         /* and those that have another's key */
    bool retry_allowed;      /* CLEANING: another attempt will follow */
    struct ql_ballot ballot; /* of the running round */
    struct ql_peer peer[];   /* rules->nodes of them */
};

/* The bytes that a machine for so many nodes takes. */
size_t ql_machine_size(unsigned nodes);

/* `seed` spreads retries and renewals; different machines want others. */
void ql_machine_init(struct ql_machine *machine, const struct ql_rules *rules,
                     const struct ql_terms *terms, uint64_t seed);

/* The only way in. `out` is overwritten. */
void ql_step(struct ql_machine *machine, const struct ql_event *event,
             struct ql_actions *out);

/* When the next QL_EV_TIME is due; QL_NEVER: none is. */
uint64_t ql_machine_deadline(const struct ql_machine *machine);

/* For how long the lock is surely ours, at `now`. */
uint64_t ql_machine_valid_ns(const struct ql_machine *machine, uint64_t now);

/* "ACQUIRING", "extend": for traces. */
const char *ql_state_name(enum ql_state state);
const char *ql_request_name(enum ql_request_kind kind);
const char *ql_vote_name(enum ql_vote vote);
const char *ql_outcome_name(enum ql_outcome outcome);

#endif
