/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Servers begin an error with a code word, and that is looked at first. Redis
 * 6.2 wraps an error of a command inside a script in one of its own ("ERR
 * Error running script ...: @user_script:7: -OOM command not allowed"), so
 * there, and only there, the code word is searched for further inside: the
 * words of other errors may quote what a caller sent.
 */
#include "redis/verdict.h"

#include <errno.h>
#include <string.h>

struct meaning {
    const char *words;
    ql_verdict verdict;
};

/* The first word of an error. */
static const struct meaning codes[] = {
    {"LOADING", QL_V_LOADING},
    {"READONLY", QL_V_READONLY},
    {"MASTERDOWN", QL_V_READONLY}, /* only a replica says it */
    {"MISCONF", QL_V_MISCONF},
    {"OOM", QL_V_OOM},
    {"BUSY", QL_V_BUSY},
    {"NOPERM", QL_V_NOPERM},
    {"NOAUTH", QL_V_NOAUTH},
    {"WRONGPASS", QL_V_NOAUTH},
    {"DENIED", QL_V_NOAUTH}, /* protected mode: no password, not local */
    {"WRONGTYPE", QL_V_WRONGTYPE},
    {"MOVED", QL_V_MOVED},
    {"ASK", QL_V_MOVED},
    {"CLUSTERDOWN", QL_V_MOVED},
    {"CROSSSLOT", QL_V_MOVED},
    {"TRYAGAIN", QL_V_MOVED},
    {"NOREPLICAS", QL_V_NOREPLICAS},
};

/* How an error without a code word of its own begins. */
static const struct meaning sentences[] = {
    {"ERR max number of clients", QL_V_MAXCLIENTS},
    {"ERR invalid password", QL_V_NOAUTH},
    {"ERR operation not permitted", QL_V_NOAUTH},
    {"ERR Client sent AUTH", QL_V_NOAUTH},
    {"ERR AUTH <password> called without", QL_V_NOAUTH},
    {"ERR The user executing the script", QL_V_NOPERM},
    {"ERR ACL failure in script", QL_V_NOPERM},
};

static const char script_error[] = "ERR Error running script";
static const char script_acl[] = "The user executing the script can't run";

static bool begins(const char *text, size_t len, const char *words)
{
    size_t words_len = strlen(words);

    return len >= words_len && memcmp(text, words, words_len) == 0;
}

static bool ends_word(const char *text, size_t len, size_t at)
{
    return at == len || text[at] == ' ' || text[at] == '\r' ||
           text[at] == '\n' || text[at] == '\0';
}

static ql_verdict of_code(const char *text, size_t len)
{
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (begins(text, len, codes[i].words) &&
            ends_word(text, len, strlen(codes[i].words)))
            return codes[i].verdict;
    return QL_V_NONE;
}

/* The first code word that follows a space or a dash, as in ": -OOM command".
 */
static ql_verdict inside_script(const char *text, size_t len)
{
    if (memmem(text, len, script_acl, sizeof script_acl - 1))
        return QL_V_NOPERM;
    for (size_t at = sizeof script_error - 1; at < len; at++) {
        ql_verdict verdict;

        if (text[at - 1] != ' ' && text[at - 1] != '-')
            continue;
        verdict = of_code(text + at, len - at);
        if (verdict != QL_V_NONE)
            return verdict;
    }
    return QL_V_ERROR;
}

ql_verdict ql_verdict_of_error(const char *text, size_t len)
{
    ql_verdict verdict = of_code(text, len);

    if (verdict != QL_V_NONE)
        return verdict;
    for (size_t i = 0; i < sizeof sentences / sizeof sentences[0]; i++)
        if (begins(text, len, sentences[i].words))
            return sentences[i].verdict;
    if (begins(text, len, script_error))
        return inside_script(text, len);
    return QL_V_ERROR;
}

bool ql_verdict_is_noscript(const char *text, size_t len)
{
    static const char code[] = "NOSCRIPT";

    return begins(text, len, code) && ends_word(text, len, sizeof code - 1);
}

ql_verdict ql_verdict_of_errno(int error, bool connecting)
{
    switch (error) {
    case ECONNREFUSED:
    case ENOENT: /* a unix socket on which nobody listens any more */
        return connecting ? QL_V_REFUSED : QL_V_CONNECTION;
    case ETIMEDOUT:
        return connecting ? QL_V_CONNECTING : QL_V_CONNECTION;
    case ENOMEM:
    case ENOBUFS:
        return QL_V_NOMEM;
    default:
        return QL_V_CONNECTION;
    }
}
