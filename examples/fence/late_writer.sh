#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Shows what a fencing token is for. A holder is paused until its lock has
# ended; another takes over, and writes; then the first one goes on.
#
#     quorlock dev -- examples/fence/late_writer.sh PROGRAM [unfenced]
#
# PROGRAM is the built late_writer. Exits with 0 if the file has what the last
# holder wrote.
set -eu
program=$1 unfenced=${2:-}
directory=$(mktemp -d)
file=$directory/prices
first=
clean() {
    [ -z "$first" ] || kill -KILL "$first" 2>/dev/null || :
    rm -rf "$directory"
}
trap clean EXIT

# The state of a process: T is stopped, Z has ended.
state_of() {
    sed 's/.*) \(.\).*/\1/' "/proc/$1/stat"
}

# shellcheck disable=SC2086 # "unfenced" or nothing
"$program" "$file" old pause $unfenced &
first=$!
until [ "$(state_of "$first")" = T ]; do
    [ "$(state_of "$first")" != Z ] || exit 2
    sleep 0.1
done
echo "(the first holder is paused; its lock ends; a second one waits for it)"
# shellcheck disable=SC2086
"$program" "$file" new $unfenced
echo "(the first holder goes on)"
kill -CONT "$first"
wait "$first" || :
first=
echo "the file says: $(cat "$file")"
[ "$(cat "$file")" = new ]
