# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "node-redlock, its release script"
HAPPENED = """The script called DEL in a way that swallows its errors, and said
that the key was deleted whatever had become of it."""
FAULT = "the release script does not look at what DEL says"
EDITS = [
    ("lua/release.lua",
     "    redis.call('DEL', KEYS[1])",
     "    redis.pcall('DEL', KEYS[1])"),
]
CHECK = "wire/states a_release_that_is_put_off_is_tried_again"
