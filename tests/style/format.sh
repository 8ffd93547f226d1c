#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# clang-format has nothing to change, and mandoc nothing to say.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/checks.sh"
cd "$here/../.." || exit 1

all_formatted() {
    find include src tests demo examples \
        \( -name '*.[ch]' -o -name '*.cpp' \) -print0 |
        xargs -0 clang-format-14 --dry-run -Werror --style=file 2>&1 |
        grep ' error: '
    [ "${PIPESTATUS[1]}" -eq 0 ]
}
check "everything is formatted" all_formatted
for page in doc/*.[13]; do
    check "$page is a clean page" mandoc -Tlint -Wwarning "$page"
done
checks_done
