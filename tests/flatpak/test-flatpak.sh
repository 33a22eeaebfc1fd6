#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Uses the installed Flatpak as a person does: test-flatpak.sh SOURCE WORK BUILD,
# with FLATPAK_USER_DIR, branch and arch of flatpak.sh. Speaks TAP; pictures and
# the report stay in WORK/seen.
set -uo pipefail
source=$1 work=$2 build=$3
id=io.github.quartermaster.Quartermaster
seen=$work/seen
exports=$FLATPAK_USER_DIR/exports/share
rm -rf "$seen"
mkdir -p "$seen"
passed=0 failed=0

is() { # is NAME COMMAND...
  local name=$1
  shift
  if "$@" >"$seen/$name.log" 2>&1; then
    passed=$((passed + 1))
    echo "ok $((passed + failed)) - $name"
  else
    failed=$((failed + 1))
    echo "not ok $((passed + failed)) - $name"
    grep -v '^dbus-daemon' "$seen/$name.log" | sed 's/^/# /' | tail -n 20
  fi
}

cli() { dbus-run-session -- flatpak --user run --filesystem="$seen" --command=quartermaster-cli "$@"; }

permissions() { flatpak --user info --show-permissions $id | python3 "$source/tests/check-flatpak.py" -; }

exported() {
  local file
  for file in applications/$id.desktop dbus-1/services/$id.service icons/hicolor/scalable/apps/$id.svg \
    icons/hicolor/symbolic/apps/$id-symbolic.svg icons/hicolor/scalable/mimetypes/$id.plan.svg mime/packages/$id.xml \
    metainfo/$id.metainfo.xml; do
    [ -e "$exports/$file" ] || { echo "$file is not exported"; return 1; }
  done
  desktop-file-validate "$exports/applications/$id.desktop"
}

# The same plan has the same answer inside and outside.
same_answer() {
  cp "$source/docs/example.qmplan" "$seen/example.qmplan"
  cli $id estimate "$seen/example.qmplan" --json >"$seen/inside.json" || return 1
  QM_DATA_DIR=$source/data QM_USER_DIR=$seen/nobody "$build/src/cli/quartermaster-cli" estimate "$seen/example.qmplan" --json >"$seen/outside.json"
  cmp "$seen/inside.json" "$seen/outside.json"
}

report_in_chinese() {
  cli $id report "$seen/example.qmplan" --language zh_CN -o "$seen/cli.pdf" || return 1
  [ "$(head -c 4 "$seen/cli.pdf")" = %PDF ] && pdftotext "$seen/cli.pdf" "$seen/cli.txt" && grep -q 内存 "$seen/cli.txt"
}

says_how_to_record() {
  local status=0
  cli $id record -- true 2>"$seen/record.txt" || status=$?
  cat "$seen/record.txt"
  [ $status = 1 ] && grep -q 'a Flatpak cannot run or watch other programs' "$seen/record.txt" && grep -q nvidia-smi "$seen/record.txt"
}

no_more_than_allowed() {
  ! cli $id recommend "$source/docs/example.qmplan" || { echo "the folder of the source is to be seen"; return 1; }
}

detects_the_processor() {
  cli $id detect --json | python3 -c 'import json, sys; seen = json.load(sys.stdin); print(seen["cpu"]); sys.exit(not seen["cpu"]["threads"])'
}

# ------------------------------------------------------- the driver of a GPU
# It comes as an extension, which brings NVIDIA's library under its usual name.
driver_version=999-99
make_driver() {
  local tree=$work/driver files name=org.freedesktop.Platform.GL.nvidia-$driver_version
  rm -rf "$tree"
  mkdir -p "$tree/files/lib" "$tree/files/card"
  files=$tree/files
  cp "$build/tests/probe/nvml-stub.so" "$files/lib/libnvidia-ml.so.1"
  printf '[device 0]\nbus=1\nid=10de:2684\nname=NVIDIA GeForce RTX 4090\ntotal-mib=24564\nfree-mib=23000\n' >"$files/script"
  mkdir -p "$files/card/sys/bus/pci/devices/0000:01:00.0/power"
  echo 0x030000 >"$files/card/sys/bus/pci/devices/0000:01:00.0/class"
  echo 0x10de >"$files/card/sys/bus/pci/devices/0000:01:00.0/vendor"
  echo 0x2684 >"$files/card/sys/bus/pci/devices/0000:01:00.0/device"
  echo active >"$files/card/sys/bus/pci/devices/0000:01:00.0/power/runtime_status"
  ln -s ../../../../bus/pci/drivers/nvidia "$files/card/sys/bus/pci/devices/0000:01:00.0/driver"
  printf '[Runtime]\nname=%s\nruntime=org.gnome.Platform/%s/%s\n\n[ExtensionOf]\nref=runtime/org.gnome.Platform/%s/%s\n' \
    "$name" "$arch" "$branch" "$arch" "$branch" >"$tree/metadata"
  [ -d "$work/driver-repo/objects" ] || ostree init --repo="$work/driver-repo" --mode=bare-user-only
  flatpak build-export --runtime --files=files --arch="$arch" "$work/driver-repo" "$tree" "$gl_branch" || return 1
  flatpak --user remote-add --if-not-exists --no-gpg-verify driver "file://$work/driver-repo"
  flatpak --user install --noninteractive --or-update driver "$name//$gl_branch"
}

# The tree of the card is in the extension too: this machine has none.
detects_the_gpu() {
  local at=/usr/lib/$arch-linux-gnu/GL/nvidia-$driver_version
  make_driver || return 1
  FLATPAK_GL_DRIVERS=nvidia-$driver_version cli --env=QM_SYSROOT="$at/card" --env=QM_NVML_LIBRARY=libnvidia-ml.so.1 \
    --env=QM_TEST_NVML="$at/script" $id detect --json >"$seen/detect.json" || return 1
  python3 - "$seen/detect.json" <<'END'
import json, sys
devices = json.load(open(sys.argv[1]))["devices"]
print(devices)
assert len(devices) == 1 and devices[0]["name"] == "NVIDIA GeForce RTX 4090", devices
assert devices[0]["memory_bytes"] == 24564 * 2**20, devices
END
}

# ---------------------------------------------------------------- the window
# From the start by the keyboard through all questions to the answer, and its
# report by the portal of the file chooser.
# shellcheck disable=SC2016
inside='
  export source seen
  "$build/tests/flatpak/file-portal" "$HOME/.var/app/$id/data/report.pdf" >"$seen/portal.txt" &
  flatpak --user run --env=GSK_RENDERER=cairo --env=GDK_BACKEND=x11 $id &
  last=
  rest() {
    local before= now
    for _ in $(seq 60); do
      sleep 0.5
      now=$(import -silent -window root ppm:- | sha256sum)
      if [ "$now" = "$before" ] && [ "$now" != "$last" ] && [ "$(import -silent -window root -format %k info:-)" -gt 8 ]; then
        import -silent -window root "$seen/$1.png"
        last=$now
        return
      fi
      before=$now
    done
    echo "$1 never came to rest"
    exit 1
  }
  press() { python3 "$source/tests/press.py" "$@"; }
  rest start
  for page in task activity model scale stage budget review answer; do
    press Alt_L Right
    rest $page
  done
  press Control_L p
  for _ in $(seq 60); do
    sleep 0.5
    [ ! -s "$HOME/.var/app/$id/data/report.pdf" ] || break
  done
  rest saved
  flatpak kill $id
  grep -q SaveFile "$seen/portal.txt"
'

wizard_to_report() {
  local report=$HOME/.var/app/$id/data/report.pdf
  rm -f "$report"
  # The draft of an earlier run would open at its answer.
  rm -rf "${HOME:?}/.var/app/$id"
  export inside seen source build id
  xvfb-run -a -s '-screen 0 1280x900x24 -nolisten tcp' dbus-run-session -- bash -c "$inside" || return 1
  cp "$report" "$seen/report.pdf" && pdftotext -layout "$seen/report.pdf" "$seen/report.txt" && grep -q Quartermaster "$seen/report.txt" &&
    [ "$(pdfinfo "$seen/report.pdf" | sed -n 's/^Pages: *//p')" -ge 2 ]
}

# The desktop asks the bus for the program, and the bus starts it.
# shellcheck disable=SC2016
activation='
  gdbus call --session --timeout 30 --dest $id --object-path /io/github/quartermaster/Quartermaster \
    --method org.freedesktop.Application.Activate "{}" && sleep 2 && flatpak ps --columns=application | grep -x $id
  status=$?
  flatpak kill $id
  exit $status
'
bus_starts_it() {
  export id
  XDG_DATA_DIRS=$exports:/usr/local/share:/usr/share GSK_RENDERER=cairo \
    xvfb-run -a -s '-screen 0 1280x900x24 -nolisten tcp' dbus-run-session -- bash -c "$activation"
}

gl_branch=1.4
HOME=$work/home
XDG_RUNTIME_DIR=$(mktemp -d)
export HOME XDG_RUNTIME_DIR
mkdir -p "$HOME"
trap 'rm -rf "$XDG_RUNTIME_DIR"' EXIT

# Read as a whole before it runs: who edits it meanwhile disturbs nothing.
{
is permissions permissions
is exported exported
is same-answer same_answer
is report-in-chinese report_in_chinese
is says-how-to-record says_how_to_record
is no-more-than-allowed no_more_than_allowed
is detects-the-processor detects_the_processor
is detects-the-gpu detects_the_gpu
is wizard-to-report wizard_to_report
is bus-starts-it bus_starts_it
echo "1..$((passed + failed))"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
exit
}
