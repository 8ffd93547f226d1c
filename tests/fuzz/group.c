/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: a node's record and the judge of the group. The input makes up
 * what was seen of each node, from few words, so that they often agree. The
 * oracle: what must be true of a node before it votes, or before anything is
 * written to it, whatever the others say.
 */
#include <stdbool.h>
#include <string.h>

#include "fuzz.h"
#include "guard/group.h"

#define NODES_MAX 6
#define NOW       UINT64_C(1800000000000000)
#define S_US      UINT64_C(1000000)
#define COUNT(a)  (sizeof(a) / sizeof((a)[0]))

struct world {
    const uint8_t *data;
    size_t size;
    struct ql_sight sight[NODES_MAX];
    const struct ql_sight *sights[NODES_MAX];
    const char *address[NODES_MAX];
    uint64_t time_us[NODES_MAX];
    struct ql_group_view view;
    struct ql_group group;
    uint64_t quarantine_us;
};

/* --- What is seen -----------------------------------------------------------
 */

static uint8_t draw(struct world *w)
{
    if (w->size == 0)
        return 0;
    w->size--;
    return *w->data++;
}

static const char *pick(struct world *w, const char *const *words, size_t count)
{
    return words[draw(w) % count];
}

/* A word from the table, or now and then any bytes. */
static const char *text(struct world *w, char buffer[600],
                        const char *const *words, size_t count)
{
    uint8_t which = draw(w);
    size_t len;

    if (which != 255)
        return words[which % count];
    len = (size_t)draw(w) * 2;
    if (len > w->size)
        len = w->size;
    memcpy(buffer, w->data, len);
    buffer[len] = '\0';
    w->data += len;
    w->size -= len;
    return buffer;
}

static uint64_t some_time(struct world *w)
{
    static const uint64_t ago_us[] = {
        0,          1,          S_US / 2,   S_US,
        S_US + 1,   300 * S_US, 307 * S_US, 307 * S_US + S_US / 2,
        400 * S_US, NOW,
    };
    uint8_t which = draw(w);

    if (which >= 240)
        return NOW + (which - 239) * S_US / 4;
    return NOW - ago_us[which % COUNT(ago_us)];
}

static void draw_record(struct world *w, struct ql_record *record)
{
    static const char *const cfgs[] = {
        "0123456789abcdef.1.3", "0123456789abcdef.2.4", "0123456789abcdef.3.3",
        "fedcba9876543210.1.3", "0123456789abcdef.1.1", "",
    };
    static const char *const runs[] = {"r0", "r1", "r2", "r3", "r4", ""};
    static const char *const states[] = {"ready", "quarantine", "forming",
                                         "removed", "odd"};
    static const char *const numbers[] = {
        "0", "500", "300000", "1000", "1800000000600000", ""};
    static const char *const members[] = {"a,b,c,d,e,f", "a:6379", "x", ""};
    char raw[QL_RECORD_FIELDS][600], now[24];
    const char *field[QL_RECORD_FIELDS] = {
        text(w, raw[0], cfgs, COUNT(cfgs)),
        text(w, raw[1], cfgs, COUNT(cfgs)),
        text(w, raw[2], runs, COUNT(runs)),
        text(w, raw[3], states, COUNT(states)),
        text(w, raw[4], numbers, COUNT(numbers)),
        text(w, raw[5], numbers, COUNT(numbers)),
        text(w, raw[6], numbers, COUNT(numbers)),
        "1",
        "1",
        text(w, raw[9], runs, COUNT(runs)),
        text(w, raw[10], runs, COUNT(runs)),
        text(w, raw[11], members, COUNT(members)),
        text(w, raw[12], members, COUNT(members)),
    };

    snprintf(now, sizeof(now), "%llu", (unsigned long long)some_time(w));
    (void)ql_record_read(record, now, field);
    record->at_us = some_time(w);
    record->ref_us = draw(w) % 8 ? some_time(w) : 0;
}

/* Most records were written for the process that is seen, and for a group of as
 * many nodes as are listed. */
static void make_likely(struct world *w, struct ql_sight *sight)
{
    struct ql_record *record = &sight->record;
    uint8_t bits = draw(w);

    if (bits % 4 == 1) {
        record->state = QL_RECORD_READY;
        strcpy(record->run, sight->run_id);
    } else if (bits % 4 == 2) {
        record->state = QL_RECORD_QUARANTINE;
        strcpy(record->q_run, sight->run_id);
    } else if (bits % 4 == 3) {
        record->state = QL_RECORD_FORMING;
        strcpy(record->run, sight->run_id);
    }
    if (bits / 4 % 4 == 0)
        return;
    snprintf(record->cfg, sizeof(record->cfg), "0123456789abcdef.1.%u",
             w->view.nodes);
    if (bits / 16 % 2) {
        record->now_us = NOW;
        record->at_us = record->ref_us = NOW - 400 * S_US;
        record->max_ttl_ms = 300000;
        record->slack_ms = 500;
    }
}

static void draw_node(struct world *w, unsigned i)
{
    static const char *const addresses[] = {"a",   "b:6379",    "redis://c",
                                            "d/0", "unix:///e", ""};
    static const char *const runs[] = {"r0", "r1", "r2", "r3", "r4", "r5", ""};
    static const int64_t uptimes[] = {86400, 308, 307, 0, -1, -600};
    uint8_t bits = draw(w);
    struct ql_sight *sight = &w->sight[i];

    w->address[i] = addresses[i];
    *sight = (struct ql_sight){
        .reachable = bits % 8 != 7,
        .replica = bits / 8 % 8 == 7,
        .durable = bits / 64 % 2,
        .evicts = bits / 128 && draw(w) % 4 == 0,
        .cluster = bits / 128 && draw(w) % 4 == 0,
        .uptime_s = uptimes[draw(w) % COUNT(uptimes)],
    };
    strcpy(sight->run_id, draw(w) % 4 ? runs[i] : pick(w, runs, COUNT(runs)));
    if (draw(w) % 3 == 0) {
        sight->record.now_us = some_time(w);
    } else {
        draw_record(w, &sight->record);
        make_likely(w, sight);
    }
    w->time_us[i] = draw(w) % 8 ? some_time(w) : 0;
}

static void begin(struct world *w)
{
    uint8_t bits = draw(w);

    w->view = (struct ql_group_view){
        .nodes = 1 + bits % NODES_MAX,
        .drift_ppm = 10000,
        .max_ttl_ms = 300000,
        .slack_ms = 500,
        .may_form = bits / 64 % 2,
        .sight = w->sights,
        .address = w->address,
        .time_us = w->time_us,
        .ref_us = bits >= 250 ? 0 : some_time(w),
    };
    for (unsigned i = 0; i < w->view.nodes; i++) {
        w->sights[i] = &w->sight[i];
        draw_node(w, i);
    }
}

/* Lets some of the nodes have records that were made for all of them. */
static void derive(struct world *w)
{
    const char *run_id[NODES_MAX];
    char cfg[QL_CFG_MAX + 1];
    uint8_t which = draw(w);

    for (unsigned i = 0; i < w->view.nodes; i++)
        run_id[i] = w->sight[i].run_id;
    ql_group_derive(cfg, w->view.nodes, run_id);
    for (unsigned i = 0; i < w->view.nodes; i++)
        if ((which >> i) & 1)
            strcpy(w->sight[i].record.cfg, cfg);
}

/* --- What must be true ------------------------------------------------------
 */

static bool serves(const struct ql_record *record, const char *cfg)
{
    return strcmp(record->cfg, cfg) == 0 || strcmp(record->prev, cfg) == 0;
}

static bool is_first(const struct world *w, unsigned i)
{
    for (unsigned k = 0; k < i; k++)
        if (w->sight[k].reachable && w->sight[k].run_id[0] &&
            strcmp(w->sight[k].run_id, w->sight[i].run_id) == 0)
            return false;
    return true;
}

static bool is_server(const struct world *w, unsigned i)
{
    const struct ql_sight *sight = &w->sight[i];

    return sight->reachable && !sight->replica && !sight->cluster &&
           sight->run_id[0] && is_first(w, i);
}

static unsigned granted(const struct world *w)
{
    unsigned count = 0;

    for (unsigned i = 0; i < w->view.nodes; i++)
        count += w->group.node[i].verdict == QL_V_GRANTED;
    return count;
}

static void check_granted(const struct world *w, unsigned i)
{
    const struct ql_record *record = &w->sight[i].record;
    const char *last = strrchr(w->group.cfg, '.');

    require(w->group.known && is_server(w, i) && !w->sight[i].evicts);
    require(record->state == QL_RECORD_READY);
    require(strcmp(record->run, w->sight[i].run_id) == 0);
    require(serves(record, w->group.cfg));
    require(last && (unsigned)atoi(last + 1) == w->view.nodes);
}

/* No group is made, or completed, where another one may be in use. */
static void check_forming(const struct world *w, unsigned i)
{
    const struct ql_record *record = &w->sight[i].record;
    bool form = w->group.node[i].duty == QL_DUTY_FORM;

    require(is_server(w, i) && w->group.known);
    if (!form)
        require(record->state == QL_RECORD_FORMING &&
                strcmp(record->cfg, w->group.cfg) == 0);
    for (unsigned k = 0; k < w->view.nodes; k++) {
        const struct ql_sight *sight = &w->sight[k];
        bool active = sight->record.state == QL_RECORD_READY ||
                      sight->record.state == QL_RECORD_QUARANTINE;

        if (form)
            require(is_server(w, k) && !active && w->view.may_form &&
                    sight->uptime_s >= 0 &&
                    (uint64_t)sight->uptime_s * S_US >= w->quarantine_us);
        else if (is_server(w, k) && active)
            require(serves(&sight->record, w->group.cfg));
    }
}

static void check_quarantine(const struct world *w, unsigned i)
{
    const struct ql_record *record = &w->sight[i].record;
    unsigned serving = 0;

    require(is_server(w, i) && w->view.ref_us != 0);
    require(record->state != QL_RECORD_READY ||
            strcmp(record->run, w->sight[i].run_id) != 0);
    for (unsigned k = 0; k < w->view.nodes; k++)
        serving += w->sight[k].reachable && is_first(w, k) &&
                   serves(&w->sight[k].record, w->group.cfg);
    if (record->state == QL_RECORD_ABSENT)
        require(serving > w->view.nodes / 2);
    else
        require(serves(record, w->group.cfg));
}

static void check_ready(const struct world *w, unsigned i)
{
    const struct ql_record *record = &w->sight[i].record;
    uint64_t now = w->time_us[i] ? w->time_us[i] : record->now_us;
    unsigned quorum = w->view.nodes / 2 + 1;

    require(is_server(w, i) && record->state == QL_RECORD_QUARANTINE);
    require(strcmp(record->q_run, w->sight[i].run_id) == 0);
    require(w->view.ref_us != 0);
    if (record->ref_us == 0) /* only notes that */
        return;
    require(now >= record->at_us && w->view.ref_us >= record->ref_us);
    require(now - record->at_us >= w->quarantine_us);
    require(w->view.ref_us - record->ref_us >= w->quarantine_us);
    require(w->view.nodes == 1 || granted(w) >= w->view.nodes - quorum + 1);
    for (unsigned k = 0; k < w->view.nodes; k++)
        require(w->group.node[k].verdict != QL_V_GRANTED ||
                w->group.hw >= w->sight[k].record.hw);
    if (w->view.nodes == 1)
        require(w->group.hw >= now);
}

static void check_duty(const struct world *w, unsigned i)
{
    const struct ql_standing *standing = &w->group.node[i];
    const struct ql_record *record = &w->sight[i].record;

    switch (standing->duty) {
    case QL_DUTY_NONE:
        return;
    case QL_DUTY_FORM:
    case QL_DUTY_ACTIVATE:
        check_forming(w, i);
        break;
    case QL_DUTY_QUARANTINE:
        check_quarantine(w, i);
        break;
    case QL_DUTY_READY:
        check_ready(w, i);
        break;
    case QL_DUTY_DURABLE:
        require(record->state == QL_RECORD_READY && w->sight[i].durable &&
                record->sync[0] && strcmp(record->sync, record->run) == 0);
        break;
    case QL_DUTY_VERIFIED:
    case QL_DUTY_LOOK:
        require(standing->verdict == QL_V_GRANTED);
        return;
    }
    require(standing->verdict == QL_V_NOTREADY);
}

static void check_text(const struct world *w, unsigned i)
{
    const struct ql_standing *standing = &w->group.node[i];

    require(memchr(standing->text, '\0', sizeof(standing->text)));
    for (const char *at = standing->text; *at; at++)
        require(*at >= ' ' && *at < 0x7f);
    require((standing->text[0] == '\0') == (standing->verdict == QL_V_NONE ||
                                            standing->verdict == QL_V_GRANTED));
    require((standing->verdict == QL_V_NONE) == !w->sight[i].reachable);
}

static void check_words(const struct world *w, unsigned i)
{
    const char *words[QL_DUTY_WORDS + 1];
    struct ql_duty_text numbers;
    unsigned count = 0;

    ql_duty_words(w->group.node[i].duty, &w->group, &w->sight[i],
                  w->view.ref_us, w->view.drift_ppm, &numbers, words);
    while (words[count])
        count++;
    require(count <= QL_DUTY_WORDS);
    require((count == 0) == (w->group.node[i].duty == QL_DUTY_NONE));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct world w;

    w = (struct world){.data = data, .size = size};
    begin(&w);
    derive(&w);
    ql_group_judge(&w.group, &w.view);
    w.quarantine_us = ql_quarantine_us(w.group.max_ttl_ms, w.group.slack_ms,
                                       w.view.drift_ppm);
    for (unsigned i = 0; i < w.view.nodes; i++) {
        if (w.group.node[i].verdict == QL_V_GRANTED)
            check_granted(&w, i);
        check_duty(&w, i);
        check_text(&w, i);
        check_words(&w, i);
    }
    return 0;
}
