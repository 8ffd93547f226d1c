/* SPDX-License-Identifier: BSD-2-Clause */
/* The public functions that concern a whole client. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "client/client.h"
#include "client/text.h"
#include "client/token.h"
#include "core/time.h"

#define NODE_TIMEOUT_MS        50u
#define NODE_TIMEOUT_MAX_MS    60000u
#define CONNECT_TIMEOUT_MS     500u
#define CONNECT_TIMEOUT_MAX_MS 600000u
#define DRIFT_PPM              10000u
#define DRIFT_MAX_PPM          500000u

/* --- Memory, unless the caller brings his own ----------------------------- */

static void *default_allocate(size_t size, void *arg)
{
    (void)arg;
    return malloc(size);
}

static void *default_resize(void *memory, size_t size, void *arg)
{
    (void)arg;
    return realloc(memory, size);
}

static void default_release(void *memory, void *arg)
{
    (void)arg;
    free(memory);
}

static const ql_allocator default_allocator = {default_allocate, default_resize,
                                               default_release, NULL};

/* --- The list of servers -------------------------------------------------- */

static void free_addresses(struct ql_address *address, unsigned count,
                           const ql_allocator *mem)
{
    for (unsigned i = 0; i < count; i++)
        ql_address_free(&address[i], mem);
    ql_mem_free(mem, address);
}

static int listed_twice(const struct ql_address *address, unsigned count,
                        char *error, size_t size)
{
    for (unsigned i = 0; i + 1 < count; i++)
        if (strcmp(address[i].display, address[count - 1].display) == 0) {
            snprintf(error, size,
                     "%s is listed twice: each node must be a server of its "
                     "own",
                     address[i].display);
            return QL_E_INVALID;
        }
    return QL_OK;
}

/* The number of addresses put into `address`, or a negative result. */
static int parse_list(struct ql_address *address, const ql_allocator *mem,
                      const char *servers, char *error, size_t size)
{
    const char *text;
    size_t len;
    unsigned count = 0;
    int rc = QL_OK;

    while (rc == QL_OK && (text = ql_address_next(&servers, &len))) {
        if (count == QL_NODES_MAX) {
            snprintf(error, size, "more than %d servers are listed",
                     QL_NODES_MAX);
            rc = QL_E_INVALID;
            break;
        }
        rc = ql_address_parse(&address[count], mem, text, len, error, size);
        if (rc == QL_OK)
            rc = listed_twice(address, ++count, error, size);
    }
    if (rc == QL_OK && count == 0) {
        snprintf(error, size, "no server is listed");
        rc = QL_E_INVALID;
    }
    if (rc == QL_OK)
        return (int)count;
    for (unsigned i = 0; i < count; i++)
        ql_address_free(&address[i], mem);
    return rc;
}

int ql_servers_check(const char *servers, char *error, size_t size)
{
    struct ql_address address[QL_NODES_MAX];
    int count;

    if (size)
        error[0] = '\0';
    count = parse_list(address, &default_allocator, servers ? servers : "",
                       error, size);
    for (int i = 0; i < count; i++)
        ql_address_free(&address[i], &default_allocator);
    return count;
}

/* --- Opening -------------------------------------------------------------- */

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
        all.allocator = &default_allocator;
    if (all.node_timeout_ms > NODE_TIMEOUT_MAX_MS ||
        all.connect_timeout_ms > CONNECT_TIMEOUT_MAX_MS ||
        all.drift_ppm > DRIFT_MAX_PPM || !all.allocator->allocate ||
        !all.allocator->resize || !all.allocator->release)
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

static void node_ready(struct ql_node *node, void *ctx);

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
            .answer = ql_drive_answer,
            .ready = node_ready,
            .closing = ql_loop_closing,
            .ctx = member,
        };

        *member = (struct ql_member){.client = client, .index = i};
        member->node = ql_node_new(&config);
        if (!member->node)
            return QL_E_NOMEM;
    }
    return QL_OK;
}

static void free_client(struct ql_client *client, bool forked)
{
    ql_allocator mem = client->mem;

    for (unsigned i = 0; client->member && i < client->rules.nodes; i++)
        ql_node_free(client->member[i].node, forked);
    while (client->locks && !forked)
        ql_lock_unlink(client->locks);
    ql_loop_free(client);
    ql_timers_free(&client->timers, &mem);
    free_addresses(client->address, client->rules.nodes, &mem);
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
    count = parse_list(client->address, &client->mem, servers, error,
                       sizeof(error));
    if (count < 0)
        return count;
    client->rules = (struct ql_rules){
        .nodes = (unsigned)count,
        .quorum = (unsigned)count / 2 + 1,
        .node_timeout_ns = options->node_timeout_ms * QL_NS_PER_MS,
        .drift_ppm = options->drift_ppm};
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

        free_client(client, false);
        errno = error;
        return rc;
    }
    *ret_client = client;
    return QL_OK;
}

/* --- Nodes ---------------------------------------------------------------- */

/*
 * One server under two names would vote twice, and one restart of it would take
 * two votes away. The name that stands later in the list does not count.
 */
static void node_ready(struct ql_node *node, void *ctx)
{
    struct ql_member *member = ctx;
    struct ql_client *client = member->client;
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
    }
}

unsigned ql_client_nodes(const ql_client *client)
{
    return client->rules.nodes;
}

unsigned ql_client_quorum(const ql_client *client)
{
    return client->rules.quorum;
}

int ql_client_node(ql_client *client, unsigned index, ql_node_info *ret_info)
{
    if (!ret_info || index >= client->rules.nodes)
        return QL_E_INVALID;
    if (client->pid != getpid())
        return QL_E_FORKED;
    pthread_mutex_lock(&client->mutex);
    ql_node_describe(client->member[index].node, ret_info);
    ret_info->address = client->address[index].display;
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
        enum ql_node_state state = ql_node_state(client->member[i].node);

        if (state == QL_NODE_CONNECTING || state == QL_NODE_GREETING)
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
        ql_node_describe(client->member[i].node, &info);
        ready += info.ready && info.verdict == QL_V_GRANTED;
        auth += info.verdict == QL_V_NOAUTH || info.verdict == QL_V_NOPERM;
        config += info.verdict == QL_V_DUPLICATE;
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
    client->dirty = UINT32_MAX >> (32 - client->rules.nodes);
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

static bool drained(void *arg)
{
    struct draining *draining = arg;
    struct ql_client *client = draining->client;

    if (client->clock.now >= draining->until)
        return true;
    for (unsigned i = 0; i < client->rules.nodes; i++) {
        struct ql_node *node = client->member[i].node;
        enum ql_node_state state = ql_node_state(node);

        /* A node that is down or silent will not take it now either. */
        if (state != QL_NODE_DOWN && state != QL_NODE_SUSPECT &&
            ql_node_pending_releases(node) > 0)
            return false;
    }
    return true;
}

void ql_client_close(ql_client *client)
{
    struct draining draining = {.client = client};
    struct ql_waiter *waiter;

    if (!client)
        return;
    if (client->pid != getpid()) {
        free_client(client, true);
        return;
    }
    pthread_mutex_lock(&client->mutex);
    ql_keeper_stop(client);
    draining.until = ql_time_add(ql_clock_now(&client->clock),
                                 client->rules.node_timeout_ns);
    client->settlers++;
    ql_loop_settle(client);
    ql_loop_wait(client, drained, &draining, draining.until, &waiter);
    pthread_mutex_unlock(&client->mutex);
    free_client(client, false);
}
