/* SPDX-License-Identifier: BSD-2-Clause */
/* Locks of any level on the nodes: looked at, found, and taken away. */
#ifndef QL_ADMIN_LOCK_H
#define QL_ADMIN_LOCK_H

#include "admin/node.h"

#define ADMIN_VALUE_MAX 160 /* bytes of a value; more is nobody's token */

/* A name may hold any bytes; there is a NUL behind them. */
struct admin_name {
    const char *text;
    size_t len;
};

/* What one node has of a lock. */
struct admin_lock {
    bool known; /* it was asked and has answered; else see the node */
    bool held;
    char value[ADMIN_VALUE_MAX + 1]; /* any bytes; "" if nobody's */
    size_t len;
    size_t token_len;     /* of the value's first word; 0: it is no token */
    int64_t remaining_ms; /* -1: it does not expire */
    uint64_t fence;       /* 0: none */
    char state[16];       /* held, plain, released, ended, or "" */
};

/* Looks at the lock on this node. False: it could not be looked at; verdict
 * and text of the node say why. */
bool admin_lock_look(const struct admin *admin, struct admin_node *node,
                     const struct admin_name *name,
                     struct admin_lock *ret_lock);

/* Who the holder says he is, or the start of a foreign value; fit to print. */
const char *admin_lock_label(char label[QL_TEXT_MAX],
                             const struct admin_lock *lock);

/* Whether two nodes' holders are the same: one token. */
bool admin_lock_same(const struct admin_lock *a, const struct admin_lock *b);

/* Takes it away from the holder that `seen` shows. Returns 1, 0 if he did not
 * hold it there, or -1 if that could not be asked. */
int admin_lock_force(const struct admin *admin, struct admin_node *node,
                     const struct admin_name *name,
                     const struct admin_lock *seen);

/* Names, each once, sorted. */
struct admin_names {
    struct admin_name *list;
    size_t count, room;
};

/*
 * Adds the names of all locks on this node that begin with `prefix`: by lease
 * records that are live, and by values that look like ours. False: verdict and
 * text of the node say why.
 */
bool admin_names_find(const struct admin *admin, struct admin_node *node,
                      const struct admin_name *prefix,
                      struct admin_names *names);
/* Sorts, and drops what is there twice. */
void admin_names_merge(struct admin_names *names);
void admin_names_free(struct admin_names *names);

/* What the nodes say of a lock, counted. */
struct admin_holder {
    const struct admin_lock *lock; /* of the one whom most have; NULL: nobody */
    unsigned nodes;                /* that have him */
    unsigned others;               /* that have somebody else */
    unsigned free, known;          /* that have nobody; that answered */
    int64_t remaining_ms;          /* the longest; -1: not known */
    uint64_t fence;                /* that most of his nodes have; 0: none */
    unsigned fences;               /* how many those are */
};
struct admin_holder admin_holder_of(const struct admin_lock *lock,
                                    unsigned nodes);

#endif
