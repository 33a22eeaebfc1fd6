#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the sentences of data/templates/formats.json where xgettext finds them.

extract-formats.py SOURCE writes data/templates/formats.json.h;
extract-formats.py SOURCE --check says whether it is up to date.
"""
import json
import os
import sys


def sentences(formats):
    for entry in formats:
        yield entry["name"]
        for condition in entry["when"]:
            yield condition["why"]
        for text in [*entry.get("needs", []), *entry.get("guards", [])]:
            yield text if isinstance(text, str) else text["text"]


def main():
    folder = os.path.join(sys.argv[1], "data", "templates")
    with open(os.path.join(folder, "formats.json"), encoding="utf-8") as source:
        found = dict.fromkeys(sentences(json.load(source)["formats"]))
    lines = [f"N_({json.dumps(text, ensure_ascii=False)});" for text in found]
    text = "/* SPDX-License-Identifier: GPL-3.0-or-later */\n/* Made from formats.json by po/extract-formats.py, for translators. */\n" + "\n".join(lines) + "\n"
    path = os.path.join(folder, "formats.json.h")
    if "--check" in sys.argv:
        with open(path, encoding="utf-8") as made:
            if made.read() != text:
                sys.exit(f"{path} is older than formats.json: run po/extract-formats.py")
        return
    with open(path, "w", encoding="utf-8") as made:
        made.write(text)


main()
