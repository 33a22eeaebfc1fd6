#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes the tarball of the last commit, builds what is in it, and installs that: dist.sh BUILD
set -euo pipefail
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'

# Its tests are run below, where nothing of the source is near.
meson dist -C "$build" --no-tests --formats xztar >"$work/dist.log" 2>&1 || { cat "$work/dist.log"; exit 1; }
tarball=$(ls -t "$build"/meson-dist/*.tar.xz | head -n1)
(cd "$build/meson-dist" && sha256sum -c --quiet "$(basename "$tarball").sha256sum")
tar -x -f "$tarball" -C "$work"
tree=$(echo "$work"/quartermaster-*)
meson setup "$work/build" "$tree" >"$work/setup.log" 2>&1 || { cat "$work/setup.log"; exit 1; }
ninja -C "$work/build" >"$work/ninja.log" 2>&1 || { tail -n 40 "$work/ninja.log"; exit 1; }
meson test -C "$work/build" --no-rebuild --suite cli --suite core -t 5 >"$work/test.log" 2>&1 || { tail -n 60 "$work/test.log"; exit 1; }
"$tree/tests/check-install.sh" "$tree" "$work/build"
echo "$tarball"
