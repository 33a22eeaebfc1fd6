#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles every header by itself: check-headers.py SOURCE BUILD.

A header is compiled with the flags of the source files of its own folder, or of
the nearest folder above that has any; it is enough that one of them will do.
Prints what the compiler says; exits 1 if a header needs another that it does not
include.
"""
import json
import os
import pathlib
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

DROPPED = {"-c", "-MD"}
DROPPED_WITH_VALUE = {"-o", "-MQ", "-MF"}


def flags_of(command, source):
    kept, skip = [], False
    for word in shlex.split(command):
        if skip or word in DROPPED or word == source:
            skip = False
        elif word in DROPPED_WITH_VALUE:
            skip = True
        else:
            kept.append(word)
    return kept


def read_flags(build):
    """{folder: [(where to compile, command), ...]} of compile_commands.json"""
    found = {}
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        for entry in json.load(file):
            path = pathlib.Path(entry["directory"], entry["file"]).resolve()
            way = entry["directory"], flags_of(entry["command"], entry["file"])
            ways = found.setdefault(path.parent, [])
            if way not in ways:
                ways.append(way)
    return found


def compile_alone(header, flags):
    """What the compiler says, empty if it is content; None where nothing is compiled near it."""
    folder = next((folder for folder in header.parents if folder in flags), None)
    said = None
    for directory, command in flags.get(folder, []):
        done = subprocess.run(command + ["-fsyntax-only", "-fdiagnostics-color=never", "-Werror", "-x", "c", "-"], cwd=directory,
                              input=f'#include "{header}"\n', capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return ""
        said = done.stderr
    return said


def main(source, build):
    flags = read_flags(build)
    headers = sorted(path for top in ("src", "tests") for path in pathlib.Path(source, top).resolve().rglob("*.h"))
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        said = list(pool.map(lambda header: compile_alone(header, flags), headers))
    for text in filter(None, said):
        print(text, end="")
    faults = sum(1 for text in said if text)
    print(f"{len(headers)} headers: {faults} do not stand alone, {said.count(None)} are of folders that are not compiled")
    return 1 if faults or not headers else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
