/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plain Redlock, as src/core plays it: three nodes, some clients, and a world
 * that does the worst it may do within the timing assumption. The checker
 * visits every state that can be reached.
 *
 * How time is modelled. There is no clock. A client begins rounds: attempts
 * and extensions. Each has a t0 and a ttl, so its validity has an end, and
 * that end comes at any moment. What clocks within the drift bound guarantee
 * is all that is left of them: a key does not expire before the end of the
 * round that last set its ttl; after that, at any moment. The ends of
 * different rounds come in any order, because an extension may ask for another
 * ttl, and other clients have other clocks.
 *
 * A client that crashes or is stopped is one that takes no further step, and
 * every beginning of every run is checked; so there is no event for it. A
 * restart of a node that keeps its data is connections that break.
 *
 * The number of an attempt's round is also the token that it draws.
 *
 * The promises, by the names that model/check prints:
 *   ONE_HOLDER    never are two clients inside their validity.
 *   UNBROKEN      a client that is told "extended" has been the only holder
 *                 since it acquired the lock.
 *   NOTHING_LEFT  a key whose operation has ended has a release behind it.
 */

#ifndef CLIENTS
#define CLIENTS 2
#endif
#ifndef ROUNDS_A /* how many rounds the clients A, B and C may begin: 1 to 3 */
#define ROUNDS_A 2
#endif
#ifndef ROUNDS_B
#define ROUNDS_B 2
#endif
#ifndef ROUNDS_C
#define ROUNDS_C 1
#endif
#define NODES 3
#define QUEUE 6 /* requests on one connection; asserted to be enough */

#define NOTHING 0
#define YES 1 /* votes */
#define MISSING 2

#define IDLE 0 /* phases of a client */
#define ACQUIRING 1
#define HELD 2
#define EXTENDING 3

#define ACQUIRE 1 /* requests */
#define EXTEND 2
#define REPAIR 3
#define RELEASE 4

typedef Node { /* one key */
    unsigned holder : 2; /* the client */
    unsigned token : 2;  /* NOTHING: there is no key */
    unsigned round : 2   /* that last set its ttl; NOTHING: that is over */
}

typedef Client {
    unsigned phase : 2;
    unsigned round : 2;   /* the last that it began */
    unsigned token : 2;   /* of the running operation, until it has ended */
    unsigned asking : 2;  /* the round whose answers are waited for */
    unsigned decided : 1; /* it was won; what is left of it is repair */
    unsigned valid : 4;   /* inside, until the first of these rounds ends */
    unsigned ended : 4;   /* rounds whose end has come */
    unsigned passed : 1   /* since it acquired, another was inside */
}

Node node[NODES];
Client client[CLIENTS];

/* Between a client and a node: the answer to the round that is asked for, and
 * the requests under way, in order. */
byte votes[CLIENTS * NODES];
chan wires[CLIENTS * NODES] = [QUEUE] of { byte };

#define me client[c]
#define here node[n]
#define vote(c, n) votes[(c) * NODES + (n)]
#define wire(c, n) wires[(c) * NODES + (n)]

/* A request is one number, so that states are small. */
#define a_request(kind, token, round) ((kind) << 4 | (token) << 2 | (round))
#define the_kind (request >> 4)
#define the_token ((request >> 2) & 3)
#define the_round (request & 3)

/* Steps are written for the client c and the node n; this is scratch within a
 * step, and always zero between steps. */
byte c, n, i, k, request;

#define a_round(r) (1 << (r))
#define has_ended(c, r) ((client[c].ended >> (r)) & 1)
#define is_inside(c) (client[c].valid != 0)
#define is_holding(c) (client[c].phase >= HELD)
#define is_free(n) (node[n].token == NOTHING)
#define has_key(c, n, t) \
    (!is_free(n) && node[n].holder == c && node[n].token == t)
#define is_majority(c) \
    ((vote(c, 0) == YES) + (vote(c, 1) == YES) + (vote(c, 2) == YES) >= QUORUM)

/* ---------------------------------------------------------------------------
 * The rules, in the words of doc/protocol.md. Each has a switch that plants a
 * mistake.
 */

/* "q must be computed from the configured N, [...] and must not be set
 * lower." */
#ifdef QUORUM_TOO_SMALL
#define QUORUM (NODES / 2)
#else
#define QUORUM (NODES / 2 + 1)
#endif

/* "At the q-th yes read the time. If now < valid_until the lock is held." The
 * time is read when that answer has been parsed, which is now. */
#ifdef VALIDITY_UNCHECKED
#define is_in_time(c) true
#else
#define is_in_time(c) (!has_ended(c, client[c].round))
#endif

/* "t0 is read before the first byte of a round is sent", so that validity and
 * keys end with the same round. A later t0 is the end of another round. */
#ifdef T0_LATE
#define begin_validity() me.round++; me.valid = a_round(me.round)
#else
#define begin_validity() me.valid = a_round(me.round)
#endif

/* The token "must be new for each attempt". A node that is asked twice with
 * the same would say: it is yours already. */
#ifdef SAME_TOKEN
#define draw_token() me.token = 1
#define says_yes_to(c, n, t) (is_free(n) || has_key(c, n, t))
#else
#define draw_token() me.token = me.round
#define says_yes_to(c, n, t) is_free(n)
#endif

/* "Never after one's own valid_until": neither begun, nor counted. "A lock
 * whose token came from another process has no validity of its own", so with
 * ADOPTED there is no such end either, and UNBROKEN is not promised. */
#if defined(EXTEND_AFTER_DEADLINE) || defined(ADOPTED)
#define WITHOUT_DEADLINE
#endif
#ifdef WITHOUT_DEADLINE
#define may_extend(c) true
#else
#define may_extend(c) is_inside(c)
#endif
#if defined(WITHOUT_DEADLINE) || defined(EXTEND_COUNTED_LATE)
#define may_be_extended(c) (!has_ended(c, client[c].round))
#else
#define may_be_extended(c) is_inside(c)
#endif

/* "If the new end is earlier than the old one, the lock is shortened from the
 * moment the request is sent, because some node may do it whatever we come to
 * hear." */
#ifdef SHORTENED_WHEN_TOLD
#define shorten() skip
#else
#define shorten() \
    me.valid = (me.valid != 0 -> me.valid | a_round(me.round) : 0)
#endif

/* An answer is the answer to one request, and counts in the round of that. */
#ifdef ROUNDS_MIXED
#define is_counted (me.asking != 0 && !me.decided)
#else
#define is_counted (me.asking == the_round && !me.decided)
#endif

/* "When an extension has won, a node that said 'no such key' is sent" the key
 * again, with what is left of this extension's ttl: the same end. */
#ifdef REPAIR_EARLY
#define may_repair(c, n) (vote(c, n) == MISSING && is_inside(c))
#else
#define may_repair(c, n) \
    (client[c].decided && vote(c, n) == MISSING && is_inside(c))
#endif

/* "It is not counted for that extension", nor for the next, whose ttl it does
 * not know yet. */
#ifdef REPAIR_COUNTED
#define is_repair_counted (me.asking != 0 && !me.decided)
#else
#ifdef REPAIR_EARLY
#define is_repair_counted (me.asking == the_round && !me.decided)
#else
#define is_repair_counted false
#endif
#endif

/* "Somebody else's, left alone": extended and deleted is only the key that is
 * ours, by its token. */
#ifdef EXTEND_UNCOMPARED
#define does_extend(c, n, t) (!is_free(n))
#else
#define does_extend(c, n, t) has_key(c, n, t)
#endif
#ifdef RELEASE_UNCOMPARED
#define does_delete(c, n, t) (!is_free(n))
#else
#define does_delete(c, n, t) has_key(c, n, t)
#endif

/* "Send release with the same token to every node that was sent the acquire,
 * also those that said no, gave no answer, or gave an error." */
#ifdef RELEASE_WHERE_YES
#define is_owed_release(n) (vote(c, n) == YES || is_holding(c))
#else
#define is_owed_release(n) true
#endif

/* "Release goes down the same connection as the acquire that it undoes,
 * behind it." */
#ifdef RELEASE_OVERTAKES
#define keep_order() overtake()
#else
#define keep_order() skip
#endif

/* "A release that the server has not confirmed when the connection breaks is
 * owed", and nothing else is sent again. With RELEASES_LOST they are forgotten
 * and NOTHING_LEFT is not promised: the other promises must not rest on it. */
#if defined(DEBTS_FORGOTTEN) || defined(RELEASES_LOST)
#define is_sent_again false
#else
#define is_sent_again (the_kind == RELEASE)
#endif

/* The timing assumption: "a node that said yes keeps the key for its ttl", and
 * clocks go at the same speed. Two of the known holes: a server's clock is
 * stepped forward; a server starts again without its data. */
#ifdef EARLY_EXPIRY
#define may_expire(n) (!is_free(n))
#else
#define may_expire(n) (!is_free(n) && node[n].round == NOTHING)
#endif
#ifdef RESTART_WITHOUT_DATA
#define may_forget(n) (!is_free(n))
#else
#define may_forget(n) false
#endif

/* At the end of each step. See reduced_redlock.c. */
#ifdef REDUCE
c_code { static void reduce(void); };
#define reduce() c_code { reduce(); }
#else
#define reduce() skip
#endif

inline finish()
{
    c = 0;
    n = 0;
    i = 0;
    k = 0;
    request = 0;
    reduce()
}

/* ---------------------------------------------------------------------------
 * The promises.
 */

inline check_one_holder()
{
    k = 0;
    for (i : 0 .. CLIENTS - 1) {
        k = k + is_inside(i)
    }
    assert(k <= 1) /* ONE_HOLDER */
}

inline check_unbroken()
{
#ifndef ADOPTED
    assert(!me.passed) /* UNBROKEN */
#else
    skip
#endif
}

#define is_in_use(n) (client[node[n].holder].token == node[n].token)
#define is_to_be_released(n) wire(node[n].holder, n)?? \
                             [eval(a_request(RELEASE, node[n].token, 0))]

inline check_nothing_left(x)
{
#ifndef RELEASES_LOST
    assert(is_free(x) || is_in_use(x) || is_to_be_released(x))
    /* NOTHING_LEFT */
#else
    skip
#endif
}

/* ---------------------------------------------------------------------------
 * A client.
 */

inline send(x, a_kind, a_number)
{
    assert(nfull(wire(c, x)));
    wire(c, x)!a_request(a_kind, me.token, a_number)
}

inline forget_votes()
{
    me.asking = 0;
    me.decided = 0;
    vote(c, 0) = 0;
    vote(c, 1) = 0;
    vote(c, 2) = 0
}

inline begin_attempt()
{
    me.round++;
    draw_token();
    me.asking = me.round;
    send(0, ACQUIRE, me.round);
    send(1, ACQUIRE, me.round);
    send(2, ACQUIRE, me.round);
    printf("%c tries (round %d)\n", 'A' + c, me.round)
}

inline hold()
{
    begin_validity();
    forget_votes();
    me.passed = 0;
    for (i : 0 .. CLIENTS - 1) {
        client[i].passed =
            client[i].passed || (i != c && is_holding(i))
    }
    printf("%c is told: acquired\n", 'A' + c);
    check_one_holder()
}

inline begin_extension()
{
    me.round++;
    shorten();
    forget_votes();
    me.asking = me.round;
    send(0, EXTEND, me.round);
    send(1, EXTEND, me.round);
    send(2, EXTEND, me.round);
    printf("%c extends (round %d)\n", 'A' + c, me.round)
}

inline be_extended()
{
    me.valid = a_round(me.round);
    me.decided = 1;
    for (i : 0 .. NODES - 1) {
        vote(c, i) = (vote(c, i) == MISSING -> MISSING : 0)
    }
    printf("%c is told: extended\n", 'A' + c);
    check_one_holder();
    check_unbroken()
}

inline repair(x)
{
    vote(c, x) = 0;
    send(x, REPAIR, me.round);
    printf("%c puts the key back on node %d\n", 'A' + c, x)
}

/* The last request comes first. */
inline overtake()
{
    k = len(wire(c, n)) - 1;
    do
    :: k > 0 ->
        wire(c, n)?request;
        wire(c, n)!request;
        k--
    :: else -> break
    od
}

inline release_on(x)
{
    if
    :: is_owed_release(x) ->
        n = x;
        send(n, RELEASE, 0);
        keep_order()
    :: else
    fi
}

inline release()
{
    printf("%c releases\n", 'A' + c);
    release_on(0);
    release_on(1);
    release_on(2);
    forget_votes();
    me.valid = 0;
    me.passed = 0;
    me.token = NOTHING;
    check_nothing_left(0);
    check_nothing_left(1);
    check_nothing_left(2)
}

/* The names of the phases are those of the states in src/core/machine.h. Some
 * of these are not needed: RELEASING and CLEANING wait for answers that decide
 * nothing about the lock, and LOST is to be HELD when nothing is valid any
 * more. That the answers may stay away, so that an attempt or an extension is
 * in vain, needs no rule but `true`. */
#define my _pid
#define has_rounds_left (client[my].round < \
    (my == 0 -> ROUNDS_A : (my == 1 -> ROUNDS_B : ROUNDS_C)))

#define in(now_in, rule, what, then_in) \
    d_step { client[my].phase == now_in && rule -> \
             c = my; what; me.phase = then_in; finish() }

active [CLIENTS] proctype AClient()
{
end:
    do
    :: in(IDLE, has_rounds_left, begin_attempt(), ACQUIRING)

    :: in(ACQUIRING, is_majority(my) && is_in_time(my), hold(), HELD)
    :: in(ACQUIRING, true, release(), IDLE)

    :: in(HELD, has_rounds_left && may_extend(my),
          begin_extension(), EXTENDING)
    :: in(HELD, may_repair(my, 0), repair(0), HELD)
    :: in(HELD, may_repair(my, 1), repair(1), HELD)
    :: in(HELD, may_repair(my, 2), repair(2), HELD)
    :: in(HELD, true, release(), IDLE)

    :: in(EXTENDING, is_majority(my) && may_be_extended(my),
          be_extended(), HELD)
#ifdef REPAIR_EARLY
    :: in(EXTENDING, may_repair(my, 0), repair(0), EXTENDING)
    :: in(EXTENDING, may_repair(my, 1), repair(1), EXTENDING)
    :: in(EXTENDING, may_repair(my, 2), repair(2), EXTENDING)
#endif
    :: in(EXTENDING, true, forget_votes(), HELD)
    :: in(EXTENDING, true, release(), IDLE)
    od
}

/* ---------------------------------------------------------------------------
 * A node, and the connections to it. Each keeps its order; there is no order
 * among different ones, and no bound on delay. Answers have no wire of their
 * own: a client may decide at any time after an answer was given, which is its
 * delay, or as if it never had been, which is its loss.
 */

inline vote_if(counted, v)
{
    if
    :: counted -> vote(c, n) = v
    :: else
    fi
}

/* SET name token NX PX ttl */
inline set_key()
{
    here.holder = c;
    here.token = the_token;
    here.round = (has_ended(c, the_round) -> NOTHING : the_round)
}

inline delete_key()
{
    here.holder = 0;
    here.token = NOTHING;
    here.round = NOTHING
}

inline arrive()
{
    wire(c, n)?request;
    if
    :: the_kind == ACQUIRE && says_yes_to(c, n, the_token) ->
        printf("node %d grants %c\n", n, 'A' + c);
        if
        :: is_free(n) -> set_key()
        :: else
        fi;
        vote_if(is_counted, YES)
    :: the_kind == REPAIR && is_free(n) ->
        printf("node %d takes the key of %c back\n", n, 'A' + c);
        set_key();
        vote_if(is_repair_counted, YES)
    :: the_kind == EXTEND && does_extend(c, n, the_token) ->
        printf("node %d extends for %c\n", n, 'A' + c);
        here.round = (has_ended(c, the_round) -> NOTHING : the_round);
        vote_if(is_counted, YES)
    :: the_kind == EXTEND && is_free(n) ->
        printf("node %d tells %c that it has no key\n", n, 'A' + c);
        vote_if(me.asking == the_round, MISSING)
    :: the_kind == RELEASE && does_delete(c, n, the_token) ->
        printf("node %d deletes its key for %c\n", n, 'A' + c);
        delete_key()
    :: else ->
        printf("node %d refuses %c\n", n, 'A' + c)
    fi;
    check_nothing_left(n)
}

/* When a connection breaks it is closed abortively, and what it has not
 * delivered is not delivered any more. */
inline lose_connection()
{
    printf("the connection of %c to node %d breaks\n", 'A' + c, n);
    k = len(wire(c, n));
    do
    :: k > 0 ->
        wire(c, n)?request;
        if
        :: is_sent_again -> wire(c, n)!request
        :: else
        fi;
        k--
    :: else -> break
    od;
    check_nothing_left(n)
}

inline expire()
{
    printf("the key on node %d is no more\n", n);
    delete_key()
}

#define here_id (_pid - CLIENTS)
#define to_here(x, what) \
    d_step { nempty(wire(x, here_id)) -> c = x; n = here_id; what; finish() }

active [NODES] proctype ANode()
{
end:
    do
    :: to_here(0, arrive())
    :: to_here(0, lose_connection())
    :: to_here(1, arrive())
    :: to_here(1, lose_connection())
#if CLIENTS > 2
    :: to_here(2, arrive())
    :: to_here(2, lose_connection())
#endif
    :: d_step { may_expire(here_id) || may_forget(here_id) ->
                n = here_id; expire(); finish() }
    od
}

/* ---------------------------------------------------------------------------
 * Time: the end of some round of some client.
 */

inline come_to_end(r)
{
    printf("the end of %c's round %d comes\n", 'A' + c, r);
    me.ended = me.ended | a_round(r);
    me.valid = (me.valid & a_round(r) -> 0 : me.valid);
    for (i : 0 .. NODES - 1) {
        node[i].round = (!is_free(i) && node[i].holder == c &&
                         node[i].round == r -> NOTHING : node[i].round)
    }
}

#define end_of(x, r) d_step { \
    client[x].round >= r && !has_ended(x, r) -> \
    c = x; come_to_end(r); finish() }

active proctype Time()
{
end:
    do
    :: end_of(0, 1)
    :: end_of(0, 2)
    :: end_of(0, 3)
    :: end_of(1, 1)
    :: end_of(1, 2)
    :: end_of(1, 3)
#if CLIENTS > 2
    :: end_of(2, 1)
    :: end_of(2, 2)
    :: end_of(2, 3)
#endif
    od
}
