# SPDX-License-Identifier: BSD-2-Clause
# For test scripts in bash: a PostgreSQL server of our own, on a unix socket
# alone, without a password, in a directory that is given.
#
#     . "$(dirname "$0")/../lib/postgres.sh"
#     postgres_start "$work" || exit 1      # sets PGHOST and the like
#     psql -X -c 'SELECT 1'
#     postgres_stop
#
# The server does not run as root: it becomes the user postgres, whom the
# package brought. It stops by itself if the script dies.

postgres_pid=

# Debian keeps the server's programs out of the PATH, a folder per version.
postgres_bin() {
    local bin
    bin=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
    [ -x "$bin/postgres" ] || bin=$(dirname "$(command -v postgres)")
    printf '%s\n' "$bin"
}

# postgres_start DIRECTORY
postgres_start() {
    local as=(setpriv --pdeathsig INT) bin directory=$1/postgres tries=0
    bin=$(postgres_bin)
    mkdir "$directory"
    if [ "$(id -u)" -eq 0 ]; then
        chmod 711 "$1"
        chown postgres:postgres "$directory"
        as+=(--reuid postgres --regid postgres --clear-groups)
    fi
    (cd "$directory" && "${as[@]}" "$bin/initdb" -D "$directory/data" -A trust \
        -U postgres -E UTF8 --locale=C --no-sync) >"$1/postgres.log" 2>&1 ||
        { cat "$1/postgres.log" >&2 && return 1; }
    (cd "$directory" && exec "${as[@]}" "$bin/postgres" -D "$directory/data" \
        -k "$directory" -c listen_addresses= -c fsync=off) \
        </dev/null >>"$1/postgres.log" 2>&1 &
    postgres_pid=$!
    export PGHOST=$directory PGUSER=postgres PGDATABASE=postgres
    unset PGOPTIONS PGPASSWORD PGPORT PGSERVICE
    until psql -X -q -c 'SELECT 1' >/dev/null 2>&1; do
        tries=$((tries + 1))
        if [ "$tries" -gt 600 ] || ! kill -0 "$postgres_pid" 2>/dev/null; then
            cat "$1/postgres.log" >&2
            return 1
        fi
        sleep 0.1
    done
}

postgres_stop() {
    [ -n "$postgres_pid" ] || return 0
    kill -INT "$postgres_pid" 2>/dev/null
    wait "$postgres_pid"
    postgres_pid=
}
