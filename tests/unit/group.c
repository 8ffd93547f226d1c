/* SPDX-License-Identifier: BSD-2-Clause */
/* Nodes that belong to no group yet: how they become one, by themselves or by
 * an operator's word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "sights.h"

#define INIT "not initialised: run quorlock init -S db1:6379,db2:6379,db3:6379"

/* --- The config's name ------------------------------------------------------
 */

static void the_name_is_a_hash_of_the_sorted_run_ids(void **state)
{
    static const char *const one[] = {"a"};
    static const char *const three[] = {"b", "c", "a"};
    static const char *const moved[] = {"c", "a", "b"};
    char cfg[QL_CFG_MAX + 1], other[QL_CFG_MAX + 1];

    (void)state;
    /* FNV-1a's own test vector for "a". */
    ql_group_derive(cfg, 1, one);
    assert_string_equal(cfg, "af63dc4c8601ec8c.1.1");
    ql_group_derive(cfg, 3, three); /* of "a,b,c" */
    assert_string_equal(cfg, "bee50fa3407c6007.1.3");
    ql_group_derive(other, 3, moved);
    assert_string_equal(cfg, other);
    assert_string_equal(three[0], "b"); /* the caller's order is untouched */
    ql_group_derive(other, 2, three);
    assert_string_not_equal(cfg, other);
}

static void the_quarantine_outlasts_the_longest_ttl(void **state)
{
    static const struct {
        uint64_t max_ttl_ms, slack_ms;
        uint32_t drift_ppm;
        uint64_t us;
    } table[] = {
        {300000, 500, 10000, UINT64_C(307500000)},
        {0, 0, 10000, 1000000},
        {1, 0, 0, 1001000},
        {1000, 0, 500000, 3000000},
        {QL_TTL_MAX_MS, 500, 10000, UINT64_C(88129500000)},
        {UINT64_MAX, UINT64_MAX, 1000000, UINT64_MAX - 1},
        {UINT64_MAX / 1000, 0, 0, UINT64_MAX - 1},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        assert_int_equal(ql_quarantine_us(table[i].max_ttl_ms,
                                          table[i].slack_ms,
                                          table[i].drift_ppm),
                         table[i].us);
}

/* --- By themselves ----------------------------------------------------------
 */

/* As lua/node.lua would have written it. */
static void form(struct sights *s, unsigned node)
{
    struct ql_record *record = &s->sight[node].record;

    record->state = QL_RECORD_FORMING;
    memcpy(record->cfg, s->group.cfg, sizeof(record->cfg));
    memcpy(record->run, s->sight[node].run_id, sizeof(record->run));
    memcpy(record->members, s->group.members, sizeof(record->members));
    record->max_ttl_ms = s->group.max_ttl_ms;
    record->slack_ms = s->group.slack_ms;
    record->hw = s->group.hw;
}

static void a_group_is_formed_and_then_activated(void **state)
{
    struct sights s;
    char cfg[QL_CFG_MAX + 1];

    (void)state;
    sights_fresh(&s, 3);
    for (unsigned i = 0; i < 3; i++)
        sights_expect(&s, i, QL_V_NOTREADY, QL_DUTY_FORM, "being initialised");
    assert_true(s.group.known);
    memcpy(cfg, s.group.cfg, sizeof(cfg));
    assert_non_null(strstr(cfg, ".1.3"));
    assert_string_equal(s.group.members, "db1:6379,db2:6379,db3:6379");
    assert_int_equal(s.group.max_ttl_ms, QL_MAX_TTL_DEFAULT_MS);
    assert_int_equal(s.group.slack_ms, QL_SLACK_DEFAULT_MS);
    /* Above whatever a group gave that nobody remembers. */
    assert_int_equal(s.group.hw, SIGHTS_NOW + 500000);
    /* While one is missing, none counts. */
    form(&s, 1);
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_FORM, "being initialised");
    sights_expect(&s, 1, QL_V_NOTREADY, QL_DUTY_NONE, "being initialised");
    form(&s, 0);
    form(&s, 2);
    for (unsigned i = 0; i < 3; i++)
        sights_expect(&s, i, QL_V_NOTREADY, QL_DUTY_ACTIVATE,
                      "being initialised");
    s.sight[1].record.state = QL_RECORD_READY;
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_ACTIVATE, "being initialised");
    sights_expect(&s, 1, QL_V_GRANTED, QL_DUTY_NONE, NULL);
    s.sight[0].record.state = s.sight[2].record.state = QL_RECORD_READY;
    for (unsigned i = 0; i < 3; i++)
        sights_expect(&s, i, QL_V_GRANTED, QL_DUTY_NONE, NULL);
    assert_string_equal(s.group.cfg, cfg);
}

static void what_another_began_is_carried_on_with_its_limits(void **state)
{
    struct sights s;

    (void)state;
    sights_fresh(&s, 3);
    sights_judge(&s);
    s.group.max_ttl_ms = 60000;
    s.group.slack_ms = 100;
    form(&s, 2);
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_FORM, "being initialised");
    assert_int_equal(s.group.max_ttl_ms, 60000);
    assert_int_equal(s.group.slack_ms, 100);
    /* Two at once with different limits: one group cannot have both. */
    form(&s, 0);
    s.group.slack_ms = 200;
    form(&s, 1);
    sights_expect(&s, 0, QL_V_GROUP, QL_DUTY_NONE, "different limits");
    assert_false(s.group.known);
}

static void it_takes_all_nodes(void **state)
{
    struct sights s;

    (void)state;
    sights_fresh(&s, 3);
    sights_away(&s, 1);
    sights_expect(&s, 0, QL_V_GROUP, QL_DUTY_NONE,
                  INIT " (db2:6379 does not answer)");
    sights_expect(&s, 1, QL_V_NONE, QL_DUTY_NONE, NULL);
    sights_expect(&s, 2, QL_V_GROUP, QL_DUTY_NONE, INIT);
    assert_false(s.group.known);
    assert_string_equal(s.group.cfg, "");
    sights_fresh(&s, 3);
    s.sight[2].replica = true;
    sights_expect(&s, 0, QL_V_GROUP, QL_DUTY_NONE, "(db3:6379 cannot vote)");
    sights_expect(&s, 2, QL_V_READONLY, QL_DUTY_NONE, "replica");
    sights_fresh(&s, 3);
    s.sight[0].evicts = true;
    sights_expect(&s, 1, QL_V_GROUP, QL_DUTY_NONE, "(db1:6379 cannot vote)");
    sights_expect(&s, 0, QL_V_EVICTION, QL_DUTY_NONE,
                  "CONFIG SET maxmemory-policy noeviction");
}

/* Younger than that it may have forgotten a plain lock, or a group. */
static void it_takes_nodes_that_are_up_for_long(void **state)
{
    struct sights s;

    (void)state;
    sights_fresh(&s, 3); /* 307.5 s */
    s.sight[1].uptime_s = 308;
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_FORM, "being initialised");
    s.sight[1].uptime_s = 307;
    sights_expect(&s, 0, QL_V_GROUP, QL_DUTY_NONE,
                  INIT " (db2:6379 is up for only 307 s)");
    s.sight[1].uptime_s = -1;
    sights_expect(&s, 2, QL_V_GROUP, QL_DUTY_NONE, "uptime not known");
    s.sight[1].uptime_s = -600; /* its wall clock was set back */
    sights_expect(&s, 2, QL_V_GROUP, QL_DUTY_NONE, INIT);
}

static void nothing_is_formed_by_who_may_not(void **state)
{
    struct sights s;

    (void)state;
    sights_fresh(&s, 3);
    s.view.may_form = false;
    for (unsigned i = 0; i < 3; i++)
        sights_expect(&s, i, QL_V_GROUP, QL_DUTY_NONE, INIT);
    assert_string_equal(s.group.node[0].text, INIT);
}

static void an_interrupted_init_is_named(void **state)
{
    struct sights s;

    (void)state;
    sights_fresh(&s, 3);
    sights_judge(&s);
    for (unsigned i = 0; i < 3; i++)
        form(&s, i);
    sights_restart(&s, 2);
    s.sight[2].uptime_s = 86400;
    for (unsigned i = 0; i < 3; i++)
        sights_expect(&s, i, QL_V_GROUP, QL_DUTY_NONE, "was interrupted");
}

/* It may have counted already, and have come back with an older record. */
static void a_forming_node_that_restarts_beside_active_ones_waits(void **state)
{
    struct sights s;

    (void)state;
    sights_fresh(&s, 3);
    sights_judge(&s);
    for (unsigned i = 0; i < 3; i++) {
        form(&s, i);
        s.sight[i].record.state = i ? QL_RECORD_READY : QL_RECORD_FORMING;
    }
    sights_restart(&s, 0);
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_QUARANTINE, "restarted");
    sights_restart(&s, 1);
    sights_expect(&s, 1, QL_V_NOTREADY, QL_DUTY_QUARANTINE, "restarted");
}

/* Two inits at once, one of which has come through, or a list of two groups. */
static void a_forming_node_that_does_not_fit_waits_for_a_word(void **state)
{
    struct sights s, other;

    (void)state;
    sights_fresh(&s, 5);
    sights_judge(&s);
    for (unsigned i = 0; i < 5; i++) {
        form(&s, i);
        s.sight[i].record.state = i ? QL_RECORD_READY : QL_RECORD_FORMING;
    }
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_ACTIVATE, "initialised");
    s.sight[0].record.slack_ms++;
    sights_expect(&s, 0, QL_V_GROUP, QL_DUTY_NONE, "init --again");
    s.sight[0].record.slack_ms--;
    s.sight[0].record.max_ttl_ms--;
    sights_expect(&s, 0, QL_V_GROUP, QL_DUTY_NONE, "init --again");
    s.sight[0].record.max_ttl_ms++;
    sights_ready(&other, 5);
    s.sight[4].record = other.sight[4].record;
    sights_expect(&s, 0, QL_V_GROUP, QL_DUTY_NONE, "init --again");
    sights_expect(&s, 1, QL_V_GRANTED, QL_DUTY_NONE, NULL);
}

static void beside_another_group_nothing_is_formed(void **state)
{
    struct sights s, other;

    (void)state;
    sights_fresh(&s, 3);
    sights_ready(&other, 3);
    s.sight[2].record = other.sight[2].record;
    for (unsigned i = 0; i < 2; i++)
        sights_expect(&s, i, QL_V_GROUP, QL_DUTY_NONE, "the right list?");
    sights_expect(&s, 2, QL_V_GROUP, QL_DUTY_NONE, "quorlock init --again");
    sights_judge(&s);
    form(&s, 0);
    form(&s, 1);
    sights_expect(&s, 0, QL_V_GROUP, QL_DUTY_NONE, "the right list?");
    assert_false(s.group.known);
    s.sight[2].record.state = QL_RECORD_REMOVED;
    sights_expect(&s, 2, QL_V_GROUP, QL_DUTY_NONE, "was removed");
    sights_expect(&s, 0, QL_V_GROUP, QL_DUTY_NONE, "the right list?");
}

static void a_node_alone_forms_its_own_group(void **state)
{
    struct sights s;

    (void)state;
    sights_fresh(&s, 1);
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_FORM, "being initialised");
    assert_non_null(strstr(s.group.cfg, ".1.1"));
    assert_string_equal(s.group.members, "db1:6379");
}

static void members_are_listed_as_far_as_they_fit(void **state)
{
    static char name[QL_MEMBERS_MAX + 2];
    struct sights s;

    (void)state;
    sights_fresh(&s, 2);
    s.address[1] = name;
    for (unsigned len = 1; len <= QL_MEMBERS_MAX + 1; len++) {
        size_t both = strlen("db1:6379,") + len;

        name[len - 1] = 'x';
        sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_FORM, "initialised");
        assert_int_equal(strlen(s.group.members),
                         both <= QL_MEMBERS_MAX ? both : strlen("db1:6379"));
    }
}

static void texts_that_are_too_long_are_shortened(void **state)
{
    static char name[QL_NODES_MAX][64];
    struct sights s;

    (void)state;
    sights_fresh(&s, QL_NODES_MAX);
    for (unsigned i = 0; i < QL_NODES_MAX; i++) {
        snprintf(name[i], sizeof(name[i]),
                 "a.rather.long.host.name.of.node%02u.example.com:6379", i);
        s.address[i] = name[i];
    }
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_FORM, "being initialised");
    assert_true(strlen(s.group.members) <= QL_MEMBERS_MAX);
    assert_string_equal(s.group.members + strlen(s.group.members) - 16,
                        "example.com:6379");
    sights_away(&s, 7);
    sights_expect(&s, 0, QL_V_GROUP, QL_DUTY_NONE,
                  "run quorlock init -S URL,... of all 32 nodes (a.rather.long."
                  "host.name.of.node07.example.co... does not answer)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_name_is_a_hash_of_the_sorted_run_ids),
        cmocka_unit_test(the_quarantine_outlasts_the_longest_ttl),
        cmocka_unit_test(a_group_is_formed_and_then_activated),
        cmocka_unit_test(what_another_began_is_carried_on_with_its_limits),
        cmocka_unit_test(it_takes_all_nodes),
        cmocka_unit_test(it_takes_nodes_that_are_up_for_long),
        cmocka_unit_test(nothing_is_formed_by_who_may_not),
        cmocka_unit_test(an_interrupted_init_is_named),
        cmocka_unit_test(a_forming_node_that_restarts_beside_active_ones_waits),
        cmocka_unit_test(a_forming_node_that_does_not_fit_waits_for_a_word),
        cmocka_unit_test(beside_another_group_nothing_is_formed),
        cmocka_unit_test(a_node_alone_forms_its_own_group),
        cmocka_unit_test(members_are_listed_as_far_as_they_fit),
        cmocka_unit_test(texts_that_are_too_long_are_shortened),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
