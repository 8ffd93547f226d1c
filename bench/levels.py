#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What the levels cost: an uncontended cycle of acquire and release, against
the limit program, in alternation on the same servers.

    bench/levels.py [--nodes N] [--rounds R] [--cycles C] [--build DIR]

Prints medians over the rounds with their spread, and ratios to the limit: the
latency of a cycle, the client's processor time, and the servers', all nodes
together.
"""
import argparse
import os
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "lib"))
from servers import Servers  # noqa: E402

CLIENTS = ["limit", "plain", "guarded", "strict"]
COLUMNS = ["p50 us", "p99 us", "client CPU us", "server CPU us"]


def build(directory):
    commands = [["cmake", "-S", ROOT, "-B", directory, "-G", "Ninja",
                 "-DCMAKE_BUILD_TYPE=Release", "-DQUORLOCK_TESTS=OFF",
                 "-DQUORLOCK_BENCH=ON"],
                ["cmake", "--build", directory, "--target", "bench_cycle",
                 "bench_limit", "quorlock_command"]]
    for command in commands:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def server_cpu_us(servers):
    """What all servers have used so far."""
    total = 0
    for server in servers.servers:
        fields = dict(line.split(":", 1) for line
                      in server.command("INFO", "cpu").splitlines()
                      if ":" in line)
        total += (float(fields["used_cpu_user"]) +
                  float(fields["used_cpu_sys"])) * 1e6
    return total


def run(client, servers, cycles, directory):
    if client == "limit":
        argv = [os.path.join(directory, "bench", "limit")]
    else:
        argv = [os.path.join(directory, "bench", "cycle"), client]
    before = server_cpu_us(servers)
    done = subprocess.run([*argv, servers.list, str(cycles)], text=True,
                          check=True, stdout=subprocess.PIPE)
    p50, p99, cpu = (float(word) for word in done.stdout.split()[1:4])
    spent = server_cpu_us(servers) - before
    return p50, p99, cpu, spent / (cycles + cycles // 10)


def show(results):
    limit = [statistics.median(column) for column in zip(*results["limit"])]
    print(f"{'':9}" + "".join(f"{name:>28}" for name in COLUMNS))
    for client in CLIENTS:
        cells = []
        for i, column in enumerate(zip(*results[client])):
            middle = statistics.median(column)
            cells.append(f"{middle:9.1f} [{min(column):.1f}-{max(column):.1f}]"
                         f" {middle / limit[i]:5.2f}x")
        print(f"{client:9}" + "".join(f"{cell:>28}" for cell in cells))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--cycles", type=int, default=5000)
    parser.add_argument("--build", default=os.path.join(ROOT, "build",
                                                        "bench"))
    options = parser.parse_args()
    build(options.build)
    results = {client: [] for client in CLIENTS}
    with Servers(options.nodes) as servers:
        subprocess.run([os.path.join(options.build, "quorlock"), "init",
                        "-S", servers.list], check=True,
                       stdout=subprocess.DEVNULL)
        print(f"N={options.nodes}, {options.rounds} rounds of "
              f"{options.cycles} cycles each, in turn;",
              servers.servers[0].command("INFO", "server").splitlines()[1])
        for _ in range(options.rounds):
            for client in CLIENTS:
                results[client].append(run(client, servers, options.cycles,
                                           options.build))
    show(results)


if __name__ == "__main__":
    main()
