/* SPDX-License-Identifier: BSD-2-Clause */
/* See spoil.h. */
#include "spoil.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "clock.h"

static void must(struct server_reply reply)
{
    if (reply.kind == SERVER_ERROR)
        fail_msg("the server refuses: %s", reply.text);
}

static void set_config(struct server *server, const char *name,
                       const char *value)
{
    must(server_command(server, "CONFIG", "SET", name, value, NULL));
}

/* Asks until the answer has these words in it. */
static void wait_for(struct server *server, const char *command,
                     const char *argument, const char *words)
{
    int64_t end = clock_now_ms() + HANG_MS;
    struct server_reply reply;

    for (;;) {
        reply = argument ? server_command(server, command, argument, NULL)
                         : server_command(server, command, NULL);
        if (strstr(reply.text, words))
            return;
        if (clock_now_ms() > end)
            fail_msg("%s never says %s, but %s", command, words, reply.text);
        clock_sleep_ms(10);
    }
}

/* --- LOADING: a dump that takes minutes to read --------------------------- */

static const char *const loading_config[] = {
    "--key-load-delay", "20000", "--loading-process-events-interval-bytes",
    "1024", NULL};

static void spoil_loading(struct server *server)
{
    must(server_command(server, "EVAL",
                        "for i = 1, 9000 do redis.call('SET', 'k' .. i, "
                        "string.rep(i, 400)) end",
                        "0", NULL));
    must(server_command(server, "SAVE", NULL));
    server_restart(server);
    wait_for(server, "INFO", "persistence", "loading:1");
}

const struct fault fault_loading = {.config = loading_config,
                                    .spoil = spoil_loading,
                                    .verdict = QL_V_LOADING,
                                    .majority_result = QL_E_QUORUM,
                                    .keeps_old = true};

/* --- READONLY: a replica, of nobody --------------------------------------- */

static void spoil_readonly(struct server *server)
{
    must(server_command(server, "REPLICAOF", "127.0.0.1", "1", NULL));
}

static void mend_readonly(struct server *server)
{
    must(server_command(server, "REPLICAOF", "NO", "ONE", NULL));
}

const struct fault fault_readonly = {.spoil = spoil_readonly,
                                     .mend = mend_readonly,
                                     .verdict = QL_V_READONLY,
                                     .majority_result = QL_E_CONFIG};

/* --- MISCONF: it cannot save, for it has no directory any more ------------ */

static const char *const misconf_config[] = {"--save", "3600 1000000", NULL};

static void spoil_misconf(struct server *server)
{
    struct server_reply reply =
        server_command(server, "CONFIG", "GET", "dir", NULL);
    char link[64], directory[256];
    ssize_t length;

    assert_int_equal(reply.kind, SERVER_ARRAY);
    snprintf(link, sizeof(link), "/proc/%d/cwd", (int)server_pid(server));
    length = readlink(link, directory, sizeof(directory) - 1);
    assert_true(length > 0);
    directory[length] = '\0';
    assert_int_equal(rmdir(directory), 0);
    must(server_command(server, "BGSAVE", NULL));
    wait_for(server, "INFO", "persistence", "rdb_last_bgsave_status:err");
}

static void mend_misconf(struct server *server)
{
    set_config(server, "stop-writes-on-bgsave-error", "no");
}

const struct fault fault_misconf = {.config = misconf_config,
                                    .spoil = spoil_misconf,
                                    .mend = mend_misconf,
                                    .verdict = QL_V_MISCONF,
                                    .majority_result = QL_E_QUORUM};

/* --- OOM ------------------------------------------------------------------ */

static void spoil_oom(struct server *server)
{
    set_config(server, "maxmemory", "1");
}

static void mend_oom(struct server *server)
{
    set_config(server, "maxmemory", "0");
}

const struct fault fault_oom = {.spoil = spoil_oom,
                                .mend = mend_oom,
                                .verdict = QL_V_OOM,
                                .majority_result = QL_E_QUORUM};

/* --- BUSY: a script without an end ---------------------------------------- */

static const char *const busy_config[] = {"--lua-time-limit", "10", NULL};

static void spoil_busy(struct server *server)
{
    static const char command[] = "EVAL \"while true do end\" 0\r\n";
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%s",
             server_socket(server));
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)),
                     0);
    assert_int_equal(send(fd, command, strlen(command), MSG_NOSIGNAL),
                     strlen(command));
    wait_for(server, "PING", NULL, "BUSY");
    close(fd);
}

static void mend_busy(struct server *server)
{
    must(server_command(server, "SCRIPT", "KILL", NULL));
    wait_for(server, "PING", NULL, "PONG");
}

const struct fault fault_busy = {.config = busy_config,
                                 .spoil = spoil_busy,
                                 .mend = mend_busy,
                                 .verdict = QL_V_BUSY,
                                 .majority_result = QL_E_QUORUM};

/* --- NOPERM, NOAUTH, WRONGPASS -------------------------------------------- */

static void spoil_noperm(struct server *server)
{
    must(server_command(server, "ACL", "SETUSER", SPOIL_USER, "-set", NULL));
}

static void mend_noperm(struct server *server)
{
    must(server_command(server, "ACL", "SETUSER", SPOIL_USER, "+set", NULL));
}

const struct fault fault_noperm = {.spoil = spoil_noperm,
                                   .mend = mend_noperm,
                                   .verdict = QL_V_NOPERM,
                                   .majority_result = QL_E_AUTH};

/* Nobody is let in without a name; who names himself is not let in either. */
static void spoil_noauth(struct server *server)
{
    must(server_command(server, "ACL", "SETUSER", SPOIL_USER, "off", NULL));
}

const struct fault fault_noauth = {.spoil = spoil_noauth,
                                   .verdict = QL_V_NOAUTH,
                                   .majority_result = QL_E_AUTH,
                                   .keeps_old = true};

static void spoil_wrongpass(struct server *server)
{
    must(server_command(server, "ACL", "SETUSER", SPOIL_USER, "resetpass",
                        ">another", NULL));
}

const struct fault fault_wrongpass = {.spoil = spoil_wrongpass,
                                      .verdict = QL_V_NOAUTH,
                                      .majority_result = QL_E_AUTH,
                                      .keeps_old = true};

/* --- WRONGTYPE ------------------------------------------------------------ */

static void spoil_wrongtype(struct server *server)
{
    must(server_command(server, "RPUSH", SPOIL_NAME, "data", NULL));
}

static void mend_wrongtype(struct server *server)
{
    must(server_command(server, "DEL", SPOIL_NAME, NULL));
}

const struct fault fault_wrongtype = {.spoil = spoil_wrongtype,
                                      .mend = mend_wrongtype,
                                      .verdict = QL_V_WRONGTYPE,
                                      .majority_result = QL_E_CONFIG,
                                      .late = true};

/* --- A member of a cluster ------------------------------------------------ */

static const char *const cluster_config[] = {"--cluster-enabled", "yes", NULL};

const struct fault fault_clusterdown = {.config = cluster_config,
                                        .verdict = QL_V_MOVED,
                                        .majority_result = QL_E_CONFIG};

/* --- NOREPLICAS ----------------------------------------------------------- */

static void spoil_noreplicas(struct server *server)
{
    set_config(server, "min-replicas-to-write", "1");
}

static void mend_noreplicas(struct server *server)
{
    set_config(server, "min-replicas-to-write", "0");
}

const struct fault fault_noreplicas = {.spoil = spoil_noreplicas,
                                       .mend = mend_noreplicas,
                                       .verdict = QL_V_NOREPLICAS,
                                       .majority_result = QL_E_QUORUM};

/* --- No connection left --------------------------------------------------- */

static void spoil_maxclients(struct server *server)
{
    set_config(server, "maxclients", "1");
}

static void mend_maxclients(struct server *server)
{
    set_config(server, "maxclients", "100");
}

const struct fault fault_maxclients = {.spoil = spoil_maxclients,
                                       .mend = mend_maxclients,
                                       .verdict = QL_V_MAXCLIENTS,
                                       .majority_result = QL_E_QUORUM,
                                       .keeps_old = true};
