/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers and names that follow from others: the config string of a new group,
 * its parts, and the length of a quarantine. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "guard/judging.h"

#define FNV_OFFSET UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME  UINT64_C(0x100000001b3)
#define PPM        UINT64_C(1000000)

/*
 * Attempts that counted a vote which the node has forgotten are over when the
 * longest ttl has passed, by the slower of two clocks that drift apart. The
 * slack covers how the two that time it may disagree, and the second the
 * coarseness of the server's own uptime.
 */
uint64_t ql_quarantine_us(uint64_t max_ttl_ms, uint64_t slack_ms,
                          uint32_t drift_ppm)
{
    unsigned __int128 ttl_us = (unsigned __int128)max_ttl_ms * QL_US_PER_MS;
    unsigned __int128 all = ttl_us + ttl_us * 2 * drift_ppm / PPM +
                            (unsigned __int128)slack_ms * QL_US_PER_MS +
                            QL_US_PER_S;

    return all < QL_UNKNOWN ? (uint64_t)all : QL_UNKNOWN - 1;
}

static uint64_t hash(uint64_t so_far, const char *text)
{
    for (; *text; text++)
        so_far = (so_far ^ (unsigned char)*text) * FNV_PRIME;
    return so_far;
}

static void sort(unsigned count, const char **text)
{
    for (unsigned i = 1; i < count; i++)
        for (unsigned k = i; k > 0 && strcmp(text[k - 1], text[k]) > 0; k--) {
            const char *larger = text[k - 1];

            text[k - 1] = text[k];
            text[k] = larger;
        }
}

void ql_group_derive(char cfg[QL_CFG_MAX + 1], unsigned nodes,
                     const char *const *run_id)
{
    const char *sorted[QL_NODES_MAX];
    uint64_t sum = FNV_OFFSET;

    assert(nodes >= 1 && nodes <= QL_NODES_MAX);
    memcpy(sorted, run_id, nodes * sizeof(*sorted));
    sort(nodes, sorted);
    for (unsigned i = 0; i < nodes; i++)
        sum = hash(hash(sum, i ? "," : ""), sorted[i]);
    snprintf(cfg, QL_CFG_MAX + 1, "%016" PRIx64 ".1.%u", sum, nodes);
}

/* Reads digits; false if there are none, or too many. */
static bool take_number(const char **text, uint64_t most, uint64_t *ret)
{
    uint64_t number = 0;
    const char *at = *text;

    for (; *at >= '0' && *at <= '9'; at++) {
        number = number * 10 + (uint64_t)(*at - '0');
        if (number > most)
            return false;
    }
    if (at == *text)
        return false;
    *text = at;
    *ret = number;
    return true;
}

bool ql_cfg_parse(struct ql_cfg *ret_cfg, const char *text)
{
    size_t digits = strspn(text, "0123456789abcdef");
    const char *at = text + digits;
    struct ql_cfg cfg = {{0}};
    uint64_t nodes;

    if (digits != sizeof(cfg.group) - 1 || *at++ != '.' ||
        !take_number(&at, UINT32_MAX, &cfg.epoch) || *at++ != '.' ||
        !take_number(&at, QL_NODES_MAX, &nodes) || *at || nodes == 0)
        return false;
    memcpy(cfg.group, text, digits);
    cfg.nodes = (unsigned)nodes;
    *ret_cfg = cfg;
    return true;
}
