#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that every translation is complete: check-translations.py SOURCE. Speaks TAP.

The messages of the sources are extracted afresh with xgettext, so a sentence
that was added or changed without its translation is found.
"""
import ast
import os
import re
import subprocess
import sys

KEYWORDS = ["_", "N_", "C_:1c,2", "NC_:1c,2", "ngettext:1,2", "g_dngettext:2,3", "translate_plural:1,2"]
MARKED = re.compile(r'\b(?:_|N_|C_|NC_|ngettext|translate_plural)\s*\(\s*"|\bg_dngettext\s*\([^;"]*"|translatable="(?:yes|true)"')
NAMED_PLACE = re.compile(r"\{[a-z_]+\}")
PRINTF_PLACE = re.compile(r"%(?:(\d+)\$)?[-+#0]*(?:\d+|\*)?(?:\.\d+)?(?:hh|h|ll|l|z)?([diouxXeEfgGcsp%])")
FIELD = re.compile(r'(msgctxt|msgid_plural|msgid|msgstr(?:\[\d+\])?)?\s*(".*")$')


def read_catalog(text):
    """{(context, msgid): entry}; an entry has plural, texts and fuzzy."""
    entries = {}
    for block in text.split("\n\n"):
        fields, flags, field = {}, "", None
        for line in block.split("\n"):
            if line.startswith("#,"):
                flags += line[2:]
            if not line.startswith("#") and (match := FIELD.match(line)):
                field = match[1] or field
                fields[field] = fields.get(field, "") + ast.literal_eval(match[2])
        if "msgid" in fields:
            entries[fields.get("msgctxt"), fields["msgid"]] = {
                "plural": fields.get("msgid_plural"),
                "texts": [fields[name] for name in sorted(fields) if name.startswith("msgstr")],
                "fuzzy": "fuzzy" in flags,
            }
    return entries


def places(text):
    """The places of a text that must be in its translation too, whatever their order."""
    printf = []
    for number, kind in PRINTF_PLACE.findall(text):
        if kind != "%":
            printf.append((int(number) if number else len(printf) + 1, kind))
    return sorted(set(NAMED_PLACE.findall(text))), sorted(printf)


def faults_of(key, wanted, entry):
    name = repr(key[1])
    if entry is None:
        return [f"not in the catalog: {name}"]
    if entry["fuzzy"]:
        return [f"fuzzy: {name}"]
    if not all(entry["texts"]):
        return [f"not translated: {name}"]
    faults = []
    if entry["plural"] != wanted["plural"]:
        faults.append(f"another plural: {name}")
    for text in entry["texts"]:
        if places(text) != places(wanted["plural"] or key[1]):
            faults.append(f"other places than {name}: {text!r}")
        if key[1].endswith("\n") != text.endswith("\n") or key[1].startswith("\n") != text.startswith("\n"):
            faults.append(f"another line break at an end than {name}: {text!r}")
    return faults


def listed(path):
    with open(path, encoding="utf-8") as file:
        return [line.strip() for line in file if line.strip() and not line.startswith("#")]


def extract(source):
    command = ["xgettext", "--from-code=UTF-8", "--output=-", f"--files-from={os.path.join(source, 'po/POTFILES')}",
               f"--directory={source}"] + [f"--keyword={keyword}" for keyword in KEYWORDS]
    environment = dict(os.environ, LC_ALL="C.UTF-8")
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout


def unlisted(source):
    """Source files that hold sentences and are not in POTFILES."""
    names = set(listed(os.path.join(source, "po/POTFILES")))
    faults = [f"in POTFILES, but not there: {name}" for name in sorted(names)
              if not os.path.exists(os.path.join(source, name))]
    for top in ("src", "resources"):
        for folder, _, files in os.walk(os.path.join(source, top)):
            for file in sorted(files):
                path = os.path.join(folder, file)
                name = os.path.relpath(path, source)
                if not file.endswith((".c", ".h", ".ui")) or name in names:
                    continue
                with open(path, encoding="utf-8") as text:
                    if MARKED.search(text.read()):
                        faults.append(f"not in POTFILES: {name}")
    return faults


def refused_by_msgfmt(path):
    """What the compiler of catalogs finds wrong with printf places and plural forms."""
    result = subprocess.run(["msgfmt", "--check", f"--output-file={os.devnull}", path], capture_output=True, text=True)
    return result.stderr.splitlines() if result.returncode else []


def report(number, name, faults):
    print(f"{'not ok' if faults else 'ok'} {number} - {name}")
    for fault in faults:
        print(f"# {fault}")
    return bool(faults)


def main():
    source = sys.argv[1]
    languages = listed(os.path.join(source, "po/LINGUAS"))
    wanted = read_catalog(extract(source))
    wanted.pop((None, ""), None)
    print(f"1..{1 + len(languages)}")
    failed = report(1, "every source with sentences is in POTFILES", unlisted(source))
    for number, language in enumerate(languages, 2):
        path = os.path.join(source, "po", language + ".po")
        with open(path, encoding="utf-8") as file:
            catalog = read_catalog(file.read())
        faults = refused_by_msgfmt(path) + ([] if wanted else ["nothing was extracted"])
        for key, entry in wanted.items():
            faults += faults_of(key, entry, catalog.get(key))
        failed |= report(number, f"{language}: {len(wanted)} messages are translated", faults)
    return failed


if __name__ == "__main__":
    sys.exit(main())
