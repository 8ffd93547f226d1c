/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options of all verbs: one table says what each is called, whose it is,
 * where its value goes, and what --help says about it.
 *
 * A flag wins over the environment, the environment over the default.
 */
#ifndef QL_CLI_OPTIONS_H
#define QL_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Which verbs an option is for. */
enum verb_bit {
    VERB_RUN = 1,
    VERB_ACQUIRE = 2,
    VERB_EXTEND = 4,
    VERB_RELEASE = 8,
    VERB_STATUS = 16,
    VERB_DEV = 32,
    VERB_INIT = 64,
    VERB_MEMBERS = 128,
    VERB_CHECK = 256,
    VERB_LIST = 512,
    VERB_FORCE_RELEASE = 1024,
};

enum on_lost {
    ON_LOST_TERM,
    ON_LOST_KILL,
    ON_LOST_IGNORE,
};

/* enum ql_level, less one. */
enum level {
    LEVEL_PLAIN,
    LEVEL_GUARDED,
    LEVEL_STRICT,
};

#define OPTION_UNSET ((int64_t)-1)

struct options {
    char *servers; /* as listed, separated by commas; NULL: none; ours */
    char *user;
    char *password_file;
    char *shell_command;
    char *label;
    int64_t ttl_ms;
    int64_t node_timeout_ms;
    int64_t retry_delay_ms;
    int64_t wait_ms; /* OPTION_UNSET: for ever */
    int64_t max_hold_ms;
    int64_t hold_min_ms;
    int64_t kill_after_ms; /* OPTION_UNSET: from the ttl */
    int64_t conflict_code;
    int64_t nodes;   /* dev */
    int64_t on_lost; /* enum on_lost */
    int64_t level;   /* enum level */
    int64_t lock_delay_ms;
    int64_t max_ttl_ms;     /* init; OPTION_UNSET: the default */
    int64_t clock_slack_ms; /* likewise */
    bool again;             /* init */
    bool yes;
    bool env; /* acquire: prints variables for a shell */
    bool nonblock;
    bool json;
    bool quiet;
    bool verbose;
    bool help;
};

void options_init(struct options *options);
void options_free(struct options *options);

/*
 * Takes the options of `verb` out of argv[1...], and what the environment has
 * to say. With `stop` those behind the first argument that is no option are
 * left alone, because they are somebody else's. What is left is moved to the
 * front of argv, and *argc is its number; a "--" is dropped. Passwords in
 * server URLs are overwritten in argv, where everybody can see them.
 *
 * Returns 0, or the exit status after saying what is wrong.
 */
int options_parse(struct options *options, enum verb_bit verb, bool stop,
                  int *argc, char **argv);

/* Overwrites user and password in an argument that is a server's URL. */
void options_hide_password(char *url);

/* The options of `verb`, a line each. */
void options_help(enum verb_bit verb, FILE *out);

#endif
