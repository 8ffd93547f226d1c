#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The examples do what they say, on real servers.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/checks.sh"
root=$here/../..
build=$QUORLOCK_BUILD/examples
PATH=$(dirname "$QUORLOCK"):$PATH

# prints PATTERN COMMAND [ARG...]: on five servers; a line of its output
# matches, and it exits with 0.
prints() {
    local pattern=$1 output status=0
    shift
    output=$(quorlock dev -n 5 -- "$@") || status=$?
    printf '%s\n' "$output"
    grep -qE "$pattern" <<<"$output" && return "$status"
}
# Kills three of five servers while renew is at work: it must say so and stop.
loses_it() {
    quorlock dev -n 5 -- bash -c '
        IFS=, read -r -a servers <<<"$QUORLOCK_SERVERS"
        "$1" 1000 &
        example=$!
        sleep 1
        for server in "${servers[@]:0:3}"; do
            redis-cli -s "${server#unix://}" SHUTDOWN NOSAVE
        done
        wait "$example"' bash "$build/renew" >"$work/lost"
    [ $? -eq 1 ] && grep -q '^lost at step .*: the lock was lost' "$work/lost"
}
held_by_another() {
    quorlock run nightly-report -- "$root/examples/report.sh"
}
export -f held_by_another
export root

work=$(mktemp -d "${TMPDIR:-/tmp}/ql-examples-XXXXXX")
trap 'rm -rf "$work"' EXIT
for source in "$root"/examples/*.c "$root"/examples/*.sh; do
    check "$(basename "$source") is tested here" \
        grep -q "$(basename "${source%.c}")" "$0"
done
check "blocking locks and unlocks" \
    prints '^order-42 is ours for [0-9]+ ms$' "$build/blocking"
check "async gets the first lock" prints '^order-1: released$' "$build/async"
check "async gets the second lock" prints '^order-2: released$' "$build/async"
check "renew outlives its ttl" prints '^step 10 of 10$' "$build/renew"
check "renew notices that the lock is lost" loses_it
check "report.sh makes the report" prints '^done$' "$root/examples/report.sh"
check "report.sh leaves the turn to others" \
    prints '^another host is at it$' bash -c held_by_another
checks_done
