/* SPDX-License-Identifier: BSD-2-Clause */
/* What is wrong, and what to do about it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/checkup.h"
#include "cli/duration.h"

/* The rights that are missing, in one finding each for "+name" and "~keys". */
static void judge_rights(struct check *check, unsigned i)
{
    struct check_node *it = &check->node[i];
    char missing[256] = "";
    const char *without = "";
    size_t used = 0;
    bool keys = false;

    for (unsigned k = 0; it->tried && k < ADMIN_RIGHTS; k++) {
        const struct admin_right *right = &ADMIN_RIGHT[k];

        keys = keys || it->trial[k] == ADMIN_KEY_DENIED;
        if (it->trial[k] != ADMIN_DENIED)
            continue;
        if (right->need != ADMIN_NEEDED) {
            check_add(check, CHECK_NOTE, (int)i, "its user lacks %s: %s",
                      right->name, right->without);
            continue;
        }
        if (!used)
            without = right->without;
        used += (size_t)snprintf(missing + used, sizeof(missing) - used, "%s%s",
                                 used ? " " : "", right->name);
    }
    if (used)
        check_add(check, CHECK_WEAK, (int)i,
                  "its user lacks %s (%s): ACL SETUSER NAME %s", missing,
                  without, missing);
    if (keys)
        check_add(check, CHECK_WEAK, (int)i,
                  "its user may not touch keys quorlock:*: ACL SETUSER NAME "
                  "~quorlock:*");
    it->votes = it->votes && !used && !keys;
}

static void judge_server(struct check *check, unsigned i)
{
    const struct admin_node *node = &check->operator.admin.node[i];
    const struct ql_sight *sight = &node->sight;
    int twin = admin_twin(&check->operator.admin, i), at = (int)i;

    if (twin >= 0)
        check_add(check, CHECK_UNSAFE, at,
                  "is the same server as %s: list each server once, at every "
                  "client",
                  operator_address(&check->operator,(unsigned) twin));
    if (sight->replica)
        check_add(check, CHECK_UNSAFE, at,
                  "is a replica: list a master of its own, at every client");
    if (sight->cluster)
        check_add(check, CHECK_UNSAFE, at,
                  "runs in cluster mode: use independent masters");
    if (sight->evicts)
        check_add(check, CHECK_UNSAFE, at,
                  "may evict locks: CONFIG SET maxmemory-policy noeviction (it "
                  "is %s)",
                  sight->eviction);
    else if (sight->eviction[0] && strcmp(sight->eviction, "noeviction"))
        check_add(check, CHECK_WEAK, at,
                  "would evict locks if maxmemory were set: CONFIG SET "
                  "maxmemory-policy noeviction (it is %s)",
                  sight->eviction);
    if (node->promoted)
        check_add(check, CHECK_NOTE, at,
                  "was a replica: the guarded level quarantines it after a "
                  "promotion, the plain level cannot");
    if (twin >= 0 || sight->replica || sight->cluster || sight->evicts)
        check->node[i].votes = false;
}

/* The text may be cut; then it does not say. */
static void judge_name(struct check *check, unsigned i)
{
    const struct admin_node *node = &check->operator.admin.node[i];
    const struct ql_record *record = &node->sight.record;

    if (check->operator.group.node[i].verdict != QL_V_GRANTED ||
                strlen(record->members) +
                32 >
            QL_MEMBERS_MAX ||
        admin_members_list(record->members, node->address.display))
        return;
    check_add(check, CHECK_NOTE, (int)i,
              "the group does not know it under this name: if it lost its "
              "data it would not be taken back; list it as one of %s",
              record->members);
}

/* On a bare group a lost record is an ordinary thing: see judge_group(). */
static void judge_record(struct check *check, unsigned i)
{
    const struct ql_standing *standing = &check->operator.group.node[i];

    if (standing->verdict == QL_V_GRANTED || !check->initialised)
        return;
    check->node[i].votes = false;
    if (standing->verdict == QL_V_GROUP)
        check_add(check, CHECK_UNSAFE, (int)i, "%s", standing->text);
    else if (standing->verdict == QL_V_NOTREADY)
        check_add(check, CHECK_WEAK, (int)i, "does not vote: %s",
                  standing->text);
}

static void judge_clock(struct check *check, unsigned i)
{
    const struct admin *admin = &check->operator.admin;
    const struct check_node *it = &check->node[i];
    double off_ms = (double)it->offset_us / 1000;
    /* What a round trip leaves open, over the time between the readings. */
    double error_ppm = (double)admin->node[i].took_us;
    double rate = it->rate_ppm < 0 ? -it->rate_ppm : it->rate_ppm;

    if (!it->timed)
        return;
    if (off_ms < 0)
        off_ms = -off_ms;
    if (off_ms > (double)check->slack_ms) {
        check_add(check, CHECK_WEAK, (int)i,
                  "its clock is %.3f s off the median of all: set it (NTP); "
                  "until then it does not count",
                  (double)it->offset_us / 1e6);
        check->node[i].votes = false;
    } else if (off_ms > (double)check->slack_ms / 2) {
        check_add(check, CHECK_WEAK, (int)i,
                  "its clock is %.3f s off the median of all, %" PRIu64
                  " ms are allowed: see to its NTP",
                  (double)it->offset_us / 1e6, check->slack_ms);
    }
    if (rate > admin->drift_ppm + error_ppm)
        check_add(check, CHECK_WEAK, (int)i,
                  "its clock runs at another rate than the others, by %.1f %%: "
                  "see to it; 1 %% is allowed for",
                  it->rate_ppm / 1e4);
}

static void judge_speed(struct check *check, unsigned i)
{
    const struct admin_node *node = &check->operator.admin.node[i];
    int64_t timeout_ms = check->operator.options->node_timeout_ms;
    double took_ms = (double)node->took_us / 1000;

    if (!node->time_us)
        return;
    if (took_ms > (double)timeout_ms)
        check_add(check, CHECK_WEAK, (int)i,
                  "takes %.1f ms to answer, which is longer than it is waited "
                  "for: use --node-timeout %.0fms at every client",
                  took_ms, 4 * took_ms);
    else if (took_ms > (double)timeout_ms / 4)
        check_add(check, CHECK_WEAK, (int)i,
                  "takes %.1f ms to answer, and is waited for %" PRId64
                  " ms: use --node-timeout %.0fms at every client",
                  took_ms, timeout_ms, 4 * took_ms);
    if (took_ms > (double)timeout_ms)
        check->node[i].votes = false;
}

static void judge_node(struct check *check, unsigned i)
{
    const struct admin_node *node = &check->operator.admin.node[i];

    check->node[i].votes = true;
    judge_rights(check, i);
    judge_server(check, i);
    if (!node->sight.reachable) {
        check->node[i].votes = false;
        if (!node->sight.cluster &&
            (!check->node[i].tried || node->verdict != QL_V_NOPERM))
            check_add(check, CHECK_WEAK, (int)i, "cannot be used: %s (%s)",
                      ql_verdict_word(node->verdict), node->text);
        return;
    }
    judge_record(check, i);
    judge_name(check, i);
    judge_clock(check, i);
    judge_speed(check, i);
}

/* The group's slack, or that of one which were formed now. */
static void find_group(struct check *check)
{
    const struct admin *admin = &check->operator.admin;

    check->slack_ms = QL_SLACK_DEFAULT_MS;
    for (unsigned i = 0; i < admin->count; i++) {
        const struct ql_record *record = &admin->node[i].sight.record;

        if (!admin->node[i].sight.reachable ||
            record->state == QL_RECORD_ABSENT)
            continue;
        check->initialised = true;
        if (record->slack_ms)
            check->slack_ms = record->slack_ms;
    }
}

static void judge_group(struct check *check)
{
    const struct admin *admin = &check->operator.admin;
    char members[QL_MEMBERS_MAX + 1];

    if (!check->initialised) {
        admin_members_text(members, admin, -1);
        check_add(check, CHECK_WEAK, -1,
                  "no group: only the plain level can be used, without fencing "
                  "tokens, and not safe when a node restarts without its data "
                  "or a clock is set; run: quorlock init -S %s",
                  members);
    }
    if (check->votes < admin->quorum)
        check_add(check, CHECK_UNSAFE, -1,
                  "%u of %u nodes can vote, %u must: no lock can be had",
                  check->votes, admin->count, admin->quorum);
    if (admin->count < 3)
        check_add(check, CHECK_WEAK, -1,
                  "with %u node%s no failure is survived: use 3, or 5",
                  admin->count, admin->count == 1 ? "" : "s");
    else if (admin->count % 2 == 0)
        check_add(check, CHECK_NOTE, -1,
                  "%u nodes survive no more failures than %u do: add one, or "
                  "remove one",
                  admin->count, admin->count - 1);
}

void check_judge(struct check *check)
{
    find_group(check);
    for (unsigned i = 0; i < check->operator.admin.count; i++) {
        judge_node(check, i);
        check->votes += check->node[i].votes;
    }
    judge_group(check);
}
