/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a caller's request begins: perhaps behind a gate, until connections are
 * up. How it ends is in ending.c.
 */

#include "client/client.h"
#include "core/time.h"

static void begin(struct ql_lock *lock)
{
    struct ql_event event = {0};

    lock->client->seasoned = true;
    switch ((enum ql_op_kind)lock->op.kind) {
    case QL_OP_ACQUIRE:
        event.kind = QL_EV_ACQUIRE;
        event.until = lock->op.until;
        break;
    case QL_OP_EXTEND:
        event.kind = QL_EV_EXTEND;
        event.ttl_ns = lock->op.ttl_ns;
        break;
    case QL_OP_RELEASE:
        event.kind = QL_EV_RELEASE;
        break;
    case QL_OP_VERIFY:
        event.kind = QL_EV_VERIFY;
        break;
    case QL_OP_INSPECT:
        event.kind = QL_EV_INSPECT;
        break;
    case QL_OP_NONE:
        return;
    }
    ql_drive(lock, event);
}

static bool can_vote(const struct ql_member *member)
{
    const char *text;

    return ql_node_state(member->node) == QL_NODE_READY && !member->barred &&
           (!member->client->watch ||
            ql_watch_verdict(member, &text) == QL_V_GRANTED);
}

static unsigned ready_nodes(const struct ql_client *client)
{
    unsigned ready = 0;

    for (unsigned i = 0; i < client->rules.nodes; i++)
        ready += can_vote(&client->member[i]);
    return ready;
}

bool ql_op_is_hopeful(const struct ql_member *member)
{
    enum ql_node_state state = ql_node_state(member->node);

    return state == QL_NODE_CONNECTING || state == QL_NODE_GREETING ||
           (member->client->watch && ql_watch_hopeful(member));
}

/*
 * The time that connecting takes must not be taken from the lock's validity, so
 * an operation does not start before a majority is connected; unless no more
 * nodes can be hoped for, and it had better fail.
 */
bool ql_op_gate_open(const struct ql_client *client)
{
    unsigned ready = 0, hopeful = 0;

    for (unsigned i = 0; i < client->rules.nodes; i++) {
        ready += can_vote(&client->member[i]);
        hopeful += ql_op_is_hopeful(&client->member[i]);
    }
    if (hopeful == 0)
        return true;
    return ready >= client->rules.quorum &&
           (!client->watch || client->seasoned);
}

/*
 * At the plain level a node that is just connecting is sent its request as soon
 * as it can take it. At the guarded level it must have been looked at before it
 * is asked, so the first operation waits for those that follow the majority,
 * but not longer than for their answers: a command that does one thing and ends
 * would otherwise leave locks on bare majorities.
 */
static void shorten(struct ql_lock *lock)
{
    struct ql_client *client = lock->client;
    uint64_t until =
        ql_time_add(client->clock.now, client->rules.node_timeout_ns);

    if (ready_nodes(client) < client->rules.quorum ||
        lock->op.gate_until <= until)
        return;
    lock->op.gate_until = until;
    ql_drive_timer(lock);
}

/* Tries every node that is down now, without waiting for its turn. */
void ql_op_connect(struct ql_client *client)
{
    for (unsigned i = 0; i < client->rules.nodes; i++)
        ql_node_connect(client->member[i].node, client->clock.now);
    client->dirty = UINT32_MAX >> (32 - client->rules.nodes);
}

void ql_op_start(struct ql_lock *lock)
{
    struct ql_client *client = lock->client;

    if (lock->op.kind != QL_OP_EXTEND && lock->op.kind != QL_OP_RELEASE)
        ql_note_reset(lock);
    if (ready_nodes(client) < client->rules.quorum)
        ql_op_connect(client);
    if (client->watch)
        ql_watch_refresh(client);
    if (ql_op_gate_open(client)) {
        begin(lock);
        return;
    }
    lock->op.gated = true;
    client->gated++;
    lock->op.gate_until =
        ql_time_add(client->clock.now, client->connect_timeout_ns);
    ql_drive_timer(lock);
    shorten(lock);
}

static void ungate(struct ql_lock *lock)
{
    lock->op.gated = false;
    lock->client->gated--;
    ql_drive_timer(lock);
}

void ql_op_pass_gate(struct ql_lock *lock)
{
    ungate(lock);
    begin(lock);
}

void ql_op_check_gates(struct ql_client *client)
{
    struct ql_lock *lock, *next;
    bool open = client->gated > 0 && ql_op_gate_open(client);

    for (lock = client->gated > 0 ? client->locks : NULL; lock; lock = next) {
        next = lock->next;
        if (lock->op.gated && open)
            ql_op_pass_gate(lock);
        else if (lock->op.gated)
            shorten(lock);
    }
}

/* A release that waits for connections is not taken back: nobody will come to
 * release the lock again. It becomes a debt where it must. */
void ql_op_cancel(struct ql_lock *lock)
{
    if (lock->op.gated && lock->op.kind != QL_OP_RELEASE) {
        ungate(lock);
        ql_op_finish(lock, QL_E_CANCELLED);
        return;
    }
    if (lock->op.gated)
        ql_op_pass_gate(lock);
    if (lock->op.kind != QL_OP_NONE)
        ql_drive(lock, (struct ql_event){.kind = QL_EV_CANCEL});
}
