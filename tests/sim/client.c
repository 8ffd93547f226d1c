/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>

#include "program.h"
#include "world.h"

/* A token that comes once in a world, and looks like one. */
static int draw_token(char token[QL_TOKEN_MAX + 1], void *arg)
{
    struct sim_client *c = arg;
    struct world *w = c->world;

    if (!w->calm && dice_chance(&w->dice, w->swarm.no_token_ppm)) {
        w->tally.fault[FAULT_NO_TOKEN]++;
        return -1;
    }
    w->tally.attempts++;
    fence_attempt(w);
    snprintf(token, QL_TOKEN_MAX + 1, "%016llx%016llx%08x",
             (unsigned long long)dice_next(&w->dice),
             (unsigned long long)w->tally.attempts, c->index);
    return 0;
}

void client_new_lock(struct world *w, struct handle *handle)
{
    struct sim_client *c = &w->client[handle->client];
    ql_lock_options options = QL_LOCK_OPTIONS_INIT;
    char name[16];
    int rc;

    snprintf(name, sizeof name, "lock-%u", handle->lock);
    options.ttl_ms = w->swarm.ttl_ms;
    options.retry_delay_ms = w->swarm.retry_ms;
    options.renew = handle->renew;
    options.max_hold_ms = w->swarm.cap_ms;
    options.loss_notice_ms = w->swarm.notice_ms;
    options.lock_delay_ms = w->swarm.lock_delay_ms;
    options.lost = program_lost;
    options.lost_arg = handle;
    handle->stage = STAGE_IDLE;
    handle->believes = handle->adopts = handle->adopted = false;
    handle->over = false;
    handle->told_until = NEVER;
    handle->valid_until = 0;
    handle->token[0] = '\0';
    handle->token_open = false;
    rc = ql_lock_new(&handle->ql, c->ql, name, &options);
    assert(rc == QL_OK);
}

static void open_handles(struct world *w, struct sim_client *c)
{
    for (unsigned i = 0; i < w->swarm.handles; i++) {
        struct handle *handle = &c->handle[i];

        *handle = (struct handle){
            .client = (uint8_t)c->index,
            .index = (uint8_t)i,
            .lock = (uint8_t)(i % w->swarm.locks),
            .guarded = c->level != QL_LEVEL_PLAIN,
            .renew = dice_chance(&w->dice, w->swarm.renew_ppm),
        };
        client_new_lock(w, handle);
        program_start(w, handle);
    }
}

static enum ql_level level_of(const struct world *w, unsigned index)
{
    switch (w->swarm.level) {
    case SWARM_GUARDED:
        return QL_LEVEL_GUARDED;
    case SWARM_STRICT:
        return QL_LEVEL_STRICT;
    case SWARM_MIXED:
        return index % 2 ? QL_LEVEL_PLAIN : QL_LEVEL_GUARDED;
    default:
        return QL_LEVEL_PLAIN;
    }
}

void client_open(struct world *w, struct sim_client *c)
{
    ql_client_options options = QL_CLIENT_OPTIONS_INIT;
    char servers[NODES_MAX * 24] = "", label[16];
    int rc;

    c->incarnation++;
    c->doomed = false;
    c->wake_at = NEVER;
    client_memory_open(c);
    for (unsigned i = 0; i < w->swarm.nodes; i++)
        snprintf(servers + strlen(servers), 24, "10.0.0.%u:6379,", i + 1);
    snprintf(label, sizeof label, "client-%u", c->index);
    options.node_timeout_ms = w->swarm.node_timeout_ms;
    options.connect_timeout_ms = w->swarm.connect_timeout_ms;
    options.drift_ppm = w->swarm.drift_ppm;
    options.label = label;
    options.level = c->level = level_of(w, c->index);
    options.record_keep_ms = w->swarm.keep_ms;
    options.token = draw_token;
    options.token_arg = c;
    options.allocator = &c->memory;
    tell(w, "%c starts", c->index, 0, 0, NULL);
    client_enter(w, c);
    rc = ql_client_open(&c->ql, servers, &options);
    assert(rc == QL_OK);
    (void)ql_client_fd(c->ql); /* so that the timer is set */
    open_handles(w, c);
    c->alive = true;
    client_leave(w, c);
}

/* --- Its end -------------------------------------------------------------- */

/*
 * The process has gone: its memory is given back as a forked child would, so
 * that not a byte is sent for it.
 */
static void bury(struct world *w, struct sim_client *c)
{
    c->alive = false;
    for (unsigned i = 0; i < w->swarm.handles; i++)
        oracle_forget(w, &c->handle[i]);
    kernel_enter(w, c);
    kernel_pretend_fork(true);
    for (unsigned i = 0; i < w->swarm.handles; i++)
        ql_lock_free(c->handle[i].ql);
    ql_client_close(c->ql);
    kernel_pretend_fork(false);
    kernel_leave();
    c->ql = NULL;
    client_memory_free(c);
}

void client_kill(struct world *w, struct sim_client *c, bool off)
{
    if (!c->alive || c->doomed)
        return;
    tell(w, off ? "%c: its machine is off" : "%c is killed", c->index, 0, 0,
         NULL);
    c->doomed = true;
    kernel_end_process(w, c, off);
    if (!c->inside)
        bury(w, c);
}

void client_quit(struct world *w, struct sim_client *c)
{
    if (!c->alive || c->doomed || c->inside)
        return;
    tell(w, "%c quits", c->index, 0, 0, NULL);
    client_enter(w, c);
    for (unsigned i = 0; i < w->swarm.handles; i++)
        oracle_forget(w, &c->handle[i]);
    c->alive = false; /* nobody shall look at it any more */
    for (unsigned i = 0; i < w->swarm.handles; i++)
        ql_lock_free(c->handle[i].ql);
    ql_client_close(c->ql);
    c->ql = NULL;
    client_memory_free(c);
    client_leave(w, c);
}

static void open_again(struct world *w, uint64_t index, uint64_t incarnation)
{
    struct sim_client *c = &w->client[index];

    if (c->incarnation != incarnation || w->over)
        return;
    if (c->alive || c->inside || w->now < c->stopped_until)
        events_plan(&w->events, w->now + MS, open_again, index, incarnation);
    else
        client_open(w, c);
}

void client_open_later(struct world *w, struct sim_client *c, uint64_t ns)
{
    events_plan(&w->events, w->now + ns, open_again, c->index, c->incarnation);
}

/* --- Its turns ------------------------------------------------------------ */

uint64_t client_clock(const struct world *w, const struct sim_client *c)
{
    struct ql_clock clock = c->ql->clock;

    return ql_clock_reckon(&clock, vclock_read(&c->boot, w->now),
                           vclock_read(&c->wall, w->now));
}

void client_enter(struct world *w, struct sim_client *c)
{
    c->inside++;
    kernel_enter(w, c);
}

void client_leave(struct world *w, struct sim_client *c)
{
    kernel_leave();
    c->inside--;
    if (c->inside)
        return;
    if (c->doomed && c->alive)
        bury(w, c);
    if (!c->alive)
        return;
    oracle_look(w, c);
    client_plan(w, c);
}

bool client_can_run(const struct world *w, const struct sim_client *c,
                    uint64_t *ret_when)
{
    uint64_t when = c->stopped_until;

    if (c->inside && when < w->now + 100 * US)
        when = w->now + 100 * US;
    *ret_when = when;
    return when <= w->now;
}

static void wake_up(struct world *w, uint64_t index, uint64_t incarnation)
{
    struct sim_client *c = &w->client[index];
    uint64_t when;

    if (!c->alive || c->incarnation != incarnation || c->wake_at != w->now)
        return;
    c->wake_at = NEVER;
    if (!client_can_run(w, c, &when)) {
        if (!c->inside) {
            c->wake_at = when;
            events_plan(&w->events, when, wake_up, index, incarnation);
        }
        return;
    }
    client_enter(w, c);
    (void)ql_client_process(c->ql);
    client_leave(w, c);
}

void client_plan(struct world *w, struct sim_client *c)
{
    uint64_t at;

    if (!c->alive || c->doomed || c->inside)
        return;
    at = kernel_ready(w, c) ? w->now : kernel_timer(w, c);
    if (at == NEVER)
        return;
    at = (at > w->now ? at : w->now) + 1 +
         dice_below(&w->dice, w->swarm.latency_ns);
    if (at >= c->wake_at)
        return;
    c->wake_at = at;
    events_plan(&w->events, at, wake_up, c->index, c->incarnation);
}

static void go_on(struct world *w, uint64_t index, uint64_t unused)
{
    struct sim_client *c = &w->client[index];

    (void)unused;
    if (!c->alive || w->now < c->stopped_until)
        return;
    c->unpunctual_at = w->now;
    client_plan(w, c);
}

void client_pause(struct world *w, struct sim_client *c, uint64_t ns)
{
    if (w->now + ns <= c->stopped_until)
        return;
    c->stopped_until = w->now + ns;
    c->unpunctual_at = c->stopped_until;
    events_plan(&w->events, c->stopped_until, go_on, c->index, 0);
}
