#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds the comments of the core's functions to their headers: check-reference.py SOURCE.

Every function of a header of src/core (but those that are private to a part) has
a comment in its source that says what each argument is and what is returned, and
names no other. Prints what is wrong; exits 1 if anything is.
"""

import pathlib
import re
import sys

COMMENT = re.compile(r"/\*.*?\*/", re.S)
MACRO = re.compile(r"^[ \t]*#(?:.*\\\n)*.*$", re.M)
PROTOTYPE = re.compile(r"^(?P<type>[A-Za-z_][\w ]*[ *]+)(?P<name>qm_\w+)\s*\((?P<arguments>[^;{}]*)\)(?:\s*G_GNUC_\w+(?:\s*\([^)]*\))?)*;", re.M)
BLOCK = re.compile(r"/\*\*\n \* (?P<name>qm_\w+):(?P<text>.*?)\*/", re.S)
ARGUMENT = re.compile(r"^ \* @(\w+):", re.M)


def arguments_of(text):
    names = [re.sub(r"\[[^]]*\]", "", argument).strip() for argument in text.split(",")]
    return [re.search(r"(\w+)$", name).group(1) for name in names if name not in ("void", "...", "")]


def prototypes_of(header):
    plain = MACRO.sub("", COMMENT.sub("", header))
    for match in PROTOTYPE.finditer(plain):
        returns = match["type"].replace("const", "").split() != ["void"]
        # what a macro defines
        if not match["name"].endswith(("_error_quark", "_get_type")):
            yield match["name"], arguments_of(match["arguments"]), returns


def check_function(name, arguments, returns, blocks):
    if name not in blocks:
        yield "has no comment"
        return
    text = blocks[name]
    said = ARGUMENT.findall(text)
    yield from (f"does not say what {argument} is" for argument in arguments if argument not in said)
    yield from (f"has no argument {argument}" for argument in said if argument not in arguments)
    if returns and not re.search(r"^ \* Returns:", text, re.M):
        yield "does not say what it returns"
    if not returns and re.search(r"^ \* Returns:", text, re.M):
        yield "returns nothing"


def main(root):
    core = pathlib.Path(root, "src", "core")
    blocks = {match["name"]: match["text"] for path in core.rglob("*.c") for match in BLOCK.finditer(path.read_text(encoding="utf-8"))}
    functions, faults = 0, 0
    for path in sorted(core.rglob("*.h")):
        if path.stem.endswith("-private"):
            continue
        for name, arguments, returns in prototypes_of(path.read_text(encoding="utf-8")):
            functions += 1
            for fault in check_function(name, arguments, returns, blocks):
                print(f"{path.relative_to(root)}: {name} () {fault}")
                faults += 1
    print(f"{functions} functions, {faults} faults")
    return 1 if faults or functions == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
