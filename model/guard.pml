/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lease record and the clocks: three nodes, one of which has a clock that
 * shows what it likes, and attempts of clients on one lock. The checker visits
 * every state that can be reached.
 *
 * Time is a small number here, because what is to be found out is how many
 * slacks a lease record must outlive its lease. The slack S is 1. A good clock
 * is right or ahead by S, from one look at it to the next as it likes: so two
 * good ones agree within S, and what passes between two looks is right within
 * S as well. A bad clock may be stepped at any moment: it shows anything. No
 * more nodes than a majority less one have a bad clock.
 *
 * The protocol. A node keeps a record of the lock: its owner; `end`, when by
 * the node's TIME the lease will be over; and `until`, the largest end of a
 * lease that another took over here without a release.
 *   acquire  TIME not from lo to hi: refuse. Owned by another with TIME < end,
 *            or TIME < until: refuse. Else own it, until TIME + ttl + L.
 *   extend   TIME not from lo to hi: refuse. Owned by the owner: until TIME +
 *            ttl + L, but never less than before; answer yes. Else, if acquire
 *            would do, own it: it is repaired, and that is no yes.
 *   release  If owner owns it, nobody does; `until` stays.
 * lo to hi is 2 S, chosen by the client, and the same for all nodes that it
 * asks in one round (attempt or extension). In this world it may be anything:
 * a client whose idea of the nodes' time is wrong endangers nobody. With
 * HONEST windows clients are right, but for an ERROR, about what the good
 * clocks show; `until` is not needed then.
 *
 * A client's validity is ttl from the beginning of its round, by a good clock.
 *
 * The promise:
 *   ONE_HOLDER  never are two clients inside their validity.
 */

#ifndef ATTEMPTS
#define ATTEMPTS 3
#endif
#ifndef EXTENDERS /* how many of them extend, once each, if they win */
#define EXTENDERS 1
#endif
#ifndef TTL
#define TTL 2
#endif
#ifndef LAST_T /* true time is from 0 to this */
#define LAST_T 3
#endif
#ifndef START /* what a good clock shows at time 0 */
#define START 3
#endif
#ifndef LAST_LO /* windows begin at 0 to this, 9 at most */
#define LAST_LO 9
#endif
#define S 1
#define NODES 3
#define MAJORITY 2
#define NOBODY 0


#define IDLE 0 /* phases of an attempt */
#define ASKING 1
#define HOLDING 2
#define EXTENDING 3
#define OVER 4

typedef Node {
    byte owner; /* NOBODY, or an attempt and one */
    byte end;
    byte until
}

typedef Attempt {
    byte phase;
    byte t0;       /* of the round that is asked for */
    byte lo;       /* of the window of its acquire */
    byte acquires; /* a bit for each node where it may arrive yet */
    byte extend_lo;
    byte extends;
    bit extended; /* it has begun to */
    byte yes;  /* a bit for each node that is counted */
    byte valid /* it is inside before this time */
}

Node node[NODES];
Attempt attempt[ATTEMPTS];
byte t; /* the true time */

/* Steps are written for the attempt a, the node n, and the node's TIME `now`;
 * this is scratch within a step, and always zero between steps. */
byte a, n, i, k, now_shown;

#define it attempt[a]
#define here node[n]
#define has_bit(bits, n) (((bits) >> (n)) & 1)
#define bit_of(n) (1 << (n))
#define is_inside(a) (attempt[a].valid > t)
#define is_enough(bits) \
    (has_bit(bits, 0) + has_bit(bits, 1) + has_bit(bits, 2) >= MAJORITY)

/* ---------------------------------------------------------------------------
 * The rules. Each has a switch that plants a mistake.
 */

/* "At most q - 1 clocks are bad." */
#ifdef CLOCKS_BAD
#define is_bad(n) (n < 2)
#else
#define is_bad(n) (n < 1)
#endif

/* "L = 5 S": the fifth is one too few. Honest clients need three: see
 * README.md. */
#ifndef LINGER
#ifdef LINGER_SHORT
#define LINGER (5 * S - 1)
#else
#define LINGER (5 * S)
#endif
#endif

/* "TIME not from lo to hi: refuse", in the same atomic step. What a bad clock
 * shows is then one of three times; or else, to find harm, one far ahead. */
#if defined(BAND_UNCHECKED) || defined(BAND_CHECKED_LATE) || \
    defined(WINDOWS_DIFFER)
#define shows_if_bad(lo, k) ((k) < 2 -> (lo) + 2 * (k) : 18)
#else
#define shows_if_bad(lo, k) ((lo) + (k))
#endif
#define shows(n, lo, k) (is_bad(n) -> shows_if_bad(lo, k) : START + t + (k))
#define can_show(n, k) (is_bad(n) || (k) <= S)
#define is_in_band(v, lo) ((v) >= (lo) && (v) <= (lo) + 2 * S)
#if defined(BAND_UNCHECKED) || defined(BAND_CHECKED_LATE)
#define passes_band(v, lo) true
#else
/* "The same for all nodes": else each has a window that suits it. */
#ifdef WINDOWS_DIFFER
#define passes_band(v, lo) true
#else
#define passes_band(v, lo) is_in_band(v, lo)
#endif
#endif
#ifdef BAND_CHECKED_LATE
#define is_counted(v, lo) is_in_band(v, lo)
#else
#define is_counted(v, lo) true
#endif

/* "With TIME < end, or TIME < until." */
#define is_free(n, v) \
    ((node[n].owner == NOBODY || (v) >= node[n].end) && (v) >= node[n].until)

/* "The largest end of a lease that another took over without a release." */
#ifdef UNTIL_FORGOTTEN
#define keep_until() skip
#else
#define keep_until() \
    here.until = (here.owner != NOBODY && here.owner != a + 1 && \
                  here.end > here.until -> here.end : here.until)
#endif

/* "Never less than before." */
#ifdef END_MOVES_BACK
#define later(end, v) (v)
#else
#define later(end, v) ((v) > (end) -> (v) : (end))
#endif

/* A record outlives its lease, so that a clock that is stepped, and back,
 * finds it there. Redis ends what has a ttl by the same clock. */
#ifdef RECORD_EXPIRES
#define may_vanish(n) \
    (node[n].owner != NOBODY && (is_bad(n) || START + t + S >= node[n].end))
#else
#define may_vanish(n) false
#endif

/* ---------------------------------------------------------------------------
 * A client.
 */

/* At the end of each step. See reduced_guard.c. */
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
    now_shown = 0;
    reduce()
}

/* What a client takes for the nodes' time may be wrong by ERROR beyond what
 * good clocks show; its window is S to both sides of that. */
#ifndef ERROR
#define ERROR S
#endif
#ifdef HONEST
#define may_choose(lo) \
    ((lo) >= START + t - S - ERROR && (lo) <= START + t + ERROR)
#else
#define may_choose(lo) ((lo) <= LAST_LO)
#endif

inline begin(from)
{
    it.phase = ASKING;
    it.t0 = t;
    it.lo = from;
    it.acquires = 7;
    printf("At %d: %c tries, for TIME from %d to %d\n",
           t, 'A' + a, from, from + 2 * S)
}

inline begin_extension(from)
{
    it.phase = EXTENDING;
    it.t0 = t;
    it.extend_lo = from;
    it.extends = 7;
    it.extended = 1;
    it.yes = 0;
    printf("At %d: %c extends, for TIME from %d to %d\n",
           t, 'A' + a, from, from + 2 * S)
}

inline check_one_holder()
{
    k = 0;
    for (i : 0 .. ATTEMPTS - 1) {
        k = k + is_inside(i)
    }
    assert(k <= 1) /* ONE_HOLDER */
}

inline hold()
{
    it.phase = HOLDING;
    it.valid = it.t0 + TTL;
    it.yes = 0;
    it.t0 = 0;
    printf("At %d: %c holds it until %d\n", t, 'A' + a, it.valid);
    check_one_holder()
}

/* Of a lock that is held, too; or it was in vain. */
inline release()
{
    it.phase = OVER;
    it.valid = 0;
    it.yes = 0;
    it.t0 = 0;
    printf("At %d: %c releases\n", t, 'A' + a)
}

#define my (_pid - 1)
#define for_me(rule, what) d_step { rule -> a = my; what; finish() }
#define in_time(a) (t < attempt[a].t0 + TTL)
#define may_extend(a) \
    (a < EXTENDERS && attempt[a].phase == HOLDING && is_inside(a) && \
     !attempt[a].extended)
#define begins(from) \
    for_me(attempt[my].phase == IDLE && may_choose(from), begin(from)) \
    :: for_me(may_extend(my) && may_choose(from), begin_extension(from))

proctype AnAttempt()
{
end:
    do
    :: begins(0)
    :: begins(1)
    :: begins(2)
    :: begins(3)
    :: begins(4)
    :: begins(5)
    :: begins(6)
    :: begins(7)
    :: begins(8)
    :: begins(9)
    :: for_me(attempt[my].phase == ASKING && in_time(my) &&
              is_enough(attempt[my].yes), hold())
    :: for_me(attempt[my].phase == EXTENDING && is_inside(my) &&
              is_enough(attempt[my].yes), hold())
    :: for_me(attempt[my].phase != IDLE && attempt[my].phase != OVER,
              release())
    od
}

/* ---------------------------------------------------------------------------
 * A node. Requests take as long as they like, and may overtake each other.
 */

inline own(v)
{
    keep_until();
    here.end = (here.owner == a + 1 -> later(here.end, v + TTL + LINGER) :
                v + TTL + LINGER);
    here.owner = a + 1
}

inline count(phase_of_it, lo_of_it)
{
    it.yes = (it.phase == phase_of_it && is_counted(now_shown, lo_of_it) ->
              it.yes | bit_of(n) : it.yes)
}

inline acquire()
{
    it.acquires = it.acquires & ~bit_of(n);
    if
    :: here.owner != a + 1 && is_free(n, now_shown) ->
        own(now_shown);
        printf("At %d: node %d, at %d, grants %c, until %d\n",
               t, n, now_shown, 'A' + a, here.end);
        count(ASKING, it.lo)
    :: else
    fi
}

inline extend()
{
    it.extends = it.extends & ~bit_of(n);
    if
    :: here.owner == a + 1 ->
        own(now_shown);
        printf("At %d: node %d, at %d, extends %c, until %d\n",
               t, n, now_shown, 'A' + a, here.end);
        count(EXTENDING, it.extend_lo)
    :: here.owner != a + 1 && is_free(n, now_shown) ->
        own(now_shown);
        printf("At %d: node %d, at %d, takes %c back, until %d\n",
               t, n, now_shown, 'A' + a, here.end)
    :: else
    fi
}

inline be_released()
{
    here.owner = NOBODY;
    here.end = 0;
    printf("At %d: node %d is released\n", t, n)
}

inline vanish()
{
    here.owner = NOBODY;
    here.end = 0;
    here.until = 0;
    printf("At %d: the record on node %d expires\n", t, n)
}

#define here_id (_pid - 1 - ATTEMPTS)
#define to_here(x, arrives, lo, k, what) \
    d_step { has_bit(arrives, here_id) && can_show(here_id, k) && \
             passes_band(shows(here_id, lo, k), lo) -> \
             a = x; n = here_id; now_shown = shows(n, lo, k); what; finish() }
#define requests_arrive(x) \
    :: to_here(x, attempt[x].acquires, attempt[x].lo, 0, acquire()) \
    :: to_here(x, attempt[x].acquires, attempt[x].lo, 1, acquire()) \
    :: to_here(x, attempt[x].acquires, attempt[x].lo, 2, acquire()) \
    :: to_here(x, attempt[x].extends, attempt[x].extend_lo, 0, extend()) \
    :: to_here(x, attempt[x].extends, attempt[x].extend_lo, 1, extend()) \
    :: to_here(x, attempt[x].extends, attempt[x].extend_lo, 2, extend()) \
    :: d_step { attempt[x].phase == OVER && node[here_id].owner == x + 1 -> \
                a = x; n = here_id; be_released(); finish() }

proctype ANode()
{
end:
    do
    requests_arrive(0)
    requests_arrive(1)
#if ATTEMPTS > 2
    requests_arrive(2)
#endif
    :: d_step { may_vanish(here_id) -> n = here_id; vanish(); finish() }
    od
}

/* A validity that has ended is as good as none. */
inline tick()
{
    t++;
    for (i : 0 .. ATTEMPTS - 1) {
        attempt[i].valid = (is_inside(i) -> attempt[i].valid : 0)
    }
}

proctype Time()
{
end:
    do
    :: d_step { t < LAST_T -> tick(); finish() }
    od
}

init
{
    atomic {
        for (n : 1 .. ATTEMPTS) {
            run AnAttempt()
        }
        for (n : 1 .. NODES) {
            run ANode()
        }
        n = 0;
        run Time()
    }
}
