/* SPDX-License-Identifier: BSD-2-Clause */
/* What the records say together. */
#include "admin/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEND_ROUNDS 8
#define MEMBERS_END 32 /* room for what follows where it is cut */

/* --- Judged as a client does -----------------------------------------------
 */

void admin_judge(const struct admin *admin, struct ql_group *ret_group)
{
    const struct ql_sight *sight[QL_NODES_MAX + 1];
    const char *address[QL_NODES_MAX + 1];
    uint64_t time_us[QL_NODES_MAX + 1];
    struct ql_group_view view = {
        .nodes = admin->count,
        .drift_ppm = admin->drift_ppm,
        .max_ttl_ms = QL_MAX_TTL_DEFAULT_MS,
        .slack_ms = QL_SLACK_DEFAULT_MS,
        .sight = sight,
        .address = address,
        .ref_us = admin_median(admin),
        .time_us = time_us,
    };

    for (unsigned i = 0; i < admin->count; i++) {
        sight[i] = &admin->node[i].sight;
        address[i] = admin->node[i].address.display;
        time_us[i] = admin_time_now(&admin->node[i]);
    }
    ql_group_judge(ret_group, &view);
}

/* Returns how many duties were done. */
static int do_duties(struct admin *admin, const struct ql_group *group)
{
    struct ql_duty_text text;
    const char *words[QL_DUTY_WORDS + 1];
    int done = 0;

    for (unsigned i = 0; i < admin->count; i++) {
        struct admin_node *node = &admin->node[i];

        if (group->node[i].duty == QL_DUTY_NONE)
            continue;
        ql_duty_words(group->node[i].duty, group, &node->sight,
                      admin_median(admin), admin->drift_ppm, &text, words);
        if (!admin_record(admin, node, words))
            node->sight.reachable = false;
        done++;
    }
    return done;
}

bool admin_tend(struct admin *admin, struct ql_group *ret_group)
{
    bool good = true;

    admin_judge(admin, ret_group);
    for (int i = 0; i < TEND_ROUNDS && do_duties(admin, ret_group); i++)
        admin_judge(admin, ret_group);
    for (unsigned i = 0; i < admin->count; i++)
        good = good && admin->node[i].sight.reachable;
    return good;
}

/* --- The configuration's name ----------------------------------------------
 */

bool admin_cfg_read(struct admin_cfg *ret_cfg, const char *text)
{
    struct admin_cfg cfg;
    unsigned long long epoch;
    int end = -1;

    if (strspn(text, "0123456789abcdef") != 16 ||
        sscanf(text, "%16[0-9a-f].%15llu.%3u%n", cfg.group, &epoch, &cfg.nodes,
               &end) != 3 ||
        end < 0 || text[end])
        return false;
    cfg.epoch = epoch;
    *ret_cfg = cfg;
    return true;
}

void admin_cfg_write(char text[QL_CFG_MAX + 1], const struct admin_cfg *cfg)
{
    snprintf(text, QL_CFG_MAX + 1, "%s.%llu.%u", cfg->group,
             (unsigned long long)cfg->epoch, cfg->nodes);
}

/* --- The members, for people to read ---------------------------------------
 */

static uint64_t hash_of(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

/* The next word of a list; its length in *ret_len. NULL: that was the last. */
static const char *next_word(const char **list, size_t *ret_len)
{
    const char *word = *list + strspn(*list, ", ");

    *ret_len = strcspn(word, ", ");
    *list = word + *ret_len;
    return *ret_len ? word : NULL;
}

bool admin_members_list(const char *members, const char *address)
{
    const char *word;
    size_t len;

    while ((word = next_word(&members, &len)))
        if (len == strlen(address) && !memcmp(word, address, len))
            return true;
    return false;
}

/* Whether each word of one is in the other, and there are as many. */
bool admin_members_same(const char *one, const char *other)
{
    const char *rest = other, *word;
    char copy[QL_MEMBERS_MAX + 1];
    unsigned more = 0;
    size_t len;

    while (next_word(&rest, &len))
        more++;
    while ((word = next_word(&one, &len))) {
        snprintf(copy, sizeof(copy), "%.*s", (int)len, word);
        if (more == 0 || !admin_members_list(other, copy))
            return false;
        more--;
    }
    return more == 0;
}

void admin_members_text(char text[QL_MEMBERS_MAX + 1],
                        const struct admin *admin, int except)
{
    uint64_t hash = 0; /* whatever the order */
    size_t used = 0, fitting = 0;
    bool whole = true;
    unsigned count = 0;

    text[0] = '\0';
    for (unsigned i = 0; i < admin->count; i++) {
        const char *display = admin->node[i].address.display;
        size_t len = strlen(display) + (count > 0);

        if ((int)i == except)
            continue;
        hash += hash_of(display);
        whole = whole && used + len <= QL_MEMBERS_MAX;
        if (whole)
            used += (size_t)snprintf(text + used, len + 1, "%s%s",
                                     count ? "," : "", display);
        if (used + MEMBERS_END <= QL_MEMBERS_MAX)
            fitting = used;
        count++;
    }
    if (!whole)
        snprintf(text + fitting, MEMBERS_END, ",... (%u, %08x)", count,
                 (unsigned)hash);
}

/* --- Whether a node may be part of a group ----------------------------------
 */

int admin_twin(const struct admin *admin, unsigned index)
{
    const char *run_id = admin->node[index].sight.run_id;

    for (unsigned i = 0; *run_id && i < index; i++)
        if (!strcmp(admin->node[i].sight.run_id, run_id))
            return (int)i;
    return -1;
}

const char *admin_unfit(char text[ADMIN_TEXT], const struct admin *admin,
                        unsigned index)
{
    const struct admin_node *node = &admin->node[index];
    const struct ql_sight *sight = &node->sight;
    int twin = admin_twin(admin, index);

    if (sight->cluster)
        snprintf(text, ADMIN_TEXT,
                 "runs in cluster mode: use independent masters "
                 "(cluster-enabled no)");
    else if (!sight->reachable)
        snprintf(text, ADMIN_TEXT, "cannot be used: %s (%s)",
                 ql_verdict_word(node->verdict), node->text);
    else if (!sight->run_id[0])
        snprintf(text, ADMIN_TEXT,
                 "does not say which process it is: its user needs the right "
                 "+info");
    else if (twin >= 0)
        snprintf(text, ADMIN_TEXT,
                 "is the same server as %s: list each server once",
                 admin->node[twin].address.display);
    else if (sight->replica)
        snprintf(text, ADMIN_TEXT,
                 "is a replica: list a master of its own instead");
    else if (sight->evicts)
        snprintf(text, ADMIN_TEXT,
                 "may evict locks: CONFIG SET maxmemory-policy noeviction (it "
                 "is %s)",
                 sight->eviction);
    else
        return NULL;
    return text;
}

/* --- Numbers ---------------------------------------------------------------
 */

uint64_t admin_wait_us(const struct admin *admin, uint64_t max_ttl_ms,
                       uint64_t slack_ms)
{
    return ql_quarantine_us(max_ttl_ms, slack_ms, admin->drift_ppm);
}

uint64_t admin_hw(const struct admin *admin)
{
    uint64_t hw = 0;

    for (unsigned i = 0; i < admin->count; i++)
        if (admin->node[i].sight.reachable &&
            admin->node[i].sight.record.hw > hw)
            hw = admin->node[i].sight.record.hw;
    return hw;
}

uint64_t admin_hw_new(const struct admin *admin, uint64_t slack_ms)
{
    uint64_t latest = 0, hw = admin_hw(admin);

    for (unsigned i = 0; i < admin->count; i++)
        if (admin_time_now(&admin->node[i]) > latest)
            latest = admin_time_now(&admin->node[i]);
    latest += slack_ms * 1000;
    return hw > latest ? hw : latest;
}
