#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Chaos on real servers.

    main.py [--seconds N] [--seed S] [--moments N] [--json FILE]
            [--acquisitions N] [PART...]

PART: tools minority majority outside guarded attacks kill planted; all of them
by default. clocks, if it is asked for.
"""
import argparse
import os
import pathlib
import random
import sys

import attacks
import planted
import planted_guarded
import report
from contention import Contention
from guardian import end_politely
from kill import Kill
from rounds import Rounds
from tools import Tools

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Of --seconds.
SHARE = {"minority": 0.45, "majority": 0.2, "outside": 0.2, "guarded": 0.1,
         "clocks": 0.5}
PARTS = ["tools", "minority", "majority", "outside", "guarded", "attacks",
         "kill", "planted", "clocks"]


def programs_of(build):
    chaos = build / "tests" / "chaos"
    programs = {name: chaos / f"chaos_{name}"
                for name in ("worker", "swarm", "insider", "proxy")}
    programs["clkshim"] = chaos / "libchaos_clkshim.so"
    programs["quorlock"] = build / "quorlock"
    for path in programs.values():
        if not path.exists():
            sys.exit(f"chaos: {path} is missing: build first")
    return {name: str(path) for name, path in programs.items()}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=80,
                        help="how long contention lasts, in all")
    parser.add_argument("--seed", type=int,
                        default=random.SystemRandom().randrange(1000000))
    parser.add_argument("--moments", type=int,
                        help="of the kill test; by default as --seconds says")
    parser.add_argument("--acquisitions", type=int,
                        help="of the guarded part: as often as it takes")
    parser.add_argument("--build", type=pathlib.Path, default=os.environ.get(
        "QUORLOCK_BUILD") or ROOT / "build" / "dev")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("parts", nargs="*", metavar="PART")
    options = parser.parse_args()
    options.parts = options.parts or PARTS[:-1]
    for part in options.parts:
        if part not in PARTS:
            parser.error(f"no such part: {part}")
    options.build = pathlib.Path(options.build).resolve()
    return options


def run(part, options, programs, out):
    if part == "guarded" and options.acquisitions:
        out.profile(Rounds(part, programs, options.seed,
                           options.acquisitions).go())
    elif part in SHARE:
        out.profile(Contention(part, programs, options.seed,
                               options.seconds * SHARE[part]).go())
    elif part == "kill":
        out.kill(Kill(programs, options.seed, options.moments
                      or max(8, int(options.seconds * 0.6))).go())
    elif part == "tools":
        Tools(programs, options.seed).check_all(out)
    elif part == "attacks":
        attacks.check_all(programs, options.seed, out)
    elif part == "planted":
        for faults in (planted, planted_guarded):
            faults.check_all(options.build, programs, options.seed, out)


def main():
    options = arguments()
    programs = programs_of(options.build)
    end_politely()
    out = report.Report(options)
    try:
        for part in options.parts:
            run(part, options, programs, out)
    except KeyboardInterrupt:
        out.check("not interrupted", ["it was"])
    return out.finish()


if __name__ == "__main__":
    sys.exit(main())
