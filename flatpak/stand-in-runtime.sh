#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes a stand-in for GNOME's runtime out of packages of Debian 13, where no
# remote that has the real one can be reached: stand-in-runtime.sh FOLDER
#
# Debian 13 has the libraries of GNOME 48: the branch is 48. It shows that the
# program builds, installs and runs in its sandbox. It does not show that the
# real runtime has the same libraries: a release is built against that one.
# FLATPAK_USER_DIR is the installation; DEBIAN_MIRROR names another mirror.
set -euo pipefail
folder=$(realpath -m "$1")
branch=48
arch=$(flatpak --default-arch)
triplet=$arch-linux-gnu
repo=$folder/stand-in-repo

platform="libgtk-4-1 libadwaita-1-0 libgtksourceview-5-0 libjson-glib-1.0-0 libsqlite3-0 libsoup-3.0-0 glib-networking
  libgtk-4-bin libglib2.0-bin librsvg2-common gsettings-desktop-schemas adwaita-icon-theme hicolor-icon-theme
  shared-mime-info locales fonts-inter fonts-dejavu-core ca-certificates tzdata dconf-gsettings-backend libgl1-mesa-dri libegl1"
sdk="$platform gcc libc6-dev meson ninja-build pkgconf gettext python3 elfutils binutils libxml2-utils
  libgtk-4-dev libadwaita-1-dev libgtksourceview-5-dev libjson-glib-dev libsqlite3-dev libsoup-3.0-dev
  desktop-file-utils appstream appstream-compose"

tree() { # tree NAME PACKAGES
  # shellcheck disable=SC2086
  mmdebstrap --quiet --variant=minbase --format=tar --include="$(echo $2 | tr ' ' ,)" \
    --aptopt='APT::Install-Recommends "false"' \
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*/LC_MESSAGES/*' \
    --customize-hook='chroot "$1" localedef --no-archive -i en_US -f UTF-8 en_US.UTF-8' \
    --customize-hook='chroot "$1" localedef --no-archive -i zh_CN -f UTF-8 zh_CN.UTF-8' \
    --keyring=/usr/share/keyrings/debian-archive-keyring.gpg trixie - ${DEBIAN_MIRROR:-} >"$folder/$1.tar"
}

# The folder files/usr of a runtime is /usr in the sandbox, and /etc a link into it.
unpack() { # unpack TAR TREE
  rm -rf "$2"
  mkdir -p "$2/usr" "$2/files"
  tar -C "$2" --no-same-owner --delay-directory-restore -xf "$1" ./usr ./etc
  rm -rf "$2/usr/etc"
  mv "$2/etc" "$2/usr/etc"
  # OSTree keeps no devices and no odd modes.
  find "$2/usr" \( -type b -o -type c -o -type p -o -type s \) -delete
  find "$2/usr" -type d -exec chmod u+rwx,go+rx {} +
  find "$2/usr" -type f -exec chmod u+rw,go-w,-s {} +
  # These are of the host, or of one sandbox.
  rm -f "$2"/usr/etc/{passwd,group,shadow,gshadow,subuid,subgid,machine-id,resolv.conf,hosts,hostname,localtime,timezone,mtab}
  rm -f "$2"/usr/etc/*- "$2/usr/etc/ld.so.cache"
  # What an extension brings comes before the runtime's own.
  printf '%s\n' 'include /run/flatpak/ld.so.conf.d/app-*.conf' /app/lib \
    'include /run/flatpak/ld.so.conf.d/runtime-*.conf' 'include /etc/ld.so.conf.d/*.conf' >"$2/usr/etc/ld.so.conf"
  # The host's fonts are seen, as in the real one.
  printf '%s\n' '<?xml version="1.0"?>' '<fontconfig>' '  <dir>/app/share/fonts</dir>' '  <dir>/run/host/fonts</dir>' \
    '  <dir>/run/host/user-fonts</dir>' '</fontconfig>' >"$2/usr/etc/fonts/conf.d/50-flatpak.conf"
  mkdir -p "$2/usr/lib/$triplet/GL"
}

# The drivers of a GPU come as an extension here too.
metadata() { # metadata ID
  cat <<END
[Runtime]
name=$1
runtime=org.gnome.Platform/$arch/$branch
sdk=org.gnome.Sdk/$arch/$branch

[Environment]
XDG_DATA_DIRS=/app/share:/usr/share:/run/host/user-share:/run/host/share

[Extension org.freedesktop.Platform.GL]
directory=lib/$triplet/GL
versions=1.4
subdirectories=true
no-autodownload=true
add-ld-path=lib
enable-if=active-gl-driver
END
}

publish() { # publish ID TAR
  unpack "$2" "$folder/tree"
  metadata "$1" >"$folder/tree/metadata"
  flatpak build-export --runtime --no-update-summary --arch="$arch" "$repo" "$folder/tree" $branch
  rm -rf "$folder/tree" "$2"
}

mkdir -p "$folder"
# Plain files, which an installation on the same disk links to.
[ -d "$repo/objects" ] || ostree init --repo="$repo" --mode=bare-user-only
tree platform "$platform"
publish org.gnome.Platform "$folder/platform.tar"
tree sdk "$sdk"
publish org.gnome.Sdk "$folder/sdk.tar"
flatpak build-update-repo "$repo"
flatpak --user remote-add --if-not-exists --no-gpg-verify stand-in "file://$repo"
flatpak --user install --noninteractive --or-update stand-in org.gnome.Platform//$branch org.gnome.Sdk//$branch
