#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds for every answer, whatever is asked: every task and activity, and answers at the ends of their ranges.
Speaks TAP. The choice of extremes is the same in every run; SEED takes another."""
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile

import jsonschema

CLI = os.path.abspath(sys.argv[1])
with open(sys.argv[2], encoding='utf-8') as file:
    SCHEMA = jsonschema.Draft202012Validator({**json.load(file), '$ref': '#/$defs/recommendation'})
TASKS = ('language-model', 'text-encoder', 'image-classification', 'object-detection', 'image-generation', 'speech', 'recommender',
         'tabular', 'other')
ACTIVITIES = ('train', 'fine-tune', 'serve', 'batch-inference')
EXTREMES = {
    'limits.money': (0, 1e-300, 1e12), 'limits.hours': (0, 1e-9, 1e9), 'limits.min_accuracy': (0, 1), 'limits.headroom': (0, 0.9),
    'limits.objective': ('cheapest', 'fastest', 'most-accurate'), 'limits.currency': ('EUR', 'CNY'),
    'model.parameters': (1, 10**9, 10**15), 'stage': ('prototype', 'production'), 'places.spot': ('never', 'preferred'),
    'places.cloud': ([],), 'places.on_premises': (True,),
    'places.owned': ([{'device': 'rtx-3090', 'devices': 10**6}], [{'device': 'rtx-3090', 'devices': 2}, {'device': 't4'}]),
    'configuration.devices': (1, 8, 512, 10**6), 'configuration.nodes': (1, 2, 10**5), 'configuration.device': ('h100-sxm5-80gb', 't4'),
    'training.samples': (1, 10**15), 'training.epochs': (1e-6, 1e6), 'training.sequence_length': (1, 10**9),
    'training.global_batch': (1, 10**12), 'training.method': ('full', 'lora', 'qlora', 'linear-probe'), 'training.image_size': (1, 10**6),
    'serving.concurrency': (1, 10**9), 'serving.requests_per_second': (1e-9, 1e9), 'serving.input_tokens': (0, 10**9),
    'serving.output_tokens': (1, 10**9), 'serving.latency_p99_seconds': (1e-6, 1e6), 'serving.samples': (1, 10**15),
}
RULED_BY_SIZE = ('memory', 'host-memory', 'money', 'deadline', 'latency', 'accuracy', 'load')


def no_constant(name):
    raise ValueError(f'{name} is no JSON')


def ask(command, plan):
    """The answer, or None where the plan was refused, as it may be."""
    with open('p.qmplan', 'w') as file:
        json.dump(plan, file)
    result = subprocess.run([CLI, command, '--json', 'p.qmplan'], capture_output=True, encoding='utf-8', timeout=60)
    assert result.returncode in (0, 2), (result.returncode, result.stderr)
    assert not re.search('CRITICAL|WARNING', result.stderr), result.stderr
    answer = json.loads(result.stdout, parse_constant=no_constant)
    assert ('error' in answer) == (result.returncode == 2), result.stdout
    return None if 'error' in answer else answer


def every(value, path=''):
    yield path, value
    if isinstance(value, (dict, list)):
        for name, member in (value.items() if isinstance(value, dict) else enumerate(value)):
            yield from every(member, f'{path}.{name}')


def check_values(answer):
    for path, value in every(answer):
        if isinstance(value, (int, float)):
            assert math.isfinite(value) and (value >= 0 or 'accuracy' in path), (path, value)
        if isinstance(value, float):
            assert len(re.sub('e.*', '', repr(value)).strip('-').replace('.', '').strip('0')) <= 12, (path, value)
        if isinstance(value, dict) and 'p50' in value:
            assert value['p10'] <= value['p50'] <= value['p90'], (path, value)
        if isinstance(value, str):
            assert not re.search(r'\{\w*\}|\(null\)|\bnan\b|\binf\b|unknown×|unknown USD', value), (path, value)
            assert value or path.rsplit('.', 1)[-1] not in ('text', 'reason', 'why', 'code', 'label', 'kind'), path


def check_memory(memory, headroom):
    need, usable = memory['need_bytes'] and memory['need_bytes']['p50'], memory['usable_bytes']
    if need is None or not usable:
        return
    assert abs(sum(memory['breakdown'].values()) - need) < max(16, 1e-9 * need), memory
    assert memory['fits'] == (need <= usable) and 0 <= memory['fit_probability'] <= 1, memory
    if memory['verdict'] != 'partly-in-system-memory':
        wanted = 'fits' if need <= (1 - headroom) * usable else 'tight' if need <= 0.9 * usable else 'may-fit' if need <= usable else 'does-not-fit'
        assert memory['verdict'] == wanted or abs(need / usable - (1 - headroom)) < 1e-9, memory


def check_throughput(estimate):
    throughput = estimate['throughput']
    if throughput is None:
        return
    assert throughput['mfu'] is None or throughput['mfu'] <= 1, throughput
    whole, each = throughput['per_second'], throughput['per_device_per_second']
    configuration = estimate['configuration']
    # Of a machine that serves, some devices may have nothing to do.
    busy = configuration['devices'] if estimate['serving'] is None else (
        configuration['data_parallel'] * configuration['tensor_parallel'] * configuration['pipeline_parallel'])
    assert whole['p10'] < whole['p50'] < whole['p90'], throughput
    assert abs(whole['p50'] / each['p50'] / busy - 1) < 1e-6, (throughput, configuration)
    for name in ('samples_per_second', 'tflops_per_device'):
        assert throughput[name] is None or abs(throughput[name]['p90'] / throughput[name]['p50'] - whole['p90'] / whole['p50']) < 1e-6, (name, throughput)


def check_money(estimate):
    cost, time = estimate['cost'], estimate['time']
    if cost and time and cost['money_is_of'] == 'job' and cost['pricing'] in ('on-demand', 'spot'):
        assert cost['money']['p50'] >= 0.999 * cost['per_hour'] * time['seconds']['p50'] / 3600, (cost, time)


def check_choice(choice, plan):
    limits, latency = plan.get('limits', {}), plan.get('serving', {}).get('latency_p99_seconds')
    check_memory(choice['memory'], limits.get('headroom', 0.2))
    check_throughput(choice)
    check_money(choice)
    if 'money' in limits:
        assert choice['cost']['money']['p50'] <= limits['money'], choice['cost']
    if 'hours' in limits and choice['time']:
        assert choice['time']['seconds']['p50'] <= 3600 * limits['hours'], choice['time']
    if latency and choice['serving'] and plan['activity'] == 'serve':
        assert choice['serving']['latency_p99_seconds']['p50'] <= latency, choice['serving']
    for field, value in plan.get('configuration', {}).items():
        assert choice['configuration'][field] == value, (field, value, choice['configuration'])


def check_recommendation(answer, plan):
    assert set(answer) >= {'format', 'version', 'choices', 'matrix', 'rejected', 'sensitivity', 'stages', 'warnings', 'assumed',
                           'considered', 'seconds'}
    labels = [row['label'] for row in answer['matrix']]
    for rank, choice in enumerate(answer['choices'], 1):
        assert choice['rank'] == rank and choice['label'] in labels
        check_choice(choice, plan)
    if answer['choices']:
        assert answer['choices'][0]['kind'] == 'best' and answer['choices'][0]['reasons']
    else:
        assert answer['warnings'] and answer['rejected']
    for rejected in answer['rejected']:
        assert rejected['reason'] and rejected['code']
        assert rejected['margin'] is None or rejected['margin'] >= 1 or rejected['code'] not in RULED_BY_SIZE, rejected


def with_answer(plan, path, value):
    plan = json.loads(json.dumps(plan))
    section, _, name = path.rpartition('.')
    (plan.setdefault(section, {}) if section else plan)[name] = value
    return plan


def makes_sense(path, activity):
    return not path.startswith('serving.' if activity in ('train', 'fine-tune') else 'training.')


def check(plan):
    answer = ask('recommend', plan)
    if answer is not None:
        SCHEMA.validate(answer)
        check_values(answer)
        check_recommendation(answer, plan)
    return answer


def main():
    chance = random.Random(int(os.environ.get('SEED', 1)))
    failed = number = 0
    print(f'1..{len(TASKS) * len(ACTIVITIES)}')
    for task in TASKS:
        for activity in ACTIVITIES:
            number += 1
            plan = {'format': 'quartermaster-plan', 'version': 1, 'task': task, 'activity': activity}
            paths = chance.sample([path for path in EXTREMES if makes_sense(path, activity)], 1)
            try:
                answer = check(plan)
                # Trees answer fast; how fast is not estimated.
                assert answer['choices'] or (task == 'tabular' and answer['warnings'][0]['code'] == 'not-estimated'), answer['warnings']
                for path in paths:
                    plan_now = with_answer(plan, path, chance.choice(EXTREMES[path]))
                    check(plan_now)
                print(f'ok {number} {task} {activity}', flush=True)
            except Exception as error:  # whatever goes wrong is a failure
                failed += 1
                print(f'not ok {number} {task} {activity}', flush=True)
                print('# ' + f'{open("p.qmplan").read()} {type(error).__name__}: {error}'.replace('\n', ' ')[:2000], flush=True)
    return 1 if failed else 0


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    status = main()
    os.chdir('/')
sys.exit(status)
