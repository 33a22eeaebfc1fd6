#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs the tests of a build made with -Db_coverage=true, and prints which share of
# the lines they reach: coverage.sh SOURCE BUILD [MESON TEST ARGS]. Exits 1 where a
# layer has less than its least share, or a test fails.
set -uo pipefail
source=$1 build=$2
shift 2

find "$build" -name '*.gcda' -delete
"$source/tests/run-tests.sh" "$build" -t 3 --no-suite house "$@"
status=$?
python3 "$source/tests/coverage.py" "$source" "$build" || status=1
exit $status
