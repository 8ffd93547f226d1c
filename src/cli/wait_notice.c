/* SPDX-License-Identifier: BSD-2-Clause */
/* The waiting line. */
#include "cli/wait_notice.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/duration.h"
#include "cli/report.h"
#include "cli/say.h"

#define ERASE "\r\033[K"

void wait_notice_begin(struct wait_notice *notice,
                       const struct session *session)
{
    *notice = (struct wait_notice){
        .session = session,
        .began_ns = now_ns(),
        .terminal = isatty(STDERR_FILENO),
    };
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

static void rewrite_line(struct wait_notice *notice, const char *name,
                         const char *reason)
{
    char waited[DURATION_TEXT], line[512], text[sizeof(line) + sizeof(ERASE)];
    int64_t ms = (now_ns() - notice->began_ns) / NS_PER_MS;
    size_t width = terminal_width();

    snprintf(line, sizeof(line), "quorlock: %s: waiting for %s, %s", name,
             duration_text(waited, ms), reason);
    if (width < sizeof(line))
        line[width] = '\0';
    snprintf(text, sizeof(text), ERASE "%s", line);
    put(text);
    notice->line_shown = true;
}

/* "3 of 5 nodes can be used (2 down: a, b), too few" names who is missing. */
static void say_down(const struct wait_notice *notice, const ql_lock *lock,
                     const char *name)
{
    const ql_node_report *report = ql_lock_report(lock);
    unsigned nodes = ql_client_nodes(notice->session->client);
    int width = report_width(lock, nodes);
    char line[NODE_TEXT];

    say("%s: waiting: %s", name, ql_result_text(QL_E_QUORUM));
    for (unsigned i = 0; report && i < nodes; i++)
        if (!report_usable(report[i].verdict))
            say("  %s", report_node_text(line, &report[i], width));
}

static const char *reason_text(const struct wait_notice *notice,
                               const ql_lock *lock, int result,
                               char text[HOLDER_TEXT])
{
    struct holder holder;

    if (result == QL_HELD &&
        report_holder(lock, ql_client_nodes(notice->session->client), &holder))
        return report_holder_text(text, &holder);
    return ql_result_text(result);
}

void wait_notice_show(struct wait_notice *notice, const ql_lock *lock,
                      int result)
{
    char name[SAY_NAME], text[HOLDER_TEXT];
    const char *reason;

    if (notice->session->options->quiet)
        return;
    say_name(name, notice->session->name);
    reason = reason_text(notice, lock, result, text);
    if (result == QL_E_QUORUM && !notice->said_down) {
        wait_notice_end(notice);
        say_down(notice, lock, name);
        notice->said_down = true;
    }
    if (notice->terminal)
        rewrite_line(notice, name, reason);
    else if (result == QL_HELD && !notice->said_held)
        say("%s: waiting: %s", name, reason);
    notice->said_held = notice->said_held || result == QL_HELD;
}
