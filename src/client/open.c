/* SPDX-License-Identifier: BSD-2-Clause */
/* A client from its options to its nodes, and back. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/text.h"
#include "client/client.h"
#include "client/token.h"
#include "core/time.h"

#define NODE_TIMEOUT_MS        50u
#define NODE_TIMEOUT_MAX_MS    60000u
#define CONNECT_TIMEOUT_MS     500u
#define CONNECT_TIMEOUT_MAX_MS 600000u
#define DRIFT_PPM              10000u
#define DRIFT_MAX_PPM          500000u
#define RECORD_KEEP_MS         (24u * 3600 * 1000)

/*
 * One server under two names would vote twice, and one restart of it would take
 * two votes away. The name that stands later in the list does not count.
 */
static void bar_duplicates(struct ql_member *member)
{
    struct ql_client *client = member->client;
    struct ql_node *node = member->node;
    ql_node_info mine, other;
    char text[QL_TEXT_MAX];

    ql_node_describe(node, &mine);
    if (!mine.run_id[0])
        return;
    for (unsigned i = 0; i < client->rules.nodes; i++) {
        struct ql_member *first = &client->member[i], *second = member;

        if (i == member->index)
            continue;
        ql_node_describe(first->node, &other);
        if (!other.ready || strcmp(mine.run_id, other.run_id) != 0)
            continue;
        if (i > member->index) {
            second = first;
            first = member;
        }
        snprintf(text, sizeof(text), "the same server as %s",
                 client->address[first->index].display);
        ql_node_bar(second->node, QL_V_DUPLICATE, text);
        second->barred = true;
    }
}

static void node_ready(struct ql_node *node, void *ctx)
{
    struct ql_member *member = ctx;

    (void)node;
    member->barred = false;
    bar_duplicates(member);
    if (member->client->watch)
        ql_watch_ready(member);
}

static void node_closing(struct ql_node *node, int fd, void *ctx)
{
    struct ql_member *member = ctx;

    (void)node;
    ql_loop_closing(member, fd);
    if (member->client->watch)
        ql_watch_gone(member);
}

/* Takes over as many of the caller's options as both sides know. */
static int read_options(ql_client_options *ret, const ql_client_options *from)
{
    ql_client_options all = QL_CLIENT_OPTIONS_INIT;

    if (from) {
        if (from->size < sizeof(size_t) || from->size > 4096)
            return QL_E_INVALID;
        memcpy(&all, from, from->size < sizeof(all) ? from->size : sizeof(all));
    }
    if (!all.node_timeout_ms)
        all.node_timeout_ms = NODE_TIMEOUT_MS;
    if (!all.connect_timeout_ms)
        all.connect_timeout_ms = CONNECT_TIMEOUT_MS;
    if (!all.drift_ppm)
        all.drift_ppm = DRIFT_PPM;
    if (!all.allocator)
        all.allocator = &ql_default_allocator;
    if (all.level == QL_LEVEL_DEFAULT)
        all.level = QL_LEVEL_GUARDED;
    if (!all.record_keep_ms)
        all.record_keep_ms = RECORD_KEEP_MS;
    if (all.node_timeout_ms > NODE_TIMEOUT_MAX_MS ||
        all.connect_timeout_ms > CONNECT_TIMEOUT_MAX_MS ||
        all.drift_ppm > DRIFT_MAX_PPM || all.level > QL_LEVEL_STRICT ||
        !all.allocator->allocate || !all.allocator->resize ||
        !all.allocator->release)
        return QL_E_INVALID;
    *ret = all;
    return QL_OK;
}

/* Who we are, in one word that others can read at three in the morning. A
 * space would end the label's place in the value for a simple reader. */
static void set_label(struct ql_client *client, const char *label)
{
    char host[64] = "", own[QL_LABEL_MAX + 1];

    if (!label) {
        (void)gethostname(host, sizeof(host) - 1);
        snprintf(own, sizeof(own), "%s:%ld:%s", host, (long)getpid(),
                 program_invocation_short_name);
        label = own;
    }
    ql_text_clean(client->label, sizeof(client->label), label, strlen(label));
    for (char *at = client->label; *at; at++)
        if (*at == ' ')
            *at = '_';
}

static char *copy_string(const ql_allocator *mem, const char *text, int *rc)
{
    char *copy;

    if (!text)
        return NULL;
    copy = ql_mem_copy(mem, text, strlen(text));
    if (!copy)
        *rc = QL_E_NOMEM;
    return copy;
}

static int make_nodes(struct ql_client *client)
{
    for (unsigned i = 0; i < client->rules.nodes; i++) {
        struct ql_member *member = &client->member[i];
        struct ql_node_config config = {
            .mem = &client->mem,
            .address = &client->address[i],
            .user = client->user,
            .password = client->password,
            .node_timeout_ns = client->rules.node_timeout_ns,
            .connect_timeout_ns = client->connect_timeout_ns,
            .seed = ql_rand_next(&client->rand),
            .guarded = client->rules.fenced,
            .answer = ql_drive_answer,
            .ready = node_ready,
            .closing = node_closing,
            .ctx = member,
        };

        *member = (struct ql_member){.client = client, .index = i};
        member->node = ql_node_new(&config);
        if (!member->node)
            return QL_E_NOMEM;
    }
    return QL_OK;
}

void ql_client_dispose(struct ql_client *client, bool forked)
{
    ql_allocator mem = client->mem;

    for (unsigned i = 0; client->member && i < client->rules.nodes; i++)
        ql_node_free(client->member[i].node, forked);
    while (client->locks && !forked)
        ql_handle_dispose(client->locks);
    ql_loop_free(client);
    ql_watch_free(client);
    ql_timers_free(&client->timers, &mem);
    for (unsigned i = 0; client->address && i < client->rules.nodes; i++)
        ql_address_free(&client->address[i], &mem);
    ql_mem_free(&mem, client->address);
    ql_mem_free(&mem, client->member);
    ql_mem_free(&mem, client->user);
    if (client->password)
        explicit_bzero(client->password, strlen(client->password));
    ql_mem_free(&mem, client->password);
    pthread_cond_destroy(&client->called);
    pthread_mutex_destroy(&client->mutex);
    ql_mem_free(&mem, client);
}

static int fill(struct ql_client *client, const char *servers,
                const ql_client_options *options)
{
    char error[128];
    uint64_t seed;
    int rc = QL_OK, count;

    client->address =
        ql_mem_zalloc(&client->mem, QL_NODES_MAX * sizeof(struct ql_address));
    if (!client->address)
        return QL_E_NOMEM;
    count = ql_servers_parse(client->address, &client->mem, servers, error,
                             sizeof(error));
    if (count < 0)
        return count;
    client->rules = (struct ql_rules){
        .nodes = (unsigned)count,
        .quorum = (unsigned)count / 2 + 1,
        .node_timeout_ns = options->node_timeout_ms * QL_NS_PER_MS,
        .drift_ppm = options->drift_ppm,
        .fenced = options->level != QL_LEVEL_PLAIN};
    client->connect_timeout_ns = options->connect_timeout_ms * QL_NS_PER_MS;
    client->token = options->token ? options->token : ql_token_random;
    client->token_arg = options->token_arg;
    client->user = copy_string(&client->mem, options->user, &rc);
    client->password = copy_string(&client->mem, options->password, &rc);
    set_label(client, options->label);
    client->member =
        ql_mem_zalloc(&client->mem, (size_t)count * sizeof(struct ql_member));
    if (rc != QL_OK || !client->member)
        return QL_E_NOMEM;
    if (client->rules.fenced &&
        !ql_watch_new(client, options->level == QL_LEVEL_STRICT,
                      options->record_keep_ms))
        return QL_E_NOMEM;
    if (ql_random_bytes(&seed, sizeof(seed)) != 0)
        return QL_E_RANDOM;
    ql_rand_seed(&client->rand, seed);
    ql_clock_init(&client->clock);
    rc = ql_loop_init(client);
    return rc == QL_OK ? make_nodes(client) : rc;
}

int ql_client_open(ql_client **ret_client, const char *servers,
                   const ql_client_options *options)
{
    ql_client_options all;
    ql_client *client;
    int rc;

    if (!ret_client || !servers || read_options(&all, options) != QL_OK)
        return QL_E_INVALID;
    client = ql_mem_zalloc(all.allocator, sizeof(*client));
    if (!client)
        return QL_E_NOMEM;
    client->mem = *all.allocator;
    client->pid = getpid();
    client->epoll_fd = client->wake_fd = client->timer_fd = -1;
    client->keeper_fd = -1;
    pthread_mutex_init(&client->mutex, NULL);
    pthread_cond_init(&client->called, NULL);
    rc = fill(client, servers, &all);
    if (rc != QL_OK) {
        int error = errno;

        ql_client_dispose(client, false);
        errno = error;
        return rc;
    }
    *ret_client = client;
    return QL_OK;
}
