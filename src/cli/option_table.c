/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of options, and how a value of each kind is read. */
#include "cli/option_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/duration.h"
#include "quorlock/quorlock.h"

#define TAKERS (VERB_RUN | VERB_ACQUIRE)
#define LOCKERS                                                                \
    (VERB_RUN | VERB_ACQUIRE | VERB_EXTEND | VERB_RELEASE | VERB_STATUS)
#define OPERATORS                                                              \
    (VERB_INIT | VERB_MEMBERS | VERB_CHECK | VERB_LIST | VERB_FORCE_RELEASE)
#define TALKERS    (LOCKERS | OPERATORS)
#define ALL        (TALKERS | VERB_DEV)
#define AT(member) offsetof(struct options, member)

/* clang-format off */
const struct option_row OPTION_TABLE[] = {
    {'S', "server", "URL", "QUORLOCK_SERVERS",
     "one master, or several with commas; repeatable",
     TALKERS, OPTION_SERVERS, AT(servers), 0, 0},
    {0, "user", "NAME", "QUORLOCK_USER",
     "log in as NAME where the URL names no user",
     TALKERS, OPTION_TEXT, AT(user), 0, 0},
    {0, "password-file", "FILE", NULL,
     "read the password from FILE (or set QUORLOCK_PASSWORD)",
     TALKERS, OPTION_TEXT, AT(password_file), 0, 0},
    {0, "ttl", "TIME", "QUORLOCK_TTL",
     "how long the lock lasts without renewal (10s)",
     TAKERS | VERB_EXTEND, OPTION_DURATION, AT(ttl_ms), 1, QL_TTL_MAX_MS},
    {'n', "nonblock", NULL, NULL, "do not wait: fail when it is held",
     TAKERS, OPTION_FLAG, AT(nonblock), 0, 0},
    {'w', "wait", "TIME", NULL, "wait at most so long; 0 is -n (for ever)",
     TAKERS, OPTION_DURATION, AT(wait_ms), 0, DURATION_MAX_MS},
    {0, "timeout", "TIME", NULL, NULL,
     TAKERS, OPTION_DURATION, AT(wait_ms), 0, DURATION_MAX_MS},
    {'E', "conflict-exit-code", "N", NULL,
     "exit status when it is held by another (1)",
     TAKERS, OPTION_NUMBER, AT(conflict_code), 0, 255},
    {'c', "command", "STRING", NULL, "run STRING with /bin/sh -c",
     VERB_RUN, OPTION_TEXT, AT(shell_command), 0, 0},
    {0, "max-hold", "TIME", NULL,
     "never hold it longer than this: the command is stopped",
     VERB_RUN, OPTION_DURATION, AT(max_hold_ms), 1, UINT32_MAX},
    {0, "hold-min", "TIME", NULL,
     "hold it at least so long, even if the command ends sooner",
     VERB_RUN, OPTION_DURATION, AT(hold_min_ms), 0, DURATION_MAX_MS},
    {0, "on-lost", "term|kill|ignore", NULL,
     "what to do to the command when the lock is lost (term)",
     VERB_RUN, OPTION_CHOICE, AT(on_lost), 0, 0},
    {0, "kill-after", "TIME", NULL,
     "time between TERM and KILL then (a third of the ttl, 5s)",
     VERB_RUN, OPTION_DURATION, AT(kill_after_ms), 0, QL_TTL_MAX_MS},
    {0, "retry-delay", "TIME", NULL,
     "wait up to so long between attempts (200ms)",
     TAKERS, OPTION_DURATION, AT(retry_delay_ms), 1, 3600 * 1000},
    {0, "node-timeout", "TIME", "QUORLOCK_NODE_TIMEOUT",
     "how long one node is waited for (50ms)",
     TALKERS, OPTION_DURATION, AT(node_timeout_ms), 1, 60000},
    {0, "level", "plain|guarded|strict", "QUORLOCK_LEVEL",
     "how much is done for safety (guarded)",
     LOCKERS, OPTION_CHOICE, AT(level), 0, 0},
    {0, "lock-delay", "TIME", NULL,
     "how much longer it stays locked if we end without releasing",
     TAKERS | VERB_EXTEND, OPTION_DURATION, AT(lock_delay_ms), 0,
     QL_TTL_MAX_MS},
    {0, "env", NULL, NULL, "print variables for a shell, not the token alone",
     VERB_ACQUIRE, OPTION_FLAG, AT(env), 0, 0},
    {0, "max-ttl", "TIME", NULL, "the longest ttl that a lock may have (5m)",
     VERB_INIT, OPTION_DURATION, AT(max_ttl_ms), 1, QL_TTL_MAX_MS},
    {0, "clock-slack", "TIME", NULL,
     "how far clocks of nodes may be apart (500ms)",
     VERB_INIT, OPTION_DURATION, AT(clock_slack_ms), 1, 60000},
    {0, "again", NULL, NULL, "begin anew, after a majority lost its records",
     VERB_INIT, OPTION_FLAG, AT(again), 0, 0},
    {'y', "yes", NULL, NULL, "do not ask",
     VERB_INIT | VERB_MEMBERS | VERB_FORCE_RELEASE, OPTION_FLAG, AT(yes), 0,
     0},
    {0, "label", "TEXT", NULL, "who we are, for others to read",
     TAKERS, OPTION_TEXT, AT(label), 0, 0},
    {'n', "nodes", "N", NULL, "start N servers (5)",
     VERB_DEV, OPTION_NUMBER, AT(nodes), 1, QL_NODES_MAX},
    {0, "json", NULL, NULL, "report in JSON",
     TALKERS, OPTION_FLAG, AT(json), 0, 0},
    {'q', "quiet", NULL, NULL, "say nothing but errors of usage",
     ALL, OPTION_FLAG, AT(quiet), 0, 0},
    {'v', "verbose", NULL, NULL, "say what happens",
     LOCKERS | VERB_DEV, OPTION_FLAG, AT(verbose), 0, 0},
    {'h', "help", NULL, NULL, "show this",
     ALL, OPTION_FLAG, AT(help), 0, 0},
};
/* clang-format on */

const size_t OPTION_COUNT = sizeof(OPTION_TABLE) / sizeof(OPTION_TABLE[0]);

static const char *store_text(char **target, const char *text)
{
    char *copy = strdup(text);

    if (!copy)
        return "does not fit into memory";
    free(*target);
    *target = copy;
    return NULL;
}

static const char *append_servers(char **target, const char *text)
{
    char *list = NULL;

    if (!*target)
        return store_text(target, text);
    if (asprintf(&list, "%s,%s", *target, text) < 0)
        return "does not fit into memory";
    free(*target);
    *target = list;
    return NULL;
}

static const char *store_duration(const struct option_row *row, int64_t *target,
                                  const char *text)
{
    int64_t ms;
    const char *wrong = duration_parse(text, &ms);

    if (wrong)
        return wrong;
    if (ms < row->min)
        return "is too short";
    if (ms > row->max)
        return "is too long";
    *target = ms;
    return NULL;
}

static const char *store_number(const struct option_row *row, int64_t *target,
                                const char *text)
{
    int64_t value = 0;

    if (!*text)
        return "is no number";
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return "is no number";
        value = value * 10 + (*text - '0');
        if (value > row->max)
            return "is too large";
    }
    if (value < row->min)
        return "is too small";
    *target = value;
    return NULL;
}

static const char *store_choice(const struct option_row *row, int64_t *target,
                                const char *text)
{
    const char *word = row->argument;
    size_t length = strlen(text);

    for (int64_t place = 0; word; place++) {
        const char *end = strchrnul(word, '|');

        if ((size_t)(end - word) == length && !memcmp(word, text, length)) {
            *target = place;
            return NULL;
        }
        word = *end ? end + 1 : NULL;
    }
    return "is none of the choices";
}

const char *option_store(const struct option_row *row, struct options *options,
                         const char *text)
{
    void *target = (char *)options + row->offset;

    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)target = true;
        return NULL;
    case OPTION_TEXT:
        return store_text(target, text);
    case OPTION_SERVERS:
        return append_servers(target, text);
    case OPTION_DURATION:
        return store_duration(row, target, text);
    case OPTION_NUMBER:
        return store_number(row, target, text);
    case OPTION_CHOICE:
        return store_choice(row, target, text);
    }
    return "is of an unknown kind";
}
