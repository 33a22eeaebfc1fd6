#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The tests under sanitizers, in builds of their own: sanitize.sh SOURCE BUILD KIND [MESON TEST ARGS]
#   address    everything, with the sanitizers of addresses, leaks and undefined behaviour
#   valgrind   the suites core and probe, under valgrind
#   thread     where threads meet, with the sanitizer of threads
# The build folders are BUILD-asan, BUILD and BUILD-tsan, and must have been built.
set -uo pipefail
source=$1 build=$2 kind=$3
shift 3

case $kind in
  address)
    # Everything is slower by three to ten times: so are the limits of the tests.
    export ASAN_OPTIONS=fast_unwind_on_malloc=0:detect_leaks=1:strict_string_checks=1:halt_on_error=1
    export LSAN_OPTIONS=suppressions=$source/tests/lsan.supp:print_suppressions=0
    export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
    exec "$source/tests/run-tests.sh" "$build-asan" -t 10 --no-suite house "$@" ;;
  valgrind)
    wrapper="valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite --num-callers=30
      --trace-children=no --suppressions=/usr/share/glib-2.0/valgrind/glib.supp"
    [ $# -gt 0 ] || set -- --suite core --suite probe
    G_SLICE=always-malloc QM_TEST_VALGRIND=1 exec "$source/tests/run-tests.sh" "$build" -t 60 --wrapper "$(echo $wrapper)" "$@" ;;
  thread)
    [ $# -gt 0 ] || set -- threads
    TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1 exec "$source/tests/run-tests.sh" "$build-tsan" -t 20 "$@" ;;
  *) echo "sanitize.sh: no such kind: $kind"; exit 2 ;;
esac
