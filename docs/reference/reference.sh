#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The reference of the core as web pages: reference.sh SOURCE BUILD FOLDER
#
# Comments lie beside the functions, so that the scanner reads headers and sources
# but runs nothing. What it says of bindings does not matter: there are none.
set -euo pipefail
source=$1 build=$2 output=$3
bindings='bare structure or union|Missing \(element-type\)|Unresolved type|Callbacks cannot be return values'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The scanner knows no typedef of an array.
cp -r "$source/src/core" "$work/core"
find "$work/core" -name '*.h' -exec sed -i -E 's/^typedef char (\w+)\[([0-9]+)\];/typedef struct { char text[\2]; } \1;/' {} +

cd "$work"
mapfile -t files < <(find core -name '*.[ch]' ! -name '*-private.h' | sort)
g-ir-scanner --header-only --no-libtool --warn-all --namespace=Qm --nsversion=1 --identifier-prefix=Qm --symbol-prefix=qm \
  --include=Gio-2.0 --include=Json-1.0 --pkg=gio-2.0 --pkg=json-glib-1.0 --pkg=sqlite3 \
  -Icore "-I$build/src/core" "-I$build" --output=Qm-1.gir "${files[@]}" >scanner.log 2>&1 ||
  { tail -n 20 scanner.log; exit 1; }
if grep -E 'Warning|Error' scanner.log | grep -vE "$bindings"; then
  exit 1
fi

version=$(sed -n 's/^#define QM_VERSION "\(.*\)"$/\1/p' "$build/config.h")
sed "s/@VERSION@/$version/" "$source/docs/reference/core.toml.in" >core.toml
mkdir -p "$output"
gi-docgen generate --quiet --no-namespace-dir --fatal-warnings --config=core.toml --content-dir="$source/docs/reference" \
  --output-dir="$output" Qm-1.gir
echo "$output/index.html"
