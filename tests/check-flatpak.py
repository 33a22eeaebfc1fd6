#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the sandbox may do, and nothing else: check-flatpak.py SOURCE. With the
permissions of an installed Flatpak on the standard input (flatpak info
--show-permissions), these: check-flatpak.py -"""
import os
import re
import sys

ID = "io.github.quartermaster.Quartermaster"
ARGUMENTS = ["--device=dri", "--socket=wayland", "--socket=fallback-x11", "--share=ipc", "--share=network"]
# As flatpak writes them into the program's own metadata.
CONTEXT = {"shared": {"network", "ipc"}, "sockets": {"wayland", "fallback-x11", "x11"}, "devices": {"dri"}}


def block(text, key, indent=""):
    """The lines of a list, without comments."""
    match = re.search(rf"^{indent}{key}:\n((?:{indent}  .*\n)+)", text, re.M)
    return [line.strip()[2:] for line in match.group(1).splitlines() if line.strip().startswith("- ")]


def check_manifest(folder, name):
    with open(os.path.join(folder, name + ".yml"), encoding="utf-8") as file:
        text = file.read()
    value = {key: found.strip("'") for key, found in re.findall(r"^([a-z-]+): (\S+)$", text, re.M)}
    assert value["id"] == name, value["id"]
    assert (value["runtime"], value["sdk"], value["command"]) == ("org.gnome.Platform", "org.gnome.Sdk", "quartermaster"), value
    # In November 2026 GNOME 50 and 51 live: two do at a time, and 51 came in September.
    assert int(value["runtime-version"]) >= 51, value["runtime-version"]
    assert sorted(block(text, "finish-args")) == sorted(ARGUMENTS), block(text, "finish-args")
    assert "build-args" not in text and "--share=network" not in "".join(block(text, "config-opts", "    "))
    assert (name == ID) == ("-Dprofile=development" not in text)


def check_installed(text):
    sections = {name: body for name, body in re.findall(r"^\[(.+)\]\n((?:[^\[\n].*\n?)*)", text, re.M)}
    found = {key: set(filter(None, names.split(";"))) for key, names in re.findall(r"^(\w+)=(.*)$", sections.pop("Context"), re.M)}
    assert found == CONTEXT, found
    assert not sections, sections


def main(argument):
    if argument == "-":
        check_installed(sys.stdin.read())
        return
    folder = os.path.join(argument, "flatpak")
    for name in (ID, ID + ".Devel"):
        check_manifest(folder, name)
    assert sorted(n for n in os.listdir(folder) if n.endswith(".yml")) == [ID + ".Devel.yml", ID + ".yml"]


main(sys.argv[1])
