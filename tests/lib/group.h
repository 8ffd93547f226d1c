/* SPDX-License-Identifier: BSD-2-Clause */
/* Servers as `quorlock init` leaves them, with times short enough to wait. */
#ifndef TESTS_LIB_GROUP_H
#define TESTS_LIB_GROUP_H

#include "live.h"

/* A restarted node does not vote for a little more than a second and this. */
#define GROUP_MAX_TTL_MS 2000
#define GROUP_SLACK_MS   500

/* Makes the servers a group of their own. */
void group_form(struct servers *servers, unsigned max_ttl_ms,
                unsigned slack_ms);

/* Servers that are a group, and `live->client` is a guarded one on them. */
#define GUARDED_ON(n, test)                                                    \
    {                                                                          \
#test " (" #n ")", test, group_setup_##n, live_teardown, NULL          \
    }
int group_setup_1(void **state);
int group_setup_3(void **state);
int group_setup_5(void **state);

ql_client *group_client(const char *servers, enum ql_level level);

/* lua/node.lua on one server: its last words, "state" for one field. */
struct server_reply group_node_field(struct server *server, const char *field);

#endif
