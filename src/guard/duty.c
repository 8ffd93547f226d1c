/* SPDX-License-Identifier: BSD-2-Clause */
/* The words by which lua/node.lua is told what to do. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "guard/judging.h"

#define NEVER_US UINT64_C(9007199254740991) /* the scripts' largest number */

struct words {
    const char **argv;
    unsigned count;
    struct ql_duty_text *text;
    unsigned numbers;
};

static void word(struct words *w, const char *text)
{
    assert(w->count < QL_DUTY_WORDS);
    w->argv[w->count++] = text;
    w->argv[w->count] = NULL;
}

static void number(struct words *w, uint64_t value)
{
    char *text = w->text->number[w->numbers++];

    snprintf(text, sizeof(w->text->number[0]), "%" PRIu64, value);
    word(w, text);
}

static void say_form(struct words *w, const struct ql_group *group,
                     const char *run_id)
{
    word(w, "form");
    word(w, group->cfg);
    number(w, group->max_ttl_ms);
    number(w, group->slack_ms);
    word(w, run_id);
    word(w, group->members);
    number(w, group->hw);
}

static void say_activate(struct words *w, const struct ql_group *group,
                         const char *run_id, const char *sync)
{
    word(w, "activate");
    word(w, group->cfg);
    word(w, run_id);
    word(w, sync);
}

static void say_quarantine(struct words *w, const struct ql_group *group,
                           const char *run_id, uint64_t ref_us)
{
    word(w, "quarantine");
    word(w, group->newest);
    word(w, "");
    number(w, group->max_ttl_ms);
    number(w, group->slack_ms);
    word(w, group->members);
    word(w, run_id);
    number(w, ref_us);
}

/* If the others' time was not known when the quarantine began, the script only
 * notes it now; and it must do no more, if another client has done so before,
 * because nothing was read back for that. */
static void say_ready(struct words *w, const struct ql_group *group,
                      const struct ql_sight *sight, uint64_t ref_us,
                      uint64_t quarantine_us)
{
    if (sight->record.ref_us == 0)
        quarantine_us = NEVER_US;
    word(w, "ready");
    word(w, group->cfg);
    word(w, sight->run_id);
    number(w, ref_us);
    number(w, group->hw);
    number(w, quarantine_us);
    word(w, sight->durable ? sight->run_id : "");
}

static void say_run(struct words *w, const char *verb, const char *run_id,
                    const char *sync)
{
    word(w, verb);
    word(w, run_id);
    word(w, sync);
}

void ql_duty_words(enum ql_duty duty, const struct ql_group *group,
                   const struct ql_sight *sight, uint64_t ref_us,
                   uint32_t drift_ppm, struct ql_duty_text *text,
                   const char *argv[QL_DUTY_WORDS + 1])
{
    struct words w = {.argv = argv, .text = text};
    const char *run_id = sight->run_id;
    const char *sync = sight->durable ? run_id : "";

    argv[0] = NULL;
    switch (duty) {
    case QL_DUTY_NONE:
        break;
    case QL_DUTY_FORM:
        say_form(&w, group, run_id);
        break;
    case QL_DUTY_ACTIVATE:
        say_activate(&w, group, run_id, sync);
        break;
    case QL_DUTY_QUARANTINE:
        say_quarantine(&w, group, run_id, ref_us);
        break;
    case QL_DUTY_READY:
        say_ready(
            &w, group, sight, ref_us,
            ql_quarantine_us(group->max_ttl_ms, group->slack_ms, drift_ppm));
        break;
    case QL_DUTY_DURABLE:
        say_run(&w, "durable", run_id, sync);
        break;
    case QL_DUTY_VERIFIED:
        say_run(&w, "verified", run_id, sync);
        break;
    case QL_DUTY_LOOK:
        word(&w, "look");
        break;
    }
}
