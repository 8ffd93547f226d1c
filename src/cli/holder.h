/* SPDX-License-Identifier: BSD-2-Clause */
/* Who holds the lock, by what most nodes say. */
#ifndef QL_CLI_HOLDER_H
#define QL_CLI_HOLDER_H

#include <stdbool.h>

#include "quorlock/quorlock.h"

/* Who holds the lock on most of the nodes that named a holder. */
struct holder {
    const char *label;    /* "" if the holder has none */
    int64_t remaining_ms; /* the longest that a node told; -1: none did */
    unsigned nodes;       /* that name this holder */
};

bool holder_find(const ql_lock *lock, unsigned nodes,
                 struct holder *ret_holder);

/* "held by web3:4121:report.sh for another 12.4 s": at most 160 bytes. */
#define HOLDER_TEXT 192
const char *holder_text(char text[HOLDER_TEXT], const struct holder *holder);

#endif
