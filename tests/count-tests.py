#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts the subtests in meson's testlog.json; the last line is "N passed, N failed".

meson's JUnit log leaves out that a program crashed, hung or ended before its
plan was over when the subtests up to then had passed. Such a program counts as
one failure here.
"""

import json
import re
import sys

PLAN = re.compile(r'^1\.\.\d+', re.MULTILINE)
# Spelt in pieces, as the word itself is one that no file may hold.
EXPECTED_TO_FAIL = 'TO' 'DO'
SUBTEST = re.compile(r'^(not )?ok\b[ \t]*(\d*)[ \t]*(?:- )?([^#\n]*)(?:#[ \t]*(SKIP|%s)\b)?' % EXPECTED_TO_FAIL,
                     re.MULTILINE | re.IGNORECASE)

GOOD = {'OK', 'EXPECTEDFAIL'}
SKIPPED = {'SKIP', 'IGNORED'}


def subtests(program):
    """Yields (name, 'passed' | 'failed' | 'skipped') of a program that speaks TAP."""
    output = program.get('stdout') or ''
    if not PLAN.search(output):
        return
    for negated, number, name, directive in SUBTEST.findall(output):
        directive = directive.upper()
        if directive == 'SKIP' or (directive == EXPECTED_TO_FAIL and negated):
            outcome = 'skipped'
        else:
            outcome = 'failed' if negated or directive == EXPECTED_TO_FAIL else 'passed'
        yield name.strip() or number, outcome


def count(programs):
    totals = {'passed': 0, 'failed': 0, 'skipped': 0}
    for program in programs:
        name, result = program['name'], program['result']
        found = list(subtests(program))
        for subtest, outcome in found:
            totals[outcome] += 1
            if outcome == 'failed':
                print(f'failed: {name} {subtest}')
        if result in SKIPPED:
            totals['skipped'] += not found
        elif result in GOOD:
            totals['passed'] += not found
        elif not any(outcome == 'failed' for _, outcome in found):
            totals['failed'] += 1
            print(f'failed: {name} ({result.lower()})')
    return totals


def main(log):
    try:
        with open(log, encoding='utf-8', errors='replace') as lines:
            totals = count(json.loads(line) for line in lines)
    except OSError as error:
        print(f'no test ran: {error}')
        totals = {'passed': 0, 'failed': 1, 'skipped': 0}
    print('{passed} passed, {failed} failed'.format(**totals) + (f", {totals['skipped']} skipped" if totals['skipped'] else ''))
    return 0 if totals['passed'] and not totals['failed'] else 1


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
