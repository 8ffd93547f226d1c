# SPDX-License-Identifier: BSD-2-Clause
"""The exhibits: what is in exhibits/M*.py, read and looked through.

An exhibit is a bug that another lock client really had, and the same mistake
made in our code, on which a check must fail. Its file says

    ELSEWHERE   whose bug it was: project and number, or version
    HAPPENED    what went wrong there
    FAULT       what goes wrong here with the edits
    EDITS       [(file, what is there once, what it becomes), ...]
    CHECK       "story/retry name_of_the_test", with * for anything;
                "cli/stop.py Class.test"
    HANGS       True if the check need not fail: it may also never end

or, where the mistake cannot be made here, ELSEWHERE, HAPPENED and ABSENT: why.
"""
import collections
import pathlib
import runpy

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]

Exhibit = collections.namedtuple(
    "Exhibit", "id elsewhere happened fault edits check hangs absent")


def text_of(value):
    return " ".join(value.split())


def read(path):
    said = runpy.run_path(str(path))
    absent = said.get("ABSENT")
    return Exhibit(
        id=path.stem, elsewhere=text_of(said["ELSEWHERE"]),
        happened=text_of(said["HAPPENED"]),
        fault=None if absent else text_of(said["FAULT"]),
        edits=None if absent else said["EDITS"],
        check=None if absent else Check(said["CHECK"]),
        hangs=said.get("HANGS", False),
        absent=absent and text_of(absent))


class Check:
    """One test of one program or script."""

    def __init__(self, text):
        self.text = text
        self.place, _, self.test = text.partition(" ")
        self.is_script = self.place.endswith(".py")

    def __eq__(self, other):
        return self.text == other.text

    def __hash__(self):
        return hash(self.text)

    @property
    def target(self):
        """What must be built for it."""
        if self.is_script:
            return "quorlock_command"
        return "test_" + self.place.replace("/", "_")

    @property
    def source(self):
        return "tests/" + self.place + ("" if self.is_script else ".c")


def read_all():
    return [read(path) for path in sorted((HERE / "exhibits").glob("M*.py"))]
