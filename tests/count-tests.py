#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts the subtests of meson's JUnit log; the last line is "N passed, N failed"."""
import sys
import xml.etree.ElementTree as xml


def count(suites):
    passed = failed = skipped = 0
    for case in suites.iter('testcase'):
        if case.find('failure') is not None or case.find('error') is not None:
            failed += 1
            print(f"failed: {case.get('classname')} {case.get('name')}")
        elif case.find('skipped') is not None:
            skipped += 1
        else:
            passed += 1
    # A program that ends before its plan is over fails as a whole.
    for suite in suites.iter('testsuite'):
        errors = int(suite.get('errors', 0))
        listed = sum(1 for case in suite.iter('testcase') if case.find('error') is not None)
        if errors > listed:
            failed += errors - listed
            print(f"failed: {suite.get('name')} did not come to its end")
    return passed, failed, skipped


def main():
    try:
        suites = xml.parse(sys.argv[1]).getroot()
    except (OSError, xml.ParseError) as error:
        print(f'no test ran: {error}')
        print('0 passed, 1 failed')
        return 1
    passed, failed, skipped = count(suites)
    print(f'{passed} passed, {failed} failed' + (f', {skipped} skipped' if skipped else ''))
    return 0 if passed and not failed else 1


sys.exit(main())
