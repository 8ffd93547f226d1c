#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Adds an amount to an account of the table in account.sql, under its lock:
#
#     quorlock run --level guarded account-alice -- account.sh alice 10
#
# Prints the new balance. Where the database is, psql takes from PGHOST,
# PGDATABASE and so on.
set -eu
: "${QUORLOCK_FENCE:?run this under quorlock run --level guarded}"
PGOPTIONS="-c quorlock.fence=$QUORLOCK_FENCE" exec psql -X -q -A -t \
    -v ON_ERROR_STOP=1 -v name="$1" -v amount="$2" <<'SQL'
UPDATE account SET balance = balance + :amount WHERE name = :'name'
    RETURNING balance;
SQL
