/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which of the configs that the nodes' records show this client speaks for: one
 * of as many nodes as are listed, so that its majorities are ours, and one that
 * a quorum of them serves.
 */
#include <string.h>

#include "guard/judging.h"

/* A config that some node serves, and how many do. */
struct offer {
    const char *cfg; /* NULL: none */
    unsigned serving;
    unsigned present; /* of these, as the present one */
};

bool ql_record_serves(const struct ql_record *record, const char *cfg)
{
    if (record->state == QL_RECORD_FORMING)
        return strcmp(record->cfg, cfg) == 0;
    return ql_record_is_active(record) &&
           (strcmp(record->cfg, cfg) == 0 || strcmp(record->prev, cfg) == 0);
}

static struct offer weigh(const struct ql_judging *j, const char *cfg)
{
    struct offer offer = {.cfg = cfg};

    for (unsigned i = 0; i < j->view->nodes; i++) {
        const struct ql_record *record = &ql_sight_at(j, i)->record;

        if (!ql_is_heard(j, i) || !ql_record_serves(record, cfg))
            continue;
        offer.serving++;
        offer.present += strcmp(record->cfg, cfg) == 0;
    }
    return offer;
}

/* The last word is the text's, so that all clients choose alike. */
static bool is_better(const struct ql_judging *j, const struct offer *one,
                      const struct offer *other)
{
    bool enough = one->serving >= j->quorum;

    if (!other->cfg || enough != (other->serving >= j->quorum))
        return !other->cfg || enough;
    if (one->present != other->present)
        return one->present > other->present;
    if (one->serving != other->serving)
        return one->serving > other->serving;
    return strcmp(one->cfg, other->cfg) > 0;
}

static void consider(const struct ql_judging *j, const char *cfg,
                     struct offer *best)
{
    struct ql_cfg parts;
    struct offer offer;

    if (!ql_cfg_parse(&parts, cfg) || parts.nodes != j->view->nodes)
        return;
    offer = weigh(j, cfg);
    if (is_better(j, &offer, best))
        *best = offer;
}

/* The record that knows most of the group's changes. */
static const struct ql_record *newest(const struct ql_judging *j,
                                      const char *cfg)
{
    const struct ql_record *best = NULL;
    uint64_t epoch = 0;

    for (unsigned i = 0; i < j->view->nodes; i++) {
        const struct ql_record *record = &ql_sight_at(j, i)->record;
        struct ql_cfg parts;

        if (!ql_is_heard(j, i) || !ql_record_is_active(record) ||
            !ql_record_serves(record, cfg) ||
            !ql_cfg_parse(&parts, record->cfg))
            continue;
        if (!best || parts.epoch > epoch) {
            best = record;
            epoch = parts.epoch;
        }
    }
    return best;
}

/* The limits are the same on all nodes that count; if they are not, the larger
 * ones are the safer ones for whatever waits for locks to end. */
static void take_limits(struct ql_judging *j)
{
    struct ql_group *group = j->group;

    group->max_ttl_ms = group->slack_ms = 0;
    for (unsigned i = 0; i < j->view->nodes; i++) {
        const struct ql_record *record = &ql_sight_at(j, i)->record;

        if (!ql_is_heard(j, i) || !ql_record_is_active(record) ||
            !ql_record_serves(record, group->cfg))
            continue;
        if (record->max_ttl_ms > group->max_ttl_ms)
            group->max_ttl_ms = record->max_ttl_ms;
        if (record->slack_ms > group->slack_ms)
            group->slack_ms = record->slack_ms;
    }
}

/*
 * As long as nodes are away that could make a quorum with those that serve it,
 * a config is taken on trust: each vote is checked against it by the node that
 * gives it, so a wrong guess can win nothing. But then nothing is written in
 * its name (`settled`).
 */
bool ql_choose(struct ql_judging *j)
{
    struct ql_group *group = j->group;
    struct offer best = {NULL};

    for (unsigned i = 0; i < j->view->nodes; i++) {
        const struct ql_record *record = &ql_sight_at(j, i)->record;

        if (!ql_is_heard(j, i) || !ql_record_is_active(record))
            continue;
        consider(j, record->cfg, &best);
        consider(j, record->prev, &best);
    }
    if (!best.cfg || best.serving + ql_count(j, QL_AWAY) < j->quorum)
        return false;
    j->model = newest(j, best.cfg);
    if (!j->model)
        return false;
    j->settled = best.serving >= j->quorum;
    group->known = true;
    memcpy(group->cfg, best.cfg, strlen(best.cfg) + 1);
    memcpy(group->newest, j->model->cfg, sizeof(group->newest));
    memcpy(group->members, j->model->members, sizeof(group->members));
    take_limits(j);
    return true;
}

/* An address less what may be left out of it: the scheme, the usual port, and
 * database 0. */
struct place {
    const char *text;
    size_t len;
};

static void drop_start(struct place *place, const char *start)
{
    size_t len = strlen(start);

    if (place->len > len && memcmp(place->text, start, len) == 0) {
        place->text += len;
        place->len -= len;
    }
}

static void drop_end(struct place *place, const char *end)
{
    size_t len = strlen(end);

    if (place->len > len &&
        memcmp(place->text + place->len - len, end, len) == 0)
        place->len -= len;
}

static struct place place_of(const char *text, size_t len)
{
    struct place place = {text, len};

    drop_start(&place, "redis://");
    drop_start(&place, "unix://");
    if (place.len > 0 && place.text[0] == '/') {
        drop_end(&place, "?db=0");
        return place;
    }
    drop_end(&place, "/");
    drop_end(&place, "/0");
    drop_end(&place, ":6379");
    return place;
}

/* Whether it is one of the words between commas or spaces. The last one may
 * have been cut off where the list is as long as it can be. */
static bool lists(const char *members, const char *address)
{
    struct place wanted = place_of(address, strlen(address));
    const char *end = members + strlen(members);
    bool cut = end - members >= QL_MEMBERS_MAX;

    for (const char *at = members; at < end;) {
        size_t len = strcspn(at, ", \t\n");
        struct place place = place_of(at, len);

        if (place.len == wanted.len && place.len > 0 &&
            memcmp(place.text, wanted.text, place.len) == 0 &&
            !(cut && at + len == end))
            return true;
        at += len + (at[len] != '\0');
    }
    return false;
}

/*
 * A node without a record may have lost it, or never have been a member: with a
 * wrong list. To make that one a member would give the group a node too many,
 * and majorities that do not meet. So its name must stand in the record of a
 * node that knows the group as it is now.
 */
bool ql_is_member(const struct ql_judging *j, unsigned i)
{
    for (unsigned k = 0; k < j->view->nodes; k++) {
        const struct ql_record *record = &ql_sight_at(j, k)->record;

        if (ql_is_heard(j, k) && ql_record_is_active(record) &&
            strcmp(record->cfg, j->model->cfg) == 0 &&
            lists(record->members, j->view->address[i]))
            return true;
    }
    return false;
}
