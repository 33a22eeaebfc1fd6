#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of quartermaster-cli settings, and of what plans take from them. Speaks TAP."""
import json
import os
import subprocess
import sys
import tempfile

CLI = os.path.abspath(sys.argv[1])
PLAN = {'format': 'quartermaster-plan', 'version': 1, 'task': 'language-model', 'activity': 'fine-tune',
        'model': {'id': 'llama-3.1-8b'}, 'training': {'method': 'lora', 'samples': 20000, 'epochs': 3},
        'configuration': {'device': 't4', 'offer': 'aws/g4dn.xlarge/us-east-1'}}
tests = []


def test(function):
    tests.append(function)
    return function


def run(*arguments, **environment):
    home = os.getcwd()
    clean = {key: value for key, value in os.environ.items() if key != 'DBUS_SESSION_BUS_ADDRESS'}
    return subprocess.run([CLI, *arguments], capture_output=True, encoding='utf-8', timeout=60,
                          env={**clean, 'QM_USER_DIR': home, 'XDG_CONFIG_HOME': home + '/config', 'XDG_RUNTIME_DIR': home,
                               'GSETTINGS_BACKEND': 'keyfile', **environment})


def settings(*arguments):
    result = run('settings', *arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def refused(*arguments):
    result = run('settings', *arguments)
    assert result.returncode == 2 and result.stdout == '' and result.stderr.count('\n') == 1, result
    return result.stderr


def cost(**changes):
    with open('p.qmplan', 'w') as file:
        json.dump({**PLAN, **changes}, file)
    result = run('estimate', 'p.qmplan', '--json')
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def keyfile(text):
    os.makedirs('config/glib-2.0/settings', exist_ok=True)
    with open('config/glib-2.0/settings/keyfile', 'w') as file:
        file.write('[io/github/quartermaster/Quartermaster]\n' + text)


@test
def keeps_what_is_set():
    settings('set', 'currency', 'EUR')
    settings('set', 'rate-EUR', '0.92', '2026-11-29')
    settings('set', 'learn-from-runs', 'false')
    assert settings('get', 'rate-EUR') == '0.92 2026-11-29'
    assert json.loads(settings('--json'))['currency'] == 'EUR'
    settings('reset', 'rate-EUR')
    assert 'rate-EUR' not in settings()
    refused('get', 'rate-EUR')


@test
def refuses_what_cannot_be():
    for value in ('0', 'NaN', 'inf', '1e300', '1e-300', 'abc', '', '0.9 tomorrow', '0.9 2026-02-30', '0,9'):
        assert 'rate-EUR' in refused('set', 'rate-EUR', value), value
    for key, value in (('headroom', '0.95'), ('headroom', 'nan'), ('currency', 'euro'), ('currency', 'eu'), ('carbon-country', 'Germany'),
                       ('carbon-intensity', '1e9'), ('cooling-factor', '0.5'), ('paper', 'a5'), ('learn-from-runs', 'maybe'),
                       ('window-width', '1'), ('nonsense', '1'), ('rate-euro', '1'), ('rate-', '1')):
        refused('set', key, value)
    assert settings('get', 'headroom') == '0.2'


@test
def plans_are_counted_with_it():
    # 0.526 USD an hour by AWS; half a euro a dollar
    assert cost()['cost']['per_hour'] == 0.526
    settings('set', 'currency', 'EUR')
    settings('set', 'rate-EUR', '0.5')
    with_rate = cost()
    assert with_rate['cost']['currency'] == 'EUR' and with_rate['cost']['per_hour'] == 0.263, with_rate['cost']
    # a plan that says itself keeps its answer
    assert cost(limits={'currency': 'USD'})['cost']['per_hour'] == 0.526
    assert cost(limits={'currency': 'EUR'}, costs={'currency_per_usd': 0.25})['cost']['per_hour'] == 0.1315
    # a limit without a currency is one in dollars, on every computer
    assert cost(limits={'money': 60})['cost']['currency'] == 'USD'


@test
def electricity_is_converted():
    settings('set', 'currency', 'EUR')
    settings('set', 'rate-EUR', '0.5')
    settings('set', 'electricity-price', '0.30')
    owned = {'places': {'owned': [{'device': 'rtx-3090'}], 'cloud': [], 'buy': False, 'this_computer': False}, 'configuration': {}}
    euros, dollars = cost(**owned)['cost'], cost(**owned, limits={'currency': 'USD'})['cost']
    # (0.8 x 350 W + 120 W) at 0.30 EUR
    assert abs(euros['per_hour'] - 0.4 * 0.30) < 1e-9, euros
    assert abs(dollars['per_hour'] - 0.4 * 0.60) < 1e-9, dollars


@test
def carbon_of_the_country():
    owned = {'places': {'owned': [{'device': 'rtx-3090'}], 'cloud': [], 'buy': False, 'this_computer': False}, 'configuration': {}}
    assert cost(**owned)['energy']['carbon_basis'] == 'world'
    settings('set', 'carbon-country', 'FR')
    energy = cost(**owned)['energy']
    assert energy['carbon_basis'] == 'own' and energy['carbon_kg_per_kwh'] == 0.056, energy


@test
def says_that_a_shipped_rate_is_old():
    codes = [warning['code'] for warning in cost(limits={'currency': 'EUR'})['warnings']]
    assert 'old-rate' in codes, codes
    settings('set', 'rate-EUR', '0.9', subprocess.check_output(['date', '+%Y-%m-%d'], encoding='utf-8').strip())
    codes = [warning['code'] for warning in cost(limits={'currency': 'EUR'})['warnings']]
    assert 'old-rate' not in codes, codes


@test
def survives_settings_that_others_broke():
    keyfile("currency='EUR'\nexchange-rates={'EUR': (0.0, 'x')}\nelectricity-price=1e300\nheadroom=7.0\n")
    assert cost()['cost']['per_hour'] == 0.526 * 0.96
    keyfile("currency='eu'\nexchange-rates={'EUR': (nan, '')}\nelectricity-price=-1.0\n")
    assert cost()['cost']['currency'] == 'USD'
    keyfile('currency=\nexchange-rates=[1]\n')
    assert cost()['cost']['per_hour'] == 0.526


@test
def cannot_write():
    keyfile("currency='EUR'\n")
    if os.geteuid() == 0:
        return
    os.chmod('config/glib-2.0/settings/keyfile', 0o400)
    assert run('settings', 'set', 'currency', 'USD').returncode != 0


def main():
    start = os.getcwd()
    print(f'1..{len(tests)}')
    for number, function in enumerate(tests, 1):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                function()
                print(f'ok {number} {function.__name__}')
            except AssertionError as error:
                print(f'not ok {number} {function.__name__}\n# {str(error)[:2000]!r}')
            os.chdir(start)


main()
