#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What quartermaster-cli records, watches, diagnoses and keeps. Speaks TAP."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

CLI = os.path.abspath(sys.argv[1])
SCHEMA = {'format': 'quartermaster-plan', 'version': 1, 'task': 'language-model', 'activity': 'fine-tune'}
tests = []


def test(function):
    tests.append(function)
    return function


def run(*arguments):
    return subprocess.run([CLI, *arguments], capture_output=True, encoding='utf-8', timeout=60)


def write(name, content):
    with open(name, 'w') as file:
        file.write(content if isinstance(content, str) else json.dumps(content, indent=1))
    return name


def plan(name='plan.qmplan', **more):
    return write(name, {**SCHEMA, **more})


def refused(result, *words):
    assert result.returncode == 2, (result.returncode, result.stderr)
    assert result.stdout == '' and result.stderr.count('\n') == 1, result
    for word in words:
        assert word in result.stderr, (word, result.stderr)


SMI = ('timestamp, index, name, utilization.gpu [%], memory.used [MiB]\n'
       '2026/05/01 12:00:00.000, 0, NVIDIA L40S, 90 %, 20000 MiB\n2026/05/01 12:00:01.000, 0, NVIDIA L40S, 100 %, 22000 MiB\n')


def ledger(*words):
    return run('ledger', '--ledger', 'runs.db', *words)


@test
def a_flatpak_says_how_to_record_outside():
    os.makedirs('sandbox', exist_ok=True)
    write('sandbox/.flatpak-info', '[Application]\nname=io.github.quartermaster.Quartermaster\n')
    for words in (['record', '--', 'touch', 'ran'], ['tune', '--batch', '1,2', '--', 'touch', 'ran']):
        result = subprocess.run([CLI, *words], capture_output=True, encoding='utf-8', timeout=60, env={**os.environ, 'QM_SYSROOT': 'sandbox'})
        assert result.returncode == 1 and result.stdout == '' and result.stderr.count('\n') == 1, result
        assert 'nvidia-smi --query-gpu=' in result.stderr and 'History' in result.stderr, result.stderr
    assert not os.path.exists('ran')


@test
def ledger_keeps_runs():
    write('smi.csv', SMI)
    assert ledger('import', 'smi.csv').stdout.startswith('1 run')
    assert json.loads(ledger('import', 'smi.csv', '--json').stdout) == {'added': 0, 'known': 1}
    shown = json.loads(ledger('show', '1', '--json').stdout)
    assert shown['device'] == 'l40s' and shown['source'] == 'nvidia-smi' and shown['started'] == '2026-05-01T12:00:00.000000Z', shown
    assert shown['figures']['memory.per_device_bytes']['measured'] == 22000 * 2**20
    assert len(shown['series']['samples']) == 2
    assert ledger('note', '1', 'the first').returncode == 0 and ledger('tag', '1', 'smi', 'L40S box').returncode == 0
    for words in (['--search', 'first'], ['--tag', 'L40S box'], ['--device', 'l40s'], []):
        listed = json.loads(ledger('list', '--json', *words).stdout)
        assert [one['id'] for one in listed['runs']] == [1] and listed['total'] == 1, words
    assert json.loads(ledger('list', '--json', '--search', 'second').stdout)['runs'] == []
    assert '22' in ledger('show', '1').stdout and 'the first' in ledger('show', '1').stdout
    assert ledger('check').returncode == 0


@test
def ledger_out_and_in_again():
    write('smi.csv', SMI)
    ledger('import', 'smi.csv')
    ledger('note', '1', 'a, "quoted"\nnote')
    for name in ('all.json', 'all.csv'):
        assert ledger('export', name).returncode == 0
        assert json.loads(run('ledger', '--ledger', name + '.db', 'import', name, '--json').stdout) == {'added': 1, 'known': 0}
        assert run('ledger', '--ledger', name + '.db', 'export', '-').stdout == ledger('export', '-').stdout
    refused(ledger('export', 'all.xml'), '.json', '.csv')


@test
def ledger_removes_and_restores():
    write('smi.csv', SMI)
    ledger('import', 'smi.csv')
    assert 'restore' in ledger('remove', '1').stdout
    assert 'No runs' in ledger('list').stdout
    refused(ledger('show', '1'), '1')
    assert ledger('restore', '1').returncode == 0
    assert 'nvidia' not in ledger('list').stdout and ledger('list').stdout.startswith('    1')
    comparison = json.loads(ledger('compare', '1', '1', '--json').stdout)
    assert comparison['figures']['memory.per_device_bytes']['ratio'] == 1 and comparison['plan'] == {}


@test
def watch_prints_lines():
    lines = run('watch', '--json', '--interval', '0.1', '--seconds', '0.35').stdout.splitlines()
    samples = [json.loads(line) for line in lines]
    assert len(samples) == 3, lines
    assert 0 <= samples[-1]['cpu_utilization'] <= 1 and samples[-1]['memory_bytes'] > 0 and samples[-1]['cores'], samples[-1]
    assert '%' in run('watch', '--interval', '0.1', '--seconds', '0.1').stdout
    refused(run('watch', '--interval', '0'), '--interval')
    write('watched.jsonl', '\n'.join(lines) + '\n')
    assert ledger('import', 'watched.jsonl').returncode == 0
    assert json.loads(run('diagnose', '--json', 'watched.jsonl').stdout)['bottleneck']


def record(*words):
    return run('record', '--ledger', 'runs.db', '--interval', '0.1', *words)


@test
def record_passes_on_and_keeps():
    result = record('--label', 'try', '--', 'sh', '-c', 'for i in 1 2 3 4; do echo "step $i, loss 2.5, 100 tokens/s"; sleep 0.15; done; echo --json >&2; exit 9')
    assert result.returncode == 9 and 'step 1, loss' in result.stdout and '--json' in result.stderr, result
    shown = json.loads(ledger('show', '1', '--json').stdout)
    assert shown['label'] == 'try' and shown['status'] == 'failed' and shown['exit_status'] == 9, shown
    assert shown['figures']['throughput.per_second']['measured'] == 100 and shown['unit'] == 'tokens', shown['figures']
    assert shown['diagnosis']['bottleneck'] and len(shown['series']['samples']) > 3
    assert json.loads(run('diagnose', '--ledger', 'runs.db', '1', '--json').stdout)['bottleneck'] == shown['diagnosis']['bottleneck']
    refused(record('--label', 'x'), '--')
    refused(record('--interval', '0', '--', 'true'), '--interval')
    refused(record('--', 'no-such-program'), 'no-such-program')


def run_of(uid, layers, measured):
    architecture = {'model_type': 'llama', 'num_hidden_layers': layers, 'hidden_size': 2048, 'num_attention_heads': 16,
                    'intermediate_size': 5632, 'vocab_size': 32000}
    pinned = {**SCHEMA, 'model': {'architecture': architecture}, 'training': {'method': 'full', 'sequence_length': 1024},
              'configuration': {'device': 'a100-sxm4-80gb', 'devices': 1, 'micro_batch': 2}}
    return {'uid': uid, 'started': '2026-05-01T12:00:00Z', 'status': 'finished', 'plan': pinned,
            'figures': {'memory.per_device_bytes': {'measured': measured}}}


@test
def runs_stand_beside_the_rules():
    runs = [run_of('a', 8, 11e9), run_of('b', 16, 15e9)]
    write('sizes.json', {'format': 'quartermaster-ledger', 'version': 1, 'runs': runs})
    assert run('ledger', '--ledger', 'sizes.db', 'import', 'sizes.json').returncode == 0
    for layers, measured, history in ((16, 15e9, 15e9), (24, None, 19e9)):
        path = write('sized.qmplan', run_of('c', layers, 0)['plan'])
        out = json.loads(run('estimate', '--json', '--ledger', 'sizes.db', path).stdout)
        methods = out['memory']['methods']
        assert methods['measured_bytes'] == measured and abs(methods['history_bytes'] - history) < 1e3, methods
        out = json.loads(run('estimate', '--json', '--ledger', 'none.db', path).stdout)
        assert out['memory']['methods']['measured_bytes'] is None and out['memory']['methods']['history_bytes'] is None


@test
def record_compares_with_the_plan():
    path = plan(model={'id': 'llama-3.2-1b'}, training={'method': 'lora', 'global_batch': 4, 'sequence_length': 512, 'samples': 100},
                configuration={'device': 'rtx-4090'})
    out = json.loads(record('--json', '--plan', path, '--', 'sh', '-c', 'sleep 0.3; echo 8 samples/s; sleep 0.2').stdout)
    rate = out['figures']['throughput.per_second']
    assert rate['measured'] == 8 * 512 and rate['predicted']['p10'] < rate['predicted']['p90'], rate
    assert out['device'] == 'rtx-4090' and out['plan']['configuration']['device'] == 'rtx-4090' and out['model'] == 'llama-3.2-1b'


@test
def own_runs_correct_the_estimate():
    path = plan(model={'id': 'llama-3.2-1b'}, training={'method': 'lora', 'global_batch': 4, 'sequence_length': 512, 'samples': 100},
                configuration={'device': 'rtx-4090'})
    before = json.loads(run('estimate', '--json', path).stdout)['throughput']['per_second']['p50']
    record('--plan', path, '--', 'sh', '-c', f'sleep 0.3; echo {before / 512 * 0.7} samples/s; sleep 0.2')
    out = json.loads(run('estimate', '--json', '--ledger', 'runs.db', path).stdout)
    after = out['throughput']['per_second']['p50']
    assert 0.65 < after / before < 0.78, after / before
    assert 'calibrated' in [message['code'] for message in out['explanation']]
    plain = json.loads(run('estimate', '--json', '--ledger', 'runs.db', '--no-calibration', path).stdout)
    assert plain['throughput']['per_second']['p50'] == before
    assert json.loads(ledger('calibration', '--json').stdout)['runs'] == 1
    record('--plan', path, '--', 'sh', '-c', 'sleep 0.3; echo 99999999 samples/s; sleep 0.2')
    impossible = json.loads(ledger('calibration', '--json').stdout)['refused']
    assert (2, 'above-roofline') in [(figure['id'], figure['code']) for figure in impossible], impossible
    suggested = json.loads(ledger('suggest', path, '--json').stdout)
    assert len(suggested) == 2 and suggested[1]['deviation'] < suggested[0]['deviation'], suggested


@test
def record_is_interrupted():
    process = subprocess.Popen([CLI, 'record', '--ledger', 'runs.db', '--interval', '0.1', '--', 'sh', '-c', "trap 'exit 4' TERM; echo ready; while :; do sleep 0.1; done"],
                               stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == 'ready\n'
    process.terminate()
    process.communicate(timeout=30)
    assert process.returncode == 4, process.returncode
    assert json.loads(ledger('list', '--json').stdout)['runs'][0]['status'] == 'stopped'


@test
def ledger_refuses_what_is_wrong():
    write('bad.csv', SMI + 'tomorrow, 0, NVIDIA L40S, 90 %, 20000 MiB\n')
    write('smi.csv', SMI)
    refused(ledger('import', 'smi.csv', 'bad.csv'), 'bad.csv:4', 'tomorrow')
    assert json.loads(ledger('list', '--json').stdout)['runs'] == []
    refused(ledger('show', 'one'), 'one')
    refused(ledger('tidy'), 'tidy', 'import')
    refused(ledger('list', '--sort', 'colour'), 'colour', 'throughput')
    refused(ledger('note', '1'), 'ledger note ID TEXT')
    write('runs.db', 'not a ledger at all, just some text\n' * 20)
    result = ledger('list')
    assert result.returncode == 1 and 'runs.db' in result.stderr and result.stdout == '', result
    assert open('runs.db').read().startswith('not a ledger')


def main():
    print(f'1..{len(tests)}')
    failed = 0
    for number, function in enumerate(tests, 1):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                function()
                print(f'ok {number} {function.__name__}', flush=True)
            except unittest.SkipTest as reason:
                print(f'ok {number} {function.__name__} # SKIP {reason}', flush=True)
            except Exception as error:  # a test that breaks is a test that fails
                failed += 1
                print(f'not ok {number} {function.__name__}', flush=True)
                print('# ' + f'{type(error).__name__}: {error}'.replace('\n', '\n# ')[:2000], flush=True)
            os.chdir('/')
    return 1 if failed else 0


sys.exit(main())
