#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Static analysis of src/: analyse.py SOURCE BUILD [--analyse]. cppcheck; and with --analyse, which takes as long as a build,
clang-tidy and gcc's -fanalyzer. Each where it is there. What did not change since it was found clean is not looked at again. Prints what was found; exits 1 where that is anything."""
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys

# Macros of GLib check for NULL on paths that cannot be, and gcc then takes them for possible.
FANALYZER = ["-fanalyzer", "-Werror", *("-Wno-analyzer-" + name for name in
             ("null-dereference", "null-argument", "possible-null-dereference", "possible-null-argument"))]


def cppcheck(source, build):
    folder = os.path.join(build, "cppcheck")
    os.makedirs(folder, exist_ok=True)
    headers = [f"-I{os.path.join(source, 'src', name)}" for name in ("", "core", "export", "prices", "app", "draw")]
    run = subprocess.run(["cppcheck", "--quiet", "--library=gtk", "--library=posix", "--std=c11", "--enable=warning,performance,portability",
                          f"--suppressions-list={source}/tests/cppcheck.suppressions", f"--cppcheck-build-dir={folder}", "-D_GNU_SOURCE",
                          "--template={file}:{line}: {message} [{id}]", *headers, "src"], cwd=source, capture_output=True, text=True, check=False)
    return run.stderr.splitlines()


def tidy(source, build):
    """One process a file; a file is clean as long as it, all headers and the rules are the same."""
    rules = hashlib.sha256()
    for path in sorted(glob.glob(os.path.join(source, "src/**/*.h"), recursive=True)) + [os.path.join(source, ".clang-tidy")]:
        with open(path, "rb") as file:
            rules.update(file.read())
    folder = os.path.join(build, "clang-tidy")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        paths = {os.path.normpath(os.path.join(entry["directory"], entry["file"])) for entry in json.load(file)}
    waiting = []
    for path in sorted(path for path in paths if path.startswith(os.path.join(source, "src/"))):
        with open(path, "rb") as file:
            stamp = os.path.join(folder, hashlib.sha256(rules.digest() + path.encode() + file.read()).hexdigest())
        if not os.path.exists(stamp):
            waiting.append((path, stamp))

    found, running = [], []

    def collect():
        process, stamp = running.pop(0)
        lines = [line for line in process.communicate()[0].splitlines() if re.search(r": (warning|error): ", line)]
        found.extend(lines)
        if not lines and process.returncode == 0:
            with open(stamp, "w", encoding="utf-8"):
                pass

    for path, stamp in waiting:
        if len(running) >= len(os.sched_getaffinity(0)):
            collect()
        running.append((subprocess.Popen(["clang-tidy", "-p", build, "--quiet", "--extra-arg=-Wno-everything", path], stdout=subprocess.PIPE,
                                         stderr=subprocess.DEVNULL, text=True), stamp))
    while running:
        collect()
    return sorted(set(found))


def fanalyzer(source, build):
    folder = build + "-analyse"
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        subprocess.run(["meson", "setup", folder, source, "-Dtests=false", "-Dc_args=" + " ".join(FANALYZER)], stdout=subprocess.DEVNULL, check=True)
    run = subprocess.run(["ninja", "-k", "0", "-C", folder], capture_output=True, text=True, check=False)
    return [] if run.returncode == 0 else sorted({line for line in run.stdout.splitlines() if re.search(r": (warning|error): ", line)}) or [run.stdout[-2000:]]


def main(source, build, everything=False):
    found = 0
    tools = [("cppcheck", "cppcheck", cppcheck), ("clang-tidy", "clang-tidy", tidy), ("gcc -fanalyzer", "gcc", fanalyzer)]
    for name, command, analyse in tools if everything else tools[:1]:
        if not shutil.which(command):
            print(f"{name}: skipped, it is not there")
            continue
        lines = analyse(source, os.path.realpath(build))
        for line in lines:
            print(line)
        print(f"{name}: {len(lines)} found" if lines else f"{name}: clean")
        found += len(lines)
    return found > 0


if __name__ == "__main__":
    sys.exit(main(os.path.realpath(sys.argv[1]), sys.argv[2], "--analyse" in sys.argv[3:]))
