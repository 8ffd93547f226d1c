/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One seller of the flash sale: reads the stock, thinks for a moment, and
 * writes back one less. Two sellers that do so at the same time sell the same
 * item, unless a lock makes them take turns.
 *
 *     worker open FILE ITEMS     makes the database
 *     worker sell FILE [NAME]    sells until nothing is left; with a NAME
 *                                under the lock of that name, on the servers
 *                                in QUORLOCK_SERVERS
 *     worker count FILE          prints how many were sold, and the stock
 *
 * The database is a real SQLite file. Each statement is safe by itself (WAL,
 * and a busy timeout); what is wrong without a lock is only the logic.
 */
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "quorlock/quorlock.h"

#define BUSY_TIMEOUT_MS 60000
#define THINK_MIN_MS    10
#define THINK_MAX_MS    30
#define TTL_MS          10000
#define TRIES_MAX       100 /* of one sale, before something is badly wrong */

static void die(const char *what, const char *why)
{
    fprintf(stderr, "worker: %s: %s\n", what, why);
    exit(1);
}

static sqlite3 *open_database(const char *file)
{
    sqlite3 *db;

    if (sqlite3_open(file, &db) != SQLITE_OK)
        die(file, sqlite3_errmsg(db));
    sqlite3_busy_timeout(db, BUSY_TIMEOUT_MS);
    return db;
}

static void run(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        die(sql, sqlite3_errmsg(db));
}

static int number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement;
    int value;

    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_ROW)
        die(sql, sqlite3_errmsg(db));
    value = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

static void make_database(sqlite3 *db, int items)
{
    char sql[80];

    run(db, "PRAGMA journal_mode = WAL");
    run(db, "CREATE TABLE item (stock INTEGER)");
    run(db, "CREATE TABLE sale (seller INTEGER)");
    snprintf(sql, sizeof(sql), "INSERT INTO item VALUES (%d)", items);
    run(db, sql);
}

static void think(void)
{
    int ms = THINK_MIN_MS + rand() % (THINK_MAX_MS - THINK_MIN_MS + 1);
    struct timespec time = {0, ms * 1000000L};

    nanosleep(&time, NULL);
}

/* Read, modify, write. False: nothing is left. */
static bool sell_one(sqlite3 *db, const ql_lock *lock)
{
    int stock = number(db, "SELECT stock FROM item");
    char sql[80];

    if (stock <= 0)
        return false;
    think();
    /* Too late to write if the lock ran out in the meantime. */
    if (lock && ql_lock_valid_ms(lock) <= 0)
        return true;
    snprintf(sql, sizeof(sql), "UPDATE item SET stock = %d", stock - 1);
    run(db, sql);
    snprintf(sql, sizeof(sql), "INSERT INTO sale VALUES (%d)", (int)getpid());
    run(db, sql);
    return true;
}

/*
 * A release is no more than good manners here: a lock that cannot be released
 * runs out. QL_GONE would mean that our sale was not alone.
 */
static bool sell_one_locked(sqlite3 *db, ql_lock *lock)
{
    bool more;
    int result;

    for (int tries = 0; ql_lock_acquire(lock) != QL_OK; tries++)
        if (tries == TRIES_MAX)
            die("no lock", ql_lock_error(lock));
    more = sell_one(db, lock);
    result = ql_lock_release(lock);
    if (result == QL_GONE)
        die("the lock was lost", ql_lock_error(lock));
    return more;
}

static void sell_locked(sqlite3 *db, const char *name)
{
    const char *servers = getenv("QUORLOCK_SERVERS");
    ql_lock_options options = QL_LOCK_OPTIONS_INIT;
    ql_client *client;
    ql_lock *lock = NULL;
    char error[200];
    int result;

    if (!servers || ql_servers_check(servers, error, sizeof(error)) < 0)
        die("QUORLOCK_SERVERS", servers ? error : "not set");
    options.ttl_ms = TTL_MS;
    result = ql_client_open(&client, servers, NULL);
    if (result == QL_OK)
        result = ql_lock_new(&lock, client, name, &options);
    if (result != QL_OK)
        die(name, ql_result_text(result));
    while (sell_one_locked(db, lock))
        ;
    ql_lock_free(lock);
    ql_client_close(client);
}

int main(int argc, char **argv)
{
    const char *verb = argc > 2 ? argv[1] : "";
    sqlite3 *db;

    if (argc < 3 || argc > 4) {
        fprintf(stderr, "usage: worker open|sell|count FILE [...]\n");
        return 64;
    }
    srand((unsigned)getpid());
    db = open_database(argv[2]);
    if (strcmp(verb, "open") == 0 && argc == 4)
        make_database(db, atoi(argv[3]));
    else if (strcmp(verb, "sell") == 0 && argc == 4)
        sell_locked(db, argv[3]);
    else if (strcmp(verb, "sell") == 0)
        while (sell_one(db, NULL))
            ;
    else if (strcmp(verb, "count") == 0)
        printf("%d %d\n", number(db, "SELECT count(*) FROM sale"),
               number(db, "SELECT stock FROM item"));
    else
        die(verb, "no such verb");
    sqlite3_close(db);
    return 0;
}
