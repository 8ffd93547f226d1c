/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fencing tokens over a majority of three nodes, without any assumption on
 * time: a lease may vanish at any moment, and messages take as long as they
 * like, overtake each other, get lost, and, where that can matter, arrive
 * twice. The checker visits every state that can be reached.
 *
 * The protocol. Each node keeps a record of the lock: a number f, and at most
 * one owner. The record may vanish. The node itself keeps hw, which is as large
 * as any f that it ever had, and does not vanish; f of a record that is missing
 * counts as hw.
 *   acquire(owner, p)  owned by another: refuse. Else own it, and
 *                      f := p if p > f, else f + 1. Answer f.
 *   confirm(owner, m)  only if owner owns it: f := max(f, m). Answer f.
 * An attempt sends acquire to all nodes, and if it likes, confirm, with the
 * largest answer that it has. It has its own name as an owner.
 *   The rule: a token t is given out only when a majority of the nodes have
 *   each answered, in one atomic step, "you own it, and f equals t".
 *
 * What an attempt gets is a lock, and it may extend it:
 *   extend(owner, t)   owner owns it and f equals t: answer yes;
 *                      nobody owns it and f <= t, or owner owns it and f < t:
 *                      own it; f := t. This repairs, and is no yes.
 * A yes is counted only in the extension that asked for it.
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
 *   OLD_DATA one node goes back to what it had stored some time ago, once,
 *            and its run_id shows that it was started again
 *   SNAPSHOT the same, and nothing shows it but hw, to a client that has seen
 *            a larger f there (with SEEN)
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
byte f[NODES];     /* of the record; as good as hw if there is none */
byte hw[NODES];    /* the high-water mark of the node */

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

#if defined(OLD_DATA) || defined(SNAPSHOT)
#define WIPE
#endif
#ifdef WIPE
/* What becomes of the node that has lost its storage. */
#define FINE 0
#define QUARANTINED 1
#define READ_ONE 2
byte state;         /* FINE, QUARANTINED, READ_ONE */
byte wiped = NODES; /* which it is; NODES: none yet */
byte old;           /* a bit for each attempt, or extension, running then */
byte other;         /* the first of the others that it has read */
byte high;          /* what it has read */
#define is_ready(n) (wiped != (n) || state == FINE)
#else
#define is_ready(n) true
#endif

#ifdef SEEN
byte seen[NODES]; /* the largest f that was seen there; all remember it */
byte known[ATTEMPTS * NODES]; /* what of it when the attempt began */
#define is_served(a, n) (hw[n] >= known[(a) * NODES + (n)])
#else
#define is_served(a, n) true
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

/* "f of a record that is missing counts as hw", and "hw is as large as any f
 * that it ever had": acquire, confirm and putting back raise it. */
#ifdef HW_FORGOTTEN
#define f_of_none(n) 0
#else
#define f_of_none(n) hw[n]
#endif
#define raise_hw(n) hw[n] = (f[n] > hw[n] -> f[n] : hw[n])
#ifdef CONFIRM_KEEPS_HW
#define raise_hw_by_confirm(n) skip
#else
#define raise_hw_by_confirm(n) raise_hw(n)
#endif
#ifdef PUT_BACK_KEEPS_HW
#define raise_hw_by_put_back(n) skip
#else
#define raise_hw_by_put_back(n) raise_hw(n)
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

/* "Nobody owns it and f <= t", or owner does, with a smaller f: that is to
 * confirm t. */
#ifdef PUT_BACK_ANYWHERE
#define does_put_back(a, n) (owner[n] == NOBODY)
#else
#define does_put_back(a, n) \
    ((owner[n] == NOBODY && f[n] <= attempt[a].token) || \
     (owns(a, n) && f[n] < attempt[a].token))
#endif

/* "Owner owns it and f equals t." */
#ifdef EXTEND_BY_OWNER
#define does_extend(a, n) owns(a, n)
#else
#define does_extend(a, n) (owns(a, n) && f[n] == attempt[a].token)
#endif

/* A node that has lost its storage takes part in nothing until every attempt
 * from before has ended, and then has read hw of N - q + 1 others. */
#ifdef NO_QUARANTINE
#define may_come_back true
#else
#define may_come_back (old == 0)
#endif
#ifdef READ_EARLY
#define may_begin_to_read true
#else
#define may_begin_to_read may_come_back
#endif
#ifdef NO_REPAIR
#define repaired(v) 0
#else
#define repaired(v) (v)
#endif

/* What it has read is a floor for all its records: one that came back from old
 * times with a smaller f counts as missing. */
#ifdef FLOOR_FORGOTTEN
#define is_outdated_record(n) false
#else
#define is_outdated_record(n) (f[n] < hw[n])
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
#ifdef SEEN
    for (i : 0 .. NODES - 1) {
        known[a * NODES + i] = seen[i]
    }
#endif
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

inline forget_old()
{
#ifdef WIPE
    old = old & ~bit_of(a)
#else
    skip
#endif
}

inline end_attempt()
{
    it.over = 1;
    forget_old();
    it.floor = 0;
    answer(a, 0) = 0;
    answer(a, 1) = 0;
    answer(a, 2) = 0
}

inline give_out(t)
{
    printf("%c is given token %d\n", 'A' + a, t);
#ifndef UNIQUE_UNCHECKED
    for (i : 0 .. ATTEMPTS - 1) {
        assert(attempt[i].token != t) /* UNIQUE */
    }
#endif
    assert(t > it.floor); /* ORDERED */
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

inline end_extension()
{
    extension[a].begun = 0;
    extension[a].yes = 0;
    forget_old()
}

inline give_extension_up()
{
    printf("%c gives the extension up\n", 'A' + a);
    end_extension()
}

inline be_extended()
{
    printf("%c is told: extended\n", 'A' + a);
    assert(!extension[a].outdated); /* LAST */
    end_extension()
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
#ifdef WIPE
    :: for_me(extension[my].begun, give_extension_up())
#endif
#endif
    od
}

/* ---------------------------------------------------------------------------
 * A node, and what arrives there.
 */

inline note_answer()
{
    answer(a, n) = (it.over -> 0 : answer(a, n) | bit_of(f[n]));
#ifdef SEEN
    seen[n] = (!it.over && f[n] > seen[n] -> f[n] : seen[n]);
#endif
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
        raise_hw(n);
        note_answer()
    :: else
    fi
}

inline confirm(m)
{
    f[n] = (m > f[n] -> m : f[n]);
    raise_hw_by_confirm(n);
    if
    :: counts_for_m(m) && !it.over -> answer(a, n) = answer(a, n) | bit_of(m)
    :: else
    fi;
    note_answer()
}

inline lose_lease()
{
    printf("the lease on node %d ends\n", n);
    owner[n] = NOBODY
}

inline lose_record()
{
    printf("the record on node %d vanishes\n", n);
    owner[n] = NOBODY;
    f[n] = f_of_none(n)
}

#ifdef EXTEND
inline put_back()
{
    printf("%c is put back on node %d\n", 'A' + a, n);
    owner[n] = a + 1;
    f[n] = it.token;
    raise_hw_by_put_back(n)
}

inline extend()
{
    printf("node %d extends %c\n", n, 'A' + a);
    extension[a].yes = extension[a].yes | bit_of(n)
}
#endif

#define here (_pid - 1 - ATTEMPTS)
#define in_here(rule, what) d_step { rule -> n = here; what; finish() }
#define to_here(x, rule, what) \
    d_step { is_ready(here) && is_served(x, here) && rule -> \
             a = x; n = here; what; finish() }
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
    :: in_here(is_ready(here) && owner[here] != NOBODY, lose_lease())
    :: in_here(is_ready(here) &&
               (owner[here] != NOBODY || f[here] != f_of_none(here)),
               lose_record())
    od
}

/* ---------------------------------------------------------------------------
 * One node loses its storage.
 */

#ifdef WIPE
inline remember_who_runs()
{
    for (i : 0 .. ATTEMPTS - 1) {
        old = (attempt[i].p && !attempt[i].over -> old | bit_of(i) : old);
#ifdef EXTEND
        old = (extension[i].begun -> old | bit_of(i) : old)
#endif
    }
}

/* The others are read one after the other, not in one step. */
inline read_one(x)
{
    printf("node %d reads hw of node %d\n", wiped, x);
    state = READ_ONE;
    other = x;
    high = hw[x]
}

inline come_back()
{
    hw[wiped] = (repaired(high) > hw[wiped] -> repaired(high) : hw[wiped]);
    if
    :: is_outdated_record(wiped) ->
        owner[wiped] = NOBODY;
        f[wiped] = hw[wiped]
    :: else
    fi;
    state = FINE;
    other = 0;
    high = 0
}

inline read_the_other()
{
    i = NODES - wiped - other; /* 0 + 1 + 2 less two of them */
    printf("node %d reads hw of node %d, and is back\n", wiped, i);
    high = (hw[i] > high -> hw[i] : high);
    come_back()
}

/* What was stored is lost, or an older state of it is there again: any, so
 * long as no f in it is larger than its hw. Whoever was the owner then. */
inline lose_storage(x)
{
    atomic {
        wiped == NODES;
        wiped = x;
#if defined(OLD_DATA) || defined(SNAPSHOT)
        select(i : 0 .. hw[x]);
        hw[x] = i;
        select(i : 0 .. (f[x] < hw[x] -> f[x] : hw[x]));
        f[x] = i;
        select(i : 0 .. ATTEMPTS);
        owner[x] = (i == 0 || attempt[i - 1].p != 0 -> i : 0);
        printf("node %d is back in a time with hw %d, f %d, and owner %c\n",
               x, hw[x], f[x], (owner[x] -> 'A' + owner[x] - 1 : '-'));
#else
        printf("node %d loses its storage\n", x);
        owner[x] = NOBODY;
        f[x] = 0;
        hw[x] = 0;
#endif
#ifndef SNAPSHOT
        state = QUARANTINED;
        remember_who_runs();
#endif
        d_step { i = 0; finish() }
    }
}

#define may_read(x) \
    (state == QUARANTINED && may_begin_to_read && wiped != (x))

proctype Storage()
{
end:
    do
    :: lose_storage(0)
    :: lose_storage(1)
    :: lose_storage(2)
    :: d_step { may_read(0) -> read_one(0); finish() }
    :: d_step { may_read(1) -> read_one(1); finish() }
    :: d_step { may_read(2) -> read_one(2); finish() }
    :: d_step { state == READ_ONE && may_come_back ->
                read_the_other(); finish() }
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
        for (n : 0 .. NODES - 1) {
            select(i : f[n] .. F_MAX);
            hw[n] = i
        }
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
