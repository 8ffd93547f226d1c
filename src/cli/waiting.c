/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The library can be asked who holds the lock when an operation has ended, not
 * during one. So the waiting is cut into slices, each an operation of its own,
 * and between them the notice is brought up to date.
 */
#include "cli/waiting.h"

#include <stdbool.h>
#include <sys/random.h>

#include "cli/duration.h"
#include "cli/exit_code.h"
#include "cli/report.h"
#include "cli/say.h"
#include "cli/wait_notice.h"

#define SLICE_MS 1000

struct waiting {
    const struct session *session;
    ql_lock *lock;
    int64_t until_ns; /* when we stop trying; INT64_MAX: never */
    int signal;       /* that ends it, or 0 */
    int result;       /* of the last slice */
    bool running;     /* a slice is */
    struct wait_notice notice;
};

static void on_done(ql_lock *lock, int result, void *arg)
{
    struct waiting *waiting = arg;

    (void)lock;
    waiting->result = result;
    waiting->running = false;
}

static void take_signals(struct waiting *waiting)
{
    int signal;

    while ((signal = signals_next(&waiting->session->signals))) {
        if (signal == SIGTSTP) /* nothing is held yet: be suspended */
            raise(SIGSTOP);
        if (!signals_ends(signal) || waiting->signal)
            continue;
        waiting->signal = signal;
        ql_lock_cancel(waiting->lock);
    }
}

/* Sleeps until something happens, and lets it happen. */
static void turn(struct waiting *waiting, int64_t until_ns)
{
    int64_t tick_ns = wait_notice_tick(&waiting->notice);
    int result;

    session_sleep(waiting->session, tick_ns < until_ns ? tick_ns : until_ns);
    take_signals(waiting);
    result = ql_client_process(waiting->session->client);
    if (result < 0 && waiting->running)
        on_done(waiting->lock, result, waiting);
}

static bool worth_another(int result)
{
    return result == QL_HELD || result == QL_E_QUORUM || result == QL_E_SPLIT;
}

static int64_t left_ms(const struct waiting *waiting)
{
    int64_t left = (waiting->until_ns - now_ns()) / NS_PER_MS;

    return waiting->until_ns == INT64_MAX ? DURATION_MAX_MS : left;
}

/* One operation, and then what is left of its time: a slice that ends early
 * must not make us ask more often than the retry delay says. */
static void run_slice(struct waiting *waiting, int64_t wait_ms,
                      int64_t slice_ms)
{
    int64_t until_ns = now_ns() + slice_ms * NS_PER_MS;
    int result;

    waiting->running = true;
    result =
        ql_lock_acquire_start_timed(waiting->lock, wait_ms, on_done, waiting);
    if (result != QL_OK)
        on_done(waiting->lock, result, waiting);
    while (waiting->running)
        turn(waiting, INT64_MAX);
    if (!worth_another(waiting->result) || waiting->signal ||
        left_ms(waiting) <= 0)
        return;
    wait_notice_learn(&waiting->notice, waiting->lock, waiting->result);
    while (!waiting->signal && now_ns() < until_ns)
        turn(waiting, until_ns);
}

static int64_t shorter(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Uniform in [delay / 2, delay], as between all attempts. */
static int64_t random_delay(int64_t delay_ms)
{
    uint64_t number = 0;

    if (getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0)
        number = (uint64_t)now_ns();
    return delay_ms - (int64_t)(number % (uint64_t)(delay_ms / 2 + 1));
}

/* The first slice is a single attempt, so that soon something can be said. */
static void run_next(struct waiting *waiting, bool first)
{
    int64_t delay = waiting->session->options->retry_delay_ms;
    int64_t left = left_ms(waiting) > 0 ? left_ms(waiting) : 0;
    int64_t slice = 2 * delay > SLICE_MS ? 2 * delay : SLICE_MS;

    if (first)
        run_slice(waiting, 0, shorter(random_delay(delay), left));
    else
        run_slice(waiting, shorter(slice, left), shorter(slice, left));
}

static void set_end(struct waiting *waiting)
{
    const struct options *options = waiting->session->options;

    waiting->until_ns = INT64_MAX;
    if (options->nonblock)
        waiting->until_ns = now_ns();
    else if (options->wait_ms != OPTION_UNSET)
        waiting->until_ns = now_ns() + options->wait_ms * NS_PER_MS;
}

/* When the nodes were so slow that hardly anything is left. */
static void give_back_useless(struct waiting *waiting, int64_t useful_ms)
{
    if (waiting->result != QL_OK || waiting->signal ||
        ql_lock_valid_ms(waiting->lock) >= useful_ms)
        return;
    ql_lock_release(waiting->lock);
    waiting->result = QL_E_SPLIT;
}

int waiting_acquire(const struct session *session, ql_lock *lock,
                    int64_t useful_ms, int *ret_signal)
{
    struct waiting waiting = {.session = session, .lock = lock};
    bool first = true;

    set_end(&waiting);
    wait_notice_begin(&waiting.notice, session);
    do {
        run_next(&waiting, first);
        first = false;
        give_back_useless(&waiting, useful_ms);
    } while (!waiting.signal && worth_another(waiting.result) &&
             left_ms(&waiting) > 0);
    wait_notice_end(&waiting.notice);
    *ret_signal = waiting.signal;
    return waiting.result;
}

int waiting_failed(const struct session *session, const ql_lock *lock,
                   int result, int signal)
{
    int code = exit_code_of(result);
    char name[SAY_NAME];

    if (signal) {
        if (session->options->verbose)
            say("%s: signal %d: no longer waiting",
                say_name(name, session->name), signal);
        return EXIT_SIGNAL + signal;
    }
    if (result == QL_HELD)
        code = (int)session->options->conflict_code;
    report_failure(session, lock, result, code);
    return code;
}
