/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The machine's one way in: takes an event to the file of the operation that
 * it concerns. And the one way to ask when it wants the time again.
 */
#include <assert.h>

#include "core/steps.h"
#include "core/time.h"

size_t ql_machine_size(unsigned nodes)
{
    return sizeof(struct ql_machine) + nodes * sizeof(struct ql_peer);
}

void ql_machine_init(struct ql_machine *m, const struct ql_rules *rules,
                     const struct ql_terms *terms, uint64_t seed)
{
    *m = (struct ql_machine){.rules = rules,
                             .terms = terms,
                             .ttl_ns = terms->ttl_ns,
                             .state = QL_ST_IDLE,
                             .errand = QL_ERRAND_NONE};
    for (unsigned i = 0; i < rules->nodes; i++)
        m->peer[i] = (struct ql_peer){0};
    ql_rand_seed(&m->rand, seed);
}

/*
 * A token taken over: what its holder sent where, and when, we do not know. The
 * best guess at when its keys expire is that it was just now, for our own ttl.
 */
static void adopt(struct ql_machine *m, uint64_t fence)
{
    ql_set_state(m, QL_ST_ADOPTED);
    m->fence = fence;
    m->confirm = 0;
    m->died = false;
    m->valid_until = 0;
    m->acquire_round = 0; /* late answers to others are not ours */
    m->extend_round = 0;
    m->t0 = m->now;
    m->ttl_ns = m->terms->ttl_ns;
    m->expires_at = ql_expiry(m);
    m->hold_until = ql_time_add(m->now, m->terms->max_hold_ns);
    for (unsigned i = 0; i < m->rules->nodes; i++)
        m->peer[i].key = QL_KEY_MAYBE;
}

static void vote(struct ql_machine *m, const struct ql_event *ev,
                 struct ql_actions *out)
{
    assert(ev->node < m->rules->nodes);
    switch (ev->request) {
    case QL_REQ_ACQUIRE:
        if (ev->round == m->acquire_round)
            ql_acquire_vote(m, ev, out);
        else if (ev->round == m->extend_round)
            ql_repair_vote(m, ev);
        break;
    case QL_REQ_CONFIRM:
        if (ev->round == m->acquire_round)
            ql_confirm_vote(m, ev, out);
        break;
    case QL_REQ_EXTEND:
        if (ev->round == m->extend_round)
            ql_extend_vote(m, ev, out);
        break;
    case QL_REQ_RELEASE:
        if (ev->round != m->round)
            break;
        if (m->state == QL_ST_CLEANING)
            ql_clean_vote(m, ev, out);
        else if (m->state == QL_ST_RELEASING)
            ql_release_vote(m, ev, out);
        break;
    case QL_REQ_INSPECT:
        if (ev->round == m->round)
            ql_inspect_vote(m, ev, out);
        break;
    }
}

static void errand_timeout(struct ql_machine *m, struct ql_actions *out)
{
    if (m->errand == QL_ERRAND_NONE || m->now < m->round_until)
        return;
    if (m->errand == QL_ERRAND_EXTEND || m->errand == QL_ERRAND_RENEW)
        ql_extend_timeout(m, out);
    else
        ql_inspect_timeout(m, out);
}

/* The tidying up can outlast the pause before the next attempt. */
static void retry_if_due(struct ql_machine *m, struct ql_actions *out)
{
    if (m->state == QL_ST_WAITING && m->now >= m->retry_at)
        ql_acquire_attempt(m, out);
}

static void time_passed(struct ql_machine *m, struct ql_actions *out)
{
    bool round_over = m->now >= m->round_until;

    switch ((enum ql_state)m->state) {
    case QL_ST_ACQUIRING:
        if (round_over)
            ql_acquire_timeout(m, out);
        break;
    case QL_ST_CLEANING:
        if (round_over)
            ql_clean_timeout(m, out);
        retry_if_due(m, out);
        break;
    case QL_ST_WAITING:
        retry_if_due(m, out);
        break;
    case QL_ST_RELEASING:
        if (round_over)
            ql_release_timeout(m, out);
        break;
    case QL_ST_HELD:
        errand_timeout(m, out);
        if (m->errand == QL_ERRAND_NONE && m->state == QL_ST_HELD &&
            m->now >= m->renew_at)
            ql_extend_begin(m, m->ttl_ns, QL_ERRAND_RENEW, out);
        break;
    case QL_ST_IDLE:
    case QL_ST_ADOPTED:
    case QL_ST_LOST:
        errand_timeout(m, out);
        break;
    case QL_ST_COUNT:
        break;
    }
}

/* Gives up what runs. What it left on the nodes is released all the same. */
static void cancel(struct ql_machine *m, struct ql_actions *out)
{
    switch ((enum ql_state)m->state) {
    case QL_ST_ACQUIRING:
        ql_send_releases(m, out);
        /* fall through */
    case QL_ST_CLEANING:
    case QL_ST_WAITING:
        ql_set_state(m, QL_ST_IDLE);
        ql_tell(out, QL_OUT_CANCELLED);
        break;
    case QL_ST_RELEASING: /* the releases are on their way already */
        ql_set_state(m, QL_ST_IDLE);
        ql_tell(out, QL_OUT_UNSURE);
        break;
    default:
        if (m->errand == QL_ERRAND_NONE || m->errand == QL_ERRAND_RENEW)
            break;
        m->errand = QL_ERRAND_NONE;
        ql_tell(out, QL_OUT_CANCELLED);
    }
}

/* No token: the attempt ends before anything of it was sent. */
static void abort_attempt(struct ql_machine *m, struct ql_actions *out)
{
    assert(m->state == QL_ST_ACQUIRING);
    ql_set_state(m, QL_ST_IDLE);
    ql_tell(out, QL_OUT_ABORTED);
}

void ql_step(struct ql_machine *m, const struct ql_event *ev,
             struct ql_actions *out)
{
    assert(ev->now >= m->now);
    m->now = ev->now;
    out->count = 0;
    ql_hold_check(m, out);

    switch (ev->kind) {
    case QL_EV_ACQUIRE:
        ql_acquire_begin(m, ev->until, out);
        break;
    case QL_EV_ADOPT:
        adopt(m, ev->fence);
        break;
    case QL_EV_VOTE:
        vote(m, ev, out);
        break;
    case QL_EV_TIME:
        time_passed(m, out);
        break;
    case QL_EV_WAKE:
        if (m->state == QL_ST_WAITING)
            ql_acquire_attempt(m, out);
        break;
    case QL_EV_EXTEND:
        ql_extend_begin(m, ev->ttl_ns, QL_ERRAND_EXTEND, out);
        break;
    case QL_EV_RELEASE:
        ql_release_begin(m, out);
        break;
    case QL_EV_VERIFY:
        ql_inspect_begin(m, QL_ERRAND_VERIFY, out);
        break;
    case QL_EV_INSPECT:
        ql_inspect_begin(m, QL_ERRAND_INSPECT, out);
        break;
    case QL_EV_CANCEL:
        cancel(m, out);
        break;
    case QL_EV_ABORT:
        abort_attempt(m, out);
        break;
    }
}

uint64_t ql_machine_deadline(const struct ql_machine *m)
{
    switch ((enum ql_state)m->state) {
    case QL_ST_ACQUIRING:
    case QL_ST_CLEANING:
    case QL_ST_RELEASING:
        return m->round_until;
    case QL_ST_WAITING:
        return m->retry_at;
    case QL_ST_HELD:
        return ql_time_min(ql_hold_deadline(m), m->errand == QL_ERRAND_NONE
                                                    ? m->renew_at
                                                    : m->round_until);
    default:
        return m->errand == QL_ERRAND_NONE ? QL_NEVER : m->round_until;
    }
}
