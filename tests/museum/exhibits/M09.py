# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "redsync #149, #150"
HAPPENED = """A lock lived on two of three nodes for ever after one restart. As
the remedy, extending set the key where it was missing, and counted that as an
extension: after all nodes had forgotten a lock it was simply made anew."""
FAULT = "extend sets a key that is missing, and says that it was extended"
EDITS = [
    ("lua/extend.lua", """
    return 0
""", """
    redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
    return 1
"""),
]
CHECK = "live/faults trap_13_a_majority_that_forgot_the_key_means_loss*"
