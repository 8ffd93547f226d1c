/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A node as its owner sees it: what is taken, what is refused, how it ends.
 * Nothing here answers: that is left to ql_node_io() and ql_node_time().
 */
#include "redis/inner.h"

#include <stdio.h>

#include "base/text.h"
#include "redis/command.h"
#include "redis/guarded.h"

/* Room that is kept for loading each script again. */
#define RESERVE (QL_SCRIPTS + 1)

/* NULL stays NULL. False: out of memory. */
static bool copy_string(const ql_allocator *mem, const char **ret,
                        const char *string)
{
    *ret = string ? ql_mem_copy(mem, string, strlen(string)) : NULL;
    return *ret || !string;
}

static void free_secret(const ql_allocator *mem, const char *secret)
{
    if (secret)
        explicit_bzero((char *)secret, strlen(secret));
    ql_mem_free(mem, (char *)secret);
}

static bool resolve(struct ql_node *node)
{
    ql_verdict verdict =
        ql_resolve(&node->places, node->config.mem, node->config.address,
                   node->text, sizeof node->text);

    if (verdict != QL_V_NONE)
        node->reason = verdict;
    return verdict != QL_V_NOMEM;
}

struct ql_node *ql_node_new(const struct ql_node_config *config)
{
    struct ql_node *node = ql_mem_zalloc(config->mem, sizeof *node);
    bool good;

    if (!node)
        return NULL;
    node->config = *config;
    node->fd = -1;
    node->seed = config->seed;
    node->retry_at = UINT64_MAX;
    node->reason = QL_V_CONNECTING;
    snprintf(node->text, sizeof node->text, "not connected yet");
    node->config.password = NULL;
    good = copy_string(config->mem, &node->config.user, config->user) &&
           copy_string(config->mem, &node->config.password, config->password) &&
           resolve(node);
    if (good)
        return node;
    ql_node_free(node, false);
    return NULL;
}

/* Whether the release behind the acquire at `index` is with the kernel. */
static bool is_undone(const struct ql_queue *queue, unsigned index)
{
    const struct ql_request *acquire = ql_queue_at(queue, index);

    for (unsigned i = index + 1; i < queue->count; i++) {
        const struct ql_request *release = ql_queue_at(queue, i);

        if (!ql_queue_written(queue, i))
            return false;
        if (release->job == QL_JOB_COMMAND && release->kind == QL_CMD_RELEASE &&
            strcmp(release->token, acquire->token) == 0)
            return true;
    }
    return false;
}

/* An acquire on its way that nothing would undo must not arrive. */
static enum ql_socket_end how_to_end(const struct ql_queue *queue)
{
    for (unsigned i = 0; i < queue->count; i++) {
        const struct ql_request *request = ql_queue_at(queue, i);

        if (request->job == QL_JOB_COMMAND && request->kind == QL_CMD_SET &&
            ql_queue_begun(queue, i) && !is_undone(queue, i))
            return QL_END_ABORT;
    }
    return QL_END_ORDERLY;
}

void ql_node_free(struct ql_node *node, bool forked)
{
    const ql_allocator *mem;

    if (!node)
        return;
    mem = node->config.mem;
    if (!forked)
        ql_connection_write(node);
    ql_connection_close(node,
                        forked ? QL_END_FORKED : how_to_end(&node->queue));
    ql_queue_free(&node->queue, mem);
    ql_queue_free(&node->debts, mem);
    ql_places_free(&node->places, mem);
    free_secret(mem, node->config.user);
    free_secret(mem, node->config.password);
    ql_mem_free(mem, node);
}

void ql_node_connect(struct ql_node *node, uint64_t now)
{
    if (node->state == QL_NODE_DOWN)
        ql_connection_start(node, now);
}

/* Why a command is not taken, or a release will not be answered. */
static ql_verdict refusal(const struct ql_node *node, enum ql_command_kind kind)
{
    bool release = kind == QL_CMD_RELEASE;

    switch (node->state) {
    case QL_NODE_DOWN:
    case QL_NODE_SUSPECT:
        return node->reason;
    case QL_NODE_CONNECTING:
    case QL_NODE_GREETING:
        return release ? QL_V_CONNECTING : QL_V_NONE;
    case QL_NODE_READY:
        break;
    }
    return release || kind == QL_CMD_RECORD ? QL_V_NONE : node->bar;
}

static bool is_full(const struct ql_node *node,
                    const struct ql_command *command)
{
    unsigned scale = command->kind == QL_CMD_RELEASE ? 2 : 1;
    /* With a guard the name is there twice. */
    size_t names = command->name_len * (command->guard ? 2 : 1);

    return node->queue.count >= scale * QL_QUEUE_REQUESTS ||
           node->queue.bytes + names > scale * QL_QUEUE_BYTES;
}

ql_verdict ql_node_send(struct ql_node *node, const struct ql_command *command,
                        uint64_t now)
{
    bool release = command->kind == QL_CMD_RELEASE;
    ql_verdict verdict = refusal(node, command->kind);
    struct ql_request request;

    if (verdict != QL_V_NONE && !release)
        return verdict;
    if (is_full(node, command))
        return QL_V_QUEUE;
    if (!ql_queue_reserve(&node->queue, node->config.mem, 1 + RESERVE) ||
        !ql_command_encode(&request, command, node->config.mem, now))
        return QL_V_NOMEM;
    /* Before the greeting has ended nobody knows which process it is for. */
    if (node->state >= QL_NODE_READY)
        ql_guarded_stamp(&request, node->run_id, node->seen);
    request.quiet = verdict != QL_V_NONE;
    if (node->state == QL_NODE_DOWN)
        ql_connection_owe(node, &request, now);
    else
        ql_queue_push(&node->queue, &request);
    return verdict;
}

void ql_node_flush(struct ql_node *node, uint64_t now)
{
    (void)now;
    ql_connection_write(node);
}

void ql_node_io(struct ql_node *node, bool readable, bool writable,
                uint64_t now)
{
    if (node->barring)
        ql_connection_bar(node, now);
    if (node->state == QL_NODE_CONNECTING && (readable || writable))
        ql_connection_check(node, now);
    else if (node->state > QL_NODE_CONNECTING && readable)
        ql_receive(node, now);
    if (node->state >= QL_NODE_READY)
        ql_connection_expire(node, now);
    ql_connection_write(node);
}

int ql_node_fd(const struct ql_node *node)
{
    return node->fd;
}

bool ql_node_wants_write(const struct ql_node *node)
{
    struct iovec piece;

    if (node->state == QL_NODE_CONNECTING)
        return true;
    return node->state > QL_NODE_CONNECTING && node->write_error == 0 &&
           !node->barring &&
           ql_queue_pieces(&node->queue, &piece, 1,
                           node->state == QL_NODE_GREETING) > 0;
}

uint64_t ql_node_connection(const struct ql_node *node)
{
    return node->connection;
}

enum ql_node_state ql_node_state(const struct ql_node *node)
{
    return node->state;
}

unsigned ql_node_pending_releases(const struct ql_node *node)
{
    return node->queue.releases + node->debts.releases;
}

void ql_node_bar(struct ql_node *node, ql_verdict verdict, const char *text)
{
    if (node->state < QL_NODE_READY)
        return;
    node->bar = verdict;
    ql_text_clean(node->bar_text, sizeof node->bar_text, text, strlen(text));
    node->barring = true;
}

void ql_node_sight(const struct ql_node *node, struct ql_sight *ret_sight)
{
    bool reachable = node->state >= QL_NODE_READY;

    *ret_sight = (struct ql_sight){.uptime_s = -1};
    if (!reachable)
        return;
    *ret_sight = node->sight;
    ret_sight->reachable = true;
    ret_sight->replica = node->replica;
    ret_sight->durable = node->saves == QL_SAVES_ALL;
    memcpy(ret_sight->eviction, node->eviction, sizeof(node->eviction));
    /* What is no run_id as servers have them cannot be put into requests. */
    if (strlen(node->run_id) == QL_RUN_ID_MAX)
        memcpy(ret_sight->run_id, node->run_id, sizeof(node->run_id));
}

static bool shows_bar(const struct ql_node *node)
{
    return node->state == QL_NODE_READY && node->bar != QL_V_NONE;
}

void ql_node_describe(const struct ql_node *node, ql_node_info *ret_info)
{
    *ret_info = (ql_node_info){
        .address = node->config.address->display,
        .ready = node->state == QL_NODE_READY && node->bar == QL_V_NONE,
        .verdict = shows_bar(node) ? node->bar : node->reason,
        .replica = node->replica,
    };
    memcpy(ret_info->text, ql_node_text(node), QL_TEXT_MAX);
    memcpy(ret_info->run_id, node->run_id, sizeof node->run_id);
    memcpy(ret_info->version, node->version, sizeof node->version);
    memcpy(ret_info->eviction, node->eviction, sizeof node->eviction);
}

const char *ql_node_text(const struct ql_node *node)
{
    return shows_bar(node) ? node->bar_text : node->text;
}
