/* SPDX-License-Identifier: BSD-2-Clause */
#include "guarded.h"

#include <stdarg.h>
#include <stdio.h>

#include "guard/group.h"
#include "redis/script.h"
#include "soundness.h"
#include "world.h"

/* --- Forming ---------------------------------------------------------------
 */

#define VERB_WORDS 12

/* Runs lua/node.lua, as an operator's command would. */
static void run_verb(struct world *w, unsigned index, const char *verb, ...)
{
    static const char key[] = "quorlock:node";
    struct redis *redis = &w->node[index].redis;
    struct word argv[VERB_WORDS] = {{key, sizeof key - 1}};
    struct bytes reply = {0};
    unsigned argc = 1;
    va_list more;

    va_start(more, verb);
    for (const char *at = verb; at; at = va_arg(more, const char *)) {
        assert(argc < VERB_WORDS);
        argv[argc++] = (struct word){at, strlen(at)};
    }
    va_end(more);
    redis->now_us = node_clock_us(w, &w->node[index]);
    redis->now_ms = redis->now_us / 1000;
    redis_run_script(redis, (unsigned)ql_script_of(QL_CMD_RECORD, true), 1,
                     argc, argv, &reply);
    assert(bytes_first(&reply)[0] == '*');
    bytes_free(&reply);
}

static void list_members(const struct world *w, char *out, size_t size)
{
    out[0] = '\0';
    for (unsigned i = 0; i < w->swarm.nodes; i++)
        snprintf(out + strlen(out), size - strlen(out), "%s10.0.0.%u:6379",
                 i ? "," : "", i + 1);
}

void guarded_form(struct world *w)
{
    char cfg[QL_CFG_MAX + 1], members[NODES_MAX * 24];
    char max_ttl[24], slack[24], hw[24];
    const char *run_id[NODES_MAX];

    if (w->swarm.silent)
        return;
    for (unsigned i = 0; i < w->swarm.nodes; i++)
        run_id[i] = w->node[i].redis.run_id;
    ql_group_derive(cfg, w->swarm.nodes, run_id);
    list_members(w, members, sizeof members);
    snprintf(max_ttl, sizeof max_ttl, "%u", w->swarm.max_ttl_ms);
    snprintf(slack, sizeof slack, "%u", w->swarm.slack_ms);
    snprintf(hw, sizeof hw, "%lld",
             (long long)node_clock_us(w, &w->node[0]) +
                 1000 * (long long)w->swarm.slack_ms);
    for (unsigned i = 0; i < w->swarm.nodes; i++)
        run_verb(w, i, "form", cfg, max_ttl, slack, run_id[i], members, hw,
                 NULL);
    for (unsigned i = 0; i < w->swarm.nodes; i++) {
        run_verb(w, i, "activate", cfg, run_id[i],
                 w->swarm.syncs ? run_id[i] : "", NULL);
        assert(node_is_ready(w, i));
        w->node[i].was_ready = true;
    }
}

/* --- What the scripts answer ---------------------------------------------- */

static int script_of(unsigned argc, const struct word *argv)
{
    if (argc < 3 || !word_is(&argv[0], "EVALSHA") || argv[1].len != 40)
        return -1;
    for (unsigned i = 0; i < QL_SCRIPTS; i++)
        if (memcmp(argv[1].bytes, ql_script_at(i)->sha1, 40) == 0)
            return (int)i;
    return -1;
}

/* The first element of the array that was answered. */
static long long code_of(const char *reply)
{
    const char *line = strchr(reply, '\n');

    return reply[0] == '*' && line && line[1] == ':'
               ? strtoll(line + 2, NULL, 10)
               : 0;
}

/* The text in the third element, after {-1, TIME. */
static const char *reason_of(const char *reply)
{
    static char reason[16];
    const char *at = strchr(reply, '$');

    snprintf(reason, sizeof reason, "%s", at ? strchr(at, '\n') + 1 : "");
    reason[strcspn(reason, "\r")] = '\0';
    return reason;
}

static void note_record(struct world *w, unsigned index)
{
    struct sim_node *node = &w->node[index];
    const struct key *key =
        keyspace_find(&node->redis.keys, 0, "quorlock:node", 13);
    const struct field *state = key ? key_field(key, "state", 5) : NULL;
    bool was = node->in_quarantine;

    node->in_quarantine = state && strcmp(state->value, "quarantine") == 0;
    if (node->in_quarantine && !was) {
        w->tally.quarantines++;
        tell(w, "%n: its quarantine begins", index, 0, 0, NULL);
    }
    if (!node_is_ready(w, index))
        return;
    if (node->lost || !node->was_ready)
        tell(w, "%n is ready", index, 0, 0, NULL);
    node->lost = false;
    node->was_ready = true;
}

void guarded_note(struct world *w, unsigned index, unsigned argc,
                  const struct word *argv, const char *reply)
{
    int script = script_of(argc, argv);
    long long code;

    if (script < QL_SCRIPTS_PLAIN)
        return;
    code = code_of(reply);
    w->tally.skewed += code == -2;
    w->tally.unready += code == -1;
    if (code < 0)
        tell(w, "%n refuses: %d %s", index, (uint64_t)code, 0,
             code == -1 ? reason_of(reply) : NULL);
    if (script == ql_script_of(QL_CMD_RECORD, true))
        note_record(w, index);
    else if (script == ql_script_of(QL_CMD_CONFIRM, true))
        w->tally.confirms++;
    else if (script == ql_script_of(QL_CMD_EXTEND, true))
        w->tally.repaired += code == 2;
    else if (script == ql_script_of(QL_CMD_RELEASE, true) && argc > 5)
        fence_released(w, argv[5].bytes, argv[5].len);
}
