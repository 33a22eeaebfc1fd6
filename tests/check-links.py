#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line must run on machines that have no desktop:
check-links.py READELF PROGRAM exits 1 if the program links to a toolkit."""
import re
import subprocess
import sys

TOOLKIT = re.compile(r"NEEDED.*\[(lib(?:gtk|gdk-|adwaita|X11|wayland)[^\]]*)\]")


def main(readelf, program):
    listed = subprocess.run([readelf, "-d", program], check=True, capture_output=True, text=True).stdout
    needed = TOOLKIT.findall(listed)
    for library in needed:
        print(f"{program} links to {library}")
    return 1 if needed or "NEEDED" not in listed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
