# SPDX-License-Identifier: BSD-2-Clause
# For test scripts in bash: counts checks and says which failed.
#
#     . "$(dirname "$0")/../lib/checks.sh"
#     check "the file is there" test -f file
#     checks_done
#
# The last line is "N passed, M failed", which scripts/test adds up.

checks_passed=0
checks_failed=0

# check WHAT COMMAND [ARG...]: passes if the command exits with 0; what it
# printed is shown only if it does not.
check() {
    local what=$1 output status=0
    shift
    output=$("$@" 2>&1 </dev/null) || status=$?
    if [ "$status" -eq 0 ]; then
        checks_passed=$((checks_passed + 1))
        printf 'ok   %s\n' "$what"
    else
        checks_failed=$((checks_failed + 1))
        printf 'FAIL %s (exit code %s of: %s)\n' "$what" "$status" "$*"
        printf '%s\n' "$output" | sed 's/^/     | /'
    fi
    return 0
}

# exits_with CODE COMMAND [ARG...]: for check, where failure is expected.
exits_with() {
    local expected=$1 status=0
    shift
    "$@" || status=$?
    [ "$status" -eq "$expected" ] && return 0
    echo "exit code $status, expected $expected"
    return 1
}

checks_done() {
    printf '%d passed, %d failed\n' "$checks_passed" "$checks_failed"
    [ "$checks_failed" -eq 0 ]
}
