#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Faults planted in a copy of the library, one at a time: the simulator must
find each of them within a bounded number of worlds.

    planted.py CONFIG [NAME...]     CONFIG: written by CMake, see CMakeLists.txt

A fault is a piece of a source and what stands there instead. A piece that is
not there exactly once is an error: then the source has changed, and the fault
is to be planted anew.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import planted_guarded

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ACQUISITIONS = "150000"
GUARDED_ACQUISITIONS = "30000"

FAULTS = [
    # name, file, what stands there, what shall
    ("a majority is one less", "src/core/ballot.c",
     "if (yes >= ballot->quorum)\n        return QL_BALLOT_WON;",
     "if (yes + 1 >= ballot->quorum)\n        return QL_BALLOT_WON;"),
    ("validity ignores the elapsed time", "src/core/acquire.c",
     "ql_valid_until(m->t0, m->ttl_ns, m->rules->drift_ppm)",
     "ql_valid_until(m->now, m->ttl_ns, m->rules->drift_ppm)"),
    ("an extension ignores the elapsed time", "src/core/extend.c",
     "ql_valid_until(m->t0, m->ttl_ns, m->rules->drift_ppm)",
     "ql_valid_until(m->now, m->ttl_ns, m->rules->drift_ppm)"),
    ("drift is ignored", "src/core/validity.c",
     "return drift >= ttl_ns ? t0 : ql_time_add(t0, ttl_ns - drift);",
     "return drift >= ttl_ns ? t0 : ql_time_add(t0, ttl_ns);"),
    ("a failed attempt releases nothing", "src/core/clean.c",
     "    ql_send_releases(m, out);\n",
     "    ql_open_round(m, ql_time_add(m->now, m->rules->node_timeout_ns));\n"),
    ("only nodes that said yes are released", "src/core/round.c",
     "if (m->peer[i].key != QL_KEY_NONE)",
     "if (m->peer[i].key == QL_KEY_OURS)"),
    ("a late answer extends a lock that has ended", "src/core/hold.c",
     "if (m->state == QL_ST_HELD && m->now >= ql_hold_deadline(m))",
     "if (m->state == QL_ST_HELD && m->now >= ql_hold_deadline(m) &&\n"
     "        m->errand == QL_ERRAND_NONE)"),
    ("a lost lock may be extended", "src/core/extend.c",
     "    if (m->state == QL_ST_LOST)\n        return QL_OUT_TOO_LATE;\n", ""),
    ("a shorter ttl does not shorten the validity", "src/core/extend.c",
     "        m->valid_until = ql_time_min(m->valid_until, "
     "extended_until(m));\n", "        m->valid_until += 0;\n"),
    ("a repaired node is counted", "src/core/extend.c",
     "    ql_cast(m, ev->node, usable ? ev->vote : QL_VOTE_FAILED);\n",
     "    ql_cast(m, ev->node, ev->vote == QL_VOTE_MISSING ? QL_VOTE_YES\n"
     "                                                      : ev->vote);\n"),
    ("a token serves all attempts", "src/core/acquire.c",
     "    out->list[out->count++] = (struct ql_action){.kind = QL_DO_TOKEN};\n",
     "    if (m->attempt == 1)\n        out->list[out->count++] =\n"
     "            (struct ql_action){.kind = QL_DO_TOKEN};\n"),
    ("answers to an earlier attempt are counted", "src/core/step.c",
     "case QL_REQ_ACQUIRE:\n        if (ev->round == m->acquire_round)",
     "case QL_REQ_ACQUIRE:\n        if (ev->round > 0)"),
    ("a loss is told when it has happened", "src/core/hold.c",
     "? ql_time_sub(m->valid_until, m->terms->loss_notice_ns)",
     "? ql_time_add(m->valid_until, m->terms->loss_notice_ns)"),
    ("a majority without our key goes unnoticed", "src/core/release.c",
     "if (m->ballot.count[QL_VOTE_YES] >= m->rules->quorum)",
     "if (m->ballot.count[QL_VOTE_YES] + 1 >= m->rules->quorum)"),
    ("release.lua deletes whatever is there", "lua/release.lua",
     "if value == token or string.sub(value, 1, #token + 1) == token .. ' ' "
     "then", "if token then"),
    ("extend.lua extends whatever is there", "lua/extend.lua",
     "if value == token or string.sub(value, 1, #token + 1) == token .. ' ' "
     "then", "if token then"),
    ("extend.lua creates the key", "lua/extend.lua",
     "    return 0\n",
     "    redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])\n    return 1\n"),
    ("extend.lua does not extend", "lua/extend.lua",
     "    redis.call('PEXPIRE', KEYS[1], ARGV[2])\n", ""),
    ("release.lua takes the label for a part of the token",
     "lua/release.lua",
     "value == token or string.sub(value, 1, #token + 1) == token .. ' '",
     "value == token"),
    ("a connection that breaks forgets its releases",
     "src/redis/connection.c",
     "if (request.job == QL_JOB_COMMAND && request.kind == QL_CMD_RELEASE)",
     "if (request.job != QL_JOB_COMMAND && request.kind == QL_CMD_RELEASE)"),
    ("a release that finds its script flushed twice is done",
     "src/redis/receive.c",
     "(noscript && request.kind == QL_CMD_RELEASE))",
     "(noscript && request.kind != QL_CMD_RELEASE))"),
    ("a paused machine's clock is believed", "src/client/clock.c",
     "if (gained > (int64_t)QL_WALL_SLACK_NS)",
     "if (gained > INT64_MAX / 2)"),
    ("a release that waits is taken back by cancelling",
     "src/client/operation.c",
     "if (lock->op.gated && lock->op.kind != QL_OP_RELEASE) {",
     "if (lock->op.gated) {"),
    ("a timer does not follow a clock that jumped", "src/client/loop.c",
     "ql_time_max(ql_clock_boot(&client->clock, deadline), 1)",
     "ql_time_max(deadline, 1)"),
    ("a deadline of nothing disarms the timer", "src/client/loop.c",
     "ql_time_max(ql_clock_boot(&client->clock, deadline), 1)",
     "ql_clock_boot(&client->clock, deadline)"),
    ("a ttl is rounded down", "src/client/drive.c",
     "return ns / QL_NS_PER_MS + (ns % QL_NS_PER_MS != 0);",
     "return ns / QL_NS_PER_MS - (ns > 9 * QL_NS_PER_MS ? 5 : 0);"),
]


class Build:
    """Compiles a changed source, and links the simulator with it instead."""

    def __init__(self, config, directory):
        self.config = config
        self.directory = directory

    def run(self, *command):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")

    def compile(self, source, folder, more=()):
        """The file's own folder is searched first by #include."""
        target = self.directory / f"{source.stem}.o"
        self.run(*self.config["compile"], *more, f"-I{ROOT / folder}", "-c",
                 str(source), "-o", str(target))
        return target

    def embed(self, lua):
        output = self.directory / "generated/redis/scripts.inc"
        output.parent.mkdir(parents=True, exist_ok=True)
        scripts = ";".join(str(path) for path in sorted(lua.glob("*.lua")))
        self.run("cmake", f"-DSCRIPTS={scripts}", f"-DOUTPUT={output}", "-P",
                 str(ROOT / "cmake/embed.cmake"))
        return self.compile(ROOT / "src/redis/script.c", "src/redis",
                            [f"-I{self.directory / 'generated'}"])

    @staticmethod
    def change(text, name, before, after):
        if text.count(before) != 1:
            raise SystemExit(f"{name} has this {text.count(before)} times, "
                             f"not once:\n{before}")
        return text.replace(before, after)

    def plant(self, places):
        """Places: a file or several, what stands there, what shall."""
        changed = {}
        for names, before, after in places:
            for name in (names,) if isinstance(names, str) else names:
                text = changed.get(name)
                if text is None:
                    text = (ROOT / name).read_text(encoding="utf-8")
                changed[name] = self.change(text, name, before, after)
        scripts = {name: text for name, text in changed.items()
                   if name.startswith("lua/")}
        planted = [self.write_scripts(scripts)] if scripts else []
        for name in sorted(changed.keys() - scripts.keys()):
            source = self.directory / pathlib.Path(name).name
            source.write_text(changed[name], encoding="utf-8")
            planted.append(self.compile(source, pathlib.Path(name).parent))
        return planted

    def write_scripts(self, scripts):
        lua = self.directory / "lua"
        lua.mkdir()
        for path in (ROOT / "lua").glob("*.lua"):
            (lua / path.name).write_bytes(path.read_bytes())
        for name, text in scripts.items():
            (lua / pathlib.Path(name).name).write_text(text, encoding="utf-8")
        return self.embed(lua)

    def link(self, planted):
        program = self.directory / "sim"
        self.run(*self.config["link"], *map(str, planted),
                 *self.config["objects"], "-o", str(program))
        return program


def find(config, fault):
    """What the simulator says; None: it did not notice."""
    _, level, places = fault
    acquisitions = ACQUISITIONS if level == "plain" else GUARDED_ACQUISITIONS
    with tempfile.TemporaryDirectory() as path:
        directory = pathlib.Path(path)
        build = Build(config, directory)
        program = build.link(build.plant(places))
        done = subprocess.run(
            [program, "--inside", "--level", level, "--acquisitions",
             acquisitions],
            cwd=directory, capture_output=True, text=True, errors="replace")
        if done.returncode == 0:
            return None
        said = [line for line in done.stderr.splitlines()
                if line.startswith("seed ") or "Assertion" in line]
        return said[0] if said else f"it ended with {done.returncode}"


def main(path, *names):
    config = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    passed = failed = 0
    faults = [(name, "plain", [place]) for name, *place in FAULTS]
    faults += planted_guarded.FAULTS
    for fault in faults + (planted_guarded.MORE if names else []):
        if names and fault[0] not in names:
            continue
        said = find(config, fault)
        passed += said is not None
        failed += said is None
        print(f"{'found ' if said else 'MISSED'} {fault[0]}: {said}",
              flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


sys.exit(main(*sys.argv[1:]))
