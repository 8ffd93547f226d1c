#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A seed is the whole world: the same one twice is the same to the last event,
# alone or among others, and another one is another world.
#
#     determinism.sh SIM
set -eu
. "$(cd "$(dirname "$0")" && pwd)/../lib/checks.sh"
sim=$1
together=$("$sim" --seed 1 --runs 40 --each 100 --hash)
again=$("$sim" --seed 1 --runs 40 --each 100 --hash)
hashes() {
    grep -E '^[0-9]+ [0-9a-f]{16}$' <<<"$1"
}
one_by_one() {
    local seed
    for seed in {1..40}; do
        "$sim" --seed "$seed" --each 100 --hash
    done | grep -E '^[0-9]+ [0-9a-f]{16}$'
}
same() {
    [ -n "$1" ] && [ "$1" = "$2" ]
}
all_differ() {
    [ "$(cut -d' ' -f2 <<<"$1" | sort -u | wc -l)" -eq 40 ]
}
check "twice the same" same "$(hashes "$together")" "$(hashes "$again")"
check "one by one the same" same "$(hashes "$together")" "$(one_by_one)"
check "no two worlds the same" all_differ "$(hashes "$together")"
checks_done
