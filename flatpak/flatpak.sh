#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Builds the program as a Flatpak, in an installation of its own:
#   flatpak.sh SOURCE CACHE run [ARGS]         the development build, as the files lie
#   flatpak.sh SOURCE CACHE test [BUILD]       use it as a person does, on a virtual screen
#   flatpak.sh SOURCE CACHE release FOLDER [URL]
#                                              of the last commit: one file to hand on, and a repository
#                                              with a .flatpakref for URL, where FOLDER is published
#   flatpak.sh SOURCE CACHE reproduce          two releases, which have the same bytes
# The runtime comes from Flathub; where that cannot be reached, a stand-in is
# made of Debian's packages, which serves all but a release for others.
set -euo pipefail
source=$1 cache=$2 mode=$3
shift 3
id=io.github.quartermaster.Quartermaster
flathub=https://dl.flathub.org/repo/flathub.flatpakrepo
work=$cache/flatpak
arch=$(flatpak --default-arch)

say() { printf 'flatpak: %s\n' "$*" >&2; }
die() { say "$@"; exit 1; }

mkdir -p "$work"
export FLATPAK_USER_DIR=$work/installation
# Folders that flatpak makes are the person's own.
umask 022

has_runtime() { # has_runtime BRANCH
  flatpak --user info "org.gnome.Platform//$1" >/dev/null 2>&1 && flatpak --user info "org.gnome.Sdk//$1" >/dev/null 2>&1
}

# Sets the branch that is built for.
get_runtime() {
  branch=$(sed -n "s/^runtime-version: '\(.*\)'/\1/p" "$source/flatpak/$id.yml")
  has_runtime "$branch" && return
  if timeout 60 flatpak --user remote-add --if-not-exists flathub $flathub 2>/dev/null &&
    flatpak --user install --noninteractive flathub "org.gnome.Platform//$branch" "org.gnome.Sdk//$branch" >&2; then
    return
  fi
  branch=48
  if ! has_runtime $branch; then
    say "Flathub cannot be reached: making a stand-in for the runtime (1.5 GB, some minutes, once)"
    "$source/flatpak/stand-in-runtime.sh" "$work" >&2
  fi
  say "this is built for a stand-in of GNOME $branch, not for the real runtime"
}

# The manifest as it is for the runtime and the files that are here.
manifest() { # manifest ID TREE
  sed -e "s/^runtime-version: .*/runtime-version: '$branch'/" -e "s|path: \.\.|path: $2|" "$source/flatpak/$1.yml" >"$work/$1.yml"
  echo "$work/$1.yml"
}

build() { # build ID TREE [ARGS OF FLATPAK-BUILDER]
  local name=$1 tree=$2
  shift 2
  # Without FUSE: not every machine has it.
  flatpak-builder --user --force-clean --disable-rofiles-fuse --state-dir="$work/state" \
    "$@" "$work/build-$name" "$(manifest "$name" "$tree")" >"$work/build.log" 2>&1 ||
    { tail -n 30 "$work/build.log" >&2; die "it could not be built; all of the log is in $work/build.log"; }
}

on_a_bus() {
  if [ -n "${DBUS_SESSION_BUS_ADDRESS:-}" ]; then "$@"; else dbus-run-session -- "$@"; fi
}

# The summary of a repository and a bundle have the time in them: that of the commit.
at_the_time_of_the_commit() {
  TZ=UTC faketime -f "$(date -u -d "@$SOURCE_DATE_EPOCH" '+%Y-%m-%d %H:%M:%S')" "$@"
}

release() { # release FOLDER [URL]
  local folder url repo tree
  mkdir -p "$1"
  folder=$(realpath "$1")
  url=${2:-file://$folder}
  repo=$folder/repo
  tree=$work/committed
  export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
  [ -z "$(git -C "$source" status --porcelain)" ] || say "what is not committed is not in the release"
  rm -rf "$repo" "$work/export" "$tree"
  mkdir "$tree"
  git -C "$source" archive HEAD | tar -x -C "$tree"
  # The same bytes whenever it is made: dates are those of the commit.
  SOURCE_DATE_EPOCH=$(git -C "$source" log -1 --format=%ct)
  export SOURCE_DATE_EPOCH
  build $id "$tree" --disable-cache --override-source-date-epoch="$SOURCE_DATE_EPOCH" --repo="$work/export" --default-branch=stable
  ostree init --repo="$repo" --mode=archive
  flatpak build-commit-from --no-update-summary --src-repo="$work/export" --timestamp="@$SOURCE_DATE_EPOCH" "$repo" \
    "app/$id/$arch/stable"
  at_the_time_of_the_commit flatpak build-update-repo --title=Quartermaster --homepage="$url" --no-update-appstream "$repo" >/dev/null
  at_the_time_of_the_commit flatpak build-bundle --repo-url="$url/repo" --runtime-repo=$flathub "$repo" "$folder/quartermaster.flatpak" $id stable
  cat >"$folder/quartermaster.flatpakref" <<END
[Flatpak Ref]
Name=$id
Title=Quartermaster
Branch=stable
Url=$url/repo
IsRuntime=false
RuntimeRepo=$flathub
SuggestRemoteName=quartermaster
END
  cp -r "$tree/docs/screenshots" "$folder/"
  rm -rf "$repo/.lock" "$repo/state"
  (cd "$folder" && find . -type f ! -name SHA256SUMS -print0 | LC_ALL=C sort -z | xargs -0 sha256sum >SHA256SUMS)
  sha256sum "$folder/quartermaster.flatpak" "$folder/SHA256SUMS"
}

get_runtime
case $mode in
  run)
    build $id.Devel "$source" --install
    on_a_bus flatpak --user run $id.Devel "$@" ;;
  test)
    build $id "$source" --install
    export branch arch
    "$source/tests/flatpak/test-flatpak.sh" "$source" "$work" "$@" ;;
  release) release "$@" ;;
  reproduce)
    release "$work/first" https://example.org
    release "$work/second" https://example.org
    diff -r "$work/first" "$work/second" && say "two builds, the same bytes" ;;
esac
