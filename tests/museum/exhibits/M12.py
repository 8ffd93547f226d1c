# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "node-redlock #39"
HAPPENED = """A driver gave back numbers as strings. The reply was not what had
been expected, and that was taken for a lock that was not released."""
FAULT = "a reply of the wrong type is read as if it were a number"
EDITS = [
    ("src/redis/answer.c", """
    if (root->type != QL_VALUE_INTEGER)
        return false;
    if (root->integer == 0)
""", """
    if (root->type != QL_VALUE_INTEGER || root->integer == 0)
"""),
]
CHECK = "unit/answer each_reply_is_that_answer"
