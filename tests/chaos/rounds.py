# SPDX-License-Identifier: BSD-2-Clause
"""A profile over and over, each time in a new world and under another seed,
until so many acquisitions have been made."""
import collections

from contention import Contention

ROUND_S = 60
PACE = 0.4  # fewer faults a second, but numbers
WORST = ("worst hand-off ms", "worst overrun of a library user ms",
         "child outlived quorlock ms", "everybody after the faults s")
NOT_SUMMED = ("partitions", "median hand-off ms")


class Rounds:
    def __init__(self, name, programs, seed, acquisitions):
        self.name = name
        self.programs = programs
        self.seed = seed
        self.acquisitions = acquisitions
        self.figures = {}
        self.rounds = 0

    def go(self):
        """Returns the figures of all rounds together."""
        while not self.rounds or (
                self.figures["acquisitions"] < self.acquisitions
                and not self.figures["problems"]):
            self._add(Contention(self.name, self.programs,
                                 self.seed + self.rounds, ROUND_S,
                                 pace=PACE).go())
            self.rounds += 1
            self._tell()
        self.figures["rounds"] = self.rounds
        return self.figures

    def _add(self, figures):
        for name, value in figures.items():
            if name not in self.figures or name in NOT_SUMMED or isinstance(
                    value, str):
                self.figures[name] = value
            elif name in WORST:
                self.figures[name] = max(self.figures[name], value)
            elif name == "faults":
                self.figures[name] = dict(
                    collections.Counter(self.figures[name])
                    + collections.Counter(value))
            else:
                self.figures[name] += value

    def _tell(self):
        names = ("acquisitions", "tokens checked", "equal tokens",
                 "backward tokens", "overlaps inside the model")
        print(f"{self.figures['server']}, round {self.rounds}, in all: "
              + ", ".join(f"{self.figures[name]} {name}" for name in names)
              + f"; {self.figures['faults']}", flush=True)
        for problem in self.figures["problems"]:
            print(f"    {problem}", flush=True)
