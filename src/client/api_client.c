/* SPDX-License-Identifier: BSD-2-Clause */
/* The public functions that concern a client that is open. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "client/client.h"
#include "core/time.h"

unsigned ql_client_nodes(const ql_client *client)
{
    return client->rules.nodes;
}

unsigned ql_client_quorum(const ql_client *client)
{
    return client->rules.quorum;
}

/* A node that answers may still not be one that may vote. */
static void describe(const struct ql_member *member, ql_node_info *ret_info)
{
    const char *text;
    ql_verdict verdict;

    ql_node_describe(member->node, ret_info);
    ret_info->address = member->client->address[member->index].display;
    if (!member->client->watch || ret_info->verdict != QL_V_GRANTED)
        return;
    verdict = ql_watch_verdict(member, &text);
    ret_info->verdict = verdict;
    if (verdict != QL_V_GRANTED)
        snprintf(ret_info->text, sizeof(ret_info->text), "%s", text);
}

int ql_client_node(ql_client *client, unsigned index, ql_node_info *ret_info)
{
    if (!ret_info || index >= client->rules.nodes)
        return QL_E_INVALID;
    if (client->pid != getpid())
        return QL_E_FORKED;
    pthread_mutex_lock(&client->mutex);
    describe(&client->member[index], ret_info);
    pthread_mutex_unlock(&client->mutex);
    return QL_OK;
}

/* --- Connecting ----------------------------------------------------------- */

struct settling {
    struct ql_client *client;
    uint64_t until;
};

static bool settled(void *arg)
{
    struct settling *settling = arg;
    struct ql_client *client = settling->client;

    if (client->clock.now >= settling->until)
        return true;
    for (unsigned i = 0; i < client->rules.nodes; i++) {
        if (ql_op_is_hopeful(&client->member[i]))
            return false;
    }
    return true;
}

/* As an acquire would fail: by what most of the missing nodes suffer from. */
static int connect_result(struct ql_client *client)
{
    unsigned ready = 0, auth = 0, config = 0;
    ql_node_info info;

    for (unsigned i = 0; i < client->rules.nodes; i++) {
        describe(&client->member[i], &info);
        ready += info.ready && info.verdict == QL_V_GRANTED;
        auth += info.verdict == QL_V_NOAUTH || info.verdict == QL_V_NOPERM;
        config += info.verdict == QL_V_DUPLICATE ||
                  info.verdict == QL_V_GROUP || info.verdict == QL_V_EVICTION;
    }
    if (ready >= client->rules.quorum)
        return QL_OK;
    return ql_result_of_failures(&client->rules, auth, config);
}

int ql_client_connect(ql_client *client)
{
    struct settling settling = {.client = client};
    struct ql_waiter *waiter;
    int rc;

    if (client->pid != getpid())
        return QL_E_FORKED;
    pthread_mutex_lock(&client->mutex);
    settling.until =
        ql_time_add(ql_clock_now(&client->clock), client->connect_timeout_ns);
    ql_op_connect(client);
    client->settlers++;
    ql_loop_settle(client);
    ql_loop_wait(client, settled, &settling, settling.until, &waiter);
    client->settlers--;
    rc = connect_result(client);
    ql_op_call_back(client);
    pthread_mutex_unlock(&client->mutex);
    return rc;
}

/* --- Other people's event loops ------------------------------------------- */

int ql_client_fd(ql_client *client)
{
    if (client->pid != getpid()) {
        errno = EPERM;
        return -1;
    }
    pthread_mutex_lock(&client->mutex);
    client->timer_used = true;
    ql_loop_settle(client);
    pthread_mutex_unlock(&client->mutex);
    return client->epoll_fd;
}

int ql_client_process(ql_client *client)
{
    int rc = QL_OK;

    if (client->pid != getpid())
        return QL_E_FORKED;
    pthread_mutex_lock(&client->mutex);
    if (!client->driving)
        rc = ql_loop_once(client, 0);
    ql_loop_hand_over(client);
    ql_op_call_back(client);
    pthread_mutex_unlock(&client->mutex);
    return rc;
}

/* --- Closing -------------------------------------------------------------- */

struct draining {
    struct ql_client *client;
    uint64_t until;
};

/* A silent node will not take a release now either, and one that is down has
 * had its chance. */
static bool may_yet_release(const struct ql_node *node)
{
    enum ql_node_state state = ql_node_state(node);

    return state != QL_NODE_DOWN && state != QL_NODE_SUSPECT &&
           ql_node_pending_releases(node) > 0;
}

static bool drained(void *arg)
{
    struct draining *draining = arg;
    struct ql_client *client = draining->client;

    if (client->clock.now >= draining->until)
        return true;
    for (unsigned i = 0; i < client->rules.nodes; i++)
        if (may_yet_release(client->member[i].node))
            return false;
    return true;
}

/* What is owed to a node whose connection broke is paid on a new one, if the
 * node is there. Returns how long that may take. */
static uint64_t reconnect_debtors(struct ql_client *client)
{
    uint64_t patience_ns = client->rules.node_timeout_ns;

    for (unsigned i = 0; i < client->rules.nodes; i++) {
        struct ql_node *node = client->member[i].node;

        if (ql_node_state(node) != QL_NODE_DOWN ||
            ql_node_pending_releases(node) == 0)
            continue;
        ql_node_connect(node, client->clock.now);
        client->dirty |= UINT32_C(1) << i;
        patience_ns = ql_time_max(patience_ns, client->connect_timeout_ns);
    }
    return patience_ns;
}

void ql_client_close(ql_client *client)
{
    struct draining draining = {.client = client};
    struct ql_waiter *waiter;

    if (!client)
        return;
    if (client->pid != getpid()) {
        ql_client_dispose(client, true);
        return;
    }
    pthread_mutex_lock(&client->mutex);
    ql_keeper_stop(client);
    ql_clock_now(&client->clock);
    (void)ql_loop_once(client, 0);
    draining.until = ql_time_add(client->clock.now, reconnect_debtors(client));
    client->settlers++;
    ql_loop_settle(client);
    ql_loop_wait(client, drained, &draining, draining.until, &waiter);
    pthread_mutex_unlock(&client->mutex);
    ql_client_dispose(client, false);
}
