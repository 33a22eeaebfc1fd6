#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Pictures of the pages: screenshots.sh SOURCE BUILD [FOLDER [PLAN]].
# Wide and narrow, light and dark, in English and in Chinese.
set -uo pipefail
source=$1 build=$2
folder=${3:-$build/screenshots}
plan=$(realpath "${4:-$source/docs/example.qmplan}")
program=$build/src/app/quartermaster
[ -x "$program" ] || { echo "$program is not built"; exit 1; }

mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

export QM_DATA_DIR=$source/data QM_LOCALE_DIR=$build/po GSETTINGS_SCHEMA_DIR=$build/data
export QM_NVML_HELPER=$build/src/probe/quartermaster-nvml
export GSK_RENDERER=cairo GDK_BACKEND=x11 LIBGL_ALWAYS_SOFTWARE=1 GTK_A11Y=none GSETTINGS_BACKEND=keyfile
export XDG_CONFIG_HOME=$work/config XDG_DATA_HOME=$work/data XDG_CACHE_HOME=$work/cache XDG_RUNTIME_DIR=$work/run
export program
mkdir -m 700 "$XDG_RUNTIME_DIR"

# Inside the virtual screen: the picture is taken when two in a row are alike
# and something is on the screen.
# shellcheck disable=SC2016
inside='
  "$program" "${@:2}" &
  process=$!
  before=
  for _ in $(seq 30); do
    sleep 1
    kill -0 $process 2>/dev/null || break
    now=$(import -silent -window root ppm:- | sha256sum)
    colours=$(import -silent -window root -format %k info:-)
    if [ "$now" = "$before" ] && [ "${colours:-1}" -gt 8 ]; then
      import -silent -window root "$1"
      kill $process
      wait $process
      exit 0
    fi
    before=$now
  done
  kill $process 2>/dev/null
  exit 1
'

# picture NAME WIDTH HEIGHT SCHEME LOCALE [PLAN]
picture() {
  local name=$1 width=$2 height=$3 scheme=$4 locale=$5
  shift 5
  rm -rf "$XDG_CONFIG_HOME" "$XDG_DATA_HOME"
  mkdir -p "$XDG_CONFIG_HOME/glib-2.0/settings" "$XDG_DATA_HOME"
  printf '[io/github/quartermaster/Quartermaster]\nwindow-width=%d\nwindow-height=%d\n' "$width" "$height" \
    >"$XDG_CONFIG_HOME/glib-2.0/settings/keyfile"
  mkdir "$XDG_CONFIG_HOME/gtk-4.0"
  printf '[Settings]\ngtk-font-name=Inter 11\n' >"$XDG_CONFIG_HOME/gtk-4.0/settings.ini"
  # xvfb-run hangs where it is process 1 of a namespace: this shell stays above it.
  if ADW_DEBUG_COLOR_SCHEME=$scheme LC_ALL=$locale LANGUAGE=${locale%.*} \
    xvfb-run -a -s "-screen 0 ${width}x${height}x24 -nolisten tcp" \
    dbus-run-session -- bash -c "$inside" picture "$folder/$name.png" "$@" >"$work/log" 2>&1; then
    echo "$folder/$name.png"
  else
    echo "$name: no picture came"
    cat "$work/log"
    failed=1
  fi
}

failed=0
for page in start answer; do
  arguments=()
  [ $page = answer ] && arguments=("$plan")
  picture $page 1280 900 default en_US.UTF-8 "${arguments[@]}"
  picture $page-dark 1280 900 prefer-dark en_US.UTF-8 "${arguments[@]}"
  picture $page-narrow 400 800 default en_US.UTF-8 "${arguments[@]}"
  picture $page-zh_CN 1280 900 default zh_CN.UTF-8 "${arguments[@]}"
done
exit $failed
