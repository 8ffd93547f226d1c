/* SPDX-License-Identifier: BSD-2-Clause */
/* JSON through jansson, whose setters take NULL and then fail, so that running
 * out of memory shows at the end as a member that is not there. */
#include "cli/json.h"

#include <stdlib.h>
#include <string.h>

#include "cli/holder.h"
#include "cli/say.h"

json_t *json_text(const char *bytes)
{
    json_t *text = json_string(bytes);
    char *copy;

    if (text)
        return text;
    copy = strdup(bytes);
    if (!copy)
        return NULL;
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    text = json_string(copy);
    free(copy);
    return text;
}

/* Negative numbers mean that a thing is not known. */
static json_t *known(int64_t number)
{
    return number < 0 ? json_null() : json_integer(number);
}

static json_t *node_object(const ql_node_report *node)
{
    json_t *object = json_object();

    json_object_set_new(object, "address", json_text(node->address));
    json_object_set_new(object, "verdict",
                        json_text(ql_verdict_word(node->verdict)));
    json_object_set_new(object, "text", json_text(node->text));
    json_object_set_new(object, "remaining_ms", known(node->remaining_ms));
    json_object_set_new(object, "took_us", known(node->took_us));
    return object;
}

static json_t *node_array(const ql_lock *lock, unsigned nodes)
{
    const ql_node_report *report = ql_lock_report(lock);
    json_t *array = json_array();

    for (unsigned i = 0; report && i < nodes; i++)
        json_array_append_new(array, node_object(&report[i]));
    return array;
}

static json_t *holder_object(const ql_lock *lock, unsigned nodes)
{
    struct holder holder;
    json_t *object;

    if (!holder_find(lock, nodes, &holder))
        return json_null();
    object = json_object();
    json_object_set_new(object, "label", json_text(holder.label));
    json_object_set_new(object, "remaining_ms", known(holder.remaining_ms));
    json_object_set_new(object, "nodes", json_integer(holder.nodes));
    return object;
}

json_t *json_outcome(const struct session *session, const ql_lock *lock,
                     int result, int exit_code)
{
    unsigned nodes = ql_client_nodes(session->client);
    json_t *object = json_object();

    json_object_set_new(object, "name", json_text(session->name));
    json_object_set_new(object, "result", json_text(ql_result_name(result)));
    json_object_set_new(object, "message", json_text(ql_result_text(result)));
    json_object_set_new(object, "exit_code", json_integer(exit_code));
    json_object_set_new(object, "quorum",
                        json_integer(ql_client_quorum(session->client)));
    json_object_set_new(object, "holder", holder_object(lock, nodes));
    json_object_set_new(object, "nodes", node_array(lock, nodes));
    return object;
}

void json_set_fence(json_t *object, const ql_lock *lock)
{
    uint64_t fence = ql_lock_fence(lock);

    json_object_set_new(object, "fence",
                        fence ? json_integer((json_int_t)fence) : json_null());
}

int json_print(json_t *object, FILE *out)
{
    int failed = !object || json_dumpf(object, out, JSON_COMPACT);

    if (failed)
        say("the JSON report could not be written");
    else
        failed = fputc('\n', out) == EOF || fflush(out);
    json_decref(object);
    return failed ? -1 : 0;
}
