#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a reference predictor on measured cases.

    reference.py FOLDER MODULE DEVICES CASES [FIELD...]

FOLDER holds MODULE.py, a predictor with predict (plan, devices); DEVICES is the
list of devices it reads, CASES a file of measured cases, one a line. Each FIELD,
as training.framework, is left out of every plan. A predictor with load_models ()
covers other tasks than language models and reads vision-models.json beside
DEVICES; cases of language models are left out then. Prints an array with {"id",
"plan", "expected"} for each case, where expected holds what the tests of the core
compare with.
"""
import importlib
import json
import os
import sys


def flatten_inference(result):
    memory, rate, serving = result['memory'], result['throughput'], result['serving']
    return {
        'device': memory['per_device_bytes'],
        'need': memory['need_bytes'],
        'allocated': memory['by_basis']['allocated'],
        'reserved': memory['by_basis']['reserved'],
        'parts': list(memory['breakdown'].values()),
        'per_second': rate['per_second'],
        'bound_by': rate['bound_by'],
        'decode': serving['decode_tokens_per_second'],
        'token': serving['token_seconds'],
        'prefill': serving['prefill_tokens_per_second'],
        'first_token': serving['first_token_seconds'],
        'max_concurrency': serving['max_concurrency'],
        'kv_cache_bytes_per_token': result['model']['kv_cache_bytes_per_token'],
        'state': result['state'],
    }


def flatten(result):
    if 'configuration' not in result:
        return flatten_inference(result)
    memory, rate = result['memory'], result['throughput']
    flat = {
        'device': memory['per_device_bytes'],
        'allocated': memory['by_basis']['allocated'],
        'reserved': memory['by_basis']['reserved'],
        'parts': list(memory['breakdown'].values()),
        'fits': memory['fits'],
        'configuration': result['configuration'],
    }
    if rate is not None:
        flat.update(
            per_second=rate['per_second'],
            per_device_per_second=rate['per_device_per_second'],
            step=rate['step_seconds'],
            samples_per_second=rate['samples_per_second']['p50'],
            tflops_per_device=rate['tflops_per_device']['p50'],
            mfu=rate['mfu'],
            bound_by=rate['bound_by'],
            seconds=list(rate['step_breakdown'].values()))
    return flat


def flatten_other(result):
    memory, rate = result['memory'], result['throughput']
    parts = memory['breakdown']
    return {
        'device': memory.get('per_device_bytes'),
        'allocated': memory.get('allocated_bytes'),
        'host_bytes': memory.get('host_bytes'),
        'host': memory.get('host_range'),
        'parts': parts and list(parts.values()),
        'unit': rate['unit'],
        'per_second': rate['per_second'],
        'step': rate.get('step_seconds'),
        'samples_per_second': rate.get('samples_per_second'),
        'time': result['time'] and result['time']['seconds'],
    }


def predict_all(predictor, cases, devices, devices_file):
    if not hasattr(predictor, 'load_models'):
        return [flatten(predictor.predict(c['plan'], devices)) for c in cases]
    models = predictor.load_models(os.path.join(os.path.dirname(devices_file), 'vision-models.json'))
    return [flatten_other(predictor.predict(c['plan'], devices, models)) for c in cases]


def main():
    folder, module, devices_file, cases_file, *fields = sys.argv[1:]
    sys.path.insert(0, folder)
    predictor = importlib.import_module(module)
    with open(devices_file, encoding='utf-8') as f:
        devices = {d['id']: d for d in json.load(f)}
    with open(cases_file, encoding='utf-8') as f:
        cases = [json.loads(line) for line in f if line.strip()]
    for case in cases:
        for field in fields:
            section, name = field.split('.')
            case['plan'][section].pop(name, None)
    if hasattr(predictor, 'load_models'):
        cases = [case for case in cases if case['plan']['task'] != 'language-model']
    expected = predict_all(predictor, cases, devices, devices_file)
    json.dump([{'id': c['id'], 'plan': c['plan'], 'expected': e} for c, e in zip(cases, expected)], sys.stdout)


if __name__ == '__main__':
    main()
