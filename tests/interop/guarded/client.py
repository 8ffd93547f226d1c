#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A small client of the guarded level, written from doc/protocol.md alone.

    driver try NAME [OPTION...]     one attempt
    driver wait NAME [OPTION...]    goes on trying until it holds

Prints "busy" and exits with 1; or prints "held TOKEN DIED" (the fencing token,
and 1 if the holder before died), extends the lock until its stdin ends, prints
"released" and exits with 0. "lost" and 2: it could not be extended.

    --ttl MS        10000
    --abandon       does not release, and does not extend
    --only I,J      asks these nodes only, and gives up what it got: for tests

    driver init MAX_TTL_MS SLACK_MS     begins a group

The servers are in QUORLOCK_SERVERS: 127.0.0.1:PORT, or unix://PATH.
"""
import argparse
import os
import random
import secrets
import select
import socket
import sys
import time

import scripts

NODE = "quorlock:node"
NODE_TIMEOUT_S = 2.0  # a test must not fail because a machine is slow
KEEP_MS = 24 * 3600 * 1000
DRIFT = 0.01
MARGIN_S = 0.002


def now_s():
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def lease_key(name):
    start = name.find("{")
    end = name.find("}", start + 1) if start >= 0 else -1
    if start >= 0 and end > start + 1:
        return f"quorlock:tagged:{name}"
    return f"quorlock:lock:{{{name}}}"


class Gone(Exception):
    """The node cannot be used any more."""


class Node:
    def __init__(self, url):
        path = url.removeprefix("unix://")
        if path.startswith("/"):
            self.socket = socket.socket(socket.AF_UNIX)
            address = path
        else:
            host, port = path.rsplit(":", 1)
            self.socket, address = socket.socket(), (host, int(port))
        self.socket.settimeout(60)
        self.socket.connect(address)
        self.replies = self.socket.makefile("rb")
        self.seen = 0  # the largest number that it has answered
        self.time = None  # (its TIME in us, at this moment of our clock)
        self.url = url
        info = self.call("INFO", "server")
        self.run = dict(line.split(":", 1) for line in info.split("\r\n")
                        if ":" in line)["run_id"]
        self.look()

    def send(self, *words):
        data = b"*%d\r\n" % len(words)
        for word in words:
            word = str(word).encode()
            data += b"$%d\r\n%s\r\n" % (len(word), word)
        self.sent_s = now_s()
        self.socket.sendall(data)

    def read(self):
        line = self.replies.readline().decode().rstrip("\r\n")
        if not line:
            raise Gone("the connection ended")
        kind, rest = line[0], line[1:]
        if kind == "-":
            raise Gone(rest)
        if kind == ":":
            return int(rest)
        if kind == "+":
            return rest
        if kind == "$":
            if rest == "-1":
                return None
            return self.replies.read(int(rest) + 2)[:-2].decode()
        return [self.read() for _ in range(int(rest))]

    def call(self, *words):
        self.send(*words)
        return self.read()

    def note_time(self, time_us):
        got_s = now_s()
        if self.time is None or got_s - self.sent_s <= NODE_TIMEOUT_S:
            self.time = (time_us, (self.sent_s + got_s) / 2)

    def time_now(self):
        time_us, at_s = self.time
        return time_us + int((now_s() - at_s) * 1e6)

    def look(self):
        time_us, self.record = self.call("EVAL", scripts.LOOK, 1, NODE)
        self.note_time(time_us)


class Lock:
    def __init__(self, nodes, name, ttl_ms):
        self.nodes, self.name, self.ttl_ms = nodes, name, ttl_ms
        self.quorum = len(nodes) // 2 + 1
        self.slack_ms = max(int(node.record[3]) for node in nodes)
        self.cfg = self.choose_cfg()
        self.lease = lease_key(name)
        self.fence = 0

    def choose_cfg(self):
        served = [cfg for node in self.nodes
                  if node.record[0] in ("ready", "quarantine", "forming")
                  for cfg in set(node.record[1:3]) if cfg]
        for cfg in set(served):
            if (int(cfg.split(".")[2]) == len(self.nodes) and
                    served.count(cfg) >= self.quorum):
                return cfg
        raise SystemExit("no group")

    def window(self):
        known = sorted(node.time_now() for node in self.nodes if node.time)
        unknown = len(self.nodes) - len(known)
        if len(known) < self.quorum:
            return None
        early = known[(len(self.nodes) - 1) // 2 - unknown]
        late = known[len(self.nodes) // 2]
        slack_us = self.slack_ms * 1000
        low, high = late - slack_us, early + slack_us
        return (low, high, early) if low <= high else None

    def linger_ms(self):
        return 5 * self.slack_ms

    def ask(self, nodes, request):
        """Sends to all, then reads. The answers that came, by node."""
        answers, asked = {}, []
        for node in nodes:
            try:
                node.send(*request(node))
                asked.append(node)
            except OSError:
                pass
        for node in asked:
            try:
                answer = node.read()
            except (Gone, OSError) as error:
                print(f"{node.url}: {error}", file=sys.stderr)
                continue
            node.note_time(answer[1])
            if answer[0] in (1, 2) and len(answer) > 2:
                node.seen = max(node.seen, answer[2])
            answers[node] = answer
        return answers

    def acquire_on(self, nodes, lift=0):
        """The answers to an acquire; p is larger by `lift`."""
        low, high, median = self.window()
        self.fence = 0
        self.token = secrets.token_hex(20)
        p = max(median, 1 + max(node.seen for node in self.nodes)) + lift
        return self.ask(nodes, lambda node: (
            "EVAL", scripts.ACQUIRE, 3, self.name, self.lease, NODE, self.cfg,
            node.run, self.token, f"{self.token} python", self.ttl_ms, p, low,
            high, self.linger_ms(), KEEP_MS, node.seen, 0))

    def attempt(self, second=False):
        start_s = now_s()
        if not self.window():
            return False
        answers = self.acquire_on(self.nodes)
        votes = {node: answer[2] for node, answer in answers.items()
                 if answer[0] == 1}
        while len(votes) >= self.quorum:
            most = max(votes.values())
            if list(votes.values()).count(most) >= self.quorum:
                self.fence = most
                break
            late = [node for node, f in votes.items() if f != most]
            for node, answer in self.ask(late, lambda node: (
                    "EVAL", scripts.CONFIRM, 2, self.lease, NODE, self.cfg,
                    node.run, self.token, most, node.seen, 0)).items():
                if answer[0] == 1:
                    votes[node] = answer[2]
            if all(votes[node] != most for node in late):
                break
        self.valid_until_s = self.validity(start_s)
        if self.fence and now_s() < self.valid_until_s:
            self.died = self.has_died(answers.values())
            return True
        self.fence = 0
        self.release()
        if not second and any(a[0] == -2 for a in answers.values()):
            return self.attempt(second=True)
        return False

    def validity(self, start_s):
        ttl_s = self.ttl_ms / 1000
        return start_s + ttl_s - ttl_s * DRIFT - MARGIN_S

    @staticmethod
    def has_died(answers):
        granted = [answer for answer in answers if answer[0] == 1]
        ended = {answer[5] for answer in granted if answer[3] == 2}
        for answer in granted:
            ended.update(answer[6].split())
        return bool(ended - {answer[5] for answer in granted
                             if answer[3] == 1})

    def extend(self):
        """The codes of the nodes' answers, if a majority counts."""
        start_s = now_s()
        if start_s >= self.valid_until_s or not self.window():
            return None
        low, high, _ = self.window()
        answers = self.ask(self.nodes, lambda node: (
            "EVAL", scripts.EXTEND, 3, self.name, self.lease, NODE, self.cfg,
            node.run, self.token, f"{self.token} python", self.ttl_ms,
            self.fence, low, high, self.linger_ms(), KEEP_MS, node.seen, 0))
        counted = sum(answer[0] == 1 and answer[2] == self.fence
                      for answer in answers.values())
        if counted < self.quorum or now_s() >= self.valid_until_s:
            return None
        self.valid_until_s = self.validity(start_s)
        return [answer[0] for answer in answers.values()]

    def release(self):
        answers = self.ask(self.nodes, lambda node: (
            "EVAL", scripts.RELEASE, 2, self.name, self.lease, self.token,
            KEEP_MS, int(self.fence > 0)))
        return sum(answer[0] == 1 for answer in answers.values())


def derived_group(nodes):
    value = 0xcbf29ce484222325
    for byte in ",".join(sorted(node.run for node in nodes)).encode():
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return f"{value:016x}.1.{len(nodes)}"


def init(nodes, max_ttl_ms, slack_ms):
    cfg = derived_group(nodes)
    hw = max(node.time_now() for node in nodes) + slack_ms * 1000
    members = ",".join(node.url for node in nodes)
    for node in nodes:
        if not node.call("EVAL", scripts.FORM, 1, NODE, cfg, max_ttl_ms,
                         slack_ms, node.run, members, hw):
            raise SystemExit(f"{node.url}: there is a record already")
    for node in nodes:
        if not node.call("EVAL", scripts.ACTIVATE, 1, NODE, cfg, node.run):
            raise SystemExit(f"{node.url}: not activated")


def hold(lock):
    """Extends until stdin ends."""
    while True:
        ready, _, _ = select.select([sys.stdin], [], [],
                                    lock.ttl_ms / 1000 / 3)
        if ready and not sys.stdin.readline():
            return True
        codes = lock.extend()
        if codes is None:
            return False
        if ready:  # somebody wants to know
            print("extended", *codes, flush=True)


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("verb", choices=["try", "wait", "init"])
    parser.add_argument("words", nargs="+")
    parser.add_argument("--ttl", type=int, default=10000)
    parser.add_argument("--abandon", action="store_true")
    parser.add_argument("--only")
    return parser.parse_args()


def main():
    options = parse()
    nodes = [Node(url) for url in os.environ["QUORLOCK_SERVERS"].split(",")]
    if options.verb == "init":
        init(nodes, int(options.words[0]), int(options.words[1]))
        return 0
    lock = Lock(nodes, options.words[0], options.ttl)
    if options.only:
        only = [nodes[int(i)] for i in options.only.split(",")]
        lock.acquire_on(only, lift=1000)
        lock.release()
        return 0
    while not lock.attempt():
        if options.verb == "try":
            print("busy", flush=True)
            return 1
        time.sleep(random.uniform(0.1, 0.2))
    print("held", lock.fence, int(lock.died), flush=True)
    if options.abandon:
        return 0
    if not hold(lock):
        print("lost", flush=True)
        return 2
    lock.release()
    print("released", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
