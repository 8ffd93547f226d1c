/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * quorlock check: looks for what makes locks on these servers unsafe. Changes
 * nothing, but for a key of its own that is gone when it ends.
 */
#include "cli/checkup.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cli/exit_code.h"
#include "cli/say.h"
#include "cli/verb.h"

#define RATE_MS 1000 /* between the two readings of each clock */

/* --- Clocks ------------------------------------------------------------------
 */

struct reading {
    uint64_t time_us;
    int64_t at_ns;
};

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double median(double *values, unsigned count)
{
    qsort(values, count, sizeof(values[0]), compare);
    return values[(count - 1) / 2];
}

/* How fast each clock ran between the readings, against the median one: ours
 * is not better than theirs. */
static void compare_rates(struct check *check, const struct reading *before)
{
    struct admin *admin = &check->operator.admin;
    double rate[QL_NODES_MAX], sorted[QL_NODES_MAX], middle;
    unsigned known = 0;

    for (unsigned i = 0; i < admin->count; i++) {
        const struct admin_node *node = &admin->node[i];

        if (!before[i].time_us || !node->time_us)
            continue;
        rate[i] = (double)(int64_t)(node->time_us - before[i].time_us) /
                  ((double)(node->at_ns - before[i].at_ns) / 1000);
        sorted[known++] = rate[i];
    }
    if (known == 0)
        return;
    middle = median(sorted, known);
    for (unsigned i = 0; i < admin->count; i++) {
        const struct admin_node *node = &admin->node[i];

        if (!before[i].time_us || !node->time_us)
            continue;
        check->node[i].timed = true;
        check->node[i].rate_ppm = (rate[i] - middle) * 1e6;
        check->node[i].offset_us =
            (int64_t)(admin_time_now(node) - admin_median(admin));
    }
}

static void read_clocks(struct check *check)
{
    struct admin *admin = &check->operator.admin;
    struct reading before[QL_NODES_MAX] = {{0}};
    struct timespec pause = {RATE_MS / 1000, RATE_MS % 1000 * 1000000};

    for (unsigned i = 0; i < admin->count; i++)
        if (admin->node[i].time_us)
            before[i] =
                (struct reading){admin->node[i].time_us, admin->node[i].at_ns};
    nanosleep(&pause, NULL);
    for (unsigned i = 0; i < admin->count; i++)
        if (before[i].time_us && admin->node[i].link.fd >= 0)
            admin_time(admin, &admin->node[i]);
    compare_rates(check, before);
}

/* --- All of it
 * ---------------------------------------------------------------- */

static void gather(struct check *check)
{
    struct operator* operator= & check->operator;
    struct admin *admin = &operator->admin;

    admin_look_all(admin);
    for (unsigned i = 0; i < admin->count; i++) {
        struct admin_node *node = &admin->node[i];
        struct admin_node seen = *node;

        if (node->link.fd < 0)
            continue;
        check->node[i].tried = admin_rights(admin, node, check->node[i].trial);
        if (!check->node[i].tried)
            continue;
        node->verdict = seen.verdict; /* not that of the last trial */
        snprintf(node->text, sizeof(node->text), "%s", seen.text);
    }
    read_clocks(check);
    admin_judge(admin, &operator->group);
}

int verb_check(const struct options *options, int argc, char **argv)
{
    struct check *check = calloc(1, sizeof(*check));
    int code = EXIT_OS;

    (void)argc;
    (void)argv;
    if (check)
        check->finding = calloc(CHECK_FINDINGS, sizeof(struct check_finding));
    if (!check || !check->finding) {
        say("out of memory");
        free(check);
        return code;
    }
    code = operator_open(&check->operator, options);
    if (!code) {
        gather(check);
        check_judge(check);
        code = check_print(check);
    }
    if (!code)
        code = (int)check_verdict(check);
    operator_close(&check->operator);
    free(check->finding);
    free(check);
    return code;
}
