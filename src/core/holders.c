/* SPDX-License-Identifier: BSD-2-Clause */
/* Who else has the lock, by what the nodes say of their keys. */
#include "core/steps.h"

/* Nodes that name the same holder as node `of`; unknown ones go with any. */
static unsigned holding(const struct ql_machine *m, unsigned of)
{
    unsigned count = 0;

    for (unsigned i = 0; i < m->rules->nodes; i++)
        if (m->peer[i].vote == QL_VOTE_FOREIGN &&
            (m->peer[i].holder == 0 || m->peer[i].holder == m->peer[of].holder))
            count++;
    return count;
}

unsigned ql_largest_holding(const struct ql_machine *m)
{
    unsigned largest = 0;

    for (unsigned i = 0; i < m->rules->nodes; i++) {
        unsigned count = m->peer[i].vote == QL_VOTE_FOREIGN ? holding(m, i) : 0;

        largest = count > largest ? count : largest;
    }
    return largest;
}
