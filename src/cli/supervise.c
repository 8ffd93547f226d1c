/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loop around a running child. After every sleep the first question is
 * whether the time is up, because we may have been stopped ourselves.
 *
 *   STOP_NOT ──► STOP_TERM ──► STOP_KILL
 *
 * Whichever comes first: the child's end is seen, or the loss of the lock. When
 * both are there to be seen, the loss wins: it cannot be shown that the child
 * ended in time.
 */
#include "cli/supervise.h"

#include <errno.h>
#include <sys/wait.h>

#include "cli/duration.h"
#include "cli/family.h"
#include "cli/say.h"

/* For what was forked while we killed; less and less often, because there are
 * processes that we may not kill, such as sudo(8). */
#define KILL_AGAIN_MIN_MS 10
#define KILL_AGAIN_MAX_MS 1000
#define GRACE_NS          (5 * NS_PER_MS)

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* --- The validity ------------------------------------------------------- */

/*
 * Keeps valid_until_ns. Once the lock is lost it only gets earlier: that some
 * other holder has a majority does not give us time beyond our own.
 */
static void update_validity(struct supervision *s)
{
    int lost = ql_lock_lost(s->lock);
    int64_t valid_ms = ql_lock_valid_ms(s->lock);
    int64_t now = now_ns(), until = now + valid_ms * NS_PER_MS;

    if (!lost || valid_ms > 0)
        s->valid_until_ns = lost ? earlier(s->valid_until_ns, until) : until;
    if (lost && (s->lost || !s->family_gone))
        s->lost = lost; /* the library knows better why */
    if (lost)
        s->session->lost_fd = -1; /* it would stay readable */
}

static int64_t kill_time(const struct supervision *s)
{
    return s->valid_until_ns - s->plan->margin_ms * NS_PER_MS;
}

/* --- Stopping ------------------------------------------------------------ */

/* To the child's group, while its number cannot be anybody else's. */
static void signal_group(const struct supervision *s, int signal)
{
    if (!s->child_gone)
        kill(-s->child, signal);
}

static void signal_all(const struct supervision *s, int signal)
{
    signal_group(s, signal);
    family_signal(s->family, signal, s->child_gone ? 0 : s->child);
}

static void say_loss(const struct supervision *s, const char *what)
{
    char name[SAY_NAME];
    const char *why = "the lock was lost";

    if (s->session->options->quiet)
        return;
    say_name(name, s->session->name);
    if (s->lost == QL_E_CAP)
        why = "--max-hold is reached";
    else if (s->valid_until_ns > now_ns())
        why = "the lock is lost, or cannot be renewed in time";
    say_soon("%s: %s: %s", name, why, what);
}

static void stop_term(struct supervision *s, int64_t now)
{
    s->stop = STOP_TERM;
    s->kill_at_ns =
        earlier(now + s->plan->kill_after_ms * NS_PER_MS, kill_time(s));
    signal_all(s, SIGTERM);
    signal_all(s, SIGCONT); /* what is stopped could not act on it */
    say_loss(s, "the command is told to stop");
}

/* Again and again, until wait(2) says that nobody is left. */
static void stop_kill(struct supervision *s, int64_t now)
{
    bool first = s->stop != STOP_KILL;

    s->stop = STOP_KILL;
    s->kill_again_ms = first ? KILL_AGAIN_MIN_MS
                             : earlier(2 * s->kill_again_ms, KILL_AGAIN_MAX_MS);
    s->kill_at_ns = now + s->kill_again_ms * NS_PER_MS;
    signal_group(s, SIGKILL);
    for (int round = 0; round < 10 && family_signal(s->family, SIGKILL, 0) > 0;
         round++)
        continue;
    if (first)
        say_loss(s, "the command is killed");
}

/* When the lock must be called lost, whatever the library says. It is asked to
 * say so a moment earlier, because it knows why. */
static int64_t loss_time(const struct supervision *s)
{
    int64_t notice_ns = s->plan->notice_ms * NS_PER_MS;

    if (s->plan->on_lost == ON_LOST_IGNORE)
        return s->valid_until_ns;
    return earlier(s->valid_until_ns - notice_ns + GRACE_NS, kill_time(s));
}

static void meet_loss(struct supervision *s, int64_t now)
{
    if (!s->lost && now >= loss_time(s))
        s->lost = QL_E_LOST;
    if (!s->lost || s->plan->on_lost == ON_LOST_IGNORE)
        return;
    if (s->stop == STOP_NOT && s->plan->on_lost == ON_LOST_TERM &&
        now < kill_time(s))
        stop_term(s, now);
    else if (s->stop != STOP_TERM || now >= s->kill_at_ns)
        stop_kill(s, now);
}

static void check_time(struct supervision *s)
{
    update_validity(s);
    if (!s->family_gone)
        meet_loss(s, now_ns());
}

/* --- The child and its signals ------------------------------------------- */

static void say_verbose(const struct supervision *s, const char *text)
{
    char name[SAY_NAME];

    if (s->session->options->verbose)
        say_soon("%s: %s", say_name(name, s->session->name), text);
}

/* Whoever waits for the lock would wait for a suspended command too. */
static void say_not_suspended(const struct supervision *s)
{
    if (!s->session->options->quiet)
        say_soon("not suspended, because others wait for the lock");
}

static void child_ended(struct supervision *s, int status)
{
    s->child_gone = true;
    s->status = status;
    terminal_take(s->terminal);
}

static void reap(struct supervision *s)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
        if (pid != s->child || s->child_gone)
            continue;
        if (!WIFSTOPPED(status))
            child_ended(s, status);
        else if (terminal_stopped(s->terminal, s->child, WSTOPSIG(status)))
            say_not_suspended(s);
    }
    /* The last one to go is always a child of ours: SIGCHLD tells of it. */
    if (pid < 0 && errno == ECHILD)
        s->family_gone = true;
    else if (s->child_gone && s->family->stranger_count)
        s->family_gone = family_signal(s->family, 0, 0) == 0 &&
                         family_signal(s->family, 0, 0) == 0;
    if (s->child_gone && !s->family_gone && !s->said_kept) {
        s->said_kept = true;
        say_verbose(s, "the command has ended, but not all that it started: "
                       "the lock is kept");
    }
}

static void forward(struct supervision *s, int signal)
{
    if (s->family_gone && signals_ends(signal))
        s->hold_until_ns = 0; /* nobody there but us, holding on */
    else if (s->child_gone)
        family_signal(s->family, signal, 0);
    else
        signal_group(s, signal);
}

static void take_signals(struct supervision *s)
{
    int signal;

    while ((signal = signals_next(&s->session->signals))) {
        switch (signal) {
        case SIGCHLD:
            reap(s);
            break;
        case SIGTTOU:
            break;
        case SIGTSTP:
            say_not_suspended(s);
            break;
        case SIGWINCH:
            if (!s->terminal->lent) /* else the kernel tells the child */
                forward(s, signal);
            break;
        default:
            forward(s, signal);
        }
    }
}

/* --- The loop ------------------------------------------------------------ */

static int64_t next_time(const struct supervision *s)
{
    int64_t next = INT64_MAX;

    if (s->family_gone)
        return s->hold_until_ns;
    if (s->terminal->wanted_by)
        next = now_ns() + TERMINAL_RETRY_MS * NS_PER_MS;
    if (s->stop != STOP_NOT)
        return earlier(next, s->kill_at_ns);
    return s->lost ? next : earlier(next, loss_time(s));
}

static bool is_over(const struct supervision *s)
{
    return s->family_gone &&
           (s->lost || ql_lock_lost(s->lock) || now_ns() >= s->hold_until_ns);
}

void supervise(struct supervision *s)
{
    s->session->lost_fd = ql_lock_lost_fd(s->lock);
    check_time(s);
    reap(s);
    while (!is_over(s)) {
        session_sleep(s->session, next_time(s));
        check_time(s);
        take_signals(s);
        terminal_retry(s->terminal);
        ql_client_process(s->session->client);
        check_time(s);
    }
}
