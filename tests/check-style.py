#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks what a formatter cannot: how long functions and files are, what words
and paths stand in them. Prints FILE:LINE: what is wrong; exits 1 if anything is.

A table of data is not a function: only what stands between { and } in the first
column is counted.
"""

import pathlib
import re
import subprocess
import sys

MOST_LINES_OF_A_FILE = 600
MOST_LINES_OF_A_FUNCTION = {90: 35, 99: 80}  # percentile: lines

# Spelt in pieces, so that this file does not break its own rule.
WORDS = re.compile(r"\b(" + "|".join(["TO" "DO", "FIX" "ME", "XX" "X", "HA" "CK"]) + r")\b")
PATHS = re.compile(r"(?<![\w.$}*])/(?:home/[a-z]|root/|work/|Users/|tmp/[A-Za-z0-9])")

TEXT = {".c", ".h", ".py", ".sh", ".md", ".ui", ".css", ".xml", ".in", ".json", ".yml", ".build", ".po", ".1", ".bash", ""}
CODE = {".c", ".h", ".py", ".sh"}
DATA = ("data/catalog/", "tests/data/", "po/")


def files_of(source):
    listed = subprocess.run(["git", "-C", source, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            check=True, capture_output=True, text=True).stdout
    return [name for name in listed.split("\0") if name and name != "LICENSE" and pathlib.Path(source, name).is_file()]


def functions_of(lines):
    """Yields (line, length) of every function body of a C file, its braces counted."""
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line == "}" and start is not None:
            yield start, number - start + 1
            start = None


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * share // 100)]


def check_lines(name, lines):
    for number, line in enumerate(lines, 1):
        if word := WORDS.search(line):
            yield f"{name}:{number}: {word.group()} is a promise; do it or open an issue"
        if PATHS.search(line):
            yield f"{name}:{number}: a path of one machine"


def check_file(name, lines):
    suffix = pathlib.Path(name).suffix
    if suffix in CODE and len(lines) > MOST_LINES_OF_A_FILE:
        yield f"{name}:{len(lines)}: longer than {MOST_LINES_OF_A_FILE} lines; split it by concern"
    if suffix in TEXT and not name.startswith(DATA):
        yield from check_lines(name, lines)
    if suffix in {".c", ".h"} and "SPDX-License-Identifier: GPL-3.0-or-later" not in lines[0]:
        yield f"{name}:1: the first line names the licence"


def check_functions(functions):
    lengths = [length for length, _ in functions]
    for share, most in MOST_LINES_OF_A_FUNCTION.items():
        if lengths and percentile(lengths, share) > most:
            yield f"{100 - share} of 100 functions are longer than {percentile(lengths, share)} lines; {most} is the limit"
            for length, place in sorted(functions, reverse=True)[:10]:
                yield f"{place}: {length} lines"


def main(source):
    functions, faults = [], []
    for name in files_of(source):
        try:
            lines = pathlib.Path(source, name).read_text(encoding="utf-8").splitlines() or [""]
        except UnicodeDecodeError:
            continue
        faults += check_file(name, lines)
        if name.endswith(".c"):
            functions += [(length, f"{name}:{start}") for start, length in functions_of(lines)]
    faults += check_functions(functions)
    for fault in faults:
        print(fault)
    lengths = [length for length, _ in functions]
    print(f"{len(lengths)} functions; 90 of 100 have at most {percentile(lengths, 90)} lines, 99 at most "
          f"{percentile(lengths, 99)}, the longest {max(lengths)}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
