#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every test that docs/worked-numbers.md names is there, and every file. TAP on stdout."""

import pathlib
import re
import sys

NAMED = re.compile(r"`(/[a-z0-9-]+(?:/[a-z0-9-]+)+)`")
FILES = re.compile(r"`((?:tests|data)/[^`]+)`")
ADDED = re.compile(r'g_test_add[a-z_]* \("([^"]+)"')


def main(source):
    text = (source / "docs/worked-numbers.md").read_text(encoding="utf-8")
    there = {name for path in source.glob("tests/**/*.c") for name in ADDED.findall(path.read_text(encoding="utf-8"))}
    missing = [name for name in NAMED.findall(text) if name not in there]
    missing += [name for name in FILES.findall(text) if not (source / name).exists()]

    print("1..1")
    print(f"{'not ok' if missing or not there else 'ok'} 1 every test and file of the worked numbers is there")
    for name in missing:
        print(f"# {name}")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
