/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The judge's duties, carried out on real servers by lua/node.lua, as any
 * client does: what one writes the other must understand, and it must come to
 * an end.
 */
#include "live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guard/group.h"
#include "redis/script.h"

#define RECORD "quorlock:node"
#define NODES  3

/* A quarantine of a little more than a second. */
#define MAX_TTL_MS 100
#define SLACK_MS   50

#define STEP_US   50000
#define STEPS_MAX 1200

struct ward {
    struct servers *servers;
    struct ql_sight sight[NODES];
    struct ql_group group;
    uint64_t ref_us;
};

static const char *node_script(void)
{
    for (unsigned i = 0; i < QL_SCRIPTS; i++)
        if (strcmp(ql_script_at(i)->name, "node") == 0)
            return ql_script_at(i)->source;
    fail_msg("there is no lua/node.lua");
    return "";
}

/* --- Looking ----------------------------------------------------------------
 */

static void info(struct server *server, const char *field, char out[48])
{
    struct server_reply reply = server_command(server, "INFO", "server", NULL);
    const char *at = strstr(reply.text, field);

    assert_non_null(at);
    at += strlen(field);
    snprintf(out, 48, "%.*s", (int)strcspn(at, "\r\n"), at);
}

static void read_record(struct server *server, const char *now,
                        struct ql_record *record)
{
    static const char *const names[QL_RECORD_FIELDS] = {
        "cfg", "prev", "run",   "state", "hw",      "max_ttl_ms", "slack_ms",
        "at",  "ref",  "q_run", "sync",  "members", "plan"};
    char value[QL_RECORD_FIELDS][QL_MEMBERS_MAX];
    const char *field[QL_RECORD_FIELDS];

    for (unsigned i = 0; i < QL_RECORD_FIELDS; i++) {
        struct server_reply reply =
            server_command(server, "HGET", RECORD, names[i], NULL);

        snprintf(value[i], sizeof(value[i]), "%.500s", reply.text);
        field[i] = value[i];
    }
    assert_true(ql_record_read(record, now, field));
    if (!server_has_key(server, RECORD))
        record->state = QL_RECORD_ABSENT;
}

/* Says the words to lua/node.lua, and sees what has come of it. */
static void tell(struct ward *w, unsigned i, const char *const *words)
{
    struct server *server = servers_at(w->servers, i);
    const char *argv[4 + QL_DUTY_WORDS] = {"EVAL", node_script(), "1", RECORD};
    struct server_reply reply;
    int argc = 4;

    while (*words)
        argv[argc++] = *words++;
    reply = server_command_argv(server, argc, argv, NULL);
    if (reply.kind != SERVER_ARRAY)
        fail_msg("%s: %s", argv[4], reply.text);
    read_record(server, reply.text, &w->sight[i].record);
}

static void look(struct ward *w, unsigned i)
{
    static const char *const words[] = {"look", NULL};
    char up[48];

    w->sight[i].reachable = true;
    info(servers_at(w->servers, i), "run_id:", up);
    snprintf(w->sight[i].run_id, sizeof(w->sight[i].run_id), "%.40s", up);
    info(servers_at(w->servers, i), "uptime_in_seconds:", up);
    w->sight[i].uptime_s = atoll(up);
    tell(w, i, words);
}

/* --- Tending ----------------------------------------------------------------
 */

static void judge(struct ward *w)
{
    const struct ql_sight *sight[NODES];
    const char *address[NODES];
    uint64_t time_us[NODES];
    struct ql_group_view view = {.nodes = NODES,
                                 .drift_ppm = 10000,
                                 .max_ttl_ms = MAX_TTL_MS,
                                 .slack_ms = SLACK_MS,
                                 .may_form = true,
                                 .sight = sight,
                                 .address = address,
                                 .time_us = time_us};

    for (unsigned i = 0; i < NODES; i++) {
        sight[i] = &w->sight[i];
        address[i] = server_url(servers_at(w->servers, i));
        time_us[i] = w->sight[i].record.now_us;
    }
    /* They share one clock. */
    view.ref_us = w->ref_us = time_us[0];
    ql_group_judge(&w->group, &view);
}

static void do_duties(struct ward *w)
{
    for (unsigned i = 0; i < NODES; i++) {
        const char *words[QL_DUTY_WORDS + 1];
        struct ql_duty_text text;

        ql_duty_words(w->group.node[i].duty, &w->group, &w->sight[i], w->ref_us,
                      10000, &text, words);
        if (words[0])
            tell(w, i, words);
    }
}

/* Judges and does what is to be done, until the node stands like this. */
static void tend_until(struct ward *w, unsigned node, ql_verdict verdict,
                       enum ql_duty duty)
{
    const struct ql_standing *standing = &w->group.node[node];

    for (unsigned step = 0; step < STEPS_MAX; step++) {
        for (unsigned i = 0; i < NODES; i++)
            look(w, i);
        judge(w);
        if (standing->verdict == verdict && standing->duty == duty)
            return;
        do_duties(w);
        usleep(STEP_US);
    }
    fail_msg("node %u, verdict %d: %s", node, (int)standing->verdict,
             standing->text);
}

/* Until its quarantine has begun. */
static void tend_into_quarantine(struct ward *w, unsigned node,
                                 const char *words)
{
    tend_until(w, node, QL_V_NOTREADY, QL_DUTY_QUARANTINE);
    assert_non_null(strstr(w->group.node[node].text, words));
    do_duties(w);
    assert_int_equal(w->sight[node].record.state, QL_RECORD_QUARANTINE);
    assert_string_equal(w->sight[node].record.q_run, w->sight[node].run_id);
}

static void expect_waited_since(const struct ward *w, unsigned node,
                                uint64_t began_us)
{
    assert_true(w->sight[node].record.at_us - began_us >=
                ql_quarantine_us(MAX_TTL_MS, SLACK_MS, 10000));
}

static void form(struct ward *w, void **state)
{
    *w = (struct ward){.servers = *state};
    for (unsigned i = 0; i < NODES; i++)
        tend_until(w, i, QL_V_GRANTED, QL_DUTY_NONE);
}

static void set_field(struct ward *w, unsigned i, const char *field,
                      const char *value)
{
    server_command(servers_at(w->servers, i), "HSET", RECORD, field, value,
                   NULL);
}

/* --- Tests ------------------------------------------------------------------
 */

static void nodes_become_a_group_by_themselves(void **state)
{
    struct ward w;

    form(&w, state);
    assert_string_equal(w.sight[0].record.cfg, w.group.cfg);
    assert_string_equal(w.sight[1].record.run, w.sight[1].run_id);
    assert_int_equal(w.sight[2].record.max_ttl_ms, MAX_TTL_MS);
    assert_true(w.sight[2].record.hw > 0);
}

static void a_flushed_node_comes_back_with_the_others_numbers(void **state)
{
    static const char hw[] = "4000000000000000";
    struct ward w;
    uint64_t began;

    form(&w, state);
    set_field(&w, 2, "hw", hw);
    server_command(servers_at(w.servers, 1), "FLUSHALL", NULL);
    tend_into_quarantine(&w, 1, "lost its data: votes again in");
    assert_int_equal(w.group.node[0].verdict, QL_V_GRANTED);
    began = w.sight[1].record.at_us;
    tend_until(&w, 1, QL_V_GRANTED, QL_DUTY_NONE);
    expect_waited_since(&w, 1, began);
    assert_int_equal(w.sight[1].record.hw, strtoull(hw, NULL, 10));
    assert_string_equal(w.sight[1].record.cfg, w.sight[0].record.cfg);
}

static void a_restarted_node_comes_back_too(void **state)
{
    struct ward w;
    char run[QL_RUN_ID_MAX + 1];

    form(&w, state);
    memcpy(run, w.sight[0].run_id, sizeof(run));
    server_restart(servers_at(w.servers, 0));
    tend_into_quarantine(&w, 0, "lost its data: votes again in");
    tend_until(&w, 0, QL_V_GRANTED, QL_DUTY_NONE);
    assert_string_not_equal(run, w.sight[0].run_id);
    assert_string_equal(w.sight[0].record.run, w.sight[0].run_id);
}

/* A record of another life, as a server with its data on disk has it. */
static void a_node_with_old_data_comes_back(void **state)
{
    struct ward w;

    form(&w, state);
    set_field(&w, 0, "run", "another");
    tend_into_quarantine(&w, 0, "restarted");
    tend_until(&w, 0, QL_V_GRANTED, QL_DUTY_NONE);
}

static void a_node_that_saves_each_write_comes_back_at_once(void **state)
{
    struct ward w;

    form(&w, state);
    w.sight[0].durable = true;
    tend_until(&w, 0, QL_V_GRANTED, QL_DUTY_VERIFIED);
    tend_until(&w, 0, QL_V_GRANTED, QL_DUTY_NONE);
    assert_string_equal(w.sight[0].record.sync, w.sight[0].run_id);
    set_field(&w, 0, "run", "another");
    set_field(&w, 0, "sync", "another");
    tend_until(&w, 0, QL_V_NOTREADY, QL_DUTY_DURABLE);
    tend_until(&w, 0, QL_V_GRANTED, QL_DUTY_NONE);
    assert_string_equal(w.sight[0].record.q_run, ""); /* no quarantine */
    w.sight[0].durable = false;
    tend_until(&w, 0, QL_V_GRANTED, QL_DUTY_VERIFIED);
    tend_until(&w, 0, QL_V_GRANTED, QL_DUTY_NONE);
    assert_string_equal(w.sight[0].record.sync, "");
}

static void a_quarantine_without_the_others_time_ends_later(void **state)
{
    struct ward w;
    uint64_t ref;

    form(&w, state);
    server_command(servers_at(w.servers, 1), "FLUSHALL", NULL);
    tend_into_quarantine(&w, 1, "lost its data");
    set_field(&w, 1, "at", "1000000");
    set_field(&w, 1, "ref", "0");
    tend_until(&w, 1, QL_V_NOTREADY, QL_DUTY_READY);
    /* Another client has noted it long ago, and we have not seen that: to note
     * it once more must not end the quarantine. */
    set_field(&w, 1, "ref", "1000000");
    do_duties(&w);
    assert_int_equal(w.sight[1].record.state, QL_RECORD_QUARANTINE);
    set_field(&w, 1, "ref", "0");
    tend_until(&w, 1, QL_V_NOTREADY, QL_DUTY_READY);
    do_duties(&w);
    assert_int_equal(w.sight[1].record.state, QL_RECORD_QUARANTINE);
    ref = w.sight[1].record.ref_us;
    assert_true(ref > 0);
    tend_until(&w, 1, QL_V_GRANTED, QL_DUTY_NONE);
    expect_waited_since(&w, 1, ref);
}

#define ON_3(test)                                                             \
    cmocka_unit_test_setup_teardown(test, servers_setup_3, servers_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_3(nodes_become_a_group_by_themselves),
        ON_3(a_flushed_node_comes_back_with_the_others_numbers),
        ON_3(a_restarted_node_comes_back_too),
        ON_3(a_node_with_old_data_comes_back),
        ON_3(a_node_that_saves_each_write_comes_back_at_once),
        ON_3(a_quarantine_without_the_others_time_ends_later),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
