/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client of the world: a process on a machine of its own, that uses the
 * library through its public functions for programs with an event loop.
 */
#ifndef TESTS_SIM_CLIENT_H
#define TESTS_SIM_CLIENT_H

#include "bounds.h"
#include "client/client.h"
#include "vclock.h"

struct world;

/* What the program does with a handle just now. */
enum stage {
    STAGE_IDLE,
    STAGE_ACQUIRING,
    STAGE_HELD,   /* it was told so */
    STAGE_BUSY,   /* extending, verifying, looking */
    STAGE_ENDING, /* releasing */
};

struct handle {
    uint8_t client, index, lock;
    uint8_t stage; /* enum stage */
    bool renew;
    bool guarded;  /* as its client is */
    bool adopts;   /* the extension that runs is to take a lock over */
    bool adopted;  /* the token came from another client, whose requests may
                      still be on their way */
    bool believes; /* the program was told that it holds, and nothing since */
    uint32_t turn; /* of the program: earlier turns that come are void */
    ql_lock *ql;
    /* oracle.c, follow.c: what it was when last looked at */
    bool counted;        /* among the lock's holders */
    bool over;           /* its validity has ended, and must not come back */
    uint64_t told_until; /* when its loss was told, it was valid until then;
                            NEVER: it was not told */
    bool notice_possible;
    bool token_open; /* the attempt with this token has not ended */
    uint64_t valid_until;
    uint64_t extends_since; /* when the extension began */
    char token[QL_TOKEN_MAX + 1];
};

struct sim_client {
    unsigned index;
    uint32_t incarnation; /* of its process */
    bool alive;
    bool doomed;     /* killed within a step: nothing leaves it any more */
    bool wants_room; /* a socket was full */
    enum ql_level level;
    unsigned inside;        /* steps of it that have not returned */
    uint64_t stopped_until; /* paused */
    uint64_t wake_at;       /* the wake-up that counts */
    struct vclock boot, wall;
    uint64_t boot_paused;   /* what it showed when the machine was paused */
    uint64_t unpunctual_at; /* when it last ran late, by no fault of its own */
    uint64_t jumped_at;     /* when its wall clock was last set forward */
    uint64_t tainted_until; /* as a node's */
    ql_client *ql;
    struct handle handle[HANDLES_MAX];
    struct block *blocks; /* its memory */
    ql_allocator memory;
    struct world *world;
};

void client_open(struct world *w, struct sim_client *c);
/* Its process is killed; or its machine is off, and nobody hears of it. */
void client_kill(struct world *w, struct sim_client *c, bool off);
/* It frees its locks and closes, as a good program does. */
void client_quit(struct world *w, struct sim_client *c);
/* Kills it, unless it lives on; opens it again after so long. */
void client_open_later(struct world *w, struct sim_client *c, uint64_t ns);

/* Makes a new handle in place of one that was freed. */
void client_new_lock(struct world *w, struct handle *handle);

/* Something has happened: it will run when it has something to do. */
void client_plan(struct world *w, struct sim_client *c);
void client_pause(struct world *w, struct sim_client *c, uint64_t ns);
/* Whether it could run now; if not, `ret_when` says when to try again. */
bool client_can_run(const struct world *w, const struct sim_client *c,
                    uint64_t *ret_when);

/* Around everything that the process does. */
void client_enter(struct world *w, struct sim_client *c);
void client_leave(struct world *w, struct sim_client *c);

/* What its library's clock shows, or would show if it ran. */
uint64_t client_clock(const struct world *w, const struct sim_client *c);

/* memory.c */
void client_memory_open(struct sim_client *c);
void client_memory_free(struct sim_client *c);

#endif
