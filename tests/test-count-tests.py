#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests count-tests.py on logs as meson 1.7 writes them. TAP on stdout."""
import json
import os
import subprocess
import sys
import tempfile

PASSED_TWO = "1..2\nok 1 a\nok 2 /b/c\n"

# name, programs as (result, stdout), last line, exit status
CASES = [
    ("subtests count", [("OK", PASSED_TWO)], "2 passed, 0 failed", 0),
    ("a program without TAP is one test", [("OK", ""), ("FAIL", "")], "1 passed, 1 failed", 1),
    ("a failed subtest is not counted twice", [("FAIL", "1..2\nok 1 a\nnot ok 2 b\n")], "1 passed, 1 failed", 1),
    ("a crash after good subtests", [("ERROR", "1..3\nok 1 a\n")], "1 passed, 1 failed", 1),
    ("a crash before any", [("ERROR", "")], "0 passed, 1 failed", 1),
    ("a program that hangs", [("TIMEOUT", "1..2\nok 1 a\n")], "1 passed, 1 failed", 1),
    ("an exit status against good subtests", [("ERROR", PASSED_TWO)], "2 passed, 1 failed", 1),
    ("skipped subtests", [("OK", "1..2\nok 1 a # SKIP no data\nok 2 b\n")], "1 passed, 0 failed, 1 skipped", 0),
    ("a skipped program", [("OK", PASSED_TWO), ("SKIP", "1..0 # SKIP none\n")], "2 passed, 0 failed, 1 skipped", 0),
    ("nothing but skipped is no success", [("SKIP", "")], "0 passed, 0 failed, 1 skipped", 1),
    ("lines of the program's own", [("OK", "1..1\n# ok 7 not one\n  ok 8 nested\nokay\nok 1 a\n")], "1 passed, 0 failed", 0),
    ("nothing ran", [], "0 passed, 0 failed", 1),
    ("no log", None, "0 passed, 1 failed", 1),
]


def count(script, programs):
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "testlog.json")
        if programs is not None:
            with open(log, "w", encoding="utf-8") as file:
                for number, (result, stdout) in enumerate(programs):
                    file.write(json.dumps({"name": f"program {number}", "result": result, "stdout": stdout}) + "\n")
        done = subprocess.run([sys.executable, script, log], capture_output=True, text=True, check=False)
        return done.stdout.splitlines()[-1:], done.returncode


def main(script):
    failed = False
    print(f"1..{len(CASES)}")
    for number, (name, programs, line, status) in enumerate(CASES, 1):
        found = count(script, programs)
        good = found == ([line], status)
        print(f"{'ok' if good else 'not ok'} {number} - {name}" + ("" if good else f"\n# {found}"))
        failed |= not good
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
