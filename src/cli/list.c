/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * quorlock list: all locks, or those whose names begin alike. A walk over the
 * keys of each node is not one moment, so every lock that some node has is then
 * asked for on all of them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/duration.h"
#include "cli/exit_code.h"
#include "cli/json.h"
#include "cli/lock_view.h"
#include "cli/say.h"
#include "cli/verb.h"

struct listing {
    struct operator operator;
    struct admin_names names;
    unsigned searched; /* nodes */
    json_t *locks;
};

/* Without SCAN on a majority there may be locks that nobody told us of. */
static int find(struct listing *listing, const char *prefix)
{
    struct admin *admin = &listing->operator.admin;
    struct admin_name name = {prefix, strlen(prefix)};

    for (unsigned i = 0; i < admin->count; i++) {
        struct admin_node *node = &admin->node[i];

        if (admin_names_find(admin, node, &name, &listing->names)) {
            listing->searched++;
            continue;
        }
        if (!listing->operator.options->quiet)
            say("%s: not searched: %s (%s)", node->address.display,
                ql_verdict_word(node->verdict), node->text);
    }
    admin_names_merge(&listing->names);
    if (listing->searched >= admin->quorum)
        return 0;
    say("%u of %u nodes could be searched, %u must be", listing->searched,
        admin->count, admin->quorum);
    for (unsigned i = 0; i < admin->count; i++)
        if (admin->node[i].verdict == QL_V_NOPERM ||
            admin->node[i].verdict == QL_V_NOAUTH)
            return EXIT_AUTH;
    return EXIT_NO_QUORUM;
}

static void print_row(const struct listing *listing,
                      const struct lock_view *view)
{
    char shown[SAY_NAME], text[LOCK_VIEW_TEXT], label[QL_TEXT_MAX];
    unsigned nodes = listing->operator.admin.count;

    say_name(shown, view->name.text);
    if (view->result != QL_E_SPLIT && view->result != QL_OK) {
        printf("%s: %s\n", shown,
               lock_view_text(text, view, &listing->operator));
        return;
    }
    printf("%s: split: %s has it on %u of %u nodes, others on %u\n", shown,
           admin_lock_label(label, view->holder.lock)[0] ? label : "one holder",
           view->holder.nodes, nodes, view->holder.others);
}

static void show(struct listing *listing, const struct admin_name *name)
{
    struct lock_view view;

    lock_view_look(&view, &listing->operator, name);
    /* It was released since it was found. */
    if (!view.holder.lock || listing->operator.options->quiet)
        return;
    if (listing->locks)
        json_array_append_new(listing->locks,
                              lock_view_json(&view, &listing->operator));
    else
        print_row(listing, &view);
}

static int list(struct listing *listing, const char *prefix)
{
    const struct options *options = listing->operator.options;
    int code = find(listing, prefix);
    json_t *object;

    if (code)
        return code;
    if (options->json)
        listing->locks = json_array();
    for (size_t i = 0; i < listing->names.count; i++)
        show(listing, &listing->names.list[i]);
    if (options->quiet || !options->json)
        return fflush(stdout) ? EXIT_OS : EXIT_DONE;
    object = json_object();
    json_object_set_new(object, "searched", json_integer(listing->searched));
    json_object_set(object, "locks", listing->locks);
    return json_print(object, stdout) ? EXIT_OS : EXIT_DONE;
}

int verb_list(const struct options *options, int argc, char **argv)
{
    struct listing listing = {.searched = 0};
    int code = operator_open(&listing.operator, options);

    if (!code)
        code = list(&listing, argc ? argv[0] : "");
    json_decref(listing.locks);
    admin_names_free(&listing.names);
    operator_close(&listing.operator);
    return code;
}
