/* SPDX-License-Identifier: BSD-2-Clause */
#include "sights.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

void sights_fresh(struct sights *s, unsigned nodes)
{
    *s = (struct sights){.view = {.nodes = nodes,
                                  .drift_ppm = 10000,
                                  .max_ttl_ms = QL_MAX_TTL_DEFAULT_MS,
                                  .slack_ms = QL_SLACK_DEFAULT_MS,
                                  .may_form = true,
                                  .ref_us = SIGHTS_NOW}};
    s->view.sight = s->sights;
    s->view.address = s->address;
    s->view.time_us = s->time_us;
    for (unsigned i = 0; i < nodes; i++) {
        s->sights[i] = &s->sight[i];
        s->address[i] = s->name[i];
        s->time_us[i] = SIGHTS_NOW;
        s->sight[i] = (struct ql_sight){.reachable = true, .uptime_s = 86400};
        s->sight[i].record.now_us = SIGHTS_NOW;
        snprintf(s->name[i], sizeof(s->name[i]), "db%u:6379", i + 1);
        snprintf(s->sight[i].run_id, sizeof(s->sight[i].run_id), "run%u",
                 i + 1);
    }
}

void sights_ready(struct sights *s, unsigned nodes)
{
    sights_fresh(s, nodes);
    for (unsigned i = 0; i < nodes; i++) {
        struct ql_record *record = &s->sight[i].record;

        record->state = QL_RECORD_READY;
        snprintf(record->cfg, sizeof(record->cfg), "0123456789abcdef.1.%u",
                 nodes);
        memcpy(record->run, s->sight[i].run_id, sizeof(record->run));
        record->hw = 1000 + i;
        record->max_ttl_ms = QL_MAX_TTL_DEFAULT_MS;
        record->slack_ms = QL_SLACK_DEFAULT_MS;
        record->at_us = SIGHTS_NOW - UINT64_C(86400000000);
        for (unsigned k = 0; k < nodes; k++)
            snprintf(record->members + strlen(record->members),
                     sizeof(record->members) - strlen(record->members), "%s%s",
                     k ? "," : "", s->name[k]);
    }
}

void sights_restart(struct sights *s, unsigned node)
{
    snprintf(s->sight[node].run_id, sizeof(s->sight[node].run_id), "again%u",
             node + 1);
    s->sight[node].uptime_s = 3;
}

void sights_flush(struct sights *s, unsigned node)
{
    s->sight[node].record = (struct ql_record){.now_us = SIGHTS_NOW};
}

void sights_quarantine(struct sights *s, unsigned node, uint64_t ago_us,
                       uint64_t ref_ago_us)
{
    struct ql_record *record = &s->sight[node].record;

    sights_restart(s, node);
    record->state = QL_RECORD_QUARANTINE;
    record->run[0] = '\0';
    memcpy(record->q_run, s->sight[node].run_id, sizeof(record->q_run));
    record->at_us = SIGHTS_NOW - ago_us;
    record->ref_us = SIGHTS_NOW - ref_ago_us;
}

void sights_away(struct sights *s, unsigned node)
{
    s->sight[node] = (struct ql_sight){.uptime_s = -1};
    s->time_us[node] = 0;
}

uint64_t sights_quarantine_us(const struct sights *s)
{
    return ql_quarantine_us(QL_MAX_TTL_DEFAULT_MS, QL_SLACK_DEFAULT_MS,
                            s->view.drift_ppm);
}

void sights_judge(struct sights *s)
{
    memset(&s->group, 0x5a, sizeof(s->group));
    ql_group_judge(&s->group, &s->view);
}

void sights_expect(struct sights *s, unsigned node, ql_verdict verdict,
                   enum ql_duty duty, const char *words)
{
    const struct ql_standing *standing = &s->group.node[node];

    sights_judge(s);
    if (standing->verdict != verdict || standing->duty != duty ||
        (words ? !strstr(standing->text, words) : standing->text[0] != '\0'))
        fail_msg("node %u: verdict %d, duty %d: \"%s\"", node,
                 (int)standing->verdict, (int)standing->duty, standing->text);
}
