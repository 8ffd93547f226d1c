/* SPDX-License-Identifier: BSD-2-Clause */
/* The waiting line. */
#include "cli/wait_notice.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/duration.h"
#include "cli/holder.h"
#include "cli/report.h"
#include "cli/say.h"

#define ERASE   "\r\033[K"
#define TICK_NS (1000 * NS_PER_MS)

void wait_notice_begin(struct wait_notice *notice,
                       const struct session *session)
{
    *notice = (struct wait_notice){
        .session = session,
        .began_ns = now_ns(),
        .terminal = isatty(STDERR_FILENO),
    };
    say_name(notice->name, session->name);
}

static void put(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return;
}

void wait_notice_end(struct wait_notice *notice)
{
    if (notice->line_shown)
        put(ERASE);
    notice->line_shown = false;
}

/* A line that is wider than the terminal could not be erased again. */
static size_t terminal_width(void)
{
    struct winsize size;

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col < 20)
        return 79;
    return size.ws_col - 1u;
}

/* The holder's time runs on between two attempts. */
static const char *reason_text(const struct wait_notice *notice,
                               char text[HOLDER_TEXT])
{
    struct holder holder = notice->holder;
    int64_t age_ms = (now_ns() - notice->learnt_ns) / NS_PER_MS;

    if (!holder.nodes)
        return ql_result_text(notice->result);
    if (holder.remaining_ms >= 0)
        holder.remaining_ms =
            holder.remaining_ms > age_ms ? holder.remaining_ms - age_ms : 0;
    return holder_text(text, &holder);
}

int64_t wait_notice_tick(struct wait_notice *notice)
{
    char waited[DURATION_TEXT], line[512], text[sizeof(line) + sizeof(ERASE)];
    char reason[HOLDER_TEXT];
    int64_t now = now_ns();
    size_t width = terminal_width();

    if (!notice->terminal || !notice->learnt_ns)
        return INT64_MAX;
    snprintf(line, sizeof(line), "quorlock: %s: waiting for %s, %s",
             notice->name,
             duration_text(waited, (now - notice->began_ns) / NS_PER_MS),
             reason_text(notice, reason));
    if (width < sizeof(line))
        line[width] = '\0';
    snprintf(text, sizeof(text), ERASE "%s", line);
    put(text);
    notice->line_shown = true;
    return now + TICK_NS;
}

/* Which nodes are missing. */
static void say_down(const struct wait_notice *notice, const ql_lock *lock)
{
    const ql_node_report *report = ql_lock_report(lock);
    unsigned nodes = ql_client_nodes(notice->session->client);
    int width = report_width(lock, nodes);
    char line[NODE_TEXT];

    say("%s: waiting: %s", notice->name, ql_result_text(QL_E_QUORUM));
    for (unsigned i = 0; report && i < nodes; i++)
        if (!report_usable(report[i].verdict))
            say("  %s", report_node_text(line, &report[i], width));
}

/* The report is gone when the next operation begins, so it is copied. */
static void keep(struct wait_notice *notice, const ql_lock *lock, int result)
{
    notice->result = result;
    notice->learnt_ns = now_ns();
    notice->holder.nodes = 0;
    if (result != QL_HELD ||
        !holder_find(lock, ql_client_nodes(notice->session->client),
                     &notice->holder))
        return;
    snprintf(notice->label, sizeof(notice->label), "%s", notice->holder.label);
    notice->holder.label = notice->label;
}

void wait_notice_learn(struct wait_notice *notice, const ql_lock *lock,
                       int result)
{
    char reason[HOLDER_TEXT];

    if (notice->session->options->quiet)
        return;
    keep(notice, lock, result);
    if (result == QL_E_QUORUM && !notice->said_down) {
        wait_notice_end(notice);
        say_down(notice, lock);
        notice->said_down = true;
    }
    if (result == QL_HELD && !notice->said_held) {
        if (!notice->terminal)
            say("%s: waiting: %s", notice->name, reason_text(notice, reason));
        notice->said_held = true;
    }
}
