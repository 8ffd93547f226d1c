#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The demo of the README tells the truth: its own exit code is the check.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/checks.sh"

verdict() {
    "$here/../../demo/sale" "$QUORLOCK_BUILD" | tee /dev/stderr |
        grep -q 'With it: exactly 100, while two of five servers died'
}
set -o pipefail
check "the sale: oversold without the lock, exact with it" verdict
checks_done
