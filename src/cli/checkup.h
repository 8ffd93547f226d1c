/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What quorlock check knows when it has looked: check.c gathers,
 * check_findings.c says what is wrong, check_report.c prints.
 */
#ifndef QL_CLI_CHECKUP_H
#define QL_CLI_CHECKUP_H

#include "admin/rights.h"
#include "cli/operator.h"

enum check_level {
    CHECK_NOTE,
    CHECK_WEAK,   /* fewer failures are survived than could be */
    CHECK_UNSAFE, /* exclusion is at risk, or no lock can be had */
};

struct check_finding {
    enum check_level level;
    int node; /* -1: of all */
    char text[ADMIN_TEXT];
};

#define CHECK_FINDINGS 512

struct check_node {
    bool votes; /* as far as all that was found */
    bool tried; /* its rights */
    enum admin_trial trial[ADMIN_RIGHTS];
    bool timed; /* the two below are known */
    int64_t offset_us;
    double rate_ppm;
};

struct check {
    struct operator operator;
    struct check_node node[QL_NODES_MAX];
    struct check_finding *finding;
    unsigned findings;
    bool initialised; /* some node has a record of a group */
    uint64_t slack_ms;
    unsigned votes;
};

/* Adds one; the sentence goes on from the node's address. */
void check_add(struct check *check, enum check_level level, int node,
               const char *format, ...) __attribute__((format(printf, 4, 5)));

/* From what was gathered to findings; sets votes. */
void check_judge(struct check *check);

/* The worst of all findings. */
enum check_level check_verdict(const struct check *check);

/* Returns 0, or an exit status if it could not be printed. */
int check_print(const struct check *check);

#endif
