/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ballots of one to nine nodes, over every sequence of votes: decided by the
 * earliest vote that leaves no doubt, and never before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>

#include "core/ballot.h"

#define NODES 9

struct box {
    struct ql_ballot ballot;
    uint8_t vote[NODES];
};

static void open_box(struct box *box, unsigned nodes)
{
    *box = (struct box){.vote = {QL_VOTE_NONE}};
    ql_ballot_open(&box->ballot, nodes, nodes / 2 + 1);
    for (unsigned i = 0; i < nodes; i++)
        ql_ballot_cast(&box->ballot, &box->vote[i], QL_VOTE_ASKED);
}

/*
 * What is certain when `yes` nodes have said yes and `rest` have not voted, by
 * trying out each way in which they may vote.
 */
static enum ql_ballot_state certain(unsigned nodes, unsigned yes, unsigned rest)
{
    enum ql_ballot_state with_yes, with_no;

    if (rest == 0)
        return 2 * yes > nodes ? QL_BALLOT_WON : QL_BALLOT_LOST;
    with_yes = certain(nodes, yes + 1, rest - 1);
    with_no = certain(nodes, yes, rest - 1);
    return with_yes == with_no ? with_yes : QL_BALLOT_OPEN;
}

/* Every sequence: node `next` votes yes, or in one of the other ways. */
static void vote_on(struct box box, unsigned next, unsigned yes,
                    unsigned *decided_at)
{
    unsigned nodes = box.ballot.nodes;
    enum ql_ballot_state state = ql_ballot_state(&box.ballot);

    assert_int_equal(state, certain(nodes, yes, nodes - next));
    if (state != QL_BALLOT_OPEN && next < *decided_at)
        *decided_at = next;
    if (next == nodes)
        return;
    for (enum ql_vote vote = QL_VOTE_YES; vote < QL_VOTES; vote++) {
        struct box after = box;

        /* All ways of not saying yes, where that is not too many. */
        if (nodes > 5 && vote != QL_VOTE_YES &&
            vote != QL_VOTE_MISSING + next % 5)
            continue;
        ql_ballot_cast(&after.ballot, &after.vote[next], vote);
        assert_int_equal(after.vote[next], vote);
        vote_on(after, next + 1, yes + (vote == QL_VOTE_YES), decided_at);
    }
}

static void decided_at_the_earliest_vote_that_decides(void **state)
{
    (void)state;
    for (unsigned nodes = 1; nodes <= NODES; nodes++) {
        unsigned quorum = nodes / 2 + 1;
        unsigned decided_at = nodes + 1;
        struct box box;

        open_box(&box, nodes);
        vote_on(box, 0, 0, &decided_at);
        assert_int_equal(ql_ballot_veto(&box.ballot), nodes - quorum + 1);
        /* The fewest votes that decide are noes, if N is even. */
        assert_int_equal(decided_at, nodes - quorum + 1);
    }
}

static void a_node_that_is_not_asked_is_not_a_yes(void **state)
{
    struct box box = {.vote = {QL_VOTE_NONE}};

    (void)state;
    ql_ballot_open(&box.ballot, 3, 2);
    assert_int_equal(ql_ballot_state(&box.ballot), QL_BALLOT_LOST);
    ql_ballot_cast(&box.ballot, &box.vote[0], QL_VOTE_ASKED);
    assert_int_equal(ql_ballot_state(&box.ballot), QL_BALLOT_LOST);
    ql_ballot_cast(&box.ballot, &box.vote[1], QL_VOTE_ASKED);
    assert_int_equal(ql_ballot_state(&box.ballot), QL_BALLOT_OPEN);
}

static void a_vote_may_be_changed(void **state)
{
    struct box box;

    (void)state;
    open_box(&box, 3);
    ql_ballot_cast(&box.ballot, &box.vote[0], QL_VOTE_FAILED);
    ql_ballot_cast(&box.ballot, &box.vote[1], QL_VOTE_YES);
    ql_ballot_cast(&box.ballot, &box.vote[0], QL_VOTE_YES);
    assert_int_equal(ql_ballot_state(&box.ballot), QL_BALLOT_WON);
    assert_int_equal(box.ballot.count[QL_VOTE_FAILED], 0);
}

static void who_spoke_for_themselves(void **state)
{
    static const bool spoke[QL_VOTES] = {
        [QL_VOTE_YES] = true,
        [QL_VOTE_MISSING] = true,
        [QL_VOTE_FOREIGN] = true,
    };

    (void)state;
    for (enum ql_vote vote = QL_VOTE_NONE; vote < QL_VOTES; vote++) {
        struct box box;

        open_box(&box, 5);
        ql_ballot_cast(&box.ballot, &box.vote[1], vote);
        ql_ballot_cast(&box.ballot, &box.vote[3], vote);
        assert_int_equal(ql_ballot_answered(&box.ballot), spoke[vote] ? 2 : 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decided_at_the_earliest_vote_that_decides),
        cmocka_unit_test(a_node_that_is_not_asked_is_not_a_yes),
        cmocka_unit_test(a_vote_may_be_changed),
        cmocka_unit_test(who_spoke_for_themselves),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
