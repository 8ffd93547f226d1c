/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which nodes a group has, and which of them may vote: lists of nodes change
 * while clients with old and new ones go on, and a node is restarted. The
 * checker visits every state that can be reached.
 *
 * The group is nodes 0, 1, 2 (list 1); node 3 is added (list 2), and node 0
 * removed (list 3). Each node knows which list it serves, and the one before
 * that as long as both are served. A client has one list, asks the nodes on it
 * and names it; a node that does not serve it refuses. A majority is counted by
 * the client's list. What an operator does:
 *   next     node by node, to the nodes of the old list: it serves the new
 *            list, and the old as well. join: the node that is added does, too.
 *   settle   when all have it, node by node: it serves the new list only.
 *   wait     when all are settled, for D: until every round (attempt or
 *            extension) from before has ended, and what was valid by it.
 *   lift     node by node: hw of N - q + 1 nodes is read, and no f of this node
 *            counts as less.
 * and then the next step. All that an operator knows stands in the nodes, so
 * one that is interrupted is one whose next line is late, and whoever takes
 * it, resumes.
 *
 * Time is modelled as in redlock.pml: there is no clock. Rounds end at any
 * moment; a lease is over when its owner's validity is.
 *
 * The promises:
 *   ONE_HOLDER  never are two clients inside their validity.
 * and with FENCING, where nothing is assumed of leases:
 *   UNIQUE, ORDERED  see fencing.pml.
 *
 * Compiled in on demand:
 *   FENCING        tokens, instead of validity
 *   WITHOUT_LIST_2 no attempt has list 2: any two majorities that it has a
 *                  part in share a node, as in fencing.pml
 *   RESTART        one node is restarted, once, and may have lost who owns it
 *   TWO_OPERATORS  the group is nodes 0 to 3 (list 1), and two operators at
 *                  once remove node 0 (list 2) and node 3 (list 3)
 */

#ifndef ATTEMPTS
#define ATTEMPTS 2
#endif
#ifndef P_MAX
#define P_MAX 2
#endif
#define NODES 4
#define VALUES 9 /* no f is ever larger; asserted */
#define NOBODY 0

#define IDLE 0 /* phases of an attempt */
#define ASKING 1
#define HOLDING 2
#define EXTENDING 3
#define OVER 4

/* A bit for each node. */
#ifdef TWO_OPERATORS
#define LIST_1 15
#define LIST_2 14
#define LIST_3 7
#else
#define LIST_1 7
#ifdef REPLACED_AT_ONCE
#define LIST_2 14
#else
#define LIST_2 15
#endif
#define LIST_3 14
#endif
#define list(k) ((k) == 1 -> LIST_1 : ((k) == 2 -> LIST_2 : LIST_3))
#define majority(k) (list(k) == 15 -> 3 : 2)

typedef Node {
    byte cfg;   /* the list that it serves; 0: none */
    byte prev;  /* and the one before; 0: not any more */
    byte plan;  /* what it is to serve next, if that was planned */
    bit lifted;
    byte owner; /* NOBODY, or an attempt and one */
    byte f      /* 1 without FENCING */
}

#define SETTLED 1 /* for bits: before all had settled; before the restart */
#define RESTARTED 2

typedef Attempt {
    byte phase;
    byte list;
    byte p;
    byte asks;      /* a bit for each node where its request may arrive yet */
    byte asked_old; /* bits: the round that is asked for began before that */
    byte valid_old; /* bits: the round by which it is valid did */
    byte token;
    byte floor      /* the largest token given out before it began */
}

Node node[NODES];
Attempt attempt[ATTEMPTS];
byte answers[ATTEMPTS * NODES]; /* f, as the node answered it; 0: it has not */

#define WAITS 1 /* for D, when all have settled */
#define HAS_WAITED 2
byte waiting;

#ifdef RESTART
#define FINE 0
#define QUARANTINED 1
byte state;
byte restarted = NODES; /* which it was; NODES: none yet */
#define is_ready(n) (restarted != (n) || state == FINE)
#else
#define is_ready(n) true
#endif

/* Steps are written for the attempt a and the node n; this is scratch within a
 * step, and always zero between steps. */
byte a, n, i, k;

#define it attempt[a]
#define here node[n]
#define answer(a, n) answers[(a) * NODES + (n)]
#define has_bit(bits, n) (((bits) >> (n)) & 1)
#define bit_of(n) (1 << (n))
#define is_on(n, k) has_bit(list(k), n)
#define is_inside(a) \
    (attempt[a].phase == HOLDING || attempt[a].phase == EXTENDING)
#define max(x, y) ((x) > (y) -> (x) : (y))

/* ---------------------------------------------------------------------------
 * The rules. Each has a switch that plants a mistake.
 */

/* "A node that does not serve it refuses." */
#ifdef CFG_UNCHECKED
#define serves(n, k) (node[n].cfg != 0)
#else
#define serves(n, k) (node[n].cfg == (k) || node[n].prev == (k))
#endif

#define every_on(k, what) \
    ((!is_on(0, k) || node[0].what) && (!is_on(1, k) || node[1].what) && \
     (!is_on(2, k) || node[2].what) && (!is_on(3, k) || node[3].what))

/* "When all have it", "when all are settled", "and then the next step". */
#define all_have_2 every_on(2, cfg == 2)
#define is_settled every_on(2, cfg == 2 && node[0].prev != 1 && \
                   node[1].prev != 1 && node[2].prev != 1 && node[3].prev != 1)
#ifdef NEVER_SETTLED
#define may_wait all_have_2
#else
#define may_wait is_settled
#endif
#ifdef NOT_WAITED
#define has_waited is_settled
#else
#ifdef NEITHER
#define has_waited all_have_2
#else
#define has_waited (waiting == HAS_WAITED)
#endif
#endif
#if defined(FENCING) && !defined(HW_NOT_CARRIED)
#define is_lifted every_on(2, lifted)
#else
#define is_lifted true
#endif
/* Once it has begun it goes on, whatever the nodes say meanwhile. */
#define step_2_began \
    (node[0].cfg == 3 || node[1].cfg == 3 || node[2].cfg == 3 || \
     node[3].cfg == 3)
#define may_go_to_3 ((has_waited && is_lifted) || step_2_began)

/* "For D: until every round from before has ended, and what was valid by
 * it." */
#define asked_since(a, since) ((attempt[a].asked_old & since) == 0)
#define valid_since(a, since) ((attempt[a].valid_old & since) == 0)
#define asks_no_more(since) (asked_since(0, since) && asked_since(1, since))
#define is_over(since) (asks_no_more(since) && \
                        valid_since(0, since) && valid_since(1, since))

/* A restarted node votes after D. */
#ifdef VOTES_AT_ONCE
#define may_vote true
#else
#ifdef QUARANTINE_SHORT
#define may_vote asks_no_more(RESTARTED)
#else
#define may_vote is_over(RESTARTED)
#endif
#endif

/* Of several operators only one has its way: each plans first, on a majority
 * of the nodes, and a node lets nobody else plan then. */
#ifdef PLANNED
#define has_plan(n, k) (node[n].plan == (k))
#define may_begin_next(k) \
    (has_plan(0, k) + has_plan(1, k) + has_plan(2, k) + has_plan(3, k) >= \
     majority(1))
#else
#define may_begin_next(k) true
#endif

/* ---------------------------------------------------------------------------
 * A client.
 */

/* At the end of each step. See reduced_members.c. */
#ifdef REDUCE
c_code { static void reduce(void); };
#define reduce() c_code { reduce(); }
#else
#define reduce() skip
#endif

inline finish()
{
    a = 0;
    n = 0;
    i = 0;
    k = 0;
    reduce()
}

inline begin(which, proposal)
{
    it.phase = ASKING;
    it.list = which;
    it.p = proposal;
    it.asks = list(which);
    for (i : 0 .. ATTEMPTS - 1) {
        it.floor = max(attempt[i].token, it.floor)
    }
    printf("%c, with list %d, tries, and proposes %d\n",
           'A' + a, which, proposal)
}

inline forget_answers()
{
    it.asked_old = 0;
    answer(a, 0) = 0;
    answer(a, 1) = 0;
    answer(a, 2) = 0;
    answer(a, 3) = 0
}

inline end_attempt()
{
    it.phase = OVER;
    it.valid_old = 0;
    it.floor = 0;
    it.p = 0;
    forget_answers()
}

#define is_won(a, t) \
    ((answer(a, 0) == (t)) + (answer(a, 1) == (t)) + (answer(a, 2) == (t)) + \
     (answer(a, 3) == (t)) >= majority(attempt[a].list))

inline hold()
{
    it.phase = HOLDING;
    it.valid_old = it.asked_old;
    forget_answers();
    printf("%c holds it\n", 'A' + a);
    k = 0;
    for (i : 0 .. ATTEMPTS - 1) {
        k = k + is_inside(i)
    }
    assert(k <= 1) /* ONE_HOLDER */
}

inline begin_extension()
{
    it.phase = EXTENDING;
    it.asks = it.asks | list(it.list);
    forget_answers();
    printf("%c extends\n", 'A' + a)
}

inline fail_to_extend()
{
    it.phase = HOLDING;
    forget_answers();
    printf("%c does not get an extension\n", 'A' + a)
}

inline give_out(t)
{
    printf("%c is given token %d\n", 'A' + a, t);
    for (i : 0 .. ATTEMPTS - 1) {
        assert(attempt[i].token != t) /* UNIQUE */
    }
    assert(t > it.floor); /* ORDERED */
    it.token = t;
    end_attempt()
}

inline give_up()
{
    printf("%c has ended\n", 'A' + a);
    end_attempt()
}

#define my (_pid - 1)
#define in(now_in, rule, what) \
    d_step { attempt[my].phase == now_in && rule -> a = my; what; finish() }
#define begins(which) \
    in(IDLE, true, begin(which, 1)) \
    :: in(IDLE, P_MAX > 1, begin(which, 2))

proctype AnAttempt()
{
end:
    do
    :: begins(1)
#ifndef WITHOUT_LIST_2
    :: begins(2)
#endif
#ifndef REPLACED_AT_ONCE
    :: begins(3)
#endif
    :: in(ASKING, true, give_up())
#ifdef FENCING
    :: in(ASKING, is_won(my, 1), give_out(1))
    :: in(ASKING, is_won(my, 2), give_out(2))
    :: in(ASKING, is_won(my, 3), give_out(3))
    :: in(ASKING, is_won(my, 4), give_out(4))
    :: in(ASKING, is_won(my, 5), give_out(5))
    :: in(ASKING, is_won(my, 6), give_out(6))
    :: in(ASKING, is_won(my, 7), give_out(7))
    :: in(ASKING, is_won(my, 8), give_out(8))
    :: in(ASKING, is_won(my, 9), give_out(9))
#else
    :: in(ASKING, is_won(my, 1), hold())
    :: in(HOLDING, true, begin_extension())
    :: in(HOLDING, true, give_up())
    :: in(EXTENDING, is_won(my, 1), hold())
    :: in(EXTENDING, true, fail_to_extend())
    :: in(EXTENDING, true, give_up())
#endif
    od
}

/* ---------------------------------------------------------------------------
 * A node.
 */

/* With acquire or extend: it owns what is free, or finds that it does. */
inline be_asked()
{
    it.asks = it.asks & ~bit_of(n);
    if
    :: here.owner == NOBODY && it.phase != EXTENDING ->
        here.owner = a + 1;
#ifdef FENCING
        here.f = (it.p > here.f -> it.p : here.f + 1);
        assert(here.f <= VALUES);
#endif
        answer(a, n) = (it.phase == ASKING -> here.f : 0);
        printf("node %d to %c: you own it, f is %d\n", n, 'A' + a, here.f)
    :: here.owner == a + 1 && it.phase == EXTENDING ->
        answer(a, n) = here.f;
        printf("node %d extends %c\n", n, 'A' + a)
    :: else
    fi
}

#define largest(a) \
    max(max(answer(a, 0), answer(a, 1)), max(answer(a, 2), answer(a, 3)))

inline confirm()
{
    here.f = max(here.f, largest(a));
    answer(a, n) = here.f;
    printf("node %d to %c: confirmed, f is %d\n", n, 'A' + a, here.f)
}

/* Within the timing assumption, and by the lease record, not before the
 * owner's validity is over. */
#ifdef FENCING
#define may_be_free(n) (node[n].owner != NOBODY)
#else
#define may_be_free(n) \
    (node[n].owner != NOBODY && attempt[node[n].owner - 1].phase == OVER)
#endif

inline be_free()
{
    printf("the lease on node %d is over\n", n);
    here.owner = NOBODY
}

#define here_id (_pid - 1 - ATTEMPTS)
#define serves_now(x) (is_ready(here_id) && serves(here_id, attempt[x].list))
#define to_here(x, rule, what) \
    d_step { serves_now(x) && rule -> a = x; n = here_id; what; finish() }
#ifdef FENCING
#define confirms_arrive(x) \
    :: to_here(x, attempt[x].phase == ASKING && \
               node[here_id].owner == x + 1 && \
               answer(x, here_id) != largest(x), confirm())
#else
#define confirms_arrive(x)
#endif
#define requests_arrive(x) \
    :: to_here(x, has_bit(attempt[x].asks, here_id), be_asked()) \
    confirms_arrive(x)

proctype ANode()
{
end:
    do
    requests_arrive(0)
    requests_arrive(1)
    :: d_step { may_be_free(here_id) -> n = here_id; be_free(); finish() }
    od
}

/* ---------------------------------------------------------------------------
 * The operator, or whoever goes on with what that began.
 */

inline go_to(new)
{
    printf("node %d serves list %d, and %d\n", n, new, here.cfg);
    here.prev = here.cfg;
    here.cfg = new
}

inline join(new)
{
    printf("node %d joins, and serves list %d\n", n, new);
    here.cfg = new;
#ifdef FENCING
    here.f = max(node[1].f, node[2].f)
#endif
}

inline settle()
{
    printf("node %d does not serve list %d any more\n", n, here.prev);
    here.prev = 0
}

inline leave()
{
    printf("node %d is removed\n", n);
    here.cfg = 0;
    here.prev = 0
}

inline plan_it(new)
{
    printf("node %d is to serve list %d\n", n, new);
    here.plan = new
}

inline note_old(since)
{
    for (i : 0 .. ATTEMPTS - 1) {
        attempt[i].asked_old =
            (attempt[i].phase == ASKING || attempt[i].phase == EXTENDING ->
             attempt[i].asked_old | since : attempt[i].asked_old);
        attempt[i].valid_old =
            (is_inside(i) -> attempt[i].valid_old | since :
             attempt[i].valid_old)
    }
}

inline begin_to_wait()
{
    printf("all are settled; D begins\n");
    waiting = WAITS;
    note_old(SETTLED)
}

inline end_to_wait()
{
    printf("D has passed\n");
    waiting = HAS_WAITED
}

/* N - q + 1 = 2: two are read, and what the node has itself. */
inline lift(x, y)
{
    here.f = max(here.f, max(node[x].f, node[y].f));
    here.lifted = 1;
    printf("node %d is lifted to %d\n", n, here.f)
}

#define on(x, rule, what) d_step { rule -> n = x; what; finish() }
#define lifts(x, y, z) \
    on(x, waiting == HAS_WAITED && !node[x].lifted, lift(y, z))

#ifdef PLANNED
#define plans(x) \
    :: on(x, node[x].plan == 0, plan_it(2)) \
    :: on(x, node[x].plan == 0, plan_it(3))
#else
#define plans(x)
#endif
#ifdef TWO_OPERATORS
#define steps_of_operators(x) \
    plans(x) \
    :: on(x, is_on(x, 2) && node[x].cfg == 1 && may_begin_next(2), go_to(2)) \
    :: on(x, is_on(x, 3) && node[x].cfg == 1 && may_begin_next(3), go_to(3))
#else
#define steps_of_operators(x) \
    :: on(x, is_on(x, 1) && is_on(x, 2) && node[x].cfg == 1, go_to(2)) \
    :: on(x, all_have_2 && node[x].prev == 1, settle()) \
    :: on(x, is_on(x, 2) && is_on(x, 3) && node[x].cfg == 2 && may_go_to_3, \
          go_to(3))
#endif

proctype Operator()
{
end:
    do
    steps_of_operators(0)
    steps_of_operators(1)
    steps_of_operators(2)
    steps_of_operators(3)
#ifndef TWO_OPERATORS
    :: on(3, node[3].cfg == 0, join(2))
    :: on(0, node[0].cfg != 0 && step_2_began, leave())
    :: on(0, waiting == 0 && may_wait, begin_to_wait())
    :: on(0, waiting == WAITS && is_over(SETTLED), end_to_wait())
#ifdef FENCING
    :: lifts(0, 1, 2)
    :: lifts(1, 2, 3)
    :: lifts(2, 3, 0)
    :: lifts(3, 0, 1)
    :: lifts(0, 2, 3)
    :: lifts(1, 0, 3)
    :: lifts(2, 0, 1)
    :: lifts(3, 1, 2)
    :: lifts(0, 1, 3)
    :: lifts(1, 0, 2)
    :: lifts(2, 1, 3)
    :: lifts(3, 0, 2)
#endif
#endif
    od
}

/* ---------------------------------------------------------------------------
 * A node is restarted. With it or without its data: what was written last is
 * lost. The first client that finds it so writes for which list it is, as the
 * other nodes say.
 */

#ifdef RESTART
inline restart()
{
    printf("node %d is restarted, and has forgotten its owner\n", n);
    restarted = n;
    here.owner = NOBODY;
    state = QUARANTINED;
    note_old(RESTARTED)
}

#define another_serves(x, which) \
    ((x != 0 && serves(0, which)) || (x != 1 && serves(1, which)) || \
     (x != 2 && serves(2, which)) || (x != 3 && serves(3, which)))

inline be_written(which)
{
    printf("node %d serves list %d, they say\n", n, which);
    here.cfg = which;
    here.prev = 0
}

inline vote_again()
{
    printf("node %d votes again\n", n);
    state = FINE
}

#define restarts(x) \
    :: on(x, restarted == NODES && node[x].cfg != 0, restart()) \
    :: on(x, restarted == x && state == QUARANTINED && is_on(x, 1) && \
          node[x].cfg != 1 && another_serves(x, 1), be_written(1)) \
    :: on(x, restarted == x && state == QUARANTINED && is_on(x, 2) && \
          node[x].cfg != 2 && another_serves(x, 2), be_written(2)) \
    :: on(x, restarted == x && state == QUARANTINED && may_vote, vote_again())

proctype Restarts()
{
end:
    do
    restarts(0)
    restarts(1)
    restarts(2)
    restarts(3)
    od
}
#endif

init
{
    atomic {
        for (n : 0 .. NODES - 1) {
            node[n].cfg = (is_on(n, 1) -> 1 : 0);
#ifndef FENCING
            node[n].f = 1
#endif
        }
        for (n : 1 .. ATTEMPTS) {
            run AnAttempt()
        }
        for (n : 1 .. NODES) {
            run ANode()
        }
        n = 0;
        run Operator();
#ifdef RESTART
        run Restarts()
#endif
    }
}
