#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The operators' verbs and servers that answer nonsense: they end, and say so.

A real server does not do this, so it is played here.
"""
import os
import random
import socket
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "support"))
from harness import Case, main  # noqa: E402

VERBS = (["init"], ["init", "--again", "--yes"], ["members"], ["check"],
         ["list"], ["force-release", "--yes", "a"],
         ["status", "--level", "guarded", "a"],
         ["members", "settle", "--yes"])

REPLIES = {
    "nothing": b"",
    "ok": b"+OK\r\n",
    "one": b":1\r\n",
    "nil": b"$-1\r\n",
    "no array": b"*-1\r\n",
    "an empty array": b"*0\r\n",
    "an empty string": b"$0\r\n\r\n",
    "NULs": b"$3\r\n\0\0\0\r\n",
    "a string without end": b"$1000000000\r\nx",
    "an array without end": b"*1000000000\r\n",
    "a negative length": b"*-5\r\n$-9\r\n",
    "nesting": b"*1\r\n" * 5000,
    "no protocol": b"HTTP/1.1 400 Bad Request\r\n\r\n",
    "errors": b"-ERR \x1b]0;title\x07 \xff\r\n",
    "times": b"*2\r\n$1\r\nx\r\n$1\r\ny\r\n",
    "a huge time": b"*2\r\n$20\r\n99999999999999999999\r\n$2\r\n-1\r\n",
    "a record": b"*15\r\n" + b"$1\r\n9\r\n" * 15,
    "a record of nils": b"*15\r\n" + b"$-1\r\n" * 15,
    "a lock": b"*6\r\n:1\r\n:1\r\n$200\r\n" + b"x" * 200 +
              b"\r\n:-7\r\n:-1\r\n$40\r\n" + b"y" * 40 + b"\r\n",
    "a scan": b"*2\r\n$1\r\n0\r\n*2\r\n:1\r\n$-1\r\n",
    "an endless scan": b"*2\r\n$30\r\n" + b"1" * 30 + b"\r\n*0\r\n",
}


class Liar:
    """Answers each command with the same bytes, or with random ones."""

    def __init__(self, case, index, reply, seed):
        self.path = os.path.join(case.directory, "%d.sock" % index)
        self.reply, self.random = reply, random.Random(seed)
        self.listener = socket.socket(socket.AF_UNIX)
        if os.path.exists(self.path):
            os.unlink(self.path)
        self.listener.bind(self.path)
        self.listener.listen()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,),
                             daemon=True).start()

    def serve(self, client):
        with client:
            try:
                while client.recv(65536):
                    client.sendall(self.answer())
                    if self.reply == b"":
                        return
            except OSError:
                return

    def answer(self):
        if self.reply is not None:
            return self.reply
        return b"".join(self.random.choice(
            [b"*2\r\n", b"$1\r\nx\r\n", b":7\r\n", b"+OK\r\n", b"*0\r\n",
             b"-NOPERM x\r\n", b"$-1\r\n", b"*14\r\n", b"$5\r\nready\r\n",
             bytes([self.random.randrange(256)])])
            for _ in range(self.random.randrange(1, 20)))


class Hostile(Case):
    def play(self, reply, verbs, seed=0, count=1):
        liars = [Liar(self, index, reply, seed + index)
                 for index in range(count)]
        env = self.environment(
            QUORLOCK_SERVERS=",".join("unix://" + liar.path for liar in liars),
            QUORLOCK_PASSWORD="x" if seed % 2 else None)
        try:
            for verb in verbs:
                result = self.quorlock(*verb, env=env, text=False)
                what = (reply, verb, result.stderr)
                self.assertIn(result.returncode,
                              (1, 2, 64, 69, 75, 77, 78), what)
                self.assertNotIn(b"\x1b", result.stdout + result.stderr, what)
                self.assertNotIn(b"Sanitizer", result.stderr, what)
        finally:
            for liar in liars:
                liar.listener.close()

    def test_the_same_nonsense_for_everything(self):
        for name, reply in REPLIES.items():
            with self.subTest(name):
                self.play(reply, VERBS)

    def test_random_nonsense(self):
        for seed in range(10):
            self.play(None, VERBS[seed % 2::2], seed, count=2)


if __name__ == "__main__":
    main()
