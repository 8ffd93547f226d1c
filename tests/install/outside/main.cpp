// SPDX-License-Identifier: BSD-2-Clause
// The same in C++11, with owners that give back what they hold.
#include <cstdlib>
#include <iostream>
#include <memory>
#include <quorlock/quorlock.h>

int main()
{
    const char *servers = std::getenv("QUORLOCK_SERVERS");
    ql_client_options client_options = QL_CLIENT_OPTIONS_INIT;
    ql_lock_options options = QL_LOCK_OPTIONS_INIT;
    ql_client *opened = nullptr;
    ql_lock *made = nullptr;

    options.ttl_ms = 5000;
    if (ql_client_open(&opened, servers ? servers : "", &client_options))
        return 1;
    std::unique_ptr<ql_client, decltype(&ql_client_close)> client(
        opened, ql_client_close);
    if (ql_lock_new(&made, client.get(), "outside", &options))
        return 1;
    std::unique_ptr<ql_lock, decltype(&ql_lock_free)> lock(made, ql_lock_free);
    if (ql_lock_acquire(lock.get()) || ql_lock_release(lock.get())) {
        std::cout << ql_lock_error(lock.get()) << "\n";
        return 1;
    }
    std::cout << "locked and released\n";
    return 0;
}
