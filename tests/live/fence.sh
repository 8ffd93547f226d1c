#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Resources that refuse late writers (examples/fence): a file, a table of a
# real PostgreSQL server, and a holder that was paused too long.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/checks.sh"
. "$here/../lib/postgres.sh"
fence=$here/../../examples/fence
build=$QUORLOCK_BUILD/examples
export PATH=$(dirname "$QUORLOCK"):$build:$PATH

work=$(mktemp -d "${TMPDIR:-/tmp}/ql-fence-XXXXXX")
trap 'postgres_stop; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
file=$work/prices

# --- The file

# puts TEXT TOKEN
puts() {
    printf '%s' "$1" | store "$file" "$2"
}
# has TEXT TOKEN: what the file has, and which token is the largest seen.
has() {
    [ "$(cat "$file")" = "$1" ] && [ "$(cat "$file.fence")" = "$2" ] &&
        return 0
    head "$file" "$file.fence"
    return 1
}
file_refuses() {
    exits_with 0 puts first 5 && has first 5 &&
        exits_with 0 puts second 7 && has second 7 &&
        exits_with 1 puts late 6 && has second 7 &&
        exits_with 0 puts again 7 && has again 7
}
file_wants_a_token() {
    local token
    for token in 0 -1 1x x 9007199254740992 18446744073709551617; do
        exits_with 2 puts wrong "$token" || return 1
    done
    exits_with 2 store "$file" && exits_with 0 puts most 9007199254740991
}
# What cannot be read is no reason to let everybody write.
file_is_not_opened_by_damage() {
    puts right 7 && : >"$file.fence" || return 1
    exits_with 2 puts wrong 9 && [ "$(cat "$file")" = right ]
}
# The number is raised before the content is replaced, which fails here.
file_is_safe_half_way() {
    mkdir "$file" && exits_with 2 puts half 9 && rmdir "$file" &&
        exits_with 1 puts late 8 && exits_with 0 puts whole 9 && has whole 9
}
# Many at once: whatever their order, the largest token stands at the end.
file_checks_in_one_step() {
    local token pids=()
    for token in $(seq 1 40 | shuf); do
        puts "$token" "$token" 2>>"$work/refused" &
        pids+=($!)
    done
    wait "${pids[@]}"
    has 40 40
}
# Each in a file of its own, and never in the way of the next.
in_file() {
    file=$work/$1
    "$1"
}

check "the file refuses a smaller token" in_file file_refuses
check "the file wants a token" in_file file_wants_a_token
check "a damaged record lets nobody write" in_file file_is_not_opened_by_damage
check "an interrupted write lets no older one in" in_file file_is_safe_half_way
check "forty writers at once: the largest stays" in_file file_checks_in_one_step

# --- The table

# sql TOKEN STATEMENT...: in one session.
sql() {
    local PGOPTIONS="-c quorlock.fence=$1" statement words=()
    shift
    for statement; do
        words+=(-c "$statement")
    done
    PGOPTIONS=$PGOPTIONS psql -X -q -A -t -v ON_ERROR_STOP=1 "${words[@]}"
}
# sets TOKEN BALANCE
sets() {
    sql "$1" "UPDATE account SET balance = $2 WHERE name = 'alice'"
}
# refuses PATTERN COMMAND...: it fails, and says so.
refuses() {
    local pattern=$1 output
    shift
    output=$("$@" 2>&1) && echo "not refused: $*" && return 1
    grep -E "$pattern" <<<"$output"
}
alice_has() {
    local row
    row=$(sql '' "SELECT balance, fence FROM account WHERE name = 'alice'")
    [ "$row" = "$1|$2" ] && return 0
    echo "alice has $row, not $1|$2"
    return 1
}
table_is_new() {
    psql -X -q -v ON_ERROR_STOP=1 -c 'DROP TABLE IF EXISTS account' \
        -c 'DROP FUNCTION IF EXISTS refuse_late_writer' \
        -f "$fence/account.sql" \
        -c "INSERT INTO account VALUES ('alice', 0), ('bob', 0)"
}
table_refuses() {
    table_is_new && sets 5 10 && alice_has 10 5 && sets 7 20 &&
        refuses 'account alice: token 6 is late, 7 was here' sets 6 30 &&
        alice_has 20 7 && sets 7 40 && alice_has 40 7 &&
        refuses 'token 6 is late' sql 6 'DELETE FROM account' &&
        alice_has 40 7
}
table_wants_a_token() {
    table_is_new && refuses 'no fencing token' sets '' 10 &&
        refuses 'invalid input syntax' sets five 10 && alice_has 0 0
}
# Until CONDITION, a query, is true.
until_sql() {
    until [ "$(sql '' "SELECT $1")" = t ]; do
        sleep 0.1
    done
}
# The smaller token comes while the larger one's transaction is open: it must
# wait, and be judged by what was committed.
table_checks_in_one_step() {
    local larger smaller
    table_is_new
    mkfifo "$work/larger"
    PGOPTIONS='-c quorlock.fence=9' psql -X -q <"$work/larger" &
    larger=$!
    exec 7>"$work/larger"
    echo "BEGIN; UPDATE account SET balance = 90 WHERE name = 'alice';" >&7
    until_sql "count(*) = 1 FROM pg_stat_activity
        WHERE state = 'idle in transaction'"
    refuses 'token 8 is late, 9 was here' sets 8 80 7>&- &
    smaller=$!
    until_sql "count(*) = 1 FROM pg_stat_activity
        WHERE wait_event_type = 'Lock'"
    echo 'COMMIT;' >&7
    exec 7>&-
    wait "$larger" && wait "$smaller" && alice_has 90 9
}

# on_servers COMMAND...: of this script, with real masters.
on_servers() {
    quorlock dev -n 5 -- "$@"
}
deposits() {
    quorlock run --level guarded account-alice -- \
        "$fence/account.sh" alice "$1"
}
# The token of a run that is over, which it kept for too long.
keeps_its_token() {
    quorlock run --level guarded account-alice -- \
        sh -c 'echo "$QUORLOCK_FENCE"'
}
runs_twice() {
    local late
    late=$(keeps_its_token) && [ "$(deposits 10)" = 10 ] &&
        [ "$(deposits 5)" = 15 ] &&
        refuses "token $late is late" sets "$late" 1000
}
table_under_a_lock() {
    table_is_new && on_servers bash -c runs_twice &&
        [ "$(sql '' "SELECT balance FROM account WHERE name = 'alice'")" = 15 ]
}
export -f deposits keeps_its_token runs_twice refuses sql sets
export fence

if postgres_start "$work"; then
    check "the table refuses a smaller token" table_refuses
    check "the table wants a token" table_wants_a_token
    check "the table checks and changes in one step" table_checks_in_one_step
    check "account.sql and account.sh, under a lock" table_under_a_lock
else
    check "PostgreSQL starts" false
fi
check "PostgreSQL stops" postgres_stop

# --- The holder that was paused

paused() {
    on_servers "$fence/late_writer.sh" "$build/late_writer" "$@" >"$work/said"
    local status=$?
    cat "$work/said"
    return "$status"
}
late_write_is_refused() {
    paused && grep -qE '^old: refused: token [0-9]+ is late, [0-9]+ was here$' \
        "$work/said" && grep -q '^the file says: new$' "$work/said"
}
late_write_corrupts() {
    exits_with 1 paused unfenced && grep -q '^the file says: old$' "$work/said"
}
stored_under_a_lock() {
    on_servers quorlock run --level guarded prices -- \
        sh -c 'echo data | store "$1"' sh "$work/stored" &&
        [ "$(cat "$work/stored")" = data ]
}

check "store takes the token of quorlock run" stored_under_a_lock
check "late_writer: a paused holder's late write is refused" \
    late_write_is_refused
check "late_writer: without the check it corrupts the file" \
    late_write_corrupts
checks_done
