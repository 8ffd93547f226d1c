#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Every file and test that doc/guarantees.md names is there.

A test is named as `path/of/the/file` (one name; another name): the file is
there, and each name stands in it, over the ends of lines if need be.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DOCUMENT = "doc/guarantees.md"
NAMED = re.compile(r"`((?:doc|lua|model|scripts|src|tests)/[^`\s]+)`"
                   r"(?:\s+\(([^()]*)\))?")


def words_of(text):
    """On one line; strings that C or Python puts together are one string."""
    return re.sub(r"\s+", " ", re.sub(r'"\s*\n\s*"', "", text))


def find_missing(path, names):
    file = ROOT / path
    if not file.is_file():
        return [f"there is no {path}"]
    text = words_of(file.read_text(encoding="utf-8"))
    return [f"{path} has no '{name}'" for name in names if name not in text]


def main():
    passed = failed = 0
    document = (ROOT / DOCUMENT).read_text(encoding="utf-8")
    for match in NAMED.finditer(document):
        names = [words_of(name).strip() for name in
                 (match[2] or "").split(";") if name.strip()]
        missing = find_missing(match[1], names)
        for what in missing:
            print(f"FAIL {DOCUMENT}: {what}")
        failed += len(missing)
        passed += 1 + len(names) - len(missing)
    if passed < 100:
        print(f"FAIL {DOCUMENT}: it names hardly anything")
        failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
