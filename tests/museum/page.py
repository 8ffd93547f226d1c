#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes doc/museum.md, or says whether it is what would be written.

    page.py            writes it
    page.py --check    fails if it differs
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import museum  # noqa: E402

PAGE = museum.ROOT / "doc" / "museum.md"
HEAD = """\
# The bug museum

<!-- Written by tests/museum/page.py from tests/museum/exhibits. -->

What other lock clients got wrong, each one once. For every exhibit the same
mistake is made in a copy of our sources, and a test must fail on it:

    scripts/museum            all of them
    scripts/museum M14 M22    some

The numbers are those of issues and pull requests of the project; where there is
none it is a commit, a version or a file. They are told as what once happened,
and say nothing about what these projects do today. A letter behind our own
number: one of two sides of a bug.

The edits stand in `tests/museum/exhibits/`, one file each. `*` in the name of a
test stands for the rest of it.
"""


def cell(text):
    return text.replace("|", "\\|")


def check_cell(check):
    name = f" `{check.test}`" if check.test else ""
    return f"`{check.source}`{name}"


def row(exhibit):
    return (f"| {exhibit.id} | {cell(exhibit.elsewhere)}: "
            f"{cell(exhibit.happened)} | {cell(exhibit.fault)} "
            f"| {check_cell(exhibit.check)} |\n")


def write():
    exhibits = museum.read_all()
    shown = [exhibit for exhibit in exhibits if not exhibit.absent]
    absent = [exhibit for exhibit in exhibits if exhibit.absent]
    text = HEAD + "\n| | elsewhere | the same here | what notices it |\n" \
        "|---|---|---|---|\n"
    text += "".join(row(exhibit) for exhibit in shown)
    text += "\n## What cannot be shown here\n\n"
    if not absent:
        text += "Nothing: each of these mistakes could be made here.\n"
    else:
        text += "".join(
            f"- {exhibit.id}, {exhibit.elsewhere}: {exhibit.happened}\n"
            f"  {exhibit.absent}\n" for exhibit in absent)
    return text


def main():
    text = write()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(text)
        return 0
    same = PAGE.exists() and PAGE.read_text() == text
    if not same:
        print("doc/museum.md is not what tests/museum/page.py writes")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
