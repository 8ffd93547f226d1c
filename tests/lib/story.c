/* SPDX-License-Identifier: BSD-2-Clause */
/* Plays a story's lines to a machine, and writes down what it does. */
#include "story.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/time.h"
#include "story_actions.h"
#include "story_text.h"

#define OWED_MAX 64 /* answers that one node owes */
#define MS(ms)   ((ms)*QL_NS_PER_MS)

/* A request that a node has not answered. */
struct owed {
    enum ql_request_kind request;
    uint32_t round;
};

struct play {
    struct ql_rules rules;
    struct ql_terms terms;
    struct ql_machine *machine;
    uint64_t now;
    struct owed owed[QL_BALLOT_MAX][OWED_MAX];
    unsigned owes[QL_BALLOT_MAX];
    struct story_text *trace;
};

static uint32_t usual_delay(unsigned attempt, void *arg)
{
    (void)attempt;
    (void)arg;
    return 100;
}

static uint64_t usually(uint32_t value_ms, uint32_t usual_ms)
{
    return MS(value_ms ? value_ms : usual_ms);
}

static void open_play(struct play *p, const struct story_terms *terms)
{
    unsigned nodes = terms->nodes ? terms->nodes : 5;

    p->rules = (struct ql_rules){
        .nodes = nodes,
        .quorum = nodes / 2 + 1,
        .node_timeout_ns = usually(terms->node_timeout_ms, 50),
        .linger_ns = MS(terms->linger_ms),
        .drift_ppm = terms->drift_ppm ? terms->drift_ppm : 10000,
        .fenced = terms->fenced,
    };
    p->terms = (struct ql_terms){
        .ttl_ns = usually(terms->ttl_ms, 10000),
        .retry_delay_ns = MS(200),
        .delay = terms->delay ? terms->delay : usual_delay,
        .delay_arg = terms->delay_arg,
        .max_hold_ns = terms->max_hold_ms ? MS(terms->max_hold_ms) : QL_NEVER,
        .loss_notice_ns = MS(terms->loss_notice_ms),
        .lock_delay_ns = MS(terms->lock_delay_ms),
        .tries = terms->tries,
        .renew = terms->renew,
    };
    p->machine = malloc(ql_machine_size(nodes));
    assert_non_null(p->machine);
    ql_machine_init(p->machine, &p->rules, &p->terms, terms->seed);
}

static void note_owed(struct play *p, const struct ql_actions *actions)
{
    for (unsigned i = 0; i < actions->count; i++) {
        const struct ql_action *action = &actions->list[i];
        unsigned *owes = &p->owes[action->node];

        if (action->kind != QL_DO_SEND)
            continue;
        assert_in_range(*owes, 0, OWED_MAX - 1);
        p->owed[action->node][(*owes)++] =
            (struct owed){action->request, action->round};
    }
}

static void step(struct play *p, struct ql_event event)
{
    struct ql_actions actions;
    bool waited = p->machine->state == QL_ST_WAITING;

    event.now = p->now;
    ql_step(p->machine, &event, &actions);
    note_owed(p, &actions);
    story_write_actions(p->trace, p->machine, p->now, &actions);
    if (p->machine->state == QL_ST_WAITING && !waited) {
        story_write_action(p->trace);
        story_write(p->trace, "wait until %s",
                    story_time(p->machine->retry_at));
    }
}

/* Calls the machine at the moments before `until` at which it wants it. */
static void pass_time(struct play *p, uint64_t until)
{
    unsigned calls = 0;

    while (p->now < until && ql_machine_deadline(p->machine) < until) {
        uint64_t due = ql_time_max(ql_machine_deadline(p->machine), p->now);

        calls = due == p->now ? calls + 1 : 0;
        if (calls > 3)
            fail_msg("the machine spins at t=%s", story_time(p->now));
        p->now = due;
        story_write_line(p->trace, "t=%s time", story_time(p->now));
        step(p, (struct ql_event){.kind = QL_EV_TIME});
    }
    p->now = ql_time_max(p->now, until);
}

static struct owed take_owed(struct play *p, unsigned node,
                             const char *request_name)
{
    struct owed *list = p->owed[node];
    struct owed taken;
    unsigned i = 0;

    while (i < p->owes[node] && request_name &&
           strcmp(ql_request_name(list[i].request), request_name) != 0)
        i++;
    if (i == p->owes[node])
        fail_msg("t=%s: n%u owes no such answer", story_time(p->now), node + 1);
    taken = list[i];
    memmove(&list[i], &list[i + 1], (--p->owes[node] - i) * sizeof(*list));
    return taken;
}

static enum ql_vote vote_of(const char *word)
{
    for (unsigned vote = QL_VOTE_YES; vote < QL_VOTES; vote++)
        if (strcmp(word, ql_vote_name(vote)) == 0)
            return vote;
    if (strcmp(word, "held") != 0)
        fail_msg("no answer is called \"%s\"", word);
    return QL_VOTE_FOREIGN;
}

/* The next word, into the trace as well. */
static const char *repeat_word(struct play *p, struct story_words *words)
{
    const char *word = story_next_word(words);

    story_write(p->trace, " %s", word);
    return word;
}

/* "#7" */
static uint64_t parse_fence(const char *word)
{
    if (word[0] != '#')
        fail_msg("\"%s\" is no number of a key", word);
    return strtoull(word + 1, NULL, 10);
}

/* "A ended #5", "A released #5 earlier B earlier C" */
static struct ql_prev play_prev(struct play *p, struct story_words *words)
{
    struct ql_prev prev = {.holder = (uint8_t)repeat_word(p, words)[0]};

    prev.end = strcmp(repeat_word(p, words), "ended") == 0 ? QL_PREV_ENDED
                                                           : QL_PREV_RELEASED;
    prev.fence = parse_fence(repeat_word(p, words));
    for (unsigned i = 0;
         words->count > 1 && strcmp(words->word[0], "earlier") == 0; i++) {
        assert_in_range(i, 0, QL_EARLIER_MAX - 1);
        repeat_word(p, words);
        prev.earlier[i] = (uint8_t)repeat_word(p, words)[0];
    }
    return prev;
}

/* What an answer says besides the vote. */
static void play_details(struct play *p, struct story_words *words,
                         struct ql_event *event)
{
    while (words->count > 0) {
        const char *word = repeat_word(p, words);

        if (strcmp(word, "by") == 0)
            event->holder = (uint8_t)repeat_word(p, words)[0];
        else if (strcmp(word, "after") == 0)
            event->prev = play_prev(p, words);
        else if (strcmp(word, "repaired") == 0)
            event->repaired = true;
        else if (word[0] == '#')
            event->fence = parse_fence(word);
        else
            event->remaining_ns = story_parse_time(word);
    }
}

/* "n1 n2 [release:] held [by A] [6.500]" */
static void play_answer(struct play *p, struct story_words *words)
{
    unsigned nodes[QL_BALLOT_MAX];
    unsigned count = 0, owes = 0;
    const char *request = NULL;
    struct ql_event event = {.kind = QL_EV_VOTE};

    while (words->count > 0 && words->word[0][0] == 'n' &&
           words->word[0][1] >= '1' && words->word[0][1] <= '9') {
        const char *node = story_next_word(words);

        nodes[count] = strtoul(node + 1, NULL, 10) - 1;
        assert_in_range(nodes[count], 0, p->rules.nodes - 1);
        owes = p->owes[nodes[count]] > owes ? p->owes[nodes[count]] : owes;
        count++;
        story_write(p->trace, " %s", node);
    }
    if (strchr(words->word[0], ':'))
        request = strtok(story_next_word(words), ":");
    if (request || owes > 1)
        story_write(p->trace, " %s:",
                    request ? request
                            : ql_request_name(p->owed[nodes[0]][0].request));
    story_write(p->trace, " %s", words->word[0]);
    event.vote = vote_of(story_next_word(words));
    play_details(p, words, &event);
    for (unsigned i = 0; i < count; i++) {
        struct owed owed = take_owed(p, nodes[i], request);

        event.node = nodes[i];
        event.request = owed.request;
        event.round = owed.round;
        step(p, event);
    }
}

/* No token: what was to be sent after it was not. */
static void forget_unsent(struct play *p)
{
    for (unsigned i = 0; i < p->rules.nodes; i++)
        if (p->owes[i] > 0 &&
            p->owed[i][p->owes[i] - 1].round == p->machine->round)
            p->owes[i]--;
}

static void play_request(struct play *p, struct story_words *words)
{
    static const struct {
        const char *word;
        enum ql_event_kind kind;
    } table[] = {
        {"try", QL_EV_ACQUIRE},     {"acquire", QL_EV_ACQUIRE},
        {"adopt", QL_EV_ADOPT},     {"extend", QL_EV_EXTEND},
        {"release", QL_EV_RELEASE}, {"verify", QL_EV_VERIFY},
        {"inspect", QL_EV_INSPECT}, {"cancel", QL_EV_CANCEL},
        {"abort", QL_EV_ABORT},     {"wake", QL_EV_WAKE},
        {"time", QL_EV_TIME},
    };
    const char *word = story_next_word(words);
    struct ql_event event = {.until = QL_NEVER};
    unsigned i = 0;

    while (i < sizeof(table) / sizeof(table[0]) &&
           strcmp(word, table[i].word) != 0)
        i++;
    if (i == sizeof(table) / sizeof(table[0]))
        fail_msg("nothing is called \"%s\"", word);
    story_write(p->trace, " %s", table[i].word);
    event.kind = table[i].kind;
    if (strcmp(word, "try") == 0)
        event.until = p->now;
    if (words->count > 0 && strcmp(words->word[0], "within") == 0)
        story_write(p->trace, " %s", story_next_word(words));
    if (words->count > 0 && event.kind == QL_EV_ADOPT)
        event.fence = parse_fence(repeat_word(p, words));
    if (words->count > 0) {
        event.ttl_ns = story_parse_time(words->word[0]);
        event.until = ql_time_add(p->now, event.ttl_ns);
        story_write(p->trace, " %s", story_next_word(words));
    }
    if (event.kind == QL_EV_ABORT)
        forget_unsent(p);
    step(p, event);
}

static void play_question(struct play *p, const char *word)
{
    const struct ql_machine *m = p->machine;

    story_write_word(p->trace, word);
    story_write_action(p->trace);
    if (strcmp(word, "valid?") == 0)
        story_write(p->trace, "%s", story_time(ql_machine_valid_ns(m, p->now)));
    else if (strcmp(word, "due?") == 0)
        story_write(p->trace, "%s", story_time(ql_machine_deadline(m)));
    else if (strcmp(word, "state?") == 0)
        story_write(p->trace, "%s", ql_state_name(m->state));
    else if (strcmp(word, "expires?") == 0)
        story_write(p->trace, "%s", story_time(m->expires_at));
    else if (strcmp(word, "died?") == 0)
        story_write(p->trace, m->died ? "yes" : "no");
    else if (strcmp(word, "fence?") == 0)
        story_write(p->trace, "#%" PRIu64, m->fence);
    else
        fail_msg("no question is called \"%s\"", word);
}

static void play_line(struct play *p, struct story_words *words)
{
    const char *when = story_next_word(words);
    const char *what = words->count > 0 ? words->word[0] : "time";
    bool sleeps = strcmp(what, "sleep") == 0;
    uint64_t until;

    if (strcmp(when, "t=due") == 0)
        until = ql_time_max(ql_machine_deadline(p->machine), p->now);
    else if (when[0] == '+')
        until = ql_time_add(p->now, story_parse_time(when + 1));
    else
        until = story_parse_time(when + strlen("t="));
    assert_in_range(until, p->now, QL_NEVER - 1);
    if (!sleeps)
        pass_time(p, until);
    p->now = until;
    story_write_line(p->trace, "%s", when);
    if (sleeps)
        story_write(p->trace, " sleep");
    else if (strchr(what, '?'))
        play_question(p, what);
    else if (what[0] == 'n' && what[1] >= '1' && what[1] <= '9')
        play_answer(p, words);
    else
        play_request(p, words);
}

void story(const struct story_terms *terms, const char *text)
{
    struct play play = {.now = 0};
    struct story_text *wanted = story_text_parse(text);

    play.trace = story_text_new();
    open_play(&play, terms);
    for (unsigned i = 0; i < wanted->count; i++) {
        struct story_words words;

        story_split(&words, wanted->line[i]);
        play_line(&play, &words);
    }
    story_text_compare(wanted, play.trace);
    free(wanted);
    free(play.trace);
    free(play.machine);
}
