/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of the machine share among themselves: one file per operation
 * of the algorithm, and the few verbs that each of them ends in.
 */
#ifndef QL_CORE_STEPS_H
#define QL_CORE_STEPS_H

#include "core/machine.h"

/* round.c: the verbs */
void ql_set_state(struct ql_machine *m, enum ql_state state);
void ql_tell(struct ql_actions *out, enum ql_outcome outcome);
void ql_send(struct ql_machine *m, struct ql_actions *out, unsigned node,
             enum ql_request_kind request, uint64_t ttl_ns);
void ql_open_round(struct ql_machine *m, uint64_t until);
void ql_cast(struct ql_machine *m, unsigned node, enum ql_vote vote);
/* Who has not answered will not be waited for any longer. */
void ql_close_round(struct ql_machine *m);
uint64_t ql_expiry(const struct ql_machine *m);
unsigned ql_count_keys(const struct ql_machine *m, enum ql_key key);

/* A round of releases, on every node that was ever sent this lock. */
void ql_send_releases(struct ql_machine *m, struct ql_actions *out);

/* holders.c */

/* The largest group of nodes that name the same holder. */
unsigned ql_largest_holding(const struct ql_machine *m);

/* acquire.c: attempts */
void ql_acquire_begin(struct ql_machine *m, uint64_t until,
                      struct ql_actions *out);
void ql_acquire_attempt(struct ql_machine *m, struct ql_actions *out);
void ql_acquire_vote(struct ql_machine *m, const struct ql_event *ev,
                     struct ql_actions *out);
void ql_confirm_vote(struct ql_machine *m, const struct ql_event *ev,
                     struct ql_actions *out);
void ql_acquire_timeout(struct ql_machine *m, struct ql_actions *out);

/* fence.c: the number that a majority of the nodes agrees on */

/* What q nodes say that the key's number is; 0: there is none yet. */
uint64_t ql_fence_agreed(const struct ql_machine *m);
/* So many said yes that q could agree, but they do not: mends that. */
void ql_fence_confirm(struct ql_machine *m, struct ql_actions *out);
void ql_fence_grant(struct ql_machine *m, struct ql_actions *out);
/* A node said yes after the grant. */
void ql_fence_align(struct ql_machine *m, unsigned node,
                    struct ql_actions *out);
/* Nodes that were sent a confirm will not be waited for any longer. */
void ql_fence_close(struct ql_machine *m);

/* clean.c: after a failed attempt */
void ql_clean_begin(struct ql_machine *m, struct ql_actions *out);
void ql_clean_note(struct ql_machine *m, enum ql_vote vote);
void ql_clean_vote(struct ql_machine *m, const struct ql_event *ev,
                   struct ql_actions *out);
void ql_clean_timeout(struct ql_machine *m, struct ql_actions *out);

/* hold.c: having it, and losing it */
void ql_hold_begin(struct ql_machine *m);
void ql_hold_check(struct ql_machine *m, struct ql_actions *out);
uint64_t ql_renew_time(struct ql_machine *m);
uint64_t ql_hold_deadline(const struct ql_machine *m);
void ql_hold_lose(struct ql_machine *m, enum ql_outcome errand_outcome,
                  struct ql_actions *out);

/* extend.c: extension, renewal, repair */
void ql_extend_begin(struct ql_machine *m, uint64_t ttl_ns,
                     enum ql_errand errand, struct ql_actions *out);
void ql_extend_vote(struct ql_machine *m, const struct ql_event *ev,
                    struct ql_actions *out);
void ql_extend_timeout(struct ql_machine *m, struct ql_actions *out);
void ql_repair_vote(struct ql_machine *m, const struct ql_event *ev);

/* inspect.c: looking, without touching */
void ql_inspect_begin(struct ql_machine *m, enum ql_errand errand,
                      struct ql_actions *out);
void ql_inspect_vote(struct ql_machine *m, const struct ql_event *ev,
                     struct ql_actions *out);
void ql_inspect_timeout(struct ql_machine *m, struct ql_actions *out);

/* release.c */
void ql_release_begin(struct ql_machine *m, struct ql_actions *out);
void ql_release_vote(struct ql_machine *m, const struct ql_event *ev,
                     struct ql_actions *out);
void ql_release_timeout(struct ql_machine *m, struct ql_actions *out);

#endif
