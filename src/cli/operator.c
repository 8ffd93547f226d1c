/* SPDX-License-Identifier: BSD-2-Clause */
/* What the operators' verbs share. */
#include "cli/operator.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/duration.h"
#include "cli/exit_code.h"
#include "cli/say.h"

#define ERASE      "\r\033[K"
#define CONNECT_MS 2000
#define ANSWER_MS  2000
#define DRIFT_PPM  10000 /* as the library's clients by default */

int operator_open(struct operator* operator, const struct options * options)
{
    char error[512];
    int code, result;

    memset(operator, 0, sizeof(*operator));
    operator->options = options;
    if (!options->servers) {
        say("no servers: give -S URL, or set QUORLOCK_SERVERS");
        return EXIT_BAD_CONFIG;
    }
    code = credentials_read(&operator->credentials, options);
    if (code)
        return code;
    operator->admin =(struct admin){
        .user = operator->credentials.user,
        .password = operator->credentials.password,
        .connect_ms = CONNECT_MS,
        .answer_ms = options->node_timeout_ms > ANSWER_MS
                         ? options->node_timeout_ms
                         : ANSWER_MS,
        .drift_ppm = DRIFT_PPM,
    };
    result =
        admin_open(&operator->admin, options->servers, error, sizeof(error));
    if (result == QL_E_INVALID)
        say("the list of servers: %s", error);
    else if (result)
        say("cannot read the list of servers: %s", ql_result_text(result));
    if (!result && operator->admin.count> 0)
        return 0;
    if (!result)
        say("the list of servers is empty");
    return result == QL_E_NOMEM ? EXIT_OS : EXIT_BAD_CONFIG;
}

void operator_close(struct operator* operator)
{
    admin_close(&operator->admin);
    credentials_forget(&operator->credentials);
}

const char *operator_address(const struct operator* operator, unsigned index)
{
    return operator->admin.node[index].address.display;
}

int operator_code(ql_verdict verdict)
{
    switch (verdict) {
    case QL_V_NOAUTH:
    case QL_V_NOPERM:
        return EXIT_AUTH;
    case QL_V_WRONGTYPE:
    case QL_V_READONLY:
    case QL_V_MOVED:
        return EXIT_BAD_CONFIG;
    default:
        return EXIT_NO_QUORUM;
    }
}

int operator_refuse_unfit(const struct operator* operator, int except)
{
    char text[ADMIN_TEXT];
    int worst = 0;

    for (unsigned i = 0; i < operator->admin.count; i++) {
        const struct admin_node *node = &operator->admin.node[i];
        int code = EXIT_BAD_CONFIG;

        if ((int)i == except || !admin_unfit(text, &operator->admin, i))
            continue;
        say("%s %s", operator_address(operator, i), text);
        if (!node->sight.reachable && !node->sight.cluster)
            code = operator_code(node->verdict);
        if (code > worst)
            worst = code;
    }
    return worst;
}

int operator_say_failed(const struct operator* operator, unsigned index,
                        const char *what)
{
    const struct admin_node *node = &operator->admin.node[index];

    if (node->verdict == QL_V_GRANTED)
        say("%s: %s: its record has changed meanwhile", node->address.display,
            what);
    else
        say("%s: %s: %s (%s)", node->address.display, what,
            ql_verdict_word(node->verdict), node->text);
    return node->verdict == QL_V_GRANTED ? EXIT_SPLIT
                                         : operator_code(node->verdict);
}

int operator_confirm(const struct operator* operator, const char * question)
{
    char answer[16] = "";

    if (operator->options->yes)
        return 0;
    say("%s", question);
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
        say("nothing was changed: add --yes if that is what you want");
        return EXIT_BAD_USAGE;
    }
    fputs("quorlock: go on? [y/N] ", stderr);
    fflush(stderr);
    if (fgets(answer, sizeof(answer), stdin) &&
        tolower((unsigned char)answer[0]) == 'y')
        return 0;
    say("nothing was changed");
    return EXIT_HELD;
}

static void sleep_ms(int64_t ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};

    while (nanosleep(&time, &time) && errno == EINTR)
        continue;
}

void operator_wait(const struct operator* operator, int64_t until_ns,
                   const char *what)
{
    bool shown = !operator->options->quiet;
    bool terminal = shown && isatty(STDERR_FILENO);
    int64_t left_ms = (until_ns - now_ns()) / NS_PER_MS + 1;
    char text[DURATION_TEXT];

    if (until_ns <= now_ns())
        return;
    if (shown && !terminal)
        say("waiting %s for %s; if this is interrupted, run the same again",
            duration_text(text, left_ms), what);
    for (; left_ms > 0; left_ms = (until_ns - now_ns()) / NS_PER_MS + 1) {
        if (terminal)
            fprintf(stderr, ERASE "quorlock: waiting %s for %s (^C is safe)",
                    duration_text(text, left_ms), what);
        if (now_ns() >= until_ns)
            break;
        sleep_ms(left_ms < 1000 ? left_ms : 1000);
    }
    if (terminal)
        fputs(ERASE, stderr);
}
