#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of quartermaster-cli tune, on a small training job that really runs. Speaks TAP."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

CLI = os.path.abspath(sys.argv[1])
TRAIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'train.py')
GRID = ('--batch', '8,16,32,64', '--workers', '0,1,2,4', '--accumulation', '1,4')
tests = []


def test(function):
    tests.append(function)
    return function


def job(*mode):
    return ('--', sys.executable, TRAIN, '{batch}', '{workers}', '{accumulation}', *mode)


def start(*arguments):
    return subprocess.Popen([CLI, 'tune', *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding='utf-8',
                            env={**os.environ, 'QM_USER_DIR': os.path.join(os.getcwd(), 'own')})


def run(*arguments):
    process = start(*arguments)
    out, error = process.communicate(timeout=120)
    return process.returncode, out, error


def lines(text):
    return [json.loads(line) for line in text.strip().split('\n')]


def runs():
    if not os.path.exists('runs.log'):
        return []
    with open('runs.log') as log:
        return log.read().split('\n')[:-1]


def sleepers():
    found = set()
    for name in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{name}/cmdline') as file:
                if file.read() == 'sleep\x00600\x00' and os.readlink(f'/proc/{name}/cwd') == os.path.realpath('.'):
                    found.add(name)
        except OSError:  # it has just ended
            pass
    return found


def refused(result, *words):
    assert result[0] == 2 and all(word in result[2] for word in words), result


@test
def finds_the_best_of_a_grid_in_seven_trials():
    """train.py is fastest with 32 samples, 2 loaders and 4 micro-batches, by 13 % (tried one by one); 64 do not fit."""
    status, out, error = run('--json', *GRID, *job())
    assert status == 0, error
    *trials, last = lines(out)
    assert len(trials) <= 7 and len(runs()) == len(trials), out
    assert last['result']['settings'] == {'batch': 32, 'workers': 2, 'accumulation': 4}, out
    assert last['trials'] == len(trials) and last['stopped'] is False
    for number, trial in enumerate(trials, 1):
        assert trial['trial'] == number and trial['resumed'] is False
        assert trial['metrics']['outcome'] == ('out-of-memory' if trial['settings']['batch'] == 64 else 'done'), trial
        assert 0 <= trial['reward'] <= 1.001, trial
    own = {**os.environ, 'QM_USER_DIR': os.path.join(os.getcwd(), 'own')}
    listed = subprocess.run([CLI, 'ledger', 'list', '--json', '--tag', 'tune'], capture_output=True, encoding='utf-8', env=own)
    kept = json.loads(listed.stdout)['runs']
    assert len(kept) == len(trials), listed
    assert sorted(run['status'] for run in kept) == sorted(
        {'done': 'finished'}.get(trial['metrics']['outcome'], trial['metrics']['outcome']) for trial in trials), kept


@test
def goes_on_where_it_stopped():
    assert run('--json', '--trials', '2', '--state', 'kept.json', *GRID, *job())[0] == 0
    first = runs()
    assert len(first) == 2
    status, out, error = run('--json', '--state', 'kept.json', *GRID, *job())
    assert status == 0, error
    *trials, last = lines(out)
    assert [trial['resumed'] for trial in trials[:3]] == [True, True, False]
    assert len(runs()) == last['trials'] <= 7 and runs()[:2] == first
    assert last['result']['settings'] == {'batch': 32, 'workers': 2, 'accumulation': 4}, out
    assert json.load(open('kept.json'))['format'] == 'quartermaster-tune'
    # Once it is done, it runs nothing again.
    count = len(runs())
    assert run('--state', 'kept.json', *GRID, *job())[0] == 0 and len(runs()) == count
    # Another command is another search.
    refused(run('--state', 'kept.json', *GRID, *job('silent')), 'kept.json', '--state')
    with open('kept.json', 'w') as file:
        file.write('{"format": "quartermaster-tune"')
    refused(run('--state', 'kept.json', *GRID, *job()), 'kept.json')


@test
def stops_when_told_and_takes_all_it_started_along():
    process = start(*GRID, *job('hangs'))
    for _ in range(200):
        children = sleepers()
        if children:
            break
        time.sleep(0.05)
    assert children and len(runs()) == 1
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=20)
    assert process.returncode == 0 and 'Stopped' in out, (out, error)
    assert not children & sleepers()


@test
def ends_what_takes_too_long():
    begin = time.monotonic()
    result = run('--limit', '0.5', *GRID, *job('hangs'))
    refused(result, 'fails whatever is set')
    assert result[1].count('took too long') == 3 and time.monotonic() - begin < 20, result


@test
def says_what_a_broken_command_says():
    refused(run(*GRID, *job('broken')), 'no such data set')
    assert len(runs()) == 3
    status, _, error = run('--', '/no/such/program', '{batch}')
    assert status != 0 and 'no/such/program' in error, error


@test
def running_out_of_memory_is_an_answer():
    status, out, _ = run('--json', '--grid', '--batch', '64,128', *job())
    assert status == 0
    *trials, last = lines(out)
    assert last['result'] is None and all(trial['metrics']['outcome'] == 'out-of-memory' for trial in trials)


@test
def without_a_rate_the_time_of_a_run_counts():
    status, out, _ = run('--json', '--grid', '--batch', '8,32', '--workers', '1', '--accumulation', '4', *job('silent'))
    assert status == 0
    *trials, last = lines(out)
    assert len(trials) == 2 and last['result']['settings']['batch'] == 32
    for trial in trials:
        assert abs(trial['metrics']['per_second'] * trial['metrics']['seconds'] - 1) < 1e-6


# Most of them are over before they are asked for their number.
@test
def what_is_over_at_once_is_a_trial():
    status, out, error = run('--json', '--grid', '--batch', '1,2,3,4,5,6,7,8,9,10,11,12', '--workers', '0', '--accumulation', '1', '--', 'true', '{batch} {workers} {accumulation}')
    assert status == 0, (status, out, error)


@test
def tunes_the_model_of_a_job():
    plan = {'format': 'quartermaster-plan', 'version': 1, 'task': 'language-model', 'activity': 'fine-tune',
            'model': {'id': 'llama-3.1-8b'}, 'training': {'method': 'lora', 'samples': 20000}}
    with open('plan.qmplan', 'w') as file:
        json.dump(plan, file)
    results = []
    for more in ((), ('--grid',)):
        status, out, error = run('--json', *more, 'plan.qmplan')
        assert status == 0, error
        *trials, last = lines(out)
        results.append((last['result']['per_second'], len(trials)))
    assert results[0][0] >= 0.95 * results[1][0] and results[0][1] * 4 < results[1][1], results


@test
def refuses_what_makes_no_sense():
    refused(run(), 'plan')
    refused(run('--', 'true'), '{batch}')
    refused(run('--batch', '8,4', '--', 'true', '{batch}'), '--batch', '8,4')
    refused(run('--workers', '1,2', '--', 'true', '{batch}'), '{workers}')
    refused(run('a.qmplan', '--', 'true', '{batch}'), 'not both')
    refused(run('--trials', '-1', '--', 'true', '{batch}'), '--trials')


def main():
    print(f'1..{len(tests)}')
    failed = 0
    for number, function in enumerate(tests, 1):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                function()
                print(f'ok {number} {function.__name__}', flush=True)
            except Exception as error:  # a test that breaks is a test that fails
                failed += 1
                print(f'not ok {number} {function.__name__}', flush=True)
                print('# ' + f'{type(error).__name__}: {error}'.replace('\n', '\n# ')[:2000], flush=True)
            os.chdir('/')
    return 1 if failed else 0


sys.exit(main())
