#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs the tests of a build folder on a virtual screen, inside a session bus of
# their own: run-tests.sh BUILD [MESON TEST ARGS]. Prints the logs of what failed;
# the last line is "N passed, N failed".
set -uo pipefail
here=$(dirname "$(realpath "$0")")
build=$1
shift
log=$build/meson-logs/testlog.json

# The logs are one set: a second run waits.
exec 9>"$build/.test-lock"
flock 9
rm -f "$log"

# A short path: that of a socket has 108 letters at most.
XDG_RUNTIME_DIR=$(mktemp -d)
trap 'rm -rf "$XDG_RUNTIME_DIR"' EXIT
export XDG_RUNTIME_DIR GSK_RENDERER=cairo GDK_BACKEND=x11 LIBGL_ALWAYS_SOFTWARE=1 NO_AT_BRIDGE=0

# xvfb-run hangs where it is process 1 of a namespace: this shell stays above it.
xvfb-run -a -s '-screen 0 1280x1024x24 -nolisten tcp' \
  dbus-run-session -- meson test -C "$build" --no-rebuild --print-errorlogs "$@" 9>&-

python3 "$here/count-tests.py" "$log"
