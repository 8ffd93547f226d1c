/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of nodes that are not the group's own, and servers that cannot be of
 * any: nobody may get a majority that does not meet the others'. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "sights.h"

#define S_US  UINT64_C(1000000)
#define ONE   "0123456789abcdef"
#define OTHER "fedcba9876543210"

static void set_cfg(struct sights *s, unsigned node, const char *cfg,
                    const char *prev)
{
    strcpy(s->sight[node].record.cfg, cfg);
    strcpy(s->sight[node].record.prev, prev);
}

/* --- Servers ----------------------------------------------------------------
 */

static void servers_that_cannot_vote(void **state)
{
    struct sights s;

    (void)state;
    sights_ready(&s, 5);
    sights_away(&s, 0);
    s.sight[1].cluster = true;
    s.sight[2].replica = true;
    s.sight[3].evicts = true;
    s.sight[4].run_id[0] = '\0';
    sights_expect(&s, 0, QL_V_NONE, QL_DUTY_NONE, NULL);
    sights_expect(&s, 1, QL_V_MOVED, QL_DUTY_NONE, "part of a Redis Cluster");
    sights_expect(&s, 2, QL_V_READONLY, QL_DUTY_NONE, "a replica");
    sights_expect(&s, 3, QL_V_EVICTION, QL_DUTY_NONE,
                  "CONFIG SET maxmemory-policy noeviction");
    sights_expect(&s, 4, QL_V_NOPERM, QL_DUTY_NONE, "needs the right +info");
}

static void one_server_has_one_vote(void **state)
{
    struct sights s;

    (void)state;
    sights_ready(&s, 3);
    s.sight[2] = s.sight[0];
    sights_expect(&s, 0, QL_V_GRANTED, QL_DUTY_NONE, NULL);
    sights_expect(&s, 2, QL_V_DUPLICATE, QL_DUTY_NONE,
                  "the same server as db1:6379");
    /* It is no second voice for a group either. */
    sights_flush(&s, 1);
    sights_expect(&s, 1, QL_V_GROUP, QL_DUTY_NONE, "the right list?");
    assert_false(s.group.known);
    /* Those of which that is not known are not each other's twins. */
    sights_ready(&s, 3);
    s.sight[0].run_id[0] = s.sight[1].run_id[0] = '\0';
    sights_expect(&s, 1, QL_V_NOPERM, QL_DUTY_NONE, "+info");
}

static void a_record_that_nobody_wrote(void **state)
{
    struct sights s;

    (void)state;
    sights_ready(&s, 3);
    s.sight[1].record =
        (struct ql_record){.state = QL_RECORD_STRANGE, .now_us = SIGHTS_NOW};
    sights_expect(&s, 1, QL_V_GROUP, QL_DUTY_NONE, "newer quorlock");
    sights_expect(&s, 0, QL_V_GRANTED, QL_DUTY_NONE, NULL);
    for (unsigned i = 0; i < 3; i++)
        s.sight[i].record.state = QL_RECORD_STRANGE;
    sights_expect(&s, 0, QL_V_GROUP, QL_DUTY_NONE, "newer quorlock");
    /* Words where a config should be. */
    static const char *const bad[] = {
        "",          "x",
        ONE ".1.3x", ONE ".1.",
        ONE ".1.0",  ONE ".1.33",
        ONE "..3",   ONE ".4294967296.3",
        ONE "0.1.3", "0123456789ABCDEF.1.3",
        ONE ".-1.3", ONE ".1. 3",
    };
    for (unsigned k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
        sights_ready(&s, 3);
        for (unsigned i = 0; i < 3; i++)
            set_cfg(&s, i, bad[k], "");
        sights_expect(&s, 0, QL_V_GROUP, QL_DUTY_NONE, "newer quorlock");
        assert_false(s.group.known);
    }
    /* Members are shown, so they must be harmless; an odd one is not. */
    sights_ready(&s, 3);
    set_cfg(&s, 2, OTHER ".1.3", "");
    strcpy(s.sight[2].record.members, "a\033[2Jb");
    sights_expect(&s, 2, QL_V_GROUP, QL_DUTY_NONE, "another group: a?[2Jb");
}

/* --- Other groups -----------------------------------------------------------
 */

static void a_list_of_another_length(void **state)
{
    struct sights three, s;

    (void)state;
    sights_ready(&three, 3);
    sights_fresh(&s, 5);
    for (unsigned i = 0; i < 3; i++)
        s.sight[i] = three.sight[i];
    sights_expect(&s, 0, QL_V_GROUP, QL_DUTY_NONE,
                  "its group has 3 nodes, the list 5: list "
                  "db1:6379,db2:6379,db3:6379");
    sights_expect(&s, 4, QL_V_GROUP, QL_DUTY_NONE, "the right list?");
    assert_false(s.group.known);
    /* And one of too few. */
    sights_ready(&s, 5);
    s.view.nodes = 3;
    sights_expect(&s, 1, QL_V_GROUP, QL_DUTY_NONE, "has 5 nodes, the list 3");
}

static void the_group_of_the_majority_counts(void **state)
{
    struct sights s;

    (void)state;
    sights_ready(&s, 3);
    set_cfg(&s, 0, OTHER ".1.3", "");
    strcpy(s.sight[0].record.members, "x,y,z");
    sights_expect(&s, 0, QL_V_GROUP, QL_DUTY_NONE,
                  "belongs to another group: x,y,z");
    sights_expect(&s, 1, QL_V_GRANTED, QL_DUTY_NONE, NULL);
    assert_string_equal(s.group.cfg, ONE ".1.3");
    /* Half and half: none. */
    sights_ready(&s, 4);
    set_cfg(&s, 0, OTHER ".1.4", "");
    set_cfg(&s, 1, OTHER ".1.4", "");
    for (unsigned i = 0; i < 4; i++)
        sights_expect(&s, i, QL_V_GROUP, QL_DUTY_NONE, "too few of the list");
    assert_false(s.group.known);
    /* Where nobody has a majority yet, all clients guess alike. */
    sights_away(&s, 2);
    sights_expect(&s, 0, QL_V_GRANTED, QL_DUTY_NONE, NULL);
    sights_expect(&s, 3, QL_V_GROUP, QL_DUTY_NONE, "another group");
}

static void while_nodes_are_away_a_group_is_taken_on_trust(void **state)
{
    struct sights s;

    (void)state;
    sights_ready(&s, 5);
    for (unsigned i = 1; i < 5; i++)
        sights_away(&s, i);
    sights_expect(&s, 0, QL_V_GRANTED, QL_DUTY_NONE, NULL);
    assert_true(s.group.known);
    sights_away(&s, 0);
    sights_judge(&s);
    assert_false(s.group.known);
}

/*
 * {db1, db2, db3} is the group; somebody lists db9 for db3. If that were made a
 * member, {db1, db3} and {db2, db9} would be two majorities of three.
 */
static void a_stranger_does_not_take_a_members_place(void **state)
{
    struct sights s;

    (void)state;
    sights_ready(&s, 3);
    sights_flush(&s, 2);
    s.address[2] = "db9:6379";
    sights_expect(&s, 2, QL_V_GROUP, QL_DUTY_NONE,
                  "no member under this name: list db1:6379,db2:6379,db3:6379");
    sights_expect(&s, 0, QL_V_GRANTED, QL_DUTY_NONE, NULL);
    s.address[2] = "db3:63790";
    sights_expect(&s, 2, QL_V_GROUP, QL_DUTY_NONE, "no member");
    s.address[2] = "db3:6379/1"; /* another database of it */
    sights_expect(&s, 2, QL_V_GROUP, QL_DUTY_NONE, "no member");
    s.address[2] = "";
    sights_expect(&s, 2, QL_V_GROUP, QL_DUTY_NONE, "no member");
    /* Its own name may be written in many ways. */
    static const char *const same[] = {
        "db3:6379",    "redis://db3:6379", "db3",
        "redis://db3", "db3:6379/0",       "redis://db3/",
    };
    for (unsigned i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        s.address[2] = same[i];
        sights_expect(&s, 2, QL_V_NOTREADY, QL_DUTY_QUARANTINE, "lost its");
    }
    /* One record that names it is enough, if it knows the group's last list. */
    strcpy(s.sight[0].record.members, "10.0.0.1,10.0.0.2,10.0.0.3");
    sights_expect(&s, 2, QL_V_NOTREADY, QL_DUTY_QUARANTINE, "lost its data");
    s.address[2] = "unix:///run/db3";
    strcpy(s.sight[0].record.members, "/run/db1 /run/db2 /run/db3?db=0");
    sights_expect(&s, 2, QL_V_NOTREADY, QL_DUTY_QUARANTINE, "lost its data");
}

/* The last word of a list that is as long as it can be may be half a name. */
static void a_name_that_was_cut_is_nobodys(void **state)
{
    struct sights s;

    (void)state;
    sights_ready(&s, 3);
    sights_flush(&s, 2);
    s.sight[1].record.members[0] = '\0';
    memset(s.sight[0].record.members, 'x', QL_MEMBERS_MAX);
    memcpy(s.sight[0].record.members + QL_MEMBERS_MAX - 4, ",db3", 5);
    sights_expect(&s, 2, QL_V_GROUP, QL_DUTY_NONE, "no member");
    memcpy(s.sight[0].record.members + QL_MEMBERS_MAX - 5, ",db3", 5);
    sights_expect(&s, 2, QL_V_NOTREADY, QL_DUTY_QUARANTINE, "lost its data");
}

/* --- Members change ---------------------------------------------------------
 */

/* db4 joins; db1 knows already, the others do not. */
static void while_a_node_is_added(void **state)
{
    struct sights s;

    (void)state;
    sights_ready(&s, 4);
    for (unsigned i = 1; i < 3; i++) {
        set_cfg(&s, i, ONE ".1.3", "");
        strcpy(s.sight[i].record.members, "db1:6379,db2:6379,db3:6379");
    }
    set_cfg(&s, 0, ONE ".2.4", ONE ".1.3");
    set_cfg(&s, 3, ONE ".2.4", "");
    /* With the new list: too few know of it. */
    sights_expect(&s, 1, QL_V_GROUP, QL_DUTY_NONE, "has 3 nodes, the list 4");
    sights_expect(&s, 0, QL_V_GROUP, QL_DUTY_NONE, "too few of the list");
    set_cfg(&s, 1, ONE ".2.4", ONE ".1.3");
    sights_expect(&s, 0, QL_V_GRANTED, QL_DUTY_NONE, NULL);
    sights_expect(&s, 2, QL_V_GROUP, QL_DUTY_NONE, "has not reached it");
    assert_string_equal(s.group.cfg, ONE ".2.4");
    /* With the old one: served by all three. */
    s.view.nodes = 3;
    for (unsigned i = 0; i < 3; i++)
        sights_expect(&s, i, QL_V_GRANTED, QL_DUTY_NONE, NULL);
    assert_string_equal(s.group.cfg, ONE ".1.3");
    assert_string_equal(s.group.newest, ONE ".2.4");
    /* The old list is retired. */
    for (unsigned i = 0; i < 3; i++)
        set_cfg(&s, i, ONE ".2.4", "");
    sights_expect(&s, 0, QL_V_GROUP, QL_DUTY_NONE, "has 4 nodes, the list 3");
}

static void a_node_that_lost_its_record_meanwhile(void **state)
{
    struct sights s;
    struct ql_duty_text text;
    const char *words[QL_DUTY_WORDS + 1];

    (void)state;
    sights_ready(&s, 4);
    set_cfg(&s, 0, ONE ".2.4", ONE ".1.3");
    set_cfg(&s, 1, ONE ".2.4", ONE ".1.3");
    sights_flush(&s, 2);
    s.view.nodes = 3;
    sights_expect(&s, 2, QL_V_NOTREADY, QL_DUTY_QUARANTINE, "lost its data");
    ql_duty_words(QL_DUTY_QUARANTINE, &s.group, &s.sight[2], SIGHTS_NOW, 10000,
                  &text, words);
    assert_string_equal(words[1], ONE ".2.4");
    assert_string_equal(words[2], "");
    /* A member that is being removed, and forgot that, is none; whatever those
     * say that have not heard of it yet. */
    sights_ready(&s, 4);
    for (unsigned i = 0; i < 2; i++) {
        set_cfg(&s, i, ONE ".2.3", ONE ".1.4");
        strcpy(s.sight[i].record.members, "db1:6379,db2:6379,db3:6379");
    }
    sights_flush(&s, 3);
    sights_expect(&s, 3, QL_V_GROUP, QL_DUTY_NONE, "no member");
    sights_expect(&s, 2, QL_V_GRANTED, QL_DUTY_NONE, NULL);
    assert_string_equal(s.group.cfg, ONE ".1.4");
}

static void a_node_that_was_removed(void **state)
{
    struct sights s;

    (void)state;
    sights_ready(&s, 4);
    for (unsigned i = 0; i < 3; i++)
        set_cfg(&s, i, ONE ".3.3", ONE ".2.4");
    set_cfg(&s, 3, ONE ".2.4", "");
    /* The old list is still served; */
    for (unsigned i = 0; i < 4; i++)
        sights_expect(&s, i, QL_V_GRANTED, QL_DUTY_NONE, NULL);
    assert_string_equal(s.group.cfg, ONE ".2.4");
    s.sight[3].record.state = QL_RECORD_REMOVED;
    sights_expect(&s, 3, QL_V_GROUP, QL_DUTY_NONE, "was removed");
    sights_expect(&s, 0, QL_V_GRANTED, QL_DUTY_NONE, NULL);
    /* and is not any more. */
    for (unsigned i = 0; i < 3; i++)
        set_cfg(&s, i, ONE ".3.3", "");
    sights_expect(&s, 0, QL_V_GROUP, QL_DUTY_NONE, "has 3 nodes, the list 4");
    s.view.nodes = 3;
    sights_expect(&s, 0, QL_V_GRANTED, QL_DUTY_NONE, NULL);
}

/* Of two lists of one length the present one counts. */
static void the_present_config_is_preferred(void **state)
{
    struct sights s;

    (void)state;
    sights_ready(&s, 5);
    for (unsigned i = 0; i < 5; i++)
        set_cfg(&s, i, i < 2 ? ONE ".5.5" : ONE ".3.5",
                i < 2 ? ONE ".3.5" : "");
    sights_judge(&s);
    assert_string_equal(s.group.cfg, ONE ".3.5");
    for (unsigned i = 0; i < 5; i++)
        set_cfg(&s, i, ONE ".5.5", ONE ".7.5");
    sights_judge(&s);
    assert_string_equal(s.group.cfg, ONE ".5.5");
}

static void a_node_that_missed_a_change(void **state)
{
    struct sights s;

    (void)state;
    sights_ready(&s, 3);
    set_cfg(&s, 0, ONE ".3.3", "");
    set_cfg(&s, 1, ONE ".3.3", "");
    sights_expect(&s, 2, QL_V_GROUP, QL_DUTY_NONE,
                  "has not reached it: run quorlock members");
    set_cfg(&s, 2, ONE ".5.3", "");
    sights_expect(&s, 2, QL_V_GROUP, QL_DUTY_NONE, "members have changed");
}

/* --- Limits -----------------------------------------------------------------
 */

static void the_larger_limits_count(void **state)
{
    struct sights s;

    (void)state;
    sights_ready(&s, 3);
    s.view.max_ttl_ms = s.view.slack_ms = 1;
    s.sight[0].record.max_ttl_ms = 600000;
    s.sight[2].record.slack_ms = 2000;
    sights_restart(&s, 1);
    sights_expect(&s, 1, QL_V_NOTREADY, QL_DUTY_QUARANTINE, "in 615 s");
    assert_int_equal(s.group.max_ttl_ms, 600000);
    assert_int_equal(s.group.slack_ms, 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(servers_that_cannot_vote),
        cmocka_unit_test(one_server_has_one_vote),
        cmocka_unit_test(a_record_that_nobody_wrote),
        cmocka_unit_test(a_list_of_another_length),
        cmocka_unit_test(the_group_of_the_majority_counts),
        cmocka_unit_test(while_nodes_are_away_a_group_is_taken_on_trust),
        cmocka_unit_test(a_stranger_does_not_take_a_members_place),
        cmocka_unit_test(a_name_that_was_cut_is_nobodys),
        cmocka_unit_test(while_a_node_is_added),
        cmocka_unit_test(a_node_that_lost_its_record_meanwhile),
        cmocka_unit_test(a_node_that_was_removed),
        cmocka_unit_test(the_present_config_is_preferred),
        cmocka_unit_test(a_node_that_missed_a_change),
        cmocka_unit_test(the_larger_limits_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
