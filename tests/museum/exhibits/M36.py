# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "Redisson, FencedLock"
HAPPENED = """getToken() asked the server for the token that is there now. A
holder that had lost its lock was given the next holder's token."""
FAULT = """a handle takes over the token that it finds on a node (the lock's own
token: there are no fencing tokens yet)"""
EDITS = [
    ("src/client/drive.c",
     "    ql_note_answer(lock, member->index, answer);\n",
     "    ql_note_answer(lock, member->index, answer);\n"
     "    if (answer->verdict == QL_V_HELD && answer->text_len >= 40)\n"
     "        memcpy(lock->token, answer->text, 40);\n"),
]
CHECK = "live/museum m36_*"
