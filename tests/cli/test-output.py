#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What quartermaster-cli prints with --json is what docs/output.schema.json says, no member more, and plans are what
docs/plan.schema.json says. Speaks TAP: test-output.py CLI SOURCE"""
import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import jsonschema

CLI = os.path.abspath(sys.argv[1])
SOURCE = pathlib.Path(sys.argv[2]).resolve()
OUTPUT = json.loads((SOURCE / 'docs/output.schema.json').read_text(encoding='utf-8'))
PLAN = json.loads((SOURCE / 'docs/plan.schema.json').read_text(encoding='utf-8'))
GOLDEN = [json.loads(path.read_text(encoding='utf-8'))['plan'] for path in sorted((SOURCE / 'tests/data/golden').glob('*.json'))]
TINY = SOURCE / 'docs/tiny/tiny.qmplan'
tests = []


def test(function):
    tests.append(function)
    return function


def deepest(error):
    """Of the branches of a choice the one that came furthest: its error tells what is wrong."""
    while error.context:
        error = max(error.context, key=lambda branch: len(branch.absolute_path))
    return error


def check(name, value):
    validator = jsonschema.Draft202012Validator({**OUTPUT, '$ref': f'#/$defs/{name}'})
    errors = [deepest(error) for error in validator.iter_errors(value)]
    assert not errors, '; '.join(f'{name}.{".".join(map(str, error.absolute_path))}: {error.message[:200]}' for error in errors[:5])


def run(*arguments, status=0, environment=None):
    result = subprocess.run([CLI, *map(str, arguments)], capture_output=True, encoding='utf-8', timeout=120,
                            env={**os.environ, 'QM_USER_DIR': os.path.join(os.getcwd(), 'own'), **(environment or {})})
    assert result.returncode == status, (arguments, result.returncode, result.stderr)
    return result.stdout


def ask(*arguments, **options):
    return json.loads(run(*arguments, '--json', **options))


def plans():
    for number, plan in enumerate(GOLDEN):
        path = f'{number}.qmplan'
        pathlib.Path(path).write_text(json.dumps(plan), encoding='utf-8')
        yield path, plan


@test
def schemas_are_schemas():
    for schema in (OUTPUT, PLAN):
        jsonschema.Draft202012Validator.check_schema(schema)


@test
def a_wrong_output_is_found():
    path, _ = next(plans())
    answer = ask('recommend', path)
    check('recommendation', answer)
    changes = (lambda wrong: wrong['choices'][0].pop('memory'), lambda wrong: wrong['choices'][0]['memory'].update(fits='yes'),
               lambda wrong: wrong['matrix'][0]['money'].update(p95=1), lambda wrong: wrong.update(version=2))
    for change in changes:
        wrong = copy.deepcopy(answer)
        change(wrong)
        try:
            check('recommendation', wrong)
        except AssertionError:
            continue
        raise AssertionError('a wrong answer passed')


@test
def plans_are_plans():
    validator = jsonschema.Draft202012Validator(PLAN)
    for plan in [*GOLDEN, json.loads((SOURCE / 'docs/example.qmplan').read_text(encoding='utf-8')), json.loads(TINY.read_text(encoding='utf-8'))]:
        validator.validate(plan)
    assert not validator.is_valid({**GOLDEN[0], 'task': 'knitting'})


@test
def written_plans_are_plans():
    for path, _ in plans():
        ask('recommend', path, '-o', 'chosen.qmplan')
        written = json.loads(pathlib.Path('chosen.qmplan').read_text(encoding='utf-8'))
        jsonschema.Draft202012Validator(PLAN).validate(written)


@test
def answers():
    for path, plan in plans():
        check('recommendation', ask('recommend', path))
        check('estimate', ask('estimate', path))
        if plan['task'] != 'tabular':
            check('oom', ask('diagnose', '--oom', path))
    check('estimate', ask('estimate', SOURCE / 'docs/example.qmplan'))
    check('estimate', ask('estimate', TINY))


@test
def answers_to_some():
    served = formats = 0
    for path, plan in plans():
        if plan['activity'] == 'serve' and 'requests_per_second' in plan.get('serving', {}):
            check('elastic', ask('elastic', path))
            served += 1
        if plan['task'] == 'language-model':
            check('quantization', ask('quantization', path))
            formats += 1
    assert served and formats, (served, formats)


@test
def the_score_of_layers():
    pathlib.Path('layers.csv').write_text('layer,points,parameters\na,0.6,100\nb,0.1,100\nc,0.1,100\n', encoding='utf-8')
    path = next(path for path, plan in plans() if plan['task'] == 'language-model')
    answer = ask('quantization', path, '--layers', 'layers.csv')
    check('quantization', answer)
    assert answer['layers'] is not None


@test
def models():
    for name in ('llama-3.1-8b', 'mixtral-8x7b', 'deepseek-v3', 'resnet-50', 'sdxl', 'whisper-large-v3', 'dlrm'):
        result = subprocess.run([CLI, 'model', name, '--json'], capture_output=True, encoding='utf-8', timeout=60)
        check('model' if result.returncode == 0 else 'error', json.loads(result.stdout))


@test
def catalog():
    check('catalog', ask('catalog', 'list'))
    check('device', ask('catalog', 'show', 'rtx-4090'))


@test
def errors():
    check('error', ask('estimate', 'nowhere.qmplan', status=1))
    pathlib.Path('bad.qmplan').write_text(json.dumps({**GOLDEN[0], 'training': {'epochs': -1}, 'activity': 'train'}), encoding='utf-8')
    answer = ask('recommend', 'bad.qmplan', status=2)
    check('error', answer)
    assert answer['error']['path'] == 'training.epochs', answer


@test
def computers():
    check('detect', ask('detect'))
    for path in sorted((SOURCE / 'tests/data/machines').glob('*.json')):
        check('detect', json.loads(path.read_text(encoding='utf-8')))


@test
def samples():
    lines = run('watch', '--seconds', '2', '--interval', '0.5', '--json').splitlines()
    assert len(lines) >= 2
    for line in lines:
        check('sample', json.loads(line))


@test
def runs_of_the_past():
    ledger = ('--ledger', 'ledger.db')
    job = 'for i in 1 2 3 4 5 6; do echo "step $i, loss 2.$i, 1000 tokens/s"; sleep 0.2; done'
    check('run', json.loads(run('record', *ledger, '--interval', '0.2', '--plan', TINY, '--json', '--', 'sh', '-c', job)))
    run('record', *ledger, '--json', '--', 'false', status=1)
    listed = ask('ledger', 'list', *ledger)
    check('runs', listed)
    assert listed['total'] == 2
    check('run', ask('ledger', 'show', '1', *ledger))
    check('comparison', ask('ledger', 'compare', '1', '2', *ledger))
    check('calibration', ask('ledger', 'calibration', *ledger))
    check('diagnosis', ask('diagnose', '1', *ledger))
    run('ledger', 'export', *ledger, 'runs.json')
    check('ledger', json.loads(pathlib.Path('runs.json').read_text(encoding='utf-8')))


@test
def trials():
    command = ('--', 'sh', '-c', 'echo samples_per_second={batch} {workers} {accumulation}')
    lines = run('tune', '--batch', '1,2', '--workers', '0', '--accumulation', '1', '--grid', '--state', 'tune.json', '--ledger', 'tune.db', '--json',
                *command).splitlines()
    assert len(lines) >= 3, lines
    for line in lines:
        check('trial', json.loads(line))


@test
def scores():
    case = {'id': 'one', 'plan': {**json.loads(TINY.read_text(encoding='utf-8'))}, 'measured': {'memory.per_device_bytes': 1e9},
            'source': {'title': 'none', 'where': 'here'}}
    pathlib.Path('cases.jsonl').write_text(json.dumps(case) + '\n', encoding='utf-8')
    check('score', ask('score', 'cases.jsonl'))


def main():
    failed = 0
    print(f'1..{len(tests)}')
    for number, function in enumerate(tests, 1):
        try:
            function()
            print(f'ok {number} {function.__name__}', flush=True)
        except Exception as error:  # whatever goes wrong is a failure
            failed += 1
            print(f'not ok {number} {function.__name__}', flush=True)
            print('# ' + f'{type(error).__name__}: {error}'.replace('\n', ' ')[:2000], flush=True)
    return 1 if failed else 0


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    sys.exit(main())
