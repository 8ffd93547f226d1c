# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "redlock-rb #128, #137, #143"
HAPPENED = """Connections were shared, and a reply that came late was taken for
the next command's: ten threads \"had\" the lock together."""
FAULT = """a request that is answered too late loses its place in the queue,
and the next one gets its reply"""
EDITS = [
    ("src/redis/due.c", """
    node->state = QL_NODE_SUSPECT;
    node->suspect_at = now;
    node->reason = QL_V_SUSPECT;
""", """
    struct ql_request late = ql_queue_pop(&node->queue);

    ql_request_free(&late);
    node->heard_at = now;
    ql_tell_without(node, &late, true, QL_V_TIMEOUT, "", now);
    return;
"""),
]
CHECK = "wire/node a_late_answer_finds_its_request"
