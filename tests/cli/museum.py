#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Bugs that other lock commands had, and that no other test here would notice
at once: see tests/museum."""
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "support"))
from harness import PATIENCE, Case, boot_ms, eventually, main  # noqa: E402

# Writes the time, again and again, until it is told to stop.
TICKER = """
import sys, time
with open(sys.argv[1], "wb", buffering=0) as file:
    while True:
        file.write(b"%d\\n" % (time.clock_gettime_ns(time.CLOCK_BOOTTIME)
                               // 1000000))
        time.sleep(0.005)
"""


class Museum(Case):
    nodes = 3

    def test_m49_asked_to_end_it_starts_nothing(self):
        token = self.hold("a")
        run = self.start("run", "a", "touch", self.path("started"))
        run.stderr.readline()  # that it waits
        run.send_signal(signal.SIGTERM)
        self.quorlock("release", "a", token)
        self.assertEqual(run.wait(PATIENCE), 143)
        self.assertFalse(os.path.exists(self.path("started")))

    def test_m57_it_is_told_to_stop_before_the_lock_ends(self):
        ttl_ms = 3000
        run = self.start("run", "--ttl", "%dms" % ttl_ms, "a", sys.executable,
                         "-c", TICKER, self.path("ticks"))
        eventually(lambda: self.read("ticks").count("\n") > 2, "a tick")
        for server in self.servers:
            server.kill()
        until = boot_ms() + ttl_ms  # if it was renewed at the last moment
        self.assertEqual(run.wait(PATIENCE), 76)
        self.assertLess(int(self.read("ticks").splitlines()[-1]), until)


if __name__ == "__main__":
    main()
