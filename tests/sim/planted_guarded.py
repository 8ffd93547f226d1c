# SPDX-License-Identifier: BSD-2-Clause
"""The faults of the guarded level that planted.py plants: the checks of its
scripts, one at a time, and its traps. Each: a name, the level of the worlds
that must notice, and places: a file (or several, which have the same), what
stands there, what shall.

FAULTS are planted by the tests. MORE take more worlds than the tests have time
for; they are planted by their names."""

VOTING = ("lua/guarded_acquire.lua", "lua/guarded_confirm.lua",
          "lua/guarded_extend.lua")
AIMING = ("lua/guarded_acquire.lua", "lua/guarded_extend.lua")
ACQUIRE = "lua/guarded_acquire.lua"
CONFIRM = "lua/guarded_confirm.lua"
EXTEND = "lua/guarded_extend.lua"
RELEASE = "lua/guarded_release.lua"
NODE = "lua/node.lua"

FAULTS = [
    # --- Which node may vote
    ("a node without a record votes", "guarded", [
        (VOTING, "return {-1, now, 'missing'}", "return nil, 0, 1e15, 0, 0")]),
    ("a node in quarantine votes", "guarded", [
        (VOTING, "if node[1] ~= 'ready' or run == '' or run ~= node[4] then",
         "if false then"),
        ("src/guard/judge.c", "        j->condition[i] = QL_QUARANTINE;\n",
         "        ql_say(j, i, QL_V_GRANTED, \"%s\", \"\");\n")]),
    ("a restarted node votes", "guarded", [
        (VOTING, "if node[1] ~= 'ready' or run == '' or run ~= node[4] then",
         "if node[1] ~= 'ready' then"),
        ("src/guard/judge.c", "if (strcmp(record->run, sight->run_id) == 0) {\n"
         "        ql_say(j, i, QL_V_GRANTED",
         "if (record->run[0]) {\n        ql_say(j, i, QL_V_GRANTED")]),
    ("strict is not", "strict", [
        (VOTING, "if strict == '1' and run ~=",
         "if strict == '2' and run ~=")]),

    # --- Clocks
    ("a clock may be ahead", "guarded", [
        (ACQUIRE, "now > hi or ", ""), (EXTEND, " or now > hi", "")]),
    ("a clock may be behind", "guarded", [
        (ACQUIRE, "now < lo or ", ""), (EXTEND, "now < lo or ", "")]),
    ("acquire does not look at the clock", "guarded", [
        (ACQUIRE, "now < lo or now > hi or ", "")]),
    ("extend does not look at the clock", "guarded", [
        (EXTEND, "if now < lo or now > hi then", "if false then")]),
    ("a refusal for the clock is a yes", "guarded", [
        ("src/client/verdict.c", "        return QL_VOTE_SKEWED;",
         "        return QL_VOTE_YES;")]),
    ("a lease does not linger", "guarded", [
        (AIMING, "now + (ttl + linger) * 1000", "now + ttl * 1000")]),
    ("a lease lingers for one slack", "guarded", [
        ("src/client/watch.c", "#define LINGER_SLACKS 5",
         "#define LINGER_SLACKS 1")]),
    ("the band is three times as wide", "guarded", [
        ("src/guard/timebase.c", "if (high - low > 2 * slack_us)",
         "slack_us *= 3;\n    if (high - low > 2 * slack_us)")]),
    ("the band goes by one node's clock", "guarded", [
        ("src/guard/timebase.c",
         "low = at_rank(base, below - unknown, now_ns);",
         "low = at_rank(base, base->nodes - unknown - 1, now_ns);"),
        ("src/guard/timebase.c", "high = at_rank(base, above, now_ns);",
         "high = low;")]),

    # --- Leases
    ("the lease is not judged", "guarded", [
        (ACQUIRE, "if live and owner ~= token then", "if false then"),
        (ACQUIRE, "local live = state == 'held' and now < ends",
         "local live = state == 'held' and now < ends and owner == token")]),
    ("a lease never ends", "guarded", [
        (ACQUIRE, "local live = state == 'held' and now < ends",
         "local live = state == 'held'")]),
    ("the plain key is not looked at", "mixed", [
        (ACQUIRE, "        if not ours(plain()) then\n"
         "            return held()\n        end\n", "")]),
    ("the plain key is not written", "mixed", [
        (ACQUIRE, "redis.call('SET', KEYS[1], ARGV[4], 'NX', 'PX', ARGV[5])",
         "(redis.call('EXISTS', KEYS[1]) == 0)")]),
    ("extend takes a lease that is another's", "guarded", [
        (EXTEND, "(plain and not ours) or (live and owner ~= token)",
         "(plain and not ours)")]),
    ("extend does not extend the lease", "guarded", [
        (EXTEND, "local lasts = now + (ttl + linger) * 1000",
         "local lasts = 0")]),
    ("a repaired lease is counted", "guarded", [
        (EXTEND, "return {code, now, f}", "return {1, now, f}")]),
    ("release takes a lease that is another's", "guarded", [
        (RELEASE, "local record_ours = state == 'held' and owner == token",
         "local record_ours = state == 'held'"),
        (RELEASE, "local plain_ours = value == token or",
         "local plain_ours = plain or value == token or")]),
    ("release leaves the lease", "guarded", [
        (RELEASE, "if record_ours then", "if false then")]),
    ("release leaves the plain key", "guarded", [
        (RELEASE, "    redis.call('DEL', KEYS[1])\n", "")]),
    ("a record stays for ever", "guarded", [
        (RELEASE, "               'PX', keep)", "               'KEEPTTL')\n"
         "    redis.call('SET', KEYS[2], redis.call('GET', KEYS[2]))")]),

    # --- Numbers
    ("the number is the proposal", "guarded", [
        (ACQUIRE, "f = p > base and p or base + 1", "f = p")]),
    ("a number may come again", "guarded", [
        (ACQUIRE, "f = p > base and p or base + 1",
         "f = p > base and p or base")]),
    ("a lost record's number is 0", "guarded", [
        (VOTING, "math.max(f or hw, floor)", "math.max(f or 0, floor)")]),
    ("the largest number is not kept", "guarded", [
        (ACQUIRE, "if f > hw then", "if false then"),
        (CONFIRM, "if f > hw then", "if false then"),
        (EXTEND, "if f > hw then", "if false then")]),
    ("equal numbers are not asked for", "guarded", [
        ("src/core/fence.c", "peer[node].fence == fence &&",
         "peer[node].fence >= 1 && fence >= 1 &&")]),
    ("a minority with equal numbers is enough", "guarded", [
        ("src/core/fence.c", "if (count >= m->rules->quorum)",
         "if (count + 1 >= m->rules->quorum)")]),
    ("confirm does not ask whose it is", "guarded", [
        (CONFIRM, "if owner ~= ARGV[3] or state ~= 'held' or now >= ends then",
         "if false then")]),
    ("confirm answers what it was sent", "guarded", [
        (CONFIRM, "return {1, now, f}", "return {1, now, m}")]),
    ("confirm does not raise the number", "guarded", [
        (CONFIRM, "lease(owner, ends, f, bar, earlier)",
         "record")]),
    ("a node whose number is larger is given back", "guarded", [
        (EXTEND, "or base > t ", "")]),
    ("extend takes any number for ours", "guarded", [
        ("src/core/extend.c", "m->fence == 0 || ev->fence == m->fence",
         "true")]),

    # --- Holders that died
    ("nobody is told that a holder died", "guarded", [
        ("src/core/fence.c", "    m->died = has_died(m);\n", "")]),
    ("a contender hides a holder that died", "guarded", [
        (ACQUIRE, "earlier = string.match(' ' .. owner .. told, "
         "'^ %S+ ?%S* ?%S*')", "earlier = ''")]),

    # --- Quarantine
    ("a quarantine does not last, by the node's clock", "guarded", [
        (NODE, "now - at >= number(D) and ", ""),
        ("src/guard/recover.c", "return own > others ? own : others;",
         "return others;")]),
    ("a quarantine does not last, by the others' clocks", "guarded", [
        (NODE, " and number(ref) - since >= number(D)", ""),
        ("src/guard/recover.c", "return own > others ? own : others;",
         "return own;")]),
    ("a quarantine is over at once", "guarded", [
        (NODE, "at and now - at >= number(D) and number(ref) - since >= "
         "number(D)", "at"),
        ("src/guard/recover.c", "return own > others ? own : others;",
         "return 0;")]),
    ("no number is read back", "guarded", [
        (NODE, "'hw', larger_hw(hw), 'sync', sync,", "'sync', sync,")]),
    ("a restart is never without loss", "guarded", [
        (NODE, "    if was.state == 'ready' and was.sync ~= '' and was.sync == "
         "was.run and\n       sync == run then", "    if false then")]),
    ("looking puts off what is to be done", "guarded", [
        ("src/client/watch.c", "ql_time_add(watch->did_at[i], LOOK_EVERY_NS);",
         "ql_time_add(watch->looked_at[i], LOOK_EVERY_NS);")]),
    ("clocks that were put right are not seen", "guarded", [
        ("src/client/watch.c", "bool all = is_at_odds(client);",
         "bool all = client == NULL && is_at_odds(client);")]),
]

# Noticed within a few worlds.
_QUICK = {
    "a node without a record votes",
    "a node in quarantine votes",
    "a restarted node votes",
    "strict is not",
    "a lease does not linger",
    "the plain key is not looked at",
    "a quarantine is over at once",
    "the number is the proposal",
    "equal numbers are not asked for",
    "nobody is told that a holder died",
    "release takes a lease that is another's",
    "looking puts off what is to be done",
    "clocks that were put right are not seen",
}

MORE = [fault for fault in FAULTS if fault[0] not in _QUICK]
FAULTS = [fault for fault in FAULTS if fault[0] in _QUICK]
