#!/bin/bash
# Runs the tests of a build folder on a virtual screen, inside a session bus of
# their own. Prints the log of what failed; the last line counts.
set -uo pipefail
build=$1
shift
log=$build/meson-logs/testlog.junit.xml
rm -f "$log"

export GSK_RENDERER=cairo GDK_BACKEND=x11 LIBGL_ALWAYS_SOFTWARE=1 NO_AT_BRIDGE=0
export XDG_RUNTIME_DIR=$build/runtime
mkdir -p "$XDG_RUNTIME_DIR" && chmod 700 "$XDG_RUNTIME_DIR"

# xvfb-run hangs where it is process 1 of a namespace: this shell stays above it.
xvfb-run -a -s '-screen 0 1280x1024x24 -nolisten tcp' \
  dbus-run-session -- meson test -C "$build" --no-rebuild --print-errorlogs "$@"

exec python3 "$(dirname "$0")/count-tests.py" "$log"
