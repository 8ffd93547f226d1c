# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "redsync 62c8209"
HAPPENED = "No limit to a request: one silent node held up everything."
FAULT = "a round waits for silent nodes for ever"
EDITS = [
    ("src/core/acquire.c",
     "    ql_open_round(m, ql_time_add(m->now, m->rules->node_timeout_ns));",
     "    ql_open_round(m, QL_NEVER);"),
]
CHECK = "story/acquire trap_04_silent_nodes_cost_one_node_timeout"
