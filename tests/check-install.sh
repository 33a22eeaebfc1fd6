#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs a build into an empty folder, and looks at it as a desktop does:
# check-install.sh SOURCE BUILD
set -euo pipefail
source=$1 build=$2
id=io.github.quartermaster.Quartermaster
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { echo "$*"; exit 1; }

DESTDIR=$work/root meson install -C "$build" --no-rebuild --quiet
prefix=$work/root$(meson introspect "$build" --buildoptions | python3 -c 'import json, sys; print(next(o["value"] for o in json.load(sys.stdin) if o["name"] == "prefix"))')
share=$prefix/share

for file in bin/quartermaster bin/quartermaster-cli share/applications/$id.desktop share/metainfo/$id.metainfo.xml \
  share/dbus-1/services/$id.service share/glib-2.0/schemas/$id.gschema.xml share/mime/packages/$id.xml \
  share/icons/hicolor/scalable/apps/$id.svg share/icons/hicolor/symbolic/apps/$id-symbolic.svg \
  share/icons/hicolor/scalable/mimetypes/$id.plan.svg share/man/man1/quartermaster.1 share/man/man1/quartermaster-cli.1 \
  share/bash-completion/completions/quartermaster-cli share/zsh/site-functions/_quartermaster-cli \
  share/fish/vendor_completions.d/quartermaster-cli.fish share/licenses/$id/LICENSE \
  share/quartermaster/catalog share/quartermaster/templates share/locale/zh_CN/LC_MESSAGES/quartermaster.mo; do
  [ -s "$prefix/$file" ] || fail "$file is not installed"
done
[ -z "$(grep -rlF -e "$source" -e "$build" "$share" || true)" ] || fail "the folder of the source is named in $(grep -rlF -e "$source" -e "$build" "$share")"
! grep -rn '@[a-z_]*@' "$share/applications" "$share/metainfo" "$share/dbus-1" "$share/mime/packages" || fail "a place was not filled in"

# What starts it is what the bus is asked for.
desktop-file-validate "$share/applications/$id.desktop"
grep -qx "Name=$id" "$share/dbus-1/services/$id.service"
grep -qx 'Exec=.*/bin/quartermaster --gapplication-service' "$share/dbus-1/services/$id.service"
grep -qx 'DBusActivatable=true' "$share/applications/$id.desktop"
glib-compile-schemas --strict "$share/glib-2.0/schemas"

# A plan is one by its name, and by its content.
update-mime-database "$share/mime" 2>"$work/mime.log" || { cat "$work/mime.log"; exit 1; }
cp "$source/docs/example.qmplan" "$work/a.qmplan"
cp "$source/docs/example.qmplan" "$work/nameless"
mkdir "$work/data"
for file in a.qmplan nameless; do
  type=$(XDG_DATA_HOME=$work/data XDG_DATA_DIRS=$share:/usr/share gio info -a standard::content-type,standard::icon "$work/$file")
  grep -q 'standard::content-type: application/vnd.quartermaster.plan+json' <<<"$type" || fail "$file is taken for: $type"
  grep -q "standard::icon: $id.plan" <<<"$type" || fail "$file has another icon: $type"
done

# It runs from there.
XDG_DATA_HOME=$work/data QM_DATA_DIR=$share/quartermaster "$prefix/bin/quartermaster-cli" recommend "$work/a.qmplan" >"$work/answer"
[ -s "$work/answer" ]
