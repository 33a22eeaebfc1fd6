#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The benchmarks of the window, on a virtual screen: window.sh SOURCE BUILD
set -uo pipefail
source=$1 build=$2

XDG_RUNTIME_DIR=$(mktemp -d)
trap 'rm -rf "$XDG_RUNTIME_DIR"' EXIT
export XDG_RUNTIME_DIR GSK_RENDERER=cairo GDK_BACKEND=x11 LIBGL_ALWAYS_SOFTWARE=1 GTK_A11Y=none GDK_DEBUG=no-portals
export QM_DATA_DIR=$source/data GSETTINGS_SCHEMA_DIR=$build/data GSETTINGS_BACKEND=memory QM_NVML_HELPER=$build/src/probe/quartermaster-nvml

echo window
xvfb-run -a -s '-screen 0 1280x1024x24 -nolisten tcp' \
  dbus-run-session -- "$build/tests/benchmark/bench-window" 2>&1 | sed -n 's/^#   /  /p'
