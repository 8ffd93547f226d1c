# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "node-redlock #11"
HAPPENED = """A server that could not save its data refused extend and unlock,
and both failed without a word."""
FAULT = "a release that the server refuses counts as done"
EDITS = [
    ("src/redis/answer.c",
     "        answer->verdict = ql_verdict_of_error(root->string, root->len);",
     "        answer->verdict =\n"
     "            request->kind == QL_CMD_RELEASE\n"
     "                ? QL_V_GRANTED\n"
     "                : ql_verdict_of_error(root->string, root->len);"),
]
CHECK = "wire/states trap_19_misconf"
