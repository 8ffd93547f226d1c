/* SPDX-License-Identifier: BSD-2-Clause */
/* The client, the lock's handle, and the wait for events. */
#include "cli/session.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "cli/credentials.h"
#include "cli/exit_code.h"
#include "cli/say.h"

int session_listen(struct session *session)
{
    session->lost_fd = -1;
    session->timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC);
    if (session->timer < 0 || signals_open(&session->signals)) {
        say("cannot listen for signals: %s", strerror(errno));
        return EXIT_OS;
    }
    return 0;
}

static int check_options(const struct options *options)
{
    char error[512];

    if (options->lock_delay_ms && options->level == LEVEL_PLAIN) {
        say("--lock-delay needs --level guarded: the plain level does not know "
            "how a holder ended");
        return EXIT_BAD_USAGE;
    }
    if (!options->servers) {
        say("no servers: give -S URL, or set QUORLOCK_SERVERS");
        return EXIT_BAD_CONFIG;
    }
    if (ql_servers_check(options->servers, error, sizeof(error)) < 0) {
        say("the list of servers: %s", error);
        return EXIT_BAD_CONFIG;
    }
    return 0;
}

int session_open(struct session *session, const struct options *options,
                 const char *name, const char *label)
{
    ql_client_options client_options = QL_CLIENT_OPTIONS_INIT;
    struct credentials credentials;
    int code = check_options(options), result;

    session->options = options;
    session->name = name;
    if (!code)
        code = credentials_read(&credentials, options);
    if (code)
        return code;
    client_options.node_timeout_ms = (uint32_t)options->node_timeout_ms;
    client_options.label = label;
    client_options.level = (enum ql_level)(options->level + QL_LEVEL_PLAIN);
    client_options.user = credentials.user;
    client_options.password = credentials.password;
    result =
        ql_client_open(&session->client, options->servers, &client_options);
    credentials_forget(&credentials);
    if (result == QL_OK)
        return 0;
    say("cannot open a client: %s", ql_result_text(result));
    return result == QL_E_INVALID ? EXIT_BAD_CONFIG : exit_code_of(result);
}

void session_close(struct session *session)
{
    ql_client_close(session->client);
    session->client = NULL;
    if (session->timer > 0)
        close(session->timer);
    if (session->signals.fd > 0)
        close(session->signals.fd);
}

void session_lock_options(const struct session *session,
                          ql_lock_options *ret_lock_options)
{
    const struct options *options = session->options;
    ql_lock_options lock_options = QL_LOCK_OPTIONS_INIT;

    lock_options.ttl_ms = (uint32_t)options->ttl_ms;
    lock_options.retry_delay_ms = (uint32_t)options->retry_delay_ms;
    lock_options.lock_delay_ms = (uint32_t)options->lock_delay_ms;
    *ret_lock_options = lock_options;
}

int session_lock(struct session *session, ql_lock **ret_lock,
                 const ql_lock_options *lock_options)
{
    char shown[SAY_NAME];
    int result =
        ql_lock_new(ret_lock, session->client, session->name, lock_options);

    if (result == QL_OK)
        return 0;
    if (result == QL_E_INVALID)
        say("the name '%s' must have 1 to %u bytes%s",
            say_name(shown, session->name), QL_NAME_MAX,
            session->options->level == LEVEL_PLAIN
                ? ""
                : ", and not begin with quorlock:");
    else
        say("cannot make a lock: %s", ql_result_text(result));
    return exit_code_of(result);
}

static void set_timer(int timer, int64_t until_ns)
{
    struct itimerspec when = {0};

    if (until_ns != INT64_MAX) {
        /* Zero would disarm it. */
        when.it_value.tv_sec = until_ns / 1000000000;
        when.it_value.tv_nsec = until_ns % 1000000000 + (until_ns <= 0);
    }
    timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL);
}

void session_sleep(const struct session *session, int64_t until_ns)
{
    struct pollfd watched[] = {
        {.fd = ql_client_fd(session->client), .events = POLLIN},
        {.fd = session->signals.fd, .events = POLLIN},
        {.fd = session->timer, .events = POLLIN},
        {.fd = session->lost_fd, .events = POLLIN},
    };

    set_timer(session->timer, until_ns);
    poll(watched, sizeof(watched) / sizeof(watched[0]), -1);
}

static void warn_of(const ql_node_info *info)
{
    if (info->replica)
        say_soon(
            "warning: %s is a replica: what is locked there can be lost; list "
            "masters only",
            info->address);
    else if (info->eviction[0] && strcmp(info->eviction, "noeviction"))
        say_soon("warning: %s can evict locks (maxmemory-policy %s); set it to "
                 "noeviction",
                 info->address, info->eviction);
}

void session_warn(const struct session *session)
{
    ql_node_info info;

    if (session->options->quiet)
        return;
    for (unsigned i = 0; i < ql_client_nodes(session->client); i++)
        if (ql_client_node(session->client, i, &info) == QL_OK)
            warn_of(&info);
}

void session_say_died(const struct session *session, const ql_lock *lock)
{
    char shown[SAY_NAME];

    if (ql_lock_owner_died(lock) && !session->options->quiet)
        say_soon("%s: the holder before ended without releasing: what the lock "
                 "protects may be half done",
                 say_name(shown, session->name));
}
