#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Style checks: lint.sh SOURCE BUILD. Exits 1 if anything is wrong.
set -uo pipefail
source=$1 build=$2
status=0

python3 "$source/tests/check-style.py" "$source" || status=1

for script in "$source"/dev "$source"/.ci/run "$source"/tests/*.sh "$source"/data/*.bash; do
  bash -n "$script" || status=1
done

# The command line must run on machines that have no desktop.
cli=$build/src/cli/quartermaster-cli
if [ -x "$cli" ]; then
  toolkits=$(readelf -d "$cli" | grep NEEDED | grep -iE 'libgtk|libgdk-|libadwaita') &&
    { printf '%s needs a desktop:\n%s\n' "$cli" "$toolkits"; status=1; }
else
  echo "quartermaster-cli is not built: what it links to was not checked"
fi

exit $status
