/* SPDX-License-Identifier: BSD-2-Clause */
#include "client/watch.h"

#include <assert.h>

#include "client/client.h"
#include "core/time.h"

#define NS_PER_US 1000
#define US_PER_MS 1000

/* A node that does not vote is asked again so often at most. */
#define LOOK_EVERY_NS UINT64_C(1000000000)

/*
 * How long a lease outlives its ttl on the nodes, in slacks. All the nodes of
 * an attempt show a time within a window of two; one of them at least is right;
 * so another may be two off, and may have moved by four since it granted. Good
 * clocks differ by one among themselves.
 */
#define LINGER_SLACKS 5

bool ql_watch_new(struct ql_client *client, bool strict, uint64_t keep_ms)
{
    unsigned nodes = client->rules.nodes;
    struct ql_watch *watch = ql_mem_zalloc(&client->mem, sizeof(*watch));

    client->watch = watch;
    if (!watch)
        return false;
    watch->strict = strict;
    watch->keep_ms = keep_ms;
    watch->base =
        (struct ql_timebase){.nodes = nodes,
                             .quorum = client->rules.quorum,
                             .trusted_ns = client->rules.node_timeout_ns,
                             .node = watch->time};
    watch->sight = ql_mem_zalloc(&client->mem, nodes * sizeof(*watch->sight));
    return watch->sight != NULL;
}

void ql_watch_free(struct ql_client *client)
{
    if (client->watch)
        ql_mem_free(&client->mem, client->watch->sight);
    ql_mem_free(&client->mem, client->watch);
    client->watch = NULL;
}

/* --- Judging ---------------------------------------------------------------
 */

static unsigned reachable(const struct ql_client *client)
{
    unsigned count = 0;

    for (unsigned i = 0; i < client->rules.nodes; i++)
        count += client->watch->sight[i].reachable;
    return count;
}

static uint64_t median_us(const struct ql_client *client)
{
    struct ql_band band;

    /* Nothing is too far off here: it is only the middle that is asked for. */
    return ql_timebase_band(&client->watch->base, UINT64_MAX / 4,
                            client->clock.now, &band)
               ? band.median_us
               : 0;
}

static void judge(struct ql_client *client)
{
    struct ql_watch *watch = client->watch;
    const struct ql_sight *sight[QL_NODES_MAX];
    const char *address[QL_NODES_MAX];
    uint64_t time_us[QL_NODES_MAX];
    struct ql_group_view view = {
        .nodes = client->rules.nodes,
        .drift_ppm = client->rules.drift_ppm,
        .max_ttl_ms = QL_MAX_TTL_DEFAULT_MS,
        .slack_ms = QL_SLACK_DEFAULT_MS,
        /* What was a group has lost its records, if it looks like none. */
        .may_form = !watch->known,
        .sight = sight,
        .address = address,
        .ref_us = median_us(client),
        .time_us = time_us,
    };

    /* With too few in sight there is nothing new to say of a known group. */
    if (watch->group.known && reachable(client) < client->rules.quorum)
        return;
    for (unsigned i = 0; i < view.nodes; i++) {
        sight[i] = &watch->sight[i];
        address[i] = client->address[i].display;
        time_us[i] = ql_timebase_of(&watch->base, i, client->clock.now);
    }
    ql_group_judge(&watch->group, &view);
    watch->known |= watch->group.known;
    client->rules.linger_ns =
        LINGER_SLACKS * watch->group.slack_ms * QL_NS_PER_MS;
}

/* --- Tending ---------------------------------------------------------------
 */

static bool is_tended(const struct ql_watch *watch, unsigned node)
{
    return (watch->tending >> node) & 1;
}

static void send_record(struct ql_client *client, unsigned i,
                        struct ql_command *command)
{
    struct ql_watch *watch = client->watch;

    command->kind = QL_CMD_RECORD;
    command->name = command->token = "";
    if (ql_node_send(client->member[i].node, command, client->clock.now) !=
        QL_V_NONE)
        return;
    watch->tending |= UINT32_C(1) << i;
    watch->looked_at[i] = client->clock.now;
    client->dirty |= UINT32_C(1) << i;
}

/* The same duty is not tried again at once: what it waits for takes time. */
static bool is_due(const struct ql_client *client, unsigned i)
{
    const struct ql_watch *watch = client->watch;
    enum ql_duty duty = watch->group.node[i].duty;

    if (duty == QL_DUTY_NONE || is_tended(watch, i) ||
        ql_node_state(client->member[i].node) != QL_NODE_READY)
        return false;
    return duty != watch->last_duty[i] ||
           client->clock.now >= ql_time_add(watch->did_at[i], LOOK_EVERY_NS);
}

static void do_duties(struct ql_client *client)
{
    struct ql_watch *watch = client->watch;
    uint64_t ref_us = median_us(client);

    for (unsigned i = 0; i < client->rules.nodes; i++) {
        struct ql_command command = {0};
        struct ql_duty_text text;

        if (!is_due(client, i))
            continue;
        watch->last_duty[i] = watch->group.node[i].duty;
        watch->did_at[i] = client->clock.now;
        ql_duty_words(watch->group.node[i].duty, &watch->group,
                      &watch->sight[i], ref_us, client->rules.drift_ppm, &text,
                      command.record);
        send_record(client, i, &command);
    }
}

static void consider(struct ql_client *client)
{
    judge(client);
    do_duties(client);
}

static void look(struct ql_client *client, unsigned i)
{
    struct ql_command command = {.record = {"look"}};

    if (!is_tended(client->watch, i) &&
        ql_node_state(client->member[i].node) == QL_NODE_READY)
        send_record(client, i, &command);
}

/* --- What is seen and heard ------------------------------------------------
 */

void ql_watch_ready(struct ql_member *member)
{
    struct ql_client *client = member->client;
    struct ql_watch *watch = client->watch;
    struct ql_sight *sight = &watch->sight[member->index];

    ql_node_sight(member->node, sight);
    watch->tending &= ~(UINT32_C(1) << member->index);
    watch->last_duty[member->index] = QL_DUTY_NONE;
    ql_timebase_forget(&watch->base, member->index);
    if (sight->record.now_us)
        ql_timebase_note(&watch->base, member->index, sight->record.now_us,
                         sight->sent_ns, sight->got_ns);
    consider(client);
}

void ql_watch_gone(struct ql_member *member)
{
    struct ql_watch *watch = member->client->watch;

    watch->sight[member->index].reachable = false;
    watch->tending &= ~(UINT32_C(1) << member->index);
}

static void note_time(struct ql_member *member, const struct ql_answer *answer)
{
    struct ql_watch *watch = member->client->watch;
    uint64_t now = member->client->clock.now;

    if (answer->time_us)
        ql_timebase_note(&watch->base, member->index, answer->time_us,
                         ql_time_sub(now, answer->took_ns), now);
    if (answer->fence > watch->fence)
        watch->fence = answer->fence;
}

void ql_watch_heard(struct ql_member *member, const struct ql_answer *answer)
{
    struct ql_client *client = member->client;
    struct ql_watch *watch = client->watch;

    note_time(member, answer);
    if (answer->kind == QL_CMD_RECORD) {
        watch->tending &= ~(UINT32_C(1) << member->index);
        if (answer->verdict == QL_V_GRANTED && answer->record)
            watch->sight[member->index].record = *answer->record;
        consider(client);
    } else if (answer->verdict == QL_V_NOTREADY ||
               answer->verdict == QL_V_GROUP) {
        look(client, member->index);
    }
}

/* What is known of the nodes' clocks allows no question to any of them; and if
 * none is asked, none tells that its clock was put right. */
static bool is_at_odds(const struct ql_client *client)
{
    const struct ql_watch *watch = client->watch;
    struct ql_band band;

    return watch->group.known &&
           !ql_timebase_band(&watch->base, watch->group.slack_ms * US_PER_MS,
                             client->clock.now, &band);
}

void ql_watch_refresh(struct ql_client *client)
{
    struct ql_watch *watch = client->watch;
    bool all = is_at_odds(client);

    for (unsigned i = 0; i < client->rules.nodes; i++)
        if ((all || watch->group.node[i].verdict != QL_V_GRANTED) &&
            client->clock.now >=
                ql_time_add(watch->looked_at[i], LOOK_EVERY_NS))
            look(client, i);
}

ql_verdict ql_watch_verdict(const struct ql_member *member,
                            const char **ret_text)
{
    const struct ql_standing *standing =
        &member->client->watch->group.node[member->index];

    *ret_text = standing->text;
    return standing->verdict;
}

bool ql_watch_hopeful(const struct ql_member *member)
{
    return is_tended(member->client->watch, member->index);
}

/* --- Aiming ----------------------------------------------------------------
 */

/*
 * The proposal is the nodes' own time, so that no client's clock can lift the
 * numbers; or more than was seen, so that one round mostly does; but never so
 * much that nodes would refuse it.
 */
static uint64_t proposal(const struct ql_watch *watch, uint64_t median)
{
    uint64_t most = median + watch->group.slack_ms * US_PER_MS / 2;

    return ql_time_min(ql_time_max(median, watch->fence + 1), most);
}

bool ql_watch_aim(const struct ql_client *client, struct ql_guard *ret_guard)
{
    const struct ql_watch *watch = client->watch;
    struct ql_band band;

    if (!watch->group.known ||
        !ql_timebase_band(&watch->base, watch->group.slack_ms * US_PER_MS,
                          client->clock.now, &band))
        return false;
    *ret_guard = (struct ql_guard){
        .cfg = watch->group.cfg,
        .fence = proposal(watch, band.median_us),
        .low_us = band.low_us,
        .high_us = band.high_us,
        .linger_ms = client->rules.linger_ns / QL_NS_PER_MS,
        .keep_ms = watch->keep_ms,
        .strict = watch->strict,
    };
    return true;
}
