/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * quorlock run NAME COMMAND: holds the lock while the command runs.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/child.h"
#include "cli/duration.h"
#include "cli/environment.h"
#include "cli/exit_code.h"
#include "cli/label.h"
#include "cli/report.h"
#include "cli/say.h"
#include "cli/supervise.h"
#include "cli/verb.h"
#include "cli/waiting.h"

enum {
    SET_NAME,
    SET_TOKEN,
    SET_TTL,
    SET_UNTIL,
    SET_FENCE,
    SET_DIED,
    SET_COUNT
};

/* execve(2) wants them writable. */
static char SHELL[] = "/bin/sh", DASH_C[] = "-c";

struct run {
    const struct options *options;
    char **command; /* and its arguments */
    char *shell[4];
    struct session session;
    struct stop_plan plan;
    struct terminal terminal;
    struct family family;
    ql_lock *lock;
    char shown[SAY_NAME];
};

/* --- The command --------------------------------------------------------- */

/* argv is NAME [--] COMMAND [ARG...]. */
static int find_command(struct run *run, int argc, char **argv)
{
    bool dashes = argc > 1 && !strcmp(argv[1], "--");
    char **command = argv + 1 + dashes;
    char *shell = run->options->shell_command;

    if (shell && *command) {
        say("either -c STRING or a command, not both");
        return EXIT_BAD_USAGE;
    }
    if (!shell && !*command) {
        say("no command: quorlock run [options] NAME [--] COMMAND [ARG...]");
        return EXIT_BAD_USAGE;
    }
    if (!shell && !dashes && command[0][0] == '-') {
        say("options go before the name: quorlock run [options] %s [--] "
            "COMMAND [ARG...]",
            run->shown);
        return EXIT_BAD_USAGE;
    }
    run->shell[0] = SHELL;
    run->shell[1] = DASH_C;
    run->shell[2] = shell;
    run->command = shell ? run->shell : command;
    return 0;
}

/* What the label calls it: of -c STRING the first word. */
static const char *make_label(const struct run *run, char label[LABEL_SIZE])
{
    char word[64];
    const char *shell = run->options->shell_command;

    if (run->options->label)
        return run->options->label;
    if (!shell)
        return label_make(label, getpid(), run->command[0]);
    shell += strspn(shell, " \t\n");
    snprintf(word, sizeof(word), "%.*s", (int)strcspn(shell, " \t\n;|&<>()"),
             shell);
    return label_make(label, getpid(), word[0] ? word : "sh");
}

static void free_variables(char *set[SET_COUNT])
{
    for (int i = 0; i < SET_COUNT; i++)
        free(set[i]);
}

/* Where there is none, one of an outer lock must not be taken for ours. */
static int make_fence(const ql_lock *lock, char **ret_fence, char **ret_died)
{
    uint64_t fence = ql_lock_fence(lock);
    int failed;

    if (fence)
        failed = asprintf(ret_fence, "QUORLOCK_FENCE=%" PRIu64, fence);
    else
        failed = asprintf(ret_fence, "QUORLOCK_FENCE");
    if (failed < 0) {
        *ret_fence = NULL;
        return -1;
    }
    if (ql_lock_owner_died(lock))
        failed = asprintf(ret_died, "QUORLOCK_OWNER_DIED=1");
    else
        failed = asprintf(ret_died, "QUORLOCK_OWNER_DIED");
    if (failed < 0)
        *ret_died = NULL;
    return failed < 0 ? -1 : 0;
}

/* The variables that tell the command about its lock. */
static int make_variables(const struct run *run, char *set[SET_COUNT])
{
    int64_t until_ms = now_ns() / NS_PER_MS + ql_lock_valid_ms(run->lock);

    memset(set, 0, SET_COUNT * sizeof(set[0]));
    if (asprintf(&set[SET_NAME], "QUORLOCK_NAME=%s", run->session.name) < 0 ||
        asprintf(&set[SET_TOKEN], "QUORLOCK_TOKEN=%s",
                 ql_lock_token(run->lock)) < 0 ||
        asprintf(&set[SET_TTL], "QUORLOCK_TTL_MS=%" PRId64,
                 run->options->ttl_ms) < 0 ||
        asprintf(&set[SET_UNTIL], "QUORLOCK_VALID_UNTIL_MS=%" PRId64,
                 until_ms) < 0 ||
        make_fence(run->lock, &set[SET_FENCE], &set[SET_DIED])) {
        free_variables(set);
        return -1;
    }
    return 0;
}

/* --- From holding the lock to the exit status ---------------------------- */

static int start_failed(const struct run *run, int failure, int error)
{
    switch (failure) {
    case CHILD_EXEC:
        say("%s: %s", run->command[0], strerror(error));
        return child_exec_code(error);
    case CHILD_LATE:
        say("%s: not started: it took so long that the lock had run out",
            run->shown);
        return EXIT_SPLIT;
    default:
        say("cannot start a process: %s", strerror(error));
        return EXIT_OS;
    }
}

/* Starts the command. Returns 0, or the exit status after saying why not. */
static int start(struct run *run, pid_t *ret_child)
{
    char *set[SET_COUNT], **env = NULL;
    int failure = CHILD_SYSTEM, error;

    if (!make_variables(run, set))
        env = environment_with(set, SET_COUNT);
    if (env) {
        struct child_plan plan = {
            .argv = run->command,
            .env = env,
            .signals = &run->session.signals,
            .terminal = terminal_wanted(&run->terminal) ? &run->terminal : NULL,
            .not_after_ns = stop_plan_deadline_ns(&run->plan, run->lock),
            .input = -1,
            .output = -1,
        };

        failure = child_start(&plan, ret_child);
        error = errno;
        free_variables(set);
    } else {
        error = ENOMEM;
    }
    free(env);
    return failure ? start_failed(run, failure, error) : 0;
}

/* A release that fails is no reason to call the command's work a failure: the
 * lock ends by itself. */
static void release(const struct run *run)
{
    int64_t expires_ms = ql_lock_expires_ms(run->lock);
    int result = ql_lock_release(run->lock);
    char text[DURATION_TEXT];

    if (result == QL_OK) {
        if (run->options->verbose)
            say("%s: released", run->shown);
    } else if (!run->options->quiet && result == QL_GONE) {
        say("warning: %s: the lock was gone before it was released: it may "
            "have been held by another meanwhile",
            run->shown);
    } else if (!run->options->quiet) {
        say("warning: %s: not released: %s; it ends by itself within %s",
            run->shown, ql_result_text(result),
            duration_text(text, expires_ms));
    }
}

/*
 * When the terminal's ^C ended the command, whoever started us, a script say,
 * would have got it too, if we had not lent the terminal away.
 */
static void pass_on_interrupt(const struct run *run, int status)
{
    if (!run->terminal.was_lent || !WIFSIGNALED(status) ||
        WTERMSIG(status) != SIGINT)
        return;
    kill(0, SIGINT);
    signals_restore(&run->session.signals);
}

static int finish(struct run *run, const struct supervision *done)
{
    if (!done->lost) {
        release(run);
        pass_on_interrupt(run, done->status);
        return child_code(done->status);
    }
    if (run->options->json)
        report_failure(&run->session, run->lock, done->lost, EXIT_LOST);
    else if (!run->options->quiet)
        say("%s: %s while the command ran", run->shown,
            done->lost == QL_E_CAP ? "the lock ended at --max-hold"
                                   : "the lock was lost");
    ql_lock_release(run->lock); /* tidies up */
    return EXIT_LOST;
}

static int run_held(struct run *run)
{
    struct supervision supervision = {
        .session = &run->session,
        .lock = run->lock,
        .plan = &run->plan,
        .terminal = &run->terminal,
        .family = &run->family,
        .hold_until_ns = now_ns() + run->options->hold_min_ms * NS_PER_MS,
    };
    int code = start(run, &supervision.child);

    if (code) {
        ql_lock_release(run->lock);
        return code;
    }
    session_warn(&run->session);
    session_say_died(&run->session, run->lock);
    supervise(&supervision);
    return finish(run, &supervision);
}

/* --- Up to holding the lock ----------------------------------------------- */

static int acquire_and_run(struct run *run)
{
    int64_t began = now_ns();
    int signal, result = waiting_acquire(&run->session, run->lock,
                                         run->plan.useful_ms, &signal);

    if (result == QL_OK && signal)
        ql_lock_release(run->lock);
    if (result != QL_OK || signal)
        return waiting_failed(&run->session, run->lock, result, signal);
    if (run->options->verbose)
        say_soon("%s: acquired after %.3f s", run->shown,
                 (double)(now_ns() - began) / 1e9);
    return run_held(run);
}

static int open_lock(struct run *run, const char *name, const char *label)
{
    ql_lock_options lock_options;
    int code = session_listen(&run->session);

    /* What loses its parent becomes ours, so that we can end it. */
    if (!code &&
        (prctl(PR_SET_CHILD_SUBREAPER, 1) || family_open(&run->family))) {
        say("cannot look after descendants: %s", strerror(errno));
        code = EXIT_OS;
    }
    if (!code)
        code = session_open(&run->session, run->options, name, label);
    if (code)
        return code;
    session_lock_options(&run->session, &lock_options);
    lock_options.renew = true;
    lock_options.max_hold_ms = (uint32_t)run->options->max_hold_ms;
    lock_options.loss_notice_ms = (uint32_t)run->plan.notice_ms;
    return session_lock(&run->session, &run->lock, &lock_options);
}

int verb_run(const struct options *options, int argc, char **argv)
{
    struct run run = {.options = options};
    char made[LABEL_SIZE];
    const char *label;
    int code;

    say_name(run.shown, argv[0]);
    code = find_command(&run, argc, argv);
    if (!code)
        code = stop_plan_make(&run.plan, options);
    if (code)
        return code;
    label = make_label(&run, made);
    terminal_open(&run.terminal);
    code = label_check(label);
    if (!code)
        code = open_lock(&run, argv[0], label);
    if (!code)
        code = acquire_and_run(&run);
    ql_lock_free(run.lock);
    session_close(&run.session);
    terminal_close(&run.terminal);
    family_close(&run.family);
    return code;
}
