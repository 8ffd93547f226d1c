/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fencing tokens over a majority of three nodes, without any assumption on
 * time: a lease may vanish at any moment, and messages take as long as they
 * like, overtake each other, get lost, and, where that can matter, arrive
 * twice. The checker visits every state that can be reached.
 *
 * The protocol. Each node keeps a number f, and knows at most one owner.
 *   acquire(owner, p)  owned by another: refuse. Else own it, and
 *                      f := p if p > f, else f + 1. Answer f.
 *   confirm(owner, m)  only if owner owns it: f := max(f, m). Answer f.
 * An attempt sends acquire to all nodes, and if it likes, confirm, with the
 * largest answer that it has. It has its own name as an owner.
 *   The rule: a token t is given out only when a majority of the nodes have
 *   each answered, in one atomic step, "you own it, and f equals t".
 *
 * What an attempt gets is a lock, and it may extend it:
 *   put_back(owner, t) only if nobody owns it and f <= t: own it; f := t.
 *   extend(owner, t)   answer yes if owner owns it and f equals t.
 * Each is counted only if it was sent and answered in the same extension, and
 * put_back is never counted.
 *
 * The promises, by the names that model/check prints:
 *   UNIQUE   the tokens of different attempts differ.
 *   ORDERED  if one was given out before another attempt began, the later one
 *            is larger.
 *   LAST     a lock is not extended if a larger token was given out before
 *            the extension began.
 *
 * Parts of the model that cost time are compiled in on demand:
 *   EXTEND   extensions
 *   WIPE     one node loses all that it has stored, once
 *   RESEND   one acquire is sent to one node again, at any moment
 */

#ifndef ATTEMPTS
#define ATTEMPTS 2
#endif
#ifndef F_MAX /* each node's f is 0 to this in the beginning */
#define F_MAX 2
#endif
#ifndef P_MAX /* what an attempt proposes is 1 to this */
#define P_MAX 2
#endif
#define NODES 3
#define MAJORITY 2
#define NOBODY 0

#define VALUES 7 /* no f is ever larger; asserted */

byte owner[NODES]; /* NOBODY, or an attempt and one */
byte f[NODES];

typedef Attempt {
    byte p;        /* what it proposes; 0: it has not begun */
    byte confirms; /* a bit for each m that it has sent in a confirm */
    byte token;    /* that was given out; 0: none */
    byte floor;    /* the largest given out before it began */
    bit over       /* it counts no answers any more */
}
Attempt attempt[ATTEMPTS];

/* Between an attempt and a node: how often its acquire may arrive yet, and a
 * bit for each f that the node has said to it. */
byte acquires[ATTEMPTS * NODES];
byte answers[ATTEMPTS * NODES];

/* Steps are written for the attempt a and the node n; this is scratch within
 * a step, and always zero between steps. */
byte a, n, i;

#define it attempt[a]
#define under_way(a, n) acquires[(a) * NODES + (n)]
#define answer(a, n) answers[(a) * NODES + (n)]
#define bit_of(v) (1 << (v))
#define said(a, n, v) ((answer(a, n) >> (v)) & 1)
#define all_said(a) (answer(a, 0) | answer(a, 1) | answer(a, 2))
#define owns(a, n) (owner[n] == (a) + 1)
#define has_sent(a, m) ((attempt[a].confirms >> (m)) & 1)

#ifdef WIPE
/* What becomes of the node that has lost its storage. */
#define FINE 0
#define QUARANTINED 1
#define READ_ONE 2
byte state;         /* FINE, QUARANTINED, READ_ONE */
byte wiped = NODES; /* which it is; NODES: none yet */
byte old;           /* a bit for each attempt that was running then */
byte other;         /* the first of the others that it has read */
byte high;          /* what it has read */
#define is_ready(n) (wiped != (n) || state == FINE)
#else
#define is_ready(n) true
#endif

#ifdef RESEND
bit resent;
#endif

#ifdef EXTEND
typedef Extension {
    byte yes;     /* a bit for each node that extended */
    bit begun;
    bit ever;     /* put_back is under way to every node, for ever */
    bit outdated  /* a larger token had been given out before it began */
}
Extension extension[ATTEMPTS];
#endif

/* ---------------------------------------------------------------------------
 * The rules. Each has a switch that plants a mistake.
 */

/* "f := p if p > f, else f + 1." */
#ifdef PROPOSAL_TRUSTED
#define raised(f, p) (p)
#else
#define raised(f, p) ((p) > (f) -> (p) : (f) + 1)
#endif

/* "Only if owner owns it." */
#ifdef CONFIRM_UNGUARDED
#define does_confirm(a, n) true
#else
#define does_confirm(a, n) owns(a, n)
#endif

/* What is counted is f. Not: that a confirm was done; */
#ifdef CONFIRM_ANY
#define counts_for_m(m) true
#else
/* and not that it was done where the acquire had been heard of, either. This
 * is sound, but no longer when an attempt is sent again. */
#ifdef CONFIRM_WHERE_HEARD
#define counts_for_m(m) (answer(a, n) & (bit_of((m) + 1) - 1))
#else
#define counts_for_m(m) false
#endif
#endif

/* "f equals t." */
#ifdef LARGER_COUNTED
#define is_for(a, n, t) (answer(a, n) >> (t))
#else
#define is_for(a, n, t) said(a, n, t)
#endif

/* "A majority of the nodes." */
#ifdef EQUAL_ANSWERS_SUFFICE
#define is_enough(a, t) (all_said(a) == bit_of(t))
#else
#define is_enough(a, t) \
    ((is_for(a, 0, t) != 0) + (is_for(a, 1, t) != 0) + \
     (is_for(a, 2, t) != 0) >= MAJORITY)
#endif

/* "Nobody owns it and f <= t." */
#ifdef PUT_BACK_ANYWHERE
#define does_put_back(a, n) (owner[n] == NOBODY)
#else
#define does_put_back(a, n) \
    (owner[n] == NOBODY && f[n] <= attempt[a].token)
#endif

/* "Owner owns it and f equals t." */
#ifdef EXTEND_BY_OWNER
#define does_extend(a, n) owns(a, n)
#else
#define does_extend(a, n) (owns(a, n) && f[n] == attempt[a].token)
#endif

/* A node that has lost its storage takes part in nothing until every attempt
 * from before has ended, and it has read f from a majority of the others. */
#ifdef NO_QUARANTINE
#define may_come_back true
#else
#define has_ended(a) (!((old >> (a)) & 1) || attempt[a].over)
#if ATTEMPTS > 2
#define may_come_back (has_ended(0) && has_ended(1) && has_ended(2))
#else
#define may_come_back (has_ended(0) && has_ended(1))
#endif
#endif
#ifdef NO_REPAIR
#define repaired(v) 0
#else
#define repaired(v) (v)
#endif

/* ---------------------------------------------------------------------------
 * An attempt.
 */

/* At the end of each step. See reduced_fencing.c. */
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
    reduce()
}

inline begin(proposal)
{
    it.p = proposal;
    for (i : 0 .. NODES - 1) {
        under_way(a, i) = 1
    }
    for (i : 0 .. ATTEMPTS - 1) {
        it.floor = (attempt[i].token > it.floor -> attempt[i].token :
                    it.floor)
    }
    printf("%c begins, and proposes %d\n", 'A' + a, proposal)
}

/* Answers take any time, so the largest that has arrived may be any; but it
 * never becomes smaller. */
#define may_confirm(a, m) \
    (((all_said(a) >> (m)) & 1) && attempt[a].confirms < bit_of(m))

inline send_confirm(m)
{
    it.confirms = it.confirms | bit_of(m);
    printf("%c sends confirm %d\n", 'A' + a, m)
}

inline end_attempt()
{
    it.over = 1;
    it.floor = 0;
    answer(a, 0) = 0;
    answer(a, 1) = 0;
    answer(a, 2) = 0
}

inline give_out(t)
{
    printf("%c is given token %d\n", 'A' + a, t);
    assert(t >= it.floor); /* ORDERED; not equal either, by what follows */
#ifndef UNIQUE_UNCHECKED
    for (i : 0 .. ATTEMPTS - 1) {
        assert(attempt[i].token != t) /* UNIQUE */
    }
#endif
    it.token = t;
    end_attempt()
}

#ifdef RESEND
inline send_again(x)
{
    printf("%c sends its acquire to node %d again\n", 'A' + a, x);
    resent = 1;
    under_way(a, x) = under_way(a, x) + 1
}
#define may_send_again(a) (!resent && attempt[a].p != 0)
#endif

inline give_up()
{
    printf("%c gives up\n", 'A' + a);
    end_attempt()
}

#ifdef EXTEND
inline begin_extension()
{
    printf("%c begins to extend\n", 'A' + a);
    extension[a].begun = 1;
    extension[a].ever = 1;
    extension[a].yes = 0;
    extension[a].outdated = 0;
    for (i : 0 .. ATTEMPTS - 1) {
        extension[a].outdated = (attempt[i].token > it.token -> 1 :
                                 extension[a].outdated)
    }
}

#define has_extended(a, x) ((extension[a].yes >> (x)) & 1)
#define is_extended(a) (extension[a].begun && \
    has_extended(a, 0) + has_extended(a, 1) + has_extended(a, 2) >= MAJORITY)

inline be_extended()
{
    printf("%c is told: extended\n", 'A' + a);
    assert(!extension[a].outdated); /* LAST */
    extension[a].begun = 0;
    extension[a].yes = 0
}
#endif

#define my (_pid - 1)
#define for_me(rule, what) d_step { rule -> a = my; what; finish() }
#define for_me_and(v) \
    for_me(!attempt[my].over && may_confirm(my, v), send_confirm(v)) \
    :: for_me(!attempt[my].over && is_enough(my, v), give_out(v))

proctype AnAttempt()
{
end:
    do
    :: for_me(attempt[my].p == 0, begin(1))
#if P_MAX > 1
    :: for_me(attempt[my].p == 0, begin(2))
#endif
    :: for_me_and(1)
    :: for_me_and(2)
    :: for_me_and(3)
    :: for_me_and(4)
    :: for_me_and(5)
    :: for_me_and(6)
    :: for_me_and(7)
#ifdef RESEND
    :: for_me(may_send_again(my), send_again(0))
    :: for_me(may_send_again(my), send_again(1))
    :: for_me(may_send_again(my), send_again(2))
#endif
#ifdef WIPE
    :: for_me(!attempt[my].over, give_up())
#endif
#ifdef EXTEND
    :: for_me(attempt[my].token != 0 && !extension[my].begun,
              begin_extension())
    :: for_me(is_extended(my), be_extended())
#endif
    od
}

/* ---------------------------------------------------------------------------
 * A node, and what arrives there.
 */

inline note_answer()
{
    answer(a, n) = (it.over -> 0 : answer(a, n) | bit_of(f[n]));
    printf("node %d to %c: you own it, f is %d\n", n, 'A' + a, f[n])
}

inline acquire()
{
    under_way(a, n) = under_way(a, n) - 1;
    if
    :: owner[n] == NOBODY || owns(a, n) ->
        owner[n] = a + 1;
        f[n] = raised(f[n], it.p);
        assert(f[n] <= VALUES);
        note_answer()
    :: else
    fi
}

inline confirm(m)
{
    f[n] = (m > f[n] -> m : f[n]);
    if
    :: counts_for_m(m) && !it.over -> answer(a, n) = answer(a, n) | bit_of(m)
    :: else
    fi;
    note_answer()
}

inline lose_lease()
{
    printf("the lease on node %d vanishes\n", n);
    owner[n] = NOBODY
}

#ifdef EXTEND
inline put_back()
{
    printf("%c is put back on node %d\n", 'A' + a, n);
    owner[n] = a + 1;
    f[n] = it.token
}

inline extend()
{
    printf("node %d extends %c\n", n, 'A' + a);
    extension[a].yes = extension[a].yes | bit_of(n)
}
#endif

#define here (_pid - 1 - ATTEMPTS)
#define to_here(x, rule, what) \
    d_step { is_ready(here) && rule -> a = x; n = here; what; finish() }
#define confirm_arrives(x, m) \
    to_here(x, has_sent(x, m) && does_confirm(x, here), confirm(m))

#ifdef EXTEND
#define extensions_arrive(x) \
    :: to_here(x, extension[x].ever && does_put_back(x, here), put_back()) \
    :: to_here(x, extension[x].begun && does_extend(x, here), extend())
#else
#define extensions_arrive(x)
#endif

#define requests_arrive(x) \
    :: to_here(x, under_way(x, here) > 0, acquire()) \
    :: confirm_arrives(x, 1) \
    :: confirm_arrives(x, 2) \
    :: confirm_arrives(x, 3) \
    :: confirm_arrives(x, 4) \
    :: confirm_arrives(x, 5) \
    :: confirm_arrives(x, 6) \
    :: confirm_arrives(x, 7) \
    extensions_arrive(x)

proctype ANode()
{
end:
    do
    requests_arrive(0)
    requests_arrive(1)
#if ATTEMPTS > 2
    requests_arrive(2)
#endif
    :: to_here(0, owner[here] != NOBODY, lose_lease())
    od
}

/* ---------------------------------------------------------------------------
 * One node loses its storage.
 */

#ifdef WIPE
inline wipe(x)
{
    printf("node %d loses its storage\n", x);
    wiped = x;
    owner[x] = NOBODY;
    f[x] = 0;
    state = QUARANTINED;
    for (i : 0 .. ATTEMPTS - 1) {
        old = (attempt[i].p && !attempt[i].over -> old | bit_of(i) : old)
    }
}

/* The others are read one after the other, not in one step. */
inline read_one(x)
{
    printf("node %d reads f of node %d\n", wiped, x);
    state = READ_ONE;
    other = x;
    high = f[x]
}

inline read_the_other()
{
    i = NODES - wiped - other; /* 0 + 1 + 2 less two of them */
    printf("node %d reads f of node %d, and is back\n", wiped, i);
    high = (f[i] > high -> f[i] : high);
    f[wiped] = repaired(high);
    state = FINE;
    other = 0;
    high = 0;
    old = 0
}

#define may_read(x) \
    (state == QUARANTINED && may_come_back && wiped != (x))

proctype Storage()
{
end:
    do
    :: d_step { wiped == NODES -> wipe(0); finish() }
    :: d_step { wiped == NODES -> wipe(1); finish() }
    :: d_step { wiped == NODES -> wipe(2); finish() }
    :: d_step { may_read(0) -> read_one(0); finish() }
    :: d_step { may_read(1) -> read_one(1); finish() }
    :: d_step { may_read(2) -> read_one(2); finish() }
    :: d_step { state == READ_ONE -> read_the_other(); finish() }
    od
}
#endif

/* Nodes are all alike, so the first may have the largest f in the beginning:
 * any other order is the same with other names. */
init
{
    atomic {
        select(i : 0 .. F_MAX);
        f[0] = i;
        select(i : 0 .. f[0]);
        f[1] = i;
        select(i : 0 .. f[1]);
        f[2] = i;
        i = 0;
        for (n : 1 .. ATTEMPTS) {
            run AnAttempt()
        }
        for (n : 1 .. NODES) {
            run ANode()
        }
        n = 0;
#ifdef WIPE
        run Storage()
#endif
    }
}
