#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Installs into a directory of its own and stands outside: programs in C and
# C++ find the library by pkg-config and by CMake, run against real servers,
# and see nothing but its public names.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/checks.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/ql-install-XXXXXX")
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
export PATH=$prefix/bin:$PATH
unset LD_LIBRARY_PATH CFLAGS CXXFLAGS LDFLAGS DESTDIR
# Nothing of the caller's, and no package but hiredis and ours.
export CMAKE_PREFIX_PATH=$prefix CMAKE_GENERATOR=Ninja

check "installs" cmake --install "$QUORLOCK_BUILD" --prefix "$prefix"

libdir=$(dirname "$(find "$prefix" -name libquorlock.so)")
export PKG_CONFIG_PATH=$libdir/pkgconfig
soname() {
    readelf -d "$libdir/libquorlock.so" | grep -q 'SONAME.*libquorlock\.so\.0'
}
only_public_names() {
    nm -D --defined-only "$libdir/libquorlock.so" |
        awk '$3 !~ /^ql_/ { print "exported: " $3; bad = 1 } END { exit bad }'
}
# Every function that the header declares is there, and the other way about.
same_names() {
    diff <(nm -D --defined-only "$libdir/libquorlock.so" |
               awk '{ print $3 }' | LC_ALL=C sort) \
        <(grep -A1 '^QL_API' "$prefix/include/quorlock/quorlock.h" |
              grep -o 'ql_[a-z_]*(' | tr -d '(' | LC_ALL=C sort -u)
}
check "the library has the name libquorlock.so.0" soname
check "exports names with ql_ only" only_public_names
check "exports what the header declares" same_names
check "no path of the build is left in the command" \
    sh -c '! readelf -d "$1" | grep RUNPATH | grep -q "$2"' sh \
    "$prefix/bin/quorlock" "$QUORLOCK_BUILD"
check "the command runs" quorlock --version
for page in man1/quorlock.1 man3/libquorlock.3; do
    check "the page $page is installed" \
        test -s "$prefix/share/man/$page"
done

# The header alone, in every language that may include it.
for compiler in gcc clang; do
    for standard in c11 c17 c++11 c++20; do
        case $standard in
        c++*) language=c++ ;;
        *) language=c ;;
        esac
        check "$compiler compiles the header alone as $standard" \
            "$compiler" -x "$language" -std="$standard" -Wall -Wextra \
            -pedantic -Werror -fsyntax-only -include quorlock/quorlock.h \
            -I"$prefix/include" /dev/null
    done
done

pc() {
    local compiler=$1 source=$2 output=$3
    # shellcheck disable=SC2046 # pkg-config's words are words
    "$compiler" -Wall -Wextra -pedantic -Werror -o "$output" "$source" \
        $(pkg-config --cflags --libs quorlock) -Wl,-rpath,"$libdir"
}
run_by() {
    local output
    output=$(quorlock dev -n 3 -- "$@") || return
    [ "$output" = "locked and released" ] || { echo "$output"; return 1; }
}
version() {
    [ "$(pkg-config --modversion quorlock)" = \
        "$(quorlock --version | awk '{ print $2; exit }')" ]
}
check "pkg-config knows the version of the command" version
check "pkg-config: a C program builds" pc gcc "$here/outside/main.c" "$work/c"
check "pkg-config: it locks and releases" run_by "$work/c"
check "pkg-config: a C++ program builds" \
    pc g++ "$here/outside/main.cpp" "$work/cpp"
check "pkg-config: it locks and releases too" run_by "$work/cpp"

cmake_build() {
    cmake -S "$here/outside" -B "$work/outside" && cmake --build "$work/outside"
}
check "CMake: find_package() and a program" cmake_build
check "CMake: it locks and releases" run_by "$work/outside/outside"
check "CMake: a newer minor version is refused" exits_with 1 \
    cmake -S "$here/outside" -B "$work/newer" -DWANTED=0.999

checks_done
