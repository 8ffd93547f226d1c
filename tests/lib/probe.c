/* SPDX-License-Identifier: BSD-2-Clause */
/* Drives one node through poll(2). */
#include "probe.h"

#include <malloc.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "clock.h"

size_t probe_mem_used;
unsigned probe_mem_good = PROBE_MEM_ALWAYS_GOOD;
bool probe_mem_all_fail;

static bool fails(void)
{
    if (probe_mem_good == PROBE_MEM_ALWAYS_GOOD)
        return false;
    if (probe_mem_good > 0) {
        probe_mem_good--;
        return false;
    }
    if (!probe_mem_all_fail)
        probe_mem_good = PROBE_MEM_ALWAYS_GOOD;
    return true;
}

static void *allocate(size_t size, void *arg)
{
    void *memory = fails() ? NULL : malloc(size);

    (void)arg;
    probe_mem_used += malloc_usable_size(memory);
    return memory;
}

static void *resize(void *memory, size_t size, void *arg)
{
    (void)arg;
    probe_mem_used -= malloc_usable_size(memory);
    memory = realloc(memory, size);
    probe_mem_used += malloc_usable_size(memory);
    return memory;
}

static void release(void *memory, void *arg)
{
    (void)arg;
    probe_mem_used -= malloc_usable_size(memory);
    free(memory);
}

const ql_allocator probe_mem = {allocate, resize, release, NULL};

static void on_answer(struct ql_node *node, const struct ql_answer *answer,
                      void *ctx)
{
    struct probe *probe = ctx;
    const struct ql_command *chain = probe->chain;

    if (probe->count < PROBE_ANSWERS) {
        struct probe_answer *mine = &probe->answers[probe->count];
        size_t len = answer->text_len;

        mine->answer = *answer;
        if (len >= sizeof mine->text)
            len = sizeof mine->text - 1;
        memcpy(mine->text, answer->text, len);
        mine->text[len] = '\0';
        mine->answer.text = mine->text;
        if (answer->prev_token)
            snprintf(mine->prev_token, sizeof mine->prev_token, "%s",
                     answer->prev_token);
        if (answer->earlier)
            snprintf(mine->earlier, sizeof mine->earlier, "%s",
                     answer->earlier);
        mine->answer.prev_token = mine->prev_token;
        mine->answer.earlier = mine->earlier;
    }
    probe->count++;
    probe->chain = NULL;
    if (chain)
        (void)ql_node_send(node, chain, probe->now);
}

static void on_ready(struct ql_node *node, void *ctx)
{
    struct probe *probe = ctx;

    assert_int_equal(ql_node_state(node), QL_NODE_READY);
    probe->ready++;
    if (probe->bar != QL_V_NONE)
        ql_node_bar(node, probe->bar, "barred by the test");
}

static void on_closing(struct ql_node *node, int fd, void *ctx)
{
    struct probe *probe = ctx;

    assert_true(fd >= 0);
    assert_int_equal(fd, ql_node_fd(node));
    probe->closed++;
}

static struct probe *try_level(const char *url, const char *user,
                               const char *password, bool guarded)
{
    struct probe *probe = calloc(1, sizeof *probe);
    struct ql_node_config config = {
        .mem = &probe_mem,
        .address = &probe->address,
        .user = user,
        .password = password,
        .node_timeout_ns = PROBE_TIMEOUT_MS * PROBE_NS_PER_MS,
        .connect_timeout_ns = PROBE_CONNECT_MS * PROBE_NS_PER_MS,
        .seed = 42,
        .guarded = guarded,
        .answer = on_answer,
        .ready = on_ready,
        .closing = on_closing,
        .ctx = probe,
    };
    char error[256] = "";
    unsigned good = probe_mem_good;

    assert_non_null(probe);
    probe_mem_good = PROBE_MEM_ALWAYS_GOOD; /* for what is not the node's */
    if (ql_address_parse(&probe->address, &probe_mem, url, strlen(url), error,
                         sizeof error) != QL_OK)
        fail_msg("%s: %s", url, error);
    probe->now = 1000 * PROBE_NS_PER_MS;
    probe->guard = (struct ql_guard){.cfg = guarded ? "g.1.3" : NULL,
                                     .fence = 1000,
                                     .high_us = UINT64_C(9000000000000000),
                                     .linger_ms = 2500,
                                     .keep_ms = 60000};
    probe_mem_good = good;
    probe->node = ql_node_new(&config);
    if (probe->node)
        return probe;
    probe_forget(probe);
    return NULL;
}

struct probe *probe_try(const char *url, const char *user, const char *password)
{
    return try_level(url, user, password, false);
}

struct probe *probe_new_guarded(const char *url)
{
    struct probe *probe = try_level(url, NULL, NULL, true);

    assert_non_null(probe);
    return probe;
}

struct probe *probe_new_login(const char *url, const char *user,
                              const char *password)
{
    struct probe *probe = probe_try(url, user, password);

    assert_non_null(probe);
    return probe;
}

struct probe *probe_new(const char *url)
{
    return probe_new_login(url, NULL, NULL);
}

void probe_forget(struct probe *probe)
{
    ql_address_free(&probe->address, &probe_mem);
    free(probe);
}

void probe_free(struct probe *probe)
{
    ql_node_free(probe->node, false);
    probe_forget(probe);
}

static struct probe *make_ready(struct probe *probe)
{
    ql_node_connect(probe->node, probe->now);
    probe_until_state(probe, QL_NODE_READY);
    return probe;
}

struct probe *probe_ready(const char *url)
{
    return make_ready(probe_new(url));
}

struct probe *probe_ready_guarded(const char *url)
{
    return make_ready(probe_new_guarded(url));
}

ql_verdict probe_send(struct probe *probe, enum ql_command_kind kind,
                      uint32_t round, const char *token)
{
    struct ql_command command = {
        .kind = kind,
        .round = round,
        .owner = probe,
        .name = "lock",
        .name_len = 4,
        .token = token,
        .label = "label",
        .ttl_ms = 10000,
        .guard = probe->guard.cfg ? &probe->guard : NULL,
        .record = {kind == QL_CMD_RECORD ? "look" : NULL},
    };

    return ql_node_send(probe->node, &command, probe->now);
}

void probe_flush(struct probe *probe)
{
    ql_node_flush(probe->node, probe->now);
}

void probe_advance(struct probe *probe, uint64_t ms)
{
    probe->now += ms * PROBE_NS_PER_MS;
    ql_node_time(probe->node, probe->now);
}

void probe_skip(struct probe *probe)
{
    uint64_t deadline = ql_node_deadline(probe->node);

    assert_true(deadline != UINT64_MAX);
    if (deadline > probe->now)
        probe->now = deadline;
    ql_node_time(probe->node, probe->now);
}

void probe_once(struct probe *probe, int ms)
{
    struct pollfd one = {.fd = ql_node_fd(probe->node), .events = POLLIN};

    if (ql_node_wants_write(probe->node))
        one.events |= POLLOUT;
    if (poll(&one, 1, ms) > 0)
        ql_node_io(probe->node, one.revents & ~POLLOUT, one.revents & POLLOUT,
                   probe->now);
    if (ql_node_deadline(probe->node) <= probe->now)
        ql_node_time(probe->node, probe->now);
}

void probe_until_state(struct probe *probe, enum ql_node_state state)
{
    int64_t end = clock_now_ms() + HANG_MS;

    while (ql_node_state(probe->node) != state) {
        if (clock_now_ms() > end)
            fail_msg("state %d, not %d: %s", ql_node_state(probe->node), state,
                     ql_node_text(probe->node));
        probe_once(probe, 10);
    }
}

void probe_until_answers(struct probe *probe, unsigned count)
{
    int64_t end = clock_now_ms() + HANG_MS;

    while (probe->count < count) {
        if (clock_now_ms() > end)
            fail_msg("%u answers, not %u: %s", probe->count, count,
                     ql_node_text(probe->node));
        probe_once(probe, 10);
    }
    assert_int_equal(probe->count, count);
}

void probe_reconnect(struct probe *probe)
{
    int64_t end = clock_now_ms() + HANG_MS;

    while (ql_node_state(probe->node) != QL_NODE_READY) {
        if (clock_now_ms() > end)
            fail_msg("cannot reconnect: %s", ql_node_text(probe->node));
        if (ql_node_state(probe->node) == QL_NODE_DOWN)
            probe_skip(probe);
        probe_once(probe, 10);
    }
}

const struct ql_answer *probe_expect(const struct probe *probe, unsigned index,
                                     uint32_t round, ql_verdict verdict)
{
    const struct ql_answer *answer = &probe->answers[index].answer;

    assert_true(index < probe->count && index < PROBE_ANSWERS);
    assert_int_equal(answer->round, round);
    if (answer->verdict != verdict)
        fail_msg("round %u: verdict %d, not %d: %s", round, answer->verdict,
                 verdict, probe->answers[index].text);
    return answer;
}
