#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The completions and the manual know every option of every verb."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "support"))
from harness import Case, main  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
FOLDER = os.path.join(ROOT, "packaging", "completions")
VERBS = ("run", "acquire", "extend", "release", "status", "list",
         "force-release", "init", "members", "check", "dev")

# Completes the line in $1, of which the cursor is at the end.
COMPLETE = """
source "$0"
read -ra COMP_WORDS <<<"$1"
[[ $1 == *' ' ]] && COMP_WORDS+=('')
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_quorlock
printf '%s\\n' "${COMPREPLY[@]}"
"""


class Completions(Case):
    def options(self, verb):
        text = self.quorlock(verb, "--help").stdout
        found = re.findall(r"^  (?:-(.),|   ) --([a-z-]+)", text, re.M)
        self.assertGreater(len(found), 3)
        return found

    def complete(self, line):
        result = subprocess.run(
            ["bash", "-c", COMPLETE, os.path.join(FOLDER, "quorlock.bash"),
             line], capture_output=True, text=True, check=True)
        self.assertEqual(result.stderr, "")
        return result.stdout.split()

    def test_bash_knows_the_verbs(self):
        self.assertEqual(self.complete("quorlock re"), ["release"])
        for verb in VERBS:
            self.assertIn(verb, self.complete("quorlock "))

    def test_bash_knows_the_options(self):
        for verb in VERBS:
            known = self.complete("quorlock %s --" % verb)
            options = ["--" + name for _, name in self.options(verb)]
            alias = ["--timeout"] if verb in ("run", "acquire") else []
            self.assertEqual(sorted(known), sorted(options + alias))

    def test_bash_knows_where_options_end(self):
        self.assertIn("--wait", self.complete("quorlock run -n -w 5 --w"))
        self.assertEqual(self.complete("quorlock run -n name --w"), [])
        self.assertEqual(self.complete("quorlock run --on-lost k"), ["kill"])
        self.assertEqual(self.complete("quorlock run --level g"), ["guarded"])
        self.assertEqual(self.complete("quorlock members s"), ["settle"])
        self.assertIn("true", self.complete("quorlock run name tru"))
        self.assertIn("true", self.complete("quorlock run -n name -- tru"))
        self.assertIn("true", self.complete("quorlock dev -n 3 tru"))
        self.assertEqual(self.complete("quorlock status n"), [])

    def test_the_others_know_them_too(self):
        for file, pattern in (("_quorlock", r"--%s\b"),
                              ("quorlock.fish", r"-l %s\b")):
            with open(os.path.join(FOLDER, file)) as stream:
                text = stream.read()
            for verb in VERBS:
                self.assertIn(verb, text)
                for _, name in self.options(verb):
                    self.assertRegex(text, pattern % re.escape(name))

    def test_the_manual_knows_them_too(self):
        with open(os.path.join(ROOT, "doc", "quorlock.1")) as stream:
            text = stream.read()
        for verb in VERBS:
            self.assertIn(".Cm " + verb, text)
            for letter, name in self.options(verb):
                if verb == "dev" and name == "nodes":
                    name = "n Ar number"
                    pattern = r"Fl n Ar number"
                else:
                    pattern = r"Fl Fl %s\b" % name
                self.assertRegex(text, pattern)
                if letter:
                    self.assertRegex(text, r"Fl %s\b" % letter)
        for code in (1, 64, 69, 70, 71, 75, 76, 77, 78, 126, 127):
            self.assertRegex(text, r"(?m)^\.It (.* , )?%d\b" % code)


if __name__ == "__main__":
    main()
