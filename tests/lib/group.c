/* SPDX-License-Identifier: BSD-2-Clause */
#include "group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guard/group.h"
#include "redis/script.h"

#define RECORD "quorlock:node"

static const char *node_script(void)
{
    for (unsigned i = 0; i < QL_SCRIPTS; i++)
        if (strcmp(ql_script_at(i)->name, "node") == 0)
            return ql_script_at(i)->source;
    fail_msg("there is no lua/node.lua");
    return "";
}

static void read_run_id(struct server *server, char run_id[QL_RUN_ID_MAX + 1])
{
    struct server_reply info = server_command(server, "INFO", "server", NULL);
    const char *at = strstr(info.text, "run_id:");

    assert_non_null(at);
    snprintf(run_id, QL_RUN_ID_MAX + 1, "%.40s", at + strlen("run_id:"));
}

static void no_error(struct server_reply reply)
{
    if (reply.kind == SERVER_ERROR)
        fail_msg("%s", reply.text);
}

void group_form(struct servers *servers, unsigned max_ttl_ms, unsigned slack_ms)
{
    unsigned count = servers_count(servers);
    char run_id[SERVERS_MAX][QL_RUN_ID_MAX + 1], cfg[QL_CFG_MAX + 1];
    char max_ttl[16], slack[16];
    const char *run_ids[SERVERS_MAX];

    snprintf(max_ttl, sizeof(max_ttl), "%u", max_ttl_ms);
    snprintf(slack, sizeof(slack), "%u", slack_ms);
    for (unsigned i = 0; i < count; i++) {
        read_run_id(servers_at(servers, i), run_id[i]);
        run_ids[i] = run_id[i];
    }
    ql_group_derive(cfg, count, run_ids);
    for (unsigned i = 0; i < count; i++)
        no_error(server_command(servers_at(servers, i), "EVAL", node_script(),
                                "1", RECORD, "form", cfg, max_ttl, slack,
                                run_id[i], servers_list(servers), "0", NULL));
    for (unsigned i = 0; i < count; i++)
        no_error(server_command(servers_at(servers, i), "EVAL", node_script(),
                                "1", RECORD, "activate", cfg, run_id[i], "",
                                NULL));
}

ql_client *group_client(const char *servers, enum ql_level level)
{
    ql_client_options options = QL_CLIENT_OPTIONS_INIT;

    options.node_timeout_ms = PATIENT_MS;
    options.connect_timeout_ms = PATIENT_MS;
    options.label = LABEL;
    options.level = level;
    return live_client_with(servers, &options);
}

struct server_reply group_node_field(struct server *server, const char *field)
{
    return server_command(server, "HGET", RECORD, field, NULL);
}

static int setup(void **state, unsigned count)
{
    struct live *live = calloc(1, sizeof(*live));

    live->level = QL_LEVEL_GUARDED;
    live->servers = servers_start(count);
    group_form(live->servers, GROUP_MAX_TTL_MS, GROUP_SLACK_MS);
    live->client = group_client(servers_list(live->servers), QL_LEVEL_GUARDED);
    assert_int_equal(ql_client_connect(live->client), QL_OK);
    *state = live;
    return 0;
}

int group_setup_1(void **state)
{
    return setup(state, 1);
}

int group_setup_3(void **state)
{
    return setup(state, 3);
}

int group_setup_5(void **state)
{
    return setup(state, 5);
}
