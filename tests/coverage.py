#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines that were run, by layer and file: coverage.py SOURCE BUILD. What gcov
counts in objects of the tests belongs to the file of src/ that it came from."""
import json
import os
import subprocess
import sys

# Least shares of lines.
LEAST = {"core": 0.90, "probe": 0.90, "app": 0.75}


def read(build):
    """{file: {line: times}}, over every object that was run."""
    lines = {}
    for folder, _, names in os.walk(os.path.join(build, "src")):
        notes = [os.path.join(folder, name) for name in names if name.endswith(".gcno")]
        for first in range(0, len(notes), 50):
            output = subprocess.run(["gcov", "--json-format", "--stdout", *notes[first:first + 50]], cwd=build, capture_output=True,
                                    text=True, check=True).stdout
            for document in output.splitlines():
                for file in json.loads(document)["files"]:
                    counts = lines.setdefault(os.path.realpath(os.path.join(build, file["file"])), {})
                    for line in file["lines"]:
                        counts[line["line_number"]] = counts.get(line["line_number"], 0) + line["count"]
    return lines


def main(source, build):
    layers = {}
    for path, counts in sorted(read(build).items()):
        name = os.path.relpath(path, os.path.realpath(source))
        if name.startswith("src/") and name.endswith(".c"):
            layers.setdefault(name.split("/")[1], []).append((name, sum(1 for n in counts.values() if n), len(counts)))

    good = bool(layers)
    for layer, files in layers.items():
        for name, reached, lines in sorted(files, key=lambda file: file[1] / max(file[2], 1)):
            print(f"  {reached / max(lines, 1):6.1%}  {lines:5}  {name}")
        reached, lines = sum(file[1] for file in files), sum(file[2] for file in files)
        least = LEAST.get(layer)
        enough = least is None or reached >= least * lines
        good = good and enough
        print(f"{layer}: {reached / lines:.1%} of {lines} lines" + (f", {least:.0%} are wanted" if least else "") + ("" if enough else ": TOO FEW"))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
