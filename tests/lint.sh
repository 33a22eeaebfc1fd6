#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Style checks: lint.sh SOURCE BUILD [--analyse]. Exits 1 if anything is wrong. The quick
# ones are tests of the suite "house" as well.
set -uo pipefail
source=$1 build=$2
status=0

for script in "$source"/dev "$source"/.ci/run "$source"/tests/*.sh "$source"/tests/flatpak/*.sh "$source"/flatpak/*.sh "$source"/docs/reference/*.sh "$source"/data/*.bash; do
  bash -n "$script" || status=1
done

python3 "$source/tests/check-headers.py" "$source" "$build" || status=1

python3 "$source/tests/check-style.py" "$source" || status=1
python3 "$source/tests/analyse.py" "$source" "$build" "${@:3}" || status=1
"$source/tests/run-tests.sh" "$build" --suite house || status=1

exit $status
