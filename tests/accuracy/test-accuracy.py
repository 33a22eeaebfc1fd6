#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks what is said of the constants: test-accuracy.py FIT DOCUMENT CATALOG CASES.

Every constant says what it means and where it is from; what was fitted stands
beside its prior and near it; and the figures in the document are those that the
shipped constants reach. FIT is quartermaster-fit; the last is left out where the
folder CASES is not there. Speaks TAP.
"""
import json
import math
import pathlib
import re
import subprocess
import sys

# A fit that has to pull a constant this many standard deviations away from its
# prior says that the term means something else.
MOST_DEVIATIONS = 5

# Figures are printed with one digit behind the point, or none.
ROUNDING = {"median": 0.051, "p90": 0.51}

FILES = ("constants-llm-training", "constants-llm-inference", "constants-other-domains")


def read(catalog, name):
    return json.loads(pathlib.Path(catalog, f"{name}.json").read_text(encoding="utf-8"))


def lines_of(document):
    """Every constant of a file that has a line of its own."""
    for part in ("constants", "limits", "tables"):
        for name, line in document.get(part, {}).items():
            yield name, line


def check_origins(catalog):
    for file in FILES:
        for name, line in lines_of(read(catalog, file)):
            for field in ("unit", "meaning", "origin"):
                if not re.sub(r"acts on \d+ rows", "", line.get(field, "")):
                    yield f"{file}: {name} has no {field}"


def deviations(line):
    if line["sd_of"] == "logarithm":
        return math.log(line["value"] / line["prior"]) / line["sd"]
    return (line["value"] - line["prior"]) / line["sd"]


def check_lines(file, document):
    for name, line in document.get("constants", {}).items():
        if "fitted" in line["origin"] and not {"prior", "sd", "sd_of"} <= line.keys() and "not fitted" not in line["origin"]:
            yield f"{file}: {name} is fitted and has no prior"
        elif "sd" in line and abs(deviations(line)) > MOST_DEVIATIONS:
            yield f"{file}: {name} is {deviations(line):.1f} standard deviations from its prior"


def check_tables(document):
    for name, table in document["tables"].items():
        prior = table.get("prior")
        if prior is None:
            yield f"table {name} has no prior"
            continue
        for level, factors in table["factors"].items():
            sd = prior["levels"].get(level)
            if sd is None:
                yield f"table {name}: factors by {level} have no prior"
                continue
            for key, value in factors.items():
                centre = prior.get("centres", {}).get(level, {}).get(key, 1)
                if abs(math.log(value / centre)) > MOST_DEVIATIONS * sd:
                    yield f"table {name}: {level} {key} is far from its prior"


def check_priors(catalog):
    for file in FILES:
        document = read(catalog, file)
        yield from check_lines(file, document)
        if "tables" in document:
            yield from check_tables(document)


def rows_of_document(path):
    """{name: (cases, median, p90)} of the column "In sample", the last."""
    rows = {}
    for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        found = re.fullmatch(r"([\d.]+) / (\d+) %", cells[-1])
        if found and cells[1].isdigit():
            rows[cells[0]] = (int(cells[1]), float(found[1]), float(found[2]))
    return rows


def rows_of_program(fit, catalog, cases):
    printed = subprocess.run([fit, "--cases", cases, "--catalog", catalog, "--shipped"], check=True, capture_output=True, text=True)
    rows = {}
    for line in printed.stdout.splitlines():
        found = re.match(r"\| ([^|]+) \| (\d+) \| ([\d.]+) % \| (\d+) % \|", line)
        if found:
            rows[found[1]] = (int(found[2]), float(found[3]), float(found[4]))
    fits = re.search(r"(\d+) of (\d+) \(90.*?(\d+) of (\d+) = ", printed.stdout)
    return rows, tuple(map(int, fits.groups()))


def check_document(fit, document, catalog, cases):
    said, (reached, fits) = rows_of_document(document), rows_of_program(fit, catalog, cases)
    if not reached:
        yield "the program prints no table"
    for name, (count, median, p90) in reached.items():
        if name not in said:
            yield f"the document says nothing of: {name}"
        elif said[name][0] != count or abs(said[name][1] - median) > ROUNDING["median"] or abs(said[name][2] - p90) > ROUNDING["p90"]:
            yield f"{name}: the document says {said[name]}, reached are {(count, median, p90)}"
    text = pathlib.Path(document).read_text(encoding="utf-8")
    if f"{fits[0]} of {fits[1]}" not in text or f"{fits[2]:,} of {fits[3]:,}" not in text:
        yield f"the document does not say that {fits[0]} of {fits[1]} and {fits[2]:,} of {fits[3]:,} are told rightly"


def main():
    fit, document, catalog, cases = sys.argv[1:]
    checks = [("every constant says its unit, meaning and origin", check_origins(catalog)),
              ("what is fitted has a prior and is near it", check_priors(catalog))]
    there = pathlib.Path(cases).is_dir()
    if there:
        checks.append(("the document gives the figures that are reached", check_document(fit, document, catalog, cases)))
    print(f"1..{len(checks) + (not there)}")
    failed = False
    for number, (name, faults) in enumerate(checks, 1):
        faults = list(faults)
        failed |= bool(faults)
        print(f"{'not ok' if faults else 'ok'} {number} - {name}")
        for fault in faults:
            print(f"# {fault}")
    if not there:
        print(f"ok {len(checks) + 1} - the document # SKIP the measured cases are not beside the source tree")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
