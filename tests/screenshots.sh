#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Pictures of every page, chart and page of the report, as a person sees them:
# screenshots.sh SOURCE BUILD [FOLDER [PLAN]]. The pages are wide and narrow,
# light and dark, in high contrast, in English, Chinese and German; PICTURES="narrow
# long" takes these variants alone. contact-sheet.png has all of them.
set -uo pipefail
source=$1 build=$2
mkdir -p "${3:-$build/screenshots}"
folder=$(realpath "${3:-$build/screenshots}")
plan=$(realpath "${4:-$source/docs/example.qmplan}")
program=$build/src/app/quartermaster
cli=$build/src/cli/quartermaster-cli
failed=0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

export QM_DATA_DIR=$source/data QM_LOCALE_DIR=$build/po GSETTINGS_SCHEMA_DIR=$build/data
export QM_NVML_HELPER=$build/src/probe/quartermaster-nvml
export GSK_RENDERER=cairo GDK_BACKEND=x11 LIBGL_ALWAYS_SOFTWARE=1 GTK_A11Y=none GSETTINGS_BACKEND=keyfile
export XDG_CONFIG_HOME=$work/config XDG_DATA_HOME=$work/data XDG_CACHE_HOME=$work/cache XDG_STATE_HOME=$work/state
export XDG_RUNTIME_DIR=$work/run
export program source
mkdir -m 700 "$XDG_RUNTIME_DIR"

# Inside the virtual screen: from the answer back through all questions by the
# keyboard; of a long screen, the answer alone. A picture is taken when two in a
# row are alike and differ from the page before; of a page that shows what the
# computer does now, which never rests, when its charts hold a few readings.
# shellcheck disable=SC2016
inside='
  prefix=$1 plan=$2 last=
  "$program" "$plan" &
  process=$!
  trap "kill $process 2>/dev/null" EXIT
  shoot() {
    local before= now
    for _ in $(seq 40); do
      sleep 0.5
      kill -0 $process 2>/dev/null || { echo "the program ended before $1"; exit 1; }
      now=$(import -silent -window root ppm:- | sha256sum)
      if [ "$now" = "$before" ] && [ "$now" != "$last" ] && [ "$(import -silent -window root -format %k info:-)" -gt 8 ]; then
        import -silent -window root "$prefix-$1.png"
        last=$now
        return
      fi
      before=$now
    done
    echo "$1 never came to rest"
    exit 1
  }
  shoot_live() {
    sleep 12
    kill -0 $process 2>/dev/null || { echo "the program ended before $1"; exit 1; }
    last=$(import -silent -window root ppm:- | sha256sum)
    import -silent -window root "$prefix-$1.png"
  }
  press() { python3 "$source/tests/press.py" "$@"; }

  shoot answer
  [ "$3" != answer ] || exit 0
  if [ "$3" = preferences ]; then
    rm "$prefix-answer.png"
    press Control_L comma
    shoot preferences
    exit 0
  fi
  for page in review limits stage scale model activity task start; do
    press Alt_L Left
    shoot $page
  done
  press Alt_L 2
  shoot_live computer
  press Alt_L 3
  shoot history
  press Control_L comma
  shoot preferences
'

# pages VARIANT WIDTH HEIGHT SCHEME LOCALE [answer|preferences]
pages() {
  local variant=$1 width=$2 height=$3 scheme=$4 locale=$5 which=${6:-all}
  case " ${PICTURES:-$variant} " in *" $variant "*) ;; *) return 0 ;; esac
  rm -rf "$XDG_CONFIG_HOME" "$XDG_DATA_HOME" "$XDG_STATE_HOME"
  mkdir -p "$XDG_CONFIG_HOME/glib-2.0/settings" "$XDG_CONFIG_HOME/gtk-4.0" "$XDG_DATA_HOME"
  printf '[io/github/quartermaster/Quartermaster]\nwindow-width=%d\nwindow-height=%d\n' "$width" "$height" \
    >"$XDG_CONFIG_HOME/glib-2.0/settings/keyfile"
  printf '[Settings]\ngtk-font-name=Inter 11\ngtk-cursor-blink=false\ngtk-enable-animations=false\n' \
    >"$XDG_CONFIG_HOME/gtk-4.0/settings.ini"
  # xvfb-run hangs where it is process 1 of a namespace: this shell stays above it.
  if ADW_DEBUG_COLOR_SCHEME=$scheme LC_ALL=$locale LANGUAGE=${locale%.*} \
    xvfb-run -a -s "-screen 0 ${width}x${height}x24 -nolisten tcp" \
    dbus-run-session -- bash -c "$inside" inside "$folder/$variant" "$plan" "$which" >"$work/log" 2>&1; then
    ls "$folder/$variant"-*.png
  else
    echo "$variant: not every picture came"
    cat "$work/log"
    failed=1
  fi
  grep -E 'WARNING|CRITICAL' "$work/log"
}

# Exit status 1: the plan has nothing for this kind.
charts() {
  local kind scheme status
  for kind in memory sizing scaling serving latency cost-time accuracy buy-or-rent spot elastic stages decision-hours decision-money; do
    for scheme in '' --dark; do
      "$cli" chart "$plan" --kind $kind $scheme -o "$folder/chart-$kind${scheme#-}.png" 2>"$work/log"
      status=$?
      case $status in
        0) echo "$folder/chart-$kind${scheme#-}.png" ;;
        1) echo "$kind: $(cat "$work/log")" ;;
        *) cat "$work/log"; failed=1 ;;
      esac
    done
  done
}

reports() {
  local language
  for language in en zh_CN; do
    LC_ALL=${language/en/en_US}.UTF-8 "$cli" report "$plan" --language $language -o "$work/$language.pdf" &&
      pdftoppm -r 80 -png "$work/$language.pdf" "$folder/report-$language" && ls "$folder/report-$language"*.png || failed=1
  done
}

# All of them on one, to see at a glance which is unlike the others.
contact_sheet() {
  rm -f "$folder/contact-sheet.png"
  montage -label '%t' "$folder"/*.png -thumbnail 300x400 -geometry +6+6 -tile 12x -background '#888888' "$work/sheet.png" &&
    mv "$work/sheet.png" "$folder/contact-sheet.png" && echo "$folder/contact-sheet.png" || failed=1
}

pages wide 1280 900 default en_US.UTF-8
pages dark 1280 900 prefer-dark en_US.UTF-8
pages narrow 400 800 default en_US.UTF-8
pages zh_CN 1280 900 default zh_CN.UTF-8
ADW_DEBUG_HIGH_CONTRAST=1 pages contrast 1280 900 default en_US.UTF-8
ADW_DEBUG_HIGH_CONTRAST=1 pages contrast-dark 360 720 prefer-dark en_US.UTF-8
pages narrow-de 360 720 default de_DE.UTF-8
pages narrow-dark-zh_CN 360 720 prefer-dark zh_CN.UTF-8
pages long 1280 6400 default en_US.UTF-8 answer
pages long-narrow 360 7400 default en_US.UTF-8 answer
pages long-de 1280 6400 default de_DE.UTF-8 answer
pages long-dark-zh_CN 1280 5600 prefer-dark zh_CN.UTF-8 answer
pages tall 900 1700 default en_US.UTF-8 preferences
pages tall-dark-zh_CN 400 2000 prefer-dark zh_CN.UTF-8 preferences
# For software centres: docs/screenshots has four of them.
pages store 1000 700 default en_US.UTF-8
pages store-dark 1000 700 prefer-dark en_US.UTF-8 answer
[ -n "${PICTURES:-}" ] || { charts; reports; }
contact_sheet
exit $failed
