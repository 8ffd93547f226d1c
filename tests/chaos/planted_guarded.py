# SPDX-License-Identifier: BSD-2-Clause
"""Plants known faults into what the guarded level adds.

Each row: what is wrong; the attack that must notice it, or CROWD; the edits.
Most rules are kept at two places, by the client and inside the script: a fault
is then planted at both, because one alone must do no harm.
"""
import threading

from attacks import Attack
from contention import Contention
from planted import Builder

CROWD = "crowd"
SECONDS = 90  # so long the crowd is watched; most need one or two
ACQUIRE = "lua/guarded_acquire.lua"

FAULTS = [
    ("a node votes whatever its clock shows", "step",
     [(ACQUIRE, "if now < lo or now > hi or p > now + slack then",
       "if false then")]),
    ("a lease record ends with the ttl", "creep",
     [(ACQUIRE, "now + (ttl + linger) * 1000, f, bar, earlier),",
       "now + ttl * 1000, f, bar, earlier),")]),
    ("lease records are not looked at", "evict key",
     [(ACQUIRE, "local live = state == 'held' and now < ends",
       "local live = false")]),
    ("the key is not looked at", "evict lease",
     [(ACQUIRE, "ARGV[4], 'NX', 'PX', ARGV[5])", "ARGV[4], 'PX', ARGV[5])")]),
    ("a node without a record votes", "flush",
     [(ACQUIRE, "return {-1, now, 'missing'}", "return nil, 0, 150000, 0, 0")]),
    ("nobody looks for which life a node was declared ready", "power loss",
     [(ACQUIRE, "or run == '' or run ~= node[4] then", "then"),
      ("src/guard/judge.c", "if (strcmp(record->run, sight->run_id) == 0) {\n"
       "        ql_say(j, i, QL_V_GRANTED",
       "if (true) {\n        ql_say(j, i, QL_V_GRANTED")]),
    ("a quarantine takes no time", "amnesia",
     [("src/guard/derive.c",
       "return all < QL_UNKNOWN ? (uint64_t)all : QL_UNKNOWN - 1;",
       "return all < QL_UNKNOWN ? 0 : 1;")]),
    ("what a node saved is taken for all there was", "power loss",
     [("src/guard/judge.c", "sight->durable && record->sync[0] &&\n"
       "               strcmp(record->sync, record->run) == 0", "true"),
      ("lua/node.lua", "if was.state == 'ready' and was.sync ~= '' and "
       "was.sync == was.run and\n       sync == run then",
       "if was.state == 'ready' then")]),
    ("a number is as large as was proposed", CROWD,
     [(ACQUIRE, "f = p > base and p or base + 1", "f = p")]),
    ("a number may be that of the holder before", CROWD,
     [(ACQUIRE, "f = p > base and p or base + 1",
       "f = p > base and p or base")]),
]


def notice(programs, seed, attack):
    """(what is wrong with the test or "", what it saw of the fault)."""
    if attack == CROWD:
        figures = Contention("guarded crowd", programs, seed, SECONDS,
                             watch=True, commands=0).go()
        count = sum(figures[name] for name in (
            "equal tokens", "backward tokens", "overlaps inside the model"))
        return ("" if count else "not noticed",
                f"{figures['equal tokens']} equal, "
                f"{figures['backward tokens']} backward tokens, "
                f"{figures['overlaps inside the model']} overlaps in "
                f"{figures['acquisitions']} acquisitions")
    one = Attack(attack, "guarded", programs, seed, True)
    one.go()
    return ("" if one.double else "not noticed",
            f"{one.double} of the locks had two holders")


def check_all(build, programs, seed, report):
    """Builds one after the other; then they are noticed side by side."""
    found, threads = {}, []
    builder = Builder(build)

    def look(what, *arguments):
        try:
            found[what] = notice(*arguments)
        except Exception as error:  # a thread's would be lost
            found[what] = f"{type(error).__name__}: {error}", ""

    try:
        for what, attack, edits in FAULTS:
            try:
                names = ["worker", "swarm"] if attack == CROWD else ["worker"]
                faulty = {**programs, **builder.clients(edits, names)}
            except SyntaxError as error:
                found[what] = f"does not compile, or has changed:\n{error}", ""
                continue
            threads.append(threading.Thread(
                target=look, args=(what, faulty, seed, attack)))
            threads[-1].start()
        for thread in threads:
            thread.join()
        for what, _, _ in FAULTS:
            report.planted(what, *found[what])
    finally:
        builder.close()

