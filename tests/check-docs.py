#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds the documentation to what is there: check-docs.py SOURCE.

Links and their anchors, paths, functions, commands of dev and of the command line;
in docs/estimation also constants, words of the code and measured errors. Prints FILE:LINE: what is
wrong; exits 1 if anything is.
"""

import functools
import pathlib
import re
import subprocess
import sys

FENCE = re.compile(r"^\s*```")
SPAN = re.compile(r"`([^`]+)`")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
PATH = re.compile(r"^(?:src|docs|tests|data|po|resources|\.ci)/[\w./*-]*$")
FUNCTION = re.compile(r"^([a-z][a-z0-9_]+) \(\)$")
DEV = re.compile(r"(?:^|[\s`(])(?:\./)?dev\s+([a-z]+)(?:\s+([a-z]+)(?![\w.]))?")
PROGRAM = re.compile(r"quartermaster-cli\s+([a-z]+)(?![\w.])")
IDENTIFIER = re.compile(r"^[a-z][a-z0-9]*(?:_[a-z0-9]+)+$")
CONSTANT = re.compile(r"(?<![\w./-])((?:mem|rate|link|nic|host|layout|default|range|device|input|vision|detection|stack|encoder|npu|cpu|"
                      r"diffusion|recommender|tensorrt|apple|infer_kappa|infer|generation|speech|tabular|memory|time|sigma|train)"
                      r"\.[a-z0-9_]+(?:[.-][a-z0-9_]+)*)")
ERROR = re.compile(r"(?<=\| )[\d.]+ / \d+ %(?= \|)")
SUFFIXES = (".c", ".h", ".json", ".md", ".py")


class Source:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.names = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], check=True,
                                    capture_output=True, text=True).stdout.split("\0")

    def text_of(self, *ends):
        return "\n".join(self.read(name) for name in self.names if name.startswith(("src/", "data/catalog/")) and name.endswith(ends))

    def read(self, name):
        path = self.root / name
        return path.read_text(encoding="utf-8") if path.is_file() else ""

    @functools.cached_property
    def functions(self):
        return set(re.findall(r"^([a-z][a-z0-9_]+) \(", self.text_of(".c"), re.M))

    @functools.cached_property
    def words(self):
        return set(re.findall(r"\w+", self.text_of(".c", ".h", ".json")))

    @functools.cached_property
    def constants(self):
        return set(re.findall(r'"([a-z0-9_]+\.[a-z0-9_.-]+)":', self.text_of(".json")))

    @functools.cached_property
    def dev(self):
        cases = self.read("dev").split('case $command in')[1]
        return set(re.findall(r"^  ([a-z]+)\)$", cases, re.M)) | {"help"}

    @functools.cached_property
    def commands(self):
        return {match.group(1) for name in self.names if (match := re.match(r"src/cli/command-([a-z]+)\.c$", name))} | {"help"}

    @functools.lru_cache(maxsize=None)
    def anchors(self, name):
        headings = re.findall(r"^#+ (.*)$", self.read(name), re.M)
        return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def check_link(source, name, target):
    if re.match(r"[a-z]+:", target):
        return
    path, _, anchor = target.partition("#")
    file = pathlib.PurePosixPath(name).parent / path if path else pathlib.PurePosixPath(name)
    where = (source.root / file).resolve()
    if not where.exists():
        yield f"{target} leads nowhere"
    elif anchor and anchor not in source.anchors(str(where.relative_to(source.root.resolve()))):
        yield f"{target}: there is no such heading"


def check_span(source, name, span):
    if PATH.match(span) and not any(source.root.glob(span)):
        yield f"{span} is not there"
    function = FUNCTION.match(span)
    if function and function.group(1) not in source.functions:
        yield f"{span} is no function"
    if name.startswith("docs/estimation/") and IDENTIFIER.match(span) and span not in source.words:
        yield f"{span} is no word of the code or the catalog"


def check_code(source, name, code):
    for dev, argument in DEV.findall(code):
        if dev not in source.dev:
            yield f"dev knows no command {dev}"
        if dev == "cli" and argument and argument not in source.commands:
            yield f"quartermaster-cli knows no command {argument}"
    for command in PROGRAM.findall(code):
        if command not in source.commands:
            yield f"quartermaster-cli knows no command {command}"
    if not name.startswith("docs/estimation/"):
        return
    for constant in CONSTANT.findall(code):
        if not constant.endswith(SUFFIXES) and not any(key.startswith(constant) for key in source.constants):
            yield f"{constant} is no constant of the catalog"


def check_errors(source, line):
    known = source.read("docs/accuracy.md")
    yield from (f"{error} stands not in docs/accuracy.md" for error in ERROR.findall(line) if f"| {error} |" not in known)


def check_file(source, name):
    fenced = False
    for number, line in enumerate(source.read(name).splitlines(), 1):
        faults = []
        if FENCE.match(line):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            faults += check_code(source, name, line)
        else:
            for span in SPAN.findall(line):
                faults += check_span(source, name, span)
                faults += check_code(source, name, span)
            if name.startswith("docs/estimation/"):
                faults += check_errors(source, line)
            for target in LINK.findall(SPAN.sub("", line)):
                faults += check_link(source, name, target)
        for fault in faults:
            yield f"{name}:{number}: {fault}"


def main(root):
    source = Source(root)
    pages = [name for name in source.names if name.endswith(".md") and (source.root / name).is_file()]
    faults = [fault for name in pages for fault in check_file(source, name)]
    for fault in faults:
        print(fault)
    print(f"{len(pages)} pages, {len(faults)} faults")
    return 1 if faults or not pages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
