#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/plan.schema.json names the fields that the reader of plans knows, and no
others; the example plan names none that the schema has not. TAP on stdout."""

import json
import pathlib
import re
import sys

FIELD = re.compile(r"^  (?:\w+ \(|\{ \")([a-z0-9_.]+)[\",)]", re.MULTILINE)
OWNED = {"places.owned", "quotes", "results"}  # lists, read apart
HEADER = {"format", "version"}


def paths_of_schema(schema, prefix=""):
    for name, member in schema["properties"].items():
        if "properties" in member:
            yield from paths_of_schema(member, f"{prefix}{name}.")
        else:
            yield prefix + name


def paths_of_plan(plan, prefix=""):
    for name, member in plan.items():
        if isinstance(member, dict):
            yield from paths_of_plan(member, f"{prefix}{name}.")
        else:
            yield prefix + name


def report(number, name, unexpected):
    print(f"{'not ok' if unexpected else 'ok'} {number} {name}")
    for path in sorted(unexpected):
        print(f"# {path}")


def main(source):
    code = (source / "src/core/plan/qm-plan-fields.c").read_text(encoding="utf-8")
    table = code[code.index("fields[] = {"):code.index("\n};")]
    known = set(FIELD.findall(table)) | OWNED | HEADER
    schema = set(paths_of_schema(json.loads((source / "docs/plan.schema.json").read_text(encoding="utf-8"))))
    plan = set(paths_of_plan(json.loads((source / "docs/example.qmplan").read_text(encoding="utf-8"))))

    print("1..3")
    report(1, "every field is in the schema", known - schema)
    report(2, "the schema has no other field", schema - known)
    report(3, "the example has fields of the schema", plan - schema)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
