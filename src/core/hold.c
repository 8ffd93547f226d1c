/* SPDX-License-Identifier: BSD-2-Clause */
/* Having the lock, and losing it: by the clock, or because nodes say so. */
#include "core/steps.h"
#include "core/time.h"

/*
 * A third of the ttl after the last success, so that two renewals may fail; a
 * little earlier at random, so that many locks do not renew at one moment.
 */
uint64_t ql_renew_time(struct ql_machine *m)
{
    uint64_t third = m->ttl_ns / 3;

    if (!m->terms->renew || m->valid_until >= m->hold_until)
        return QL_NEVER;
    return ql_time_add(m->t0,
                       ql_rand_between(&m->rand, third - third / 10, third));
}

void ql_hold_begin(struct ql_machine *m)
{
    ql_set_state(m, QL_ST_HELD);
    m->renew_at = ql_renew_time(m);
}

/*
 * When the lock counts as lost unless it is extended before: at the end of its
 * validity, or so much earlier as a lock that renews itself was promised.
 */
uint64_t ql_hold_deadline(const struct ql_machine *m)
{
    return m->terms->renew
               ? ql_time_sub(m->valid_until, m->terms->loss_notice_ns)
               : m->valid_until;
}

/*
 * Told once per acquisition, since nothing leads back from LOST but a release.
 * `errand_outcome` is for the caller's own request, if one is running.
 */
void ql_hold_lose(struct ql_machine *m, enum ql_outcome errand_outcome,
                  struct ql_actions *out)
{
    bool capped = m->valid_until == m->hold_until;
    bool asked = m->errand == QL_ERRAND_EXTEND || m->errand == QL_ERRAND_VERIFY;

    ql_set_state(m, QL_ST_LOST);
    if (m->errand != QL_ERRAND_INSPECT)
        m->errand = QL_ERRAND_NONE;
    if (asked)
        ql_tell(out, errand_outcome);
    ql_tell(out, capped ? QL_OUT_LOST_CAPPED : QL_OUT_LOST);
}

/*
 * Before anything else is done with an event: a lock whose time is up is lost,
 * even if the event is the very answer that would have extended it. "Never
 * after one's own deadline": somebody else may have held it in between.
 */
void ql_hold_check(struct ql_machine *m, struct ql_actions *out)
{
    if (m->state == QL_ST_HELD && m->now >= ql_hold_deadline(m))
        ql_hold_lose(m, QL_OUT_TOO_LATE, out);
}

uint64_t ql_machine_valid_ns(const struct ql_machine *m, uint64_t now)
{
    if (m->state != QL_ST_HELD && m->state != QL_ST_LOST)
        return 0;
    return ql_time_sub(m->valid_until, now);
}
