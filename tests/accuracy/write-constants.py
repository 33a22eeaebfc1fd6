#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes what quartermaster-fit --write FILE found into the catalog.

    write-constants.py FILE CATALOG [--no-widths]

Numbers alone change: names, meanings, priors and the form of the files stay.
"""
import json
import math
import pathlib
import re
import sys

# A factor this near to its centre says nothing.
NOTHING = 0.004


def figure(value):
    return float(f"{value:.4g}")


def text(value):
    value = figure(value)
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def write_lines(path, constants, widths):
    """Files with a constant a line."""
    lines = path.read_text(encoding="utf-8").split("\n")
    for i, line in enumerate(lines):
        name = re.match(r'    "([^"]+)": \{"value": ', line)
        if not name or '"unit"' not in line:
            continue
        name = name.group(1)
        value = constants[name]["value"] if name in constants else widths.get(name)
        if value is None:
            continue
        line = re.sub(r'"value": [^,}]+', f'"value": {text(value)}', line, count=1)
        if name in constants:
            rows = constants[name]["rows"]
            line = re.sub(r"acts on \d+ rows", f"acts on {rows} rows", line)
            line = re.sub(r'"rows": \d+', f'"rows": {rows}', line)
        lines[i] = line
    path.write_text("\n".join(lines), encoding="utf-8")


def centre(prior, level, key):
    return prior.get("centres", {}).get(level, {}).get(key, 1)


def fit_table(name, table, constants):
    """Base and factors of a table of products, with the rows behind each."""
    prior = table.get("prior")
    if f"{name}/base" in constants:
        table["base"] = figure(constants[f"{name}/base"]["value"])
    for level in prior["levels"] if prior else ():
        fitted = {key.split("/", 2)[2]: found for key, found in constants.items() if key.startswith(f"{name}/{level}/")}
        if not fitted:
            continue
        kept = {key: found for key, found in sorted(fitted.items())
                if abs(math.log(found["value"])) > NOTHING or centre(prior, level, key) != 1}
        table.setdefault("factors", {})[level] = {key: figure(found["value"]) for key, found in kept.items()}
        table.setdefault("rows", {})[level] = {key: found["rows"] for key, found in kept.items()}
        if not kept:
            del table["factors"][level], table["rows"][level]


def write_tables(path, constants, widths, evidence):
    """The file whose tables have a line each."""
    lines = path.read_text(encoding="utf-8").split("\n")
    part = None
    for i, line in enumerate(lines):
        if opened := re.match(r' "(\w+)": \{$', line):
            part = opened.group(1)
        entry = re.match(r'  "(\w+)": (\{.*\})(,?)$', line)
        if not entry:
            continue
        name, value, comma = entry.group(1), json.loads(entry.group(2)), entry.group(3)
        if part == "tables":
            fit_table(name, value, constants)
        elif part == "ranges" and name in widths:
            value = {key: {word: figure(w) for word, w in found.items()} if isinstance(found, dict) else figure(found)
                     for key, found in widths[name].items()}
        elif part == "evidence" and evidence.get(name):
            value = evidence[name]
        else:
            continue
        lines[i] = f'  "{name}": {json.dumps(value, ensure_ascii=False)}{comma}'
    path.write_text("\n".join(lines), encoding="utf-8")


def main():
    found = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    catalog = pathlib.Path(sys.argv[2])
    widths = {} if "--no-widths" in sys.argv else found["widths"]
    for name in ("constants-llm-training", "constants-other-domains"):
        write_lines(catalog / f"{name}.json", found["constants"], widths)
    write_tables(catalog / "constants-llm-inference.json", found["constants"], widths, found["evidence"])


if __name__ == "__main__":
    main()
