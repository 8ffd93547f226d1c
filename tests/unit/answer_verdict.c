/* SPDX-License-Identifier: BSD-2-Clause */
/* What servers of several versions say, and what we make of it. */
#include "redis/verdict.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct saying {
    const char *text;
    ql_verdict verdict;
};

#define WRAPPED                                                                \
    "ERR Error running script (call to "                                       \
    "f_5f4dcc3b5aa765d61d8327deb882cf99ac1d5c2a): @user_script:7: "

static const struct saying sayings[] = {
    {"LOADING Redis is loading the dataset in memory", QL_V_LOADING},
    {"READONLY You can't write against a read only replica.", QL_V_READONLY},
    {"READONLY You can't write against a read only replica. script: abc, on "
     "@user_script:15.",
     QL_V_READONLY},
    {"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set "
     "to 'no'.",
     QL_V_READONLY},
    {"MISCONF Redis is configured to save RDB snapshots, but it's currently "
     "unable to persist to disk.",
     QL_V_MISCONF},
    {"OOM command not allowed when used memory > 'maxmemory'.", QL_V_OOM},
    {"BUSY Redis is busy running a script. You can only call SCRIPT KILL or "
     "SHUTDOWN NOSAVE.",
     QL_V_BUSY},
    {"BUSYKEY Target key name already exists.", QL_V_ERROR},
    {"NOPERM this user has no permissions to run the 'set' command",
     QL_V_NOPERM},
    {"NOAUTH Authentication required.", QL_V_NOAUTH},
    {"WRONGPASS invalid username-password pair or user is disabled.",
     QL_V_NOAUTH},
    {"ERR invalid password", QL_V_NOAUTH},
    {"ERR operation not permitted", QL_V_NOAUTH},
    {"ERR Client sent AUTH, but no password is set", QL_V_NOAUTH},
    {"ERR AUTH <password> called without any password configured for the "
     "default user. Are you sure your configuration is correct?",
     QL_V_NOAUTH},
    {"DENIED Redis is running in protected mode because", QL_V_NOAUTH},
    {"WRONGTYPE Operation against a key holding the wrong kind of value",
     QL_V_WRONGTYPE},
    {"MOVED 3999 127.0.0.1:6381", QL_V_MOVED},
    {"ASK 3999 127.0.0.1:6381", QL_V_MOVED},
    {"CLUSTERDOWN Hash slot not served", QL_V_MOVED},
    {"CROSSSLOT Keys in request don't hash to the same slot", QL_V_MOVED},
    {"TRYAGAIN Multiple keys request during rehashing of slot", QL_V_MOVED},
    {"NOREPLICAS Not enough good replicas to write.", QL_V_NOREPLICAS},
    {"ERR max number of clients reached", QL_V_MAXCLIENTS},
    {"ERR max number of clients + cluster connections reached",
     QL_V_MAXCLIENTS},
    {WRAPPED "@user_script: 7: -OOM command not allowed when used memory > "
             "'maxmemory'.",
     QL_V_OOM},
    {WRAPPED "@user_script: 7: -READONLY You can't write against a read only "
             "replica.",
     QL_V_READONLY},
    {WRAPPED "WRONGTYPE Operation against a key holding the wrong kind of "
             "value",
     QL_V_WRONGTYPE},
    {WRAPPED "@user_script: 7: -MISCONF Redis is configured to save",
     QL_V_MISCONF},
    {WRAPPED "@user_script: 7: -NOREPLICAS Not enough good replicas",
     QL_V_NOREPLICAS},
    {WRAPPED "@user_script: 7: The user executing the script can't run this "
             "command or subcommand",
     QL_V_NOPERM},
    {WRAPPED "@user_script: 7: something else", QL_V_ERROR},
    {"ERR The user executing the script can't run this command or subcommand "
     "script: abc, on @user_script:9.",
     QL_V_NOPERM},
    {"ERR ACL failure in script: User u has no permissions to run the 'del' "
     "command script: abc, on @user_script:9.",
     QL_V_NOPERM},
    /* What a caller sent is quoted, and must not be taken for a code. */
    {"ERR unknown command 'SETT', with args beginning with: 'OOM' 'LOADING' ",
     QL_V_ERROR},
    {"ERR invalid DB index", QL_V_ERROR},
    {"NOSCRIPT No matching script. Please use EVAL.", QL_V_ERROR},
    {"OOM", QL_V_OOM},
    {"OO", QL_V_ERROR},
    {"", QL_V_ERROR},
};

static void errors_have_verdicts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sayings / sizeof sayings[0]; i++) {
        ql_verdict verdict =
            ql_verdict_of_error(sayings[i].text, strlen(sayings[i].text));

        if (verdict != sayings[i].verdict)
            fail_msg("%s: %d", sayings[i].text, verdict);
    }
}

static void noscript_is_a_word(void **state)
{
    (void)state;
    assert_true(ql_verdict_is_noscript("NOSCRIPT No matching script.", 28));
    assert_true(ql_verdict_is_noscript("NOSCRIPT", 8));
    assert_false(ql_verdict_is_noscript("NOSCRIPTS", 9));
    assert_false(ql_verdict_is_noscript("ERR NOSCRIPT", 12));
    assert_false(ql_verdict_is_noscript("NOSCRIPT", 7));
}

static void system_errors_have_verdicts(void **state)
{
    (void)state;
    assert_int_equal(ql_verdict_of_errno(ECONNREFUSED, true), QL_V_REFUSED);
    assert_int_equal(ql_verdict_of_errno(ENOENT, true), QL_V_REFUSED);
    assert_int_equal(ql_verdict_of_errno(ETIMEDOUT, true), QL_V_CONNECTING);
    assert_int_equal(ql_verdict_of_errno(EHOSTUNREACH, true), QL_V_CONNECTION);
    assert_int_equal(ql_verdict_of_errno(ECONNRESET, false), QL_V_CONNECTION);
    assert_int_equal(ql_verdict_of_errno(ETIMEDOUT, false), QL_V_CONNECTION);
    assert_int_equal(ql_verdict_of_errno(ENOMEM, false), QL_V_NOMEM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_have_verdicts),
        cmocka_unit_test(noscript_is_a_word),
        cmocka_unit_test(system_errors_have_verdicts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
