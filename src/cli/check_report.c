/* SPDX-License-Identifier: BSD-2-Clause */
/* What was found, for people and for programs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/checkup.h"
#include "cli/duration.h"
#include "cli/exit_code.h"
#include "cli/group_table.h"
#include "cli/json.h"

static const char *const LEVELS[] = {"note", "weakened", "unsafe"};
static const char *const VERDICTS[] = {"sound", "weakened", "unsafe"};

static const char *const KEEPS[] = {
    [ADMIN_KEEPS_UNKNOWN] = "unknown",
    [ADMIN_KEEPS_NOTHING] = "nothing",
    [ADMIN_KEEPS_SNAPSHOTS] = "snapshots",
    [ADMIN_KEEPS_MOST] = "most",
    [ADMIN_KEEPS_ALL] = "all",
};

/* --- JSON --------------------------------------------------------------------
 */

static json_t *rights_array(const struct check_node *it, bool allowed)
{
    json_t *array = json_array();

    for (unsigned k = 0; it->tried && k < ADMIN_RIGHTS; k++)
        if (it->trial[k] != ADMIN_UNTRIED &&
            (it->trial[k] == ADMIN_ALLOWED) == allowed)
            json_array_append_new(array, json_text(ADMIN_RIGHT[k].name));
    return array;
}

static json_t *node_object(const struct check *check, unsigned i)
{
    const struct admin_node *node = &check->operator.admin.node[i];
    const struct check_node *it = &check->node[i];
    json_t *object = group_table_node(&check->operator, i);

    json_object_set_new(object, "votes", json_boolean(it->votes));
    json_object_set_new(object, "server",
                        json_text(node->valkey ? "valkey" : "redis"));
    json_object_set_new(object, "version", json_text(node->version));
    json_object_set_new(object, "replica", json_boolean(node->sight.replica));
    json_object_set_new(object, "cluster", json_boolean(node->sight.cluster));
    json_object_set_new(object, "eviction", json_text(node->sight.eviction));
    json_object_set_new(object, "keeps", json_text(KEEPS[node->keeps]));
    json_object_set_new(object, "uptime_s",
                        node->sight.uptime_s < 0
                            ? json_null()
                            : json_integer(node->sight.uptime_s));
    json_object_set_new(object, "clock_offset_us",
                        it->timed ? json_integer(it->offset_us) : json_null());
    json_object_set_new(object, "clock_rate_ppm",
                        it->timed ? json_real(it->rate_ppm) : json_null());
    json_object_set_new(object, "round_trip_us",
                        node->time_us ? json_integer(node->took_us)
                                      : json_null());
    json_object_set_new(object, "rights", rights_array(it, true));
    json_object_set_new(object, "rights_missing", rights_array(it, false));
    return object;
}

static json_t *finding_object(const struct check *check,
                              const struct check_finding *finding)
{
    json_t *object = json_object();

    json_object_set_new(object, "level", json_text(LEVELS[finding->level]));
    json_object_set_new(object, "address",
                        finding->node < 0
                            ? json_null()
                            : json_text(operator_address(
                                  &check->operator,(unsigned) finding->node)));
    json_object_set_new(object, "text", json_text(finding->text));
    return object;
}

static json_t *check_object(const struct check *check)
{
    json_t *object = json_object(), *nodes = json_array();
    json_t *findings = json_array();
    char acl[ADMIN_ACL];

    for (unsigned i = 0; i < check->operator.admin.count; i++)
        json_array_append_new(nodes, node_object(check, i));
    for (unsigned i = 0; i < check->findings; i++)
        json_array_append_new(findings,
                              finding_object(check, &check->finding[i]));
    json_object_set_new(object, "verdict",
                        json_text(VERDICTS[check_verdict(check)]));
    json_object_set_new(object, "exit_code",
                        json_integer(check_verdict(check)));
    json_object_set_new(object, "initialised",
                        json_boolean(check->initialised));
    json_object_set_new(object, "votes", json_integer(check->votes));
    json_object_set_new(object, "quorum",
                        json_integer(check->operator.admin.quorum));
    json_object_set_new(
        object, "acl",
        json_text(admin_acl(acl, &check->operator.admin, false)));
    json_object_set_new(object, "findings", findings);
    json_object_set_new(object, "nodes", nodes);
    return object;
}

/* --- For people
 * ---------------------------------------------------------------- */

static void print_server(const struct admin_node *node)
{
    char up[DURATION_TEXT] = "?";

    if (node->sight.uptime_s >= 0)
        duration_text(up, node->sight.uptime_s * 1000);
    printf("  %s %s, %s%s, up %s, run %.8s\n",
           node->valkey ? "Valkey" : "Redis",
           node->version[0] ? node->version : "of unknown version",
           node->sight.replica ? "replica" : "master",
           node->sight.cluster ? " of a cluster" : "", up,
           node->sight.run_id[0] ? node->sight.run_id : "unknown");
}

/* What persistence means for a node's vote after a restart. */
static void print_keeps(const struct check *check,
                        const struct admin_node *node)
{
    static const char *const words[] = {
        [ADMIN_KEEPS_UNKNOWN] = "keeps what +config|get would tell",
        [ADMIN_KEEPS_NOTHING] = "keeps nothing",
        [ADMIN_KEEPS_SNAPSHOTS] = "keeps snapshots",
        [ADMIN_KEEPS_MOST] = "keeps all but the last moment",
        [ADMIN_KEEPS_ALL] = "keeps every write (appendfsync always)",
    };
    const char *after = check->initialised
                            ? "does not vote for a while"
                            : "may give away a lock that is held (plain level)";

    if (node->keeps == ADMIN_KEEPS_ALL)
        after = "votes at once";
    printf("  %s: after a restart it %s\n", words[node->keeps], after);
}

static void print_clock(const struct check *check, unsigned i)
{
    const struct admin_node *node = &check->operator.admin.node[i];
    const struct check_node *it = &check->node[i];

    if (it->timed)
        printf("  clock %+.1f ms off the median, rate %+.0f ppm; ",
               (double)it->offset_us / 1000, it->rate_ppm);
    else
        printf("  clock not known; ");
    printf("answers in %.1f of %" PRId64 " ms\n", (double)node->took_us / 1000,
           check->operator.options->node_timeout_ms);
}

static void print_findings(const struct check *check, int node)
{
    for (unsigned i = 0; i < check->findings; i++)
        if (check->finding[i].node == node)
            printf("  %s: %s\n", LEVELS[check->finding[i].level],
                   check->finding[i].text);
}

static void print_node(const struct check *check, unsigned i)
{
    const struct admin_node *node = &check->operator.admin.node[i];

    printf("%s: %s\n", node->address.display,
           check->node[i].votes ? "votes" : "does not vote");
    if (node->sight.reachable) {
        print_server(node);
        print_keeps(check, node);
        print_clock(check, i);
        printf("  record: %s\n", group_table_state(&node->sight.record));
    }
    print_findings(check, (int)i);
}

/* Under the assumptions that the manual lists. */
static void print_promise(const struct check *check)
{
    enum check_level verdict = check_verdict(check);
    unsigned quorum = check->operator.admin.quorum;
    unsigned spare = check->votes >= quorum ? check->votes - quorum : 0;

    printf("verdict: %s\n", VERDICTS[verdict]);
    if (verdict == CHECK_UNSAFE)
        printf("  promised: nothing, before what is called unsafe above is "
               "mended\n");
    else if (check->initialised)
        printf("  promised: one holder at a time, and fencing tokens that only "
               "grow;\n    %u more node%s may fail, forget, or have a wrong "
               "clock\n",
               spare, spare == 1 ? "" : "s");
    else
        printf("  promised: one holder at a time, as long as no node forgets "
               "and no clock is set;\n    %u more node%s may fail\n",
               spare, spare == 1 ? "" : "s");
    printf("  not promised: that a holder which is paused stops in time; let "
           "the resource\n    refuse fencing tokens that are smaller than one "
           "it has seen\n");
}

static void print_text(const struct check *check)
{
    char acl[ADMIN_ACL];

    for (unsigned i = 0; i < check->operator.admin.count; i++)
        print_node(check, i);
    printf("all %u nodes:\n", check->operator.admin.count);
    printf("  %u can vote, %u must\n", check->votes,
           check->operator.admin.quorum);
    print_findings(check, -1);
    printf("the least rights of a user (~LOCKS* are the names of the locks; "
           "+config|get is\nuseful, quorlock list needs +scan):\n  %s\n",
           admin_acl(acl, &check->operator.admin, false));
    print_promise(check);
}

int check_print(const struct check *check)
{
    if (check->operator.options->quiet)
        return 0;
    if (check->operator.options->json)
        return json_print(check_object(check), stdout) ? EXIT_OS : 0;
    print_text(check);
    return fflush(stdout) ? EXIT_OS : 0;
}
