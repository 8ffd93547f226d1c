/* SPDX-License-Identifier: BSD-2-Clause */
/* A group and its nodes. */
#include "cli/group_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/duration.h"
#include "cli/exit_code.h"
#include "cli/json.h"
#include "cli/say.h"

const char *group_table_state(const struct ql_record *record)
{
    static const char *const words[] = {
        [QL_RECORD_ABSENT] = "absent",   [QL_RECORD_FORMING] = "forming",
        [QL_RECORD_READY] = "ready",     [QL_RECORD_QUARANTINE] = "quarantine",
        [QL_RECORD_REMOVED] = "removed", [QL_RECORD_STRANGE] = "strange",
    };

    return words[record->state];
}

bool group_table_cfg(const struct operator* operator,
                     struct admin_cfg * ret_cfg,
                     const struct ql_record **ret_record)
{
    bool found = false;

    for (unsigned i = 0; i < operator->admin.count; i++) {
        const struct ql_sight *sight = &operator->admin.node[i].sight;
        struct admin_cfg cfg;

        if (!sight->reachable || !admin_cfg_read(&cfg, sight->record.cfg) ||
            sight->record.state == QL_RECORD_REMOVED ||
            (found && cfg.epoch <= ret_cfg->epoch))
            continue;
        *ret_cfg = cfg;
        *ret_record = &sight->record;
        found = true;
    }
    return found;
}

static uint64_t wait_ms(const struct operator* operator,
                        const struct ql_record * record)
{
    return admin_wait_us(&operator->admin, record->max_ttl_ms,
                         record->slack_ms) /
           1000;
}

/* --- JSON ------------------------------------------------------------------
 */

json_t *group_table_node(const struct operator* operator, unsigned index)
{
    const struct admin_node *node = &operator->admin.node[index];
    const struct ql_standing *standing = &operator->group.node[index];
    const struct ql_record *record = &node->sight.record;
    json_t *object = json_object();
    struct admin_cfg cfg;

    json_object_set_new(object, "address", json_text(node->address.display));
    json_object_set_new(object, "verdict",
                        json_text(ql_verdict_word(standing->verdict)));
    json_object_set_new(object, "text", json_text(standing->text));
    json_object_set_new(object, "state",
                        node->sight.reachable
                            ? json_text(group_table_state(record))
                            : json_null());
    json_object_set_new(object, "epoch",
                        admin_cfg_read(&cfg, record->cfg)
                            ? json_integer((json_int_t)cfg.epoch)
                            : json_null());
    json_object_set_new(object, "run_id", json_text(node->sight.run_id));
    json_object_set_new(
        object, "left_ms",
        standing->verdict == QL_V_NOTREADY && standing->left_us != UINT64_MAX
            ? json_integer((json_int_t)(standing->left_us / 1000))
            : json_null());
    return object;
}

static json_t *group_object(const struct operator* operator,
                            const char * const * done)
{
    const struct ql_record *record = NULL;
    json_t *object = json_object(), *nodes = json_array();
    struct admin_cfg cfg;

    if (group_table_cfg(operator, & cfg, &record)) {
        json_object_set_new(object, "group", json_text(cfg.group));
        json_object_set_new(object, "epoch",
                            json_integer((json_int_t)cfg.epoch));
        json_object_set_new(object, "members", json_integer(cfg.nodes));
        json_object_set_new(object, "quorum", json_integer(cfg.nodes / 2 + 1));
        json_object_set_new(object, "max_ttl_ms",
                            json_integer((json_int_t)record->max_ttl_ms));
        json_object_set_new(object, "clock_slack_ms",
                            json_integer((json_int_t)record->slack_ms));
        json_object_set_new(
            object, "quarantine_ms",
            json_integer((json_int_t)wait_ms(operator, record)));
        json_object_set_new(object, "before",
                            record->prev[0] ? json_text(record->prev)
                                            : json_null());
    }
    for (unsigned i = 0; i < operator->admin.count; i++) {
        json_t *node = group_table_node(operator, i);

        if (done && done[i])
            json_object_set_new(node, "done", json_text(done[i]));
        json_array_append_new(nodes, node);
    }
    json_object_set_new(object, "nodes", nodes);
    return object;
}

/* --- For people ------------------------------------------------------------
 */

static void print_head(const struct operator* operator)
{
    char ttl[DURATION_TEXT], slack[DURATION_TEXT], wait[DURATION_TEXT];
    const struct ql_record *record = NULL;
    struct admin_cfg cfg;

    if (!group_table_cfg(operator, & cfg, &record)) {
        printf("no group\n");
        return;
    }
    printf("group %s, epoch %" PRIu64 ": %u node%s, %u must agree\n", cfg.group,
           cfg.epoch, cfg.nodes, cfg.nodes == 1 ? "" : "s", cfg.nodes / 2 + 1);
    printf("longest ttl %s, clock slack %s; who may have forgotten does not "
           "vote for %s\n",
           duration_text(ttl, (int64_t)record->max_ttl_ms),
           duration_text(slack, (int64_t)record->slack_ms),
           duration_text(wait, (int64_t)wait_ms(operator, record)));
    if (record->prev[0])
        printf("the list before is still served, until `quorlock members "
               "settle` or the next change\n");
}

static int width_of(const struct operator* operator)
{
    int width = 0;

    for (unsigned i = 0; i < operator->admin.count; i++) {
        int length = (int)strlen(operator_address(operator, i));

        if (length > width && length < 200)
            width = length;
    }
    return width;
}

static void print_node(const struct operator* operator, unsigned index,
                       const char *done)
{
    const struct admin_node *node = &operator->admin.node[index];
    const struct ql_standing *standing = &operator->group.node[index];
    const char *word = standing->verdict == QL_V_GRANTED
                           ? "ready"
                           : ql_verdict_word(standing->verdict);
    struct admin_cfg cfg;

    printf("  %-*s  %-10s", width_of(operator), node->address.display, word);
    if (admin_cfg_read(&cfg, node->sight.record.cfg))
        printf("  epoch %-3" PRIu64, cfg.epoch);
    if (node->sight.run_id[0])
        printf("  run %.8s", node->sight.run_id);
    if (done)
        printf("  %s", done);
    if (standing->verdict != QL_V_GRANTED && standing->text[0])
        printf("  %s", standing->text);
    putchar('\n');
}

int group_table_print(const struct operator* operator,
                      const char * const * done)
{
    if (operator->options->quiet)
        return 0;
    if (operator->options->json)
        return json_print(group_object(operator, done), stdout) ? EXIT_OS : 0;
    print_head(operator);
    for (unsigned i = 0; i < operator->admin.count; i++)
        print_node(operator, i, done ? done[i] : NULL);
    return fflush(stdout) ? EXIT_OS : 0;
}
