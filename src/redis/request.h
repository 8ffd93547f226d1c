/* SPDX-License-Identifier: BSD-2-Clause */
/* One command on its way: encoded, and with what its answer needs. */
#ifndef QL_REDIS_REQUEST_H
#define QL_REDIS_REQUEST_H

#include <stdbool.h>

#include "redis/node.h"

enum ql_job {
    QL_JOB_COMMAND, /* of the owner */
    QL_JOB_GREET,   /* part of the greeting */
    QL_JOB_LOAD,    /* the server had forgotten a script */
};

/* There may be tens of thousands of them, so they are kept small. */
struct ql_request {
    char *bytes; /* what is sent; hiredis's memory */
    size_t size;
    void *owner;
    uint64_t sent_at;
    uint64_t expires_at; /* RELEASE: no key is left after this */
    uint32_t round;
    /* ql_guarded_stamp(): where they begin, from the end; 0: they are not. */
    uint16_t run_at, seen_at;
    uint8_t job;      /* enum ql_job */
    uint8_t kind;     /* COMMAND: enum ql_command_kind. GREET: its step */
    int8_t script;    /* that is loaded, or carries it out; -1: none */
    bool guarded : 1; /* its answer is that of a guarded script */
    bool quiet : 1;   /* nobody wants the answer */
    bool retried : 1; /* after NOSCRIPT */
    bool owed : 1;    /* it is a debt, or was one */
    bool secret : 1;  /* holds a password */
    char token[QL_TOKEN_MAX + 1];
};

/* Each fills in bytes and size; false: out of memory. */
bool ql_request_encode(struct ql_request *request, int argc, const char **argv,
                       const size_t *len);
bool ql_request_words(struct ql_request *request, int argc, const char **argv);
bool ql_request_load(struct ql_request *request, unsigned script);

/* What the command's key holds: "<token>" or "<token> <label>". */
void ql_request_value(char value[QL_TOKEN_MAX + 1 + QL_LABEL_MAX + 1],
                      const struct ql_command *command);

void ql_request_free(struct ql_request *request);

#endif
