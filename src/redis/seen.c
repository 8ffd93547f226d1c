/* SPDX-License-Identifier: BSD-2-Clause */
/* What a server of the guarded level has shown: its record, its numbers. */
#include "redis/inner.h"

/* The next requests carry it: a node that has fallen behind it was restored
 * from a snapshot while its process seemed to go on. */
void ql_seen_number(struct ql_node *node, const struct ql_answer *answer)
{
    if (answer->fence > node->seen) {
        node->seen = answer->fence;
        node->seen_us = answer->time_us;
    }
}

/*
 * A record that became ready since has forgotten for a reason: the quarantine,
 * and what was read back from other nodes, make up for it.
 */
void ql_seen_record(struct ql_node *node, const struct ql_record *record,
                    uint64_t sent_ns, uint64_t now)
{
    node->sight.record = *record;
    node->sight.sent_ns = sent_ns;
    node->sight.got_ns = now;
    if (record->state != QL_RECORD_READY || record->at_us > node->seen_us)
        node->seen = 0;
    if (record->state == QL_RECORD_READY && record->hw > node->seen) {
        node->seen = record->hw;
        node->seen_us = record->now_us;
    }
}
