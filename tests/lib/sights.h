/* SPDX-License-Identifier: BSD-2-Clause */
/* Nodes as greetings see them, made up: what ql_group_judge() is given. */
#ifndef TESTS_LIB_SIGHTS_H
#define TESTS_LIB_SIGHTS_H

#include "guard/group.h"

/* By the nodes' clocks: some day in 2027. */
#define SIGHTS_NOW UINT64_C(1800000000000000)

struct sights {
    struct ql_sight sight[QL_NODES_MAX];
    const struct ql_sight *sights[QL_NODES_MAX];
    char name[QL_NODES_MAX][24]; /* "db1:6379" and so on */
    const char *address[QL_NODES_MAX];
    uint64_t time_us[QL_NODES_MAX];
    struct ql_group_view view;
    struct ql_group group; /* the judgement */
};

/* Masters that are up for long and have no record; whoever asks may form. */
void sights_fresh(struct sights *sights, unsigned nodes);
/* The same as a group, and every node ready in it. */
void sights_ready(struct sights *sights, unsigned nodes);

/* Other processes answer there, with the same data. */
void sights_restart(struct sights *sights, unsigned node);
/* The record is gone. */
void sights_flush(struct sights *sights, unsigned node);
/* A quarantine began so long ago, by its own clock and by the others'. */
void sights_quarantine(struct sights *sights, unsigned node, uint64_t ago_us,
                       uint64_t ref_ago_us);
/* Nobody answers there. */
void sights_away(struct sights *sights, unsigned node);

/* How long a quarantine is in this group. */
uint64_t sights_quarantine_us(const struct sights *sights);

void sights_judge(struct sights *sights);

/* Judges, and fails unless the node has this verdict and duty, and `words` is
 * somewhere in its text; NULL: the text is empty. */
void sights_expect(struct sights *sights, unsigned node, ql_verdict verdict,
                   enum ql_duty duty, const char *words);

#endif
