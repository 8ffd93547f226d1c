# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "sidekiq-unique-jobs #169, #368"
HAPPENED = "Keys without a ttl were left behind, and filled the memory."
FAULT = "SET is sent without a ttl"
EDITS = [
    ("src/redis/command.c",
     "    return ql_request_encode(request, 6, argv, len);",
     "    return ql_request_encode(request, 4, argv, len);"),
]
CHECK = "live/basic the_value_is_the_token_and_the_label*"
