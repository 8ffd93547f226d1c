/* SPDX-License-Identifier: BSD-2-Clause */
/* What one row of the table of options says. */
#ifndef QL_CLI_OPTION_TABLE_H
#define QL_CLI_OPTION_TABLE_H

#include <stddef.h>

#include "cli/options.h"

enum option_kind {
    OPTION_FLAG,     /* bool */
    OPTION_TEXT,     /* char *, a copy */
    OPTION_SERVERS,  /* char *, appended to; overwritten in argv */
    OPTION_DURATION, /* int64_t, milliseconds */
    OPTION_NUMBER,   /* int64_t */
    OPTION_CHOICE,   /* int64_t, a place in `argument`, split at '|' */
};

struct option_row {
    char letter;          /* 0: none */
    const char *name;     /* long, without the dashes */
    const char *argument; /* what --help calls it; NULL: takes none */
    const char *variable; /* of the environment; NULL: none */
    const char *help;     /* NULL: an alias that --help does not show */
    unsigned verbs;
    enum option_kind kind;
    size_t offset; /* into struct options */
    int64_t min, max;
};

extern const struct option_row OPTION_TABLE[];
extern const size_t OPTION_COUNT;

/* Stores `text`. Returns NULL, or a phrase that says what is wrong. */
const char *option_store(const struct option_row *row, struct options *options,
                         const char *text);

#endif
