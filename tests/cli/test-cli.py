#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Contract tests of quartermaster-cli: what every command prints and how it refuses. Speaks TAP."""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import time
import unicodedata
import unittest

CLI = os.path.abspath(sys.argv[1])
SCHEMA = {'format': 'quartermaster-plan', 'version': 1, 'task': 'language-model', 'activity': 'fine-tune'}
PINNED = {'device': 'a100-sxm4-80gb', 'devices': 8, 'nodes': 1, 'data_parallel': 8, 'tensor_parallel': 1, 'pipeline_parallel': 1,
          'sharding': 'zero3', 'micro_batch': 1, 'gradient_accumulation': 4}
tests = []


def test(function):
    tests.append(function)
    return function


def run(*arguments, text_in='', **environment):
    return subprocess.run([CLI, *arguments], input=text_in, capture_output=True, encoding='utf-8', timeout=60,
                          env={**os.environ, **environment})


def write(name, content):
    with open(name, 'w') as file:
        file.write(content if isinstance(content, str) else json.dumps(content, indent=1))
    return name


def plan(name='plan.qmplan', **more):
    return write(name, {**SCHEMA, **more})


def refused(result, *words):
    assert result.returncode == 2, (result.returncode, result.stderr)
    assert result.stdout == '', result.stdout
    assert result.stderr.count('\n') == 1, result.stderr
    assert result.stderr.startswith('quartermaster-cli: '), result.stderr
    for word in words:
        assert word in result.stderr, (word, result.stderr)


def cells(text):
    return sum(2 if unicodedata.east_asian_width(letter) in 'WF' else 1 for letter in text)


def range_of(value):
    assert value['p10'] <= value['p50'] <= value['p90'], value
    return value['p50']


@test
def help_and_version():
    result = run('--help')
    assert result.returncode == 0
    for command in ('estimate', 'recommend', 'ask', 'model', 'detect', 'catalog', 'report', 'chart', 'score', 'diagnose'):
        assert command in result.stdout, command
    assert run('--version').stdout.startswith('quartermaster-cli 0.')
    refused(run('recomend'), 'recomend')
    refused(run())
    refused(run('estimate'), 'argument')
    assert 'recomend' in json.loads(run('recomend', '--json').stdout)['error']['message']
    refused(run('recommend', plan(), '--top', '0'), '--top')
    refused(run('chart', plan(), '-o', 'a.png'), '--kind', 'memory')
    refused(run('catalog', 'show'), 'ID')


@test
def estimate_of_a_pinned_configuration():
    result = run('estimate', '--json', plan(model={'id': 'llama-2-7b'}, training={'method': 'full'}, configuration=PINNED))
    assert result.returncode == 0, result.stderr
    out = json.loads(result.stdout)
    assert out['format'] == 'quartermaster-estimate' and out['version'] == 1
    assert out['model']['parameters'] == 6738415616          # published
    assert out['model']['kv_cache_bytes_per_token'] == 524288  # estimation vector 26
    assert out['configuration']['device'] == 'a100-sxm4-80gb' and out['configuration']['devices'] == 8
    memory = out['memory']
    need = range_of(memory['need_bytes'])
    assert abs(sum(memory['breakdown'].values()) - need) < 16, (memory['breakdown'], need)
    assert abs(memory['methods']['quick_bytes'] - 6738415616 * 2.4) < 1     # estimation 0.1
    assert abs(memory['methods']['basic_bytes'] - 6738415616 * 5.2) < 1
    assert memory['verdict'] in ('fits', 'tight', 'may-fit', 'does-not-fit')
    assert out['throughput']['unit'] == 'tokens' and range_of(out['throughput']['per_second']) > 0
    assert range_of(out['time']['seconds']) > 0 if out['time'] else True
    assert out['serving'] is None


@test
def estimate_without_a_configuration():
    result = run('estimate', '--json', plan())
    assert result.returncode == 0, result.stderr
    out = json.loads(result.stdout)
    assert out['memory']['fits'] is True
    fields = {assumption['field'] for assumption in out['assumed']}
    assert {'model.id', 'training.method', 'training.samples'} <= fields
    assert all(assumption['why'] for assumption in out['assumed'])


@test
def recommend_gives_the_whole_answer():
    result = run('recommend', '--json', plan(limits={'money': 100, 'hours': 24}))
    assert result.returncode == 0, result.stderr
    out = json.loads(result.stdout)
    assert out['format'] == 'quartermaster-recommendation'
    assert [choice['rank'] for choice in out['choices']] == list(range(1, len(out['choices']) + 1))
    assert out['choices'][0]['kind'] == 'best' and out['choices'][0]['reasons']
    for choice in out['choices']:
        assert range_of(choice['cost']['money']) <= 100
        assert range_of(choice['time']['seconds']) <= 24 * 3600
        assert choice['cost']['as_of']
    rows = {row['label'] for row in out['matrix']}
    assert all(choice['label'] in rows for choice in out['choices'])
    assert out['considered'] > 1000 and out['seconds'] > 0
    assert len(out['rejected']) > 100 and all(entry['reason'] for entry in out['rejected'])
    assert [stage['stage'] for stage in out['stages']] == ['prototype', 'development', 'production']
    assert len(json.loads(run('recommend', '--json', '--top', '1', 'plan.qmplan').stdout)['choices']) == 1


@test
def nothing_fits_is_no_error():
    result = run('recommend', '--json', plan(activity='train', model={'id': 'llama-3.1-405b'}, limits={'money': 1, 'hours': 1}))
    assert result.returncode == 0, result.stderr
    out = json.loads(result.stdout)
    assert out['choices'] == [] and out['rejected'] and out['warnings']
    assert run('recommend', 'plan.qmplan').returncode == 0
    path = plan(activity='fine-tune', training={'method': 'full'}, configuration={'device': 'rtx-3060-12gb', 'devices': 1, 'offload': 'none'})
    nearest = json.loads(run('recommend', '--json', path).stdout)['nearest']
    assert nearest['memory']['per_device_bytes']['p50'] > 128e9 and nearest['ladder']['fits']
    assert '4-bit-weights' in [rung['code'] for rung in nearest['ladder']['ladder'] if rung['state'] == 'taken']
    assert 'With these changes it needs' in run('recommend', path).stdout
    assert [run('chart', path, '--kind', kind, '-o', 'a.svg').returncode for kind in ('memory', 'cost-time')] == [0, 2]


@test
def pins_are_kept():
    out = json.loads(run('recommend', '--json', plan(configuration={'device': 'l40s', 'devices': 1})).stdout)
    assert out['choices']
    assert all(choice['configuration']['device'] == 'l40s' and choice['configuration']['devices'] == 1 for choice in out['choices'])


@test
def bad_plans_name_file_and_line():
    refused(run('estimate', write('a.qmplan', '{"format": "quartermaster-plan", "version": 1,\n "task": }')), 'a.qmplan:2:')
    refused(run('estimate', write('a.qmplan', '[1, 2]')), 'a.qmplan:1:')
    refused(run('estimate', write('a.qmplan', '')), 'a.qmplan:1:')
    refused(run('estimate', write('a.qmplan', '{}')), 'a.qmplan:1:', 'quartermaster-plan')
    refused(run('estimate', write('a.qmplan', {**SCHEMA, 'version': 99})), 'a.qmplan:3:', '99')
    refused(run('estimate', plan('a.qmplan', task='poetry')), 'a.qmplan:4:', 'poetry', 'language-model')
    refused(run('estimate', plan('a.qmplan', training={'epochs': -3})), 'training.epochs')
    refused(run('estimate', plan('a.qmplan', training={'epochs': 'three'})), 'training.epochs', 'number')
    refused(run('estimate', plan('a.qmplan', training={'method': 'lorra'})), 'lorra', 'qlora')
    refused(run('estimate', plan('a.qmplan', model={'id': 'lama-3.1-8b'})), 'llama-3.1-8b')
    refused(run('estimate', plan('a.qmplan', configuration={'device': 'a100-sxm4-80g'})), 'a100-sxm4-80gb')
    refused(run('estimate', write('a.qmplan', '{"format":"quartermaster-plan","version":1,"task":"language-model","activity":"serve",'
                                              '"limits":{"money":1e999}}')))
    refused(run('estimate', write('a.qmplan', '[' * 100000)))
    refused(run('estimate', write('a.qmplan', '{"limits": {"money": NaN}}')), 'a.qmplan:1:', 'limits.money')
    result = run('estimate', write('a.qmplan', {**SCHEMA, 'training.epochs': 3}))
    assert 'training.epochs: not a field' in result.stderr, result.stderr


@test
def batch_fields_that_disagree():
    configuration = {**PINNED, 'micro_batch': 4, 'gradient_accumulation': 2}
    refused(run('estimate', plan('a.qmplan', training={'method': 'full', 'global_batch': 100}, configuration=configuration)), '100', '4', '64')


@test
def unknown_keys_are_warned_of():
    result = run('estimate', '--json', plan(training={'epoch': 3}))
    assert result.returncode == 0, result.stderr
    assert 'training.epoch' in result.stderr and 'training.epochs' in result.stderr
    json.loads(result.stdout)


@test
def errors_as_json():
    result = run('estimate', '--json', write('a.qmplan', '{}'))
    assert result.returncode == 2
    error = json.loads(result.stdout)['error']
    assert error['domain'] and error['message'] and 'code' in error


@test
def errors_as_json_name_the_field():
    def path(*arguments):
        return json.loads(run(*arguments, '--json').stdout)['error']['path']
    assert path('estimate', plan(training={'epochs': -3})) == 'training.epochs'
    assert path('estimate', plan(configuration={'device': 'x'})) == 'configuration.device'
    assert path('estimate', plan(places={'owned': [{'device': 'x'}]})) == 'places.owned[0].device'
    assert path('estimate', plan(model={'id': 'lama'})) == 'model.id'
    assert path('estimate', plan(model={'architecture': {'hidden_size': -1}})) == 'model.architecture.hidden_size'
    assert path('model', write('config.json', {'hidden_size': -1})) == 'hidden_size'
    assert path('estimate', write('a.qmplan', '{"limits": {"money": NaN}}')) == 'limits.money'
    assert path('estimate', write('a.qmplan', '')) is None


@test
def errors_speak_chinese_and_json_english():
    if 'zh_CN.utf8' not in subprocess.run(['locale', '-a'], capture_output=True, text=True).stdout:
        raise unittest.SkipTest('this system has no Chinese locale')
    chinese = {'LC_ALL': 'zh_CN.UTF-8', 'LANGUAGE': 'zh_CN'}
    plan(training={'epochs': -3})
    for arguments in (('estimate', 'plan.qmplan'), ('estimate', 'no-such.qmplan'), ('model', write('a.json', '<html>')),
                      ('score', write('a.jsonl', '{')), ('estimate', plan('b.qmplan', model={'id': 'lama'})),
                      ('report', plan('c.qmplan'), '-o', 'no/such/a.pdf'), ('chart', 'c.qmplan', '--kind', 'memory', '-o', 'no/a.png')):
        result = run(*arguments, '--json', **chinese)
        assert any('\u4e00' <= letter <= '\u9fff' for letter in result.stderr), (arguments, result.stderr)
        assert json.loads(result.stdout)['error']['message'].isascii() or '“' in result.stdout, (arguments, result.stdout)
    result = run('estimate', plan(training={'epoch': 3}), **chinese)
    assert '最接近' in result.stderr, result.stderr


@test
def names_of_files_may_hold_anything():
    name = os.fsdecode(b'\xff\x1b[31m\n.qmplan')
    write(name, '{}')
    for command in ('estimate', 'model', 'score'):
        result = subprocess.run([CLI, command, '--json', name], capture_output=True)
        assert result.returncode == 2, result
        assert '.qmplan' in json.loads(result.stdout.decode())['error']['message'], result.stdout
        line = result.stderr.decode()
        assert line.count('\n') == 1 and '\x1b' not in line, line
        result = subprocess.run([CLI, command, '--json', 'not-' + name], capture_output=True)
        assert '.qmplan' in json.loads(result.stdout.decode())['error']['message'], result.stdout
    start = time.monotonic()
    refused(run('estimate', plan(task='x' * 2000000)), 'xxx')
    assert time.monotonic() - start < 5


@test
def output_may_be_a_link_or_a_pipe():
    write('target.pdf', 'old')
    os.symlink('target.pdf', 'link.pdf')
    assert run('report', plan(), '-o', 'link.pdf').returncode == 0
    assert os.path.islink('link.pdf') and open('target.pdf', 'rb').read(4) == b'%PDF'
    os.mkfifo('pipe.svg')
    reader = subprocess.Popen(['sh', '-c', 'cat pipe.svg >read.svg'])
    assert run('chart', plan(), '--kind', 'memory', '-o', 'pipe.svg').returncode == 0
    assert reader.wait(10) == 0 and open('read.svg').read().rstrip().endswith('</svg>')
    assert run('report', plan(), '-o', '').returncode == 1


@test
def output_that_is_lost_is_a_failure():
    for arguments in (('estimate', plan()), ('recommend', '--json', 'plan.qmplan'), ('catalog', 'list'), ('detect',), ('model', 'gpt2')):
        with open('/dev/full', 'w') as full:
            result = subprocess.run([CLI, *arguments], stdout=full, stderr=subprocess.PIPE, text=True)
        assert result.returncode == 1 and result.stderr.count('\n') == 1, (arguments, result)
        closed = subprocess.run(['sh', '-c', 'exec "$@" >&-', 'sh', CLI, *arguments], stderr=subprocess.PIPE, text=True)
        assert closed.returncode == 1, (arguments, closed)
    shut = subprocess.run(['sh', '-c', 'exec "$@" <&- >&- 2>&-', 'sh', CLI, 'report', 'plan.qmplan', '-o', 'shut.pdf'])
    assert shut.returncode == 0 and open('shut.pdf', 'rb').read(4) == b'%PDF'


@test
def missing_files_are_failures_of_the_machine():
    result = run('estimate', 'no-such.qmplan')
    assert result.returncode == 1 and result.stdout == ''
    assert result.stderr == 'quartermaster-cli: no-such.qmplan: cannot be read: there is no such file\n', result.stderr
    assert run('estimate', '.').returncode in (1, 2)
    refused(run('model', write('config.json', {'hidden_size': -1})), 'config.json', 'hidden_size')
    refused(run('model', write('config.json', '{\n"hidden_size": }')), 'config.json:2:')


@test
def model_from_a_file():
    config = {'model_type': 'llama', 'hidden_size': 4096, 'num_hidden_layers': 32, 'num_attention_heads': 32,
              'intermediate_size': 11008, 'vocab_size': 32000,
              'quantization_config': {'quant_method': 'gptq', 'bits': 4, 'group_size': 128}}
    path = write('config.json', config)
    out = json.loads(run('model', '--json', path).stdout)['model']
    assert out['parameters'] == 6738415616 and out['read_by'] == 'config'
    assert out['weight_bytes']['as_configured'] == 3889307648   # 4 + 16/128 + 4/128 bits in the layers' matrices
    text = run('model', path).stdout
    assert '6,738,415,616' in text and '32 heads, each with its own keys and values' in text, text


@test
def model_by_name():
    out = json.loads(run('model', '--json', 'llama-3.1-8b').stdout)['model']
    assert out['parameters'] == 8030261248 and out['kv_cache_bytes_per_token'] == 131072   # estimation vectors 18 and 26
    assert out['weight_bytes']['bf16'] == 2 * 8030261248
    # embedding and head are 128256 x 4096 each; two FLOPs a weight but the embedding, and 4 h L a token of context
    assert out['parameters_by_part']['embedding'] == out['parameters_by_part']['head'] == 525336576
    assert out['flops_per_token'] == 2 * (8030261248 - 525336576)
    assert out['flops_per_token_at_context']['8192'] == out['flops_per_token'] + 4 * 4096 * 32 * 8192
    refused(run('model', 'lama-3.1-8b'), 'llama-3.1-8b')
    assert 'quartermaster-cli model [OPTION…] FILE|FOLDER|ID' in run('model', '--help').stdout


@test
def model_by_file():
    config = {'model_type': 'llama', 'hidden_size': 4096, 'intermediate_size': 11008, 'num_hidden_layers': 32,
              'num_attention_heads': 32, 'num_key_value_heads': 32, 'vocab_size': 32000, 'tie_word_embeddings': False}
    assert json.loads(run('model', '--json', write('config.json', config)).stdout)['model']['parameters'] == 6738415616
    refused(run('model', write('page.json', '<!DOCTYPE html><html></html>')))
    refused(run('model', write('config.json', {**config, 'num_hidden_layers': -1})), 'num_hidden_layers')
    out = json.loads(run('estimate', '--json', plan(model={'file': write('config.json', config)})).stdout)
    assert out['model']['parameters'] == 6738415616


@test
def catalog_with_sources():
    out = json.loads(run('catalog', 'list', '--json').stdout)
    assert len(out['devices']) == 248 + 102 and len(out['offers']) == 402  # 102 slices of devices
    assert all(device['source'] for device in out['devices']) and all(offer['source'] and offer['as_of'] for offer in out['offers'] if offer['on_demand_usd_per_hour'])
    assert json.loads(run('catalog', 'show', 't4').stdout)['id'] == 't4'
    refused(run('catalog', 'show', 'rtx-490'), 'rtx-4090')
    refused(run('catalog', 'burn'), 'burn')


@test
def own_catalog_is_checked():
    own = {'QM_USER_DIR': os.getcwd()}
    os.mkdir('catalog')
    shipped = os.path.join(os.environ['QM_DATA_DIR'], 'catalog')

    def with_table(name, change):
        with open(os.path.join(shipped, name)) as file:
            table = json.load(file)
        change(table)
        write('catalog/' + name, table)
        result = run('recommend', plan(), **own)
        os.remove('catalog/' + name)
        return result
    refused(with_table('stacks.json', lambda table: table['training'][3].update(methods='x')), 'stacks.json:', 'training[3].methods', 'a list')
    refused(with_table('stacks.json', lambda table: table['training'].append(3)), 'stacks.json:', 'an object', 'a number')
    refused(with_table('economics.json', lambda table: table['figures'].update(small_hours=-1)), 'figures.small_hours', 'an object')
    refused(with_table('economics.json', lambda table: table['hosts'].append('x')), 'hosts[', 'a text')
    refused(with_table('models-vision.json', lambda table: table['models'][0].update(parameters='x')), 'models[0].parameters', 'a number')
    refused(with_table('economics.json', lambda table: table['hosts'][1].pop('classes')), 'hosts', 'classes')
    refused(with_table('economics.json', lambda table: table['currencies']['per_usd'].update(EUR=0)), 'per_usd.EUR', 'above 0')
    refused(with_table('economics.json', lambda table: table['currencies']['per_usd'].update(ABC='x')), 'per_usd.ABC', 'above 0')
    assert with_table('economics.json', lambda table: table.update(comment=['mine'])).returncode == 0
    device = {'id': 'my-gpu', 'name': 'My GPU', 'vendor': 'nvidia', 'class': 'consumer', 'memory_gib': 24, 'source': 'own measurement'}
    devices = {'format': 'quartermaster-devices', 'version': 1, 'devices': [device], 'sources': {'a': {'text': 3}}}
    write('catalog/mine.json', devices)
    assert json.loads(run('catalog', 'show', 'my-gpu', **own).stdout)['name'] == 'My GPU'
    write('catalog/mine.json', {**devices, 'devices': [{**device, 'source': 'a'}]})
    assert json.loads(run('catalog', 'show', 'my-gpu', **own).stdout)['source'] == 'a'
    write('catalog/mine.json', {**devices, 'devices': [{**device, 'memory_gib': '24'}]})
    refused(run('detect', **own), 'mine.json:', 'memory_gib', 'a number')


@test
def detect_tells_reasons():
    result = run('detect', '--json')
    assert result.returncode == 0, result.stderr
    out = json.loads(result.stdout)
    assert out['cpu']['cores'] >= 1 and out['memory']['total_bytes'] > 0
    for device in out['devices']:
        assert device['memory_bytes'] or device['unknown'], device


@test
def report_is_whole_or_not_there():
    result = run('report', plan(), '-o', 'report.pdf')
    assert result.returncode == 0, result.stderr
    with open('report.pdf', 'rb') as file:
        data = file.read()
    assert data.startswith(b'%PDF-') and data.rstrip().endswith(b'%%EOF')
    refused(run('report', plan()), '-o')
    refused(run('report', plan(), '-o', 'x.pdf', '--paper', 'a5'), 'a5')
    assert run('report', plan(), '-o', 'no/such/folder/x.pdf').returncode == 1
    assert not os.path.exists('x.pdf')


@test
def charts_in_every_format():
    for kind in ('memory', 'scaling', 'cost-time', 'accuracy'):
        for ending, magic in (('png', b'\x89PNG'), ('svg', b'<?xml'), ('pdf', b'%PDF')):
            result = run('chart', plan(), '--kind', kind, '-o', f'{kind}.{ending}')
            assert result.returncode == 0, (kind, ending, result.stderr)
            with open(f'{kind}.{ending}', 'rb') as file:
                assert file.read(8).startswith(magic), (kind, ending)
    refused(run('chart', plan(), '--kind', 'pie', '-o', 'a.png'), 'pie', 'scaling')
    refused(run('chart', plan(), '--kind', 'memory', '-o', 'a.png', '--width', '0'))
    assert run('chart', plan(), '--kind', 'memory', '-o', 'a.bmp').returncode == 2
    refused(run('chart', plan(activity='train'), '--kind', 'serving', '-o', 'a.png'), 'wait')
    assert not os.path.exists('a.png')


@test
def score_prints_the_errors():
    case = {'id': 'one', 'plan': {**SCHEMA, 'model': {'id': 'llama-2-7b'}, 'training': {'method': 'full', 'sequence_length': 2048},
                                  'configuration': PINNED},
            'measured': {'memory.per_device_bytes': 5e10, 'throughput.mfu': 0.4, 'no.such.figure': 1}, 'group': 'g', 'tags': ['t'],
            'source': {'title': 'a test', 'where': 'here'}}
    result = run('score', '--json', write('cases.jsonl', json.dumps(case) + '\n'))
    assert result.returncode == 0, result.stderr
    out = json.loads(result.stdout)
    assert {entry['key'] for entry in out['cases']} == {'memory.per_device_bytes', 'throughput.mfu'}
    assert [entry['key'] for entry in out['failed']] == ['no.such.figure']
    estimate = next(entry for entry in out['cases'] if entry['key'] == 'memory.per_device_bytes')
    error = abs(estimate['p50'] / 5e10 - 1)
    assert abs(out['summary']['memory.per_device_bytes']['median_error'] - error) < 1e-9
    refused(run('score', write('cases.jsonl', '{"id": "x"}\n')), 'cases.jsonl:1')
    refused(run('score', write('cases.jsonl', '\n \n')), 'cases.jsonl:1', 'empty')
    assert run('score', '/dev/zero').returncode == 2
    refused(run('score', write('cases.jsonl', json.dumps(case) + '\n{"id"\n')), 'cases.jsonl:2')


@test
def ask_takes_defaults():
    result = run('ask', '--json', '-o', 'asked.qmplan', text_in='\n' * 60)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)['choices']
    assert json.load(open('asked.qmplan'))['format'] == 'quartermaster-plan'
    result = run('ask', '--json', text_in='image-classification\nserve\n')
    assert result.returncode == 0 and json.loads(result.stdout)['choices'], result.stderr
    assert 'not known' in run('ask', text_in='poetry\nlanguage-model\n').stderr


def gguf(file_type):
    """A header with the sizes of Mistral 7B, and one tensor."""
    def text(value):
        return struct.pack('<Q', len(value)) + value.encode()

    numbers = {'general.file_type': file_type, 'llama.block_count': 32, 'llama.embedding_length': 4096,
               'llama.feed_forward_length': 14336, 'llama.attention.head_count': 32, 'llama.attention.head_count_kv': 8,
               'llama.vocab_size': 32000}
    data = b'GGUF' + struct.pack('<IQQ', 3, 1, 1 + len(numbers))
    data += text('general.architecture') + struct.pack('<I', 8) + text('llama')
    data += b''.join(text(key) + struct.pack('<II', 4, value) for key, value in numbers.items())
    data += text('token_embd.weight') + struct.pack('<IQQIQ', 2, 4096, 1768000, 12, 0)
    with open('model.gguf', 'wb') as file:
        file.write(data)
        file.truncate(len(data) + 4096 * 1768000 // 256 * 144)
    return 'model.gguf'


@test
def a_packed_file_is_run_as_it_is():
    def answer(command, **changes):
        given = {'task': 'language-model', 'activity': 'serve', 'model': {'file': gguf(changes.pop('file_type'))}, **changes}
        out = json.loads(run(command, '--json', plan(**given)).stdout)
        return out, {row['field']: row['value'] for row in out['assumed']}

    # what llama.cpp calls types 15 and 17
    for file_type, word in ((15, 'gguf-q4_k_m'), (17, 'gguf-q5_k_m')):
        out, assumed = answer('recommend', file_type=file_type)
        assert assumed['serving.weights'] == word, assumed
        assert out['choices'] and all('gguf' in json.dumps(choice) for choice in out['choices'])
    out, assumed = answer('estimate', file_type=15, configuration={'device': 'rtx-3060-12gb'})
    assert out['memory']['fits'] is True, out['memory']
    out, assumed = answer('estimate', file_type=15, serving={'weights': 'fp16'}, configuration={'device': 'rtx-3060-12gb'})
    assert 'serving.weights' not in assumed and out['memory']['fits'] is False
    assert 'serving.weights' not in answer('recommend', file_type=4095)[1]


@test
def ask_takes_a_file():
    config = {'model_type': 'llama', 'hidden_size': 4096, 'intermediate_size': 11008, 'num_hidden_layers': 32,
              'num_attention_heads': 32, 'num_key_value_heads': 32, 'vocab_size': 32000, 'tie_word_embeddings': False}
    path, page = write('config.json', config), write('page.json', '<html>')
    result = run('ask', '-o', 'asked.qmplan', text_in=f'language-model\nserve\nno-such-model\n{page}\n{path}\n' + '\n' * 60)
    assert result.returncode == 0, result.stderr
    assert result.stderr.count('Which model?') == 3 and 'web page' in result.stderr, result.stderr
    assert json.load(open('asked.qmplan'))['model'] == {'file': os.path.realpath(path)}


@test
def ask_counts_the_usual_passes():
    answers = 'image-classification\ntrain\nresnet-50\n25000\n'
    assert run('ask', '--json', '-o', 'asked.qmplan', text_in=answers).returncode == 0
    assert json.load(open('asked.qmplan'))['training'] == {'samples': 25000, 'epochs': 90}


@test
def text_says_what_was_assumed():
    for command, text_in in (('recommend', None), ('estimate', None), ('ask', '\n' * 60)):
        arguments = (command,) if command == 'ask' else (command, plan())
        out = run(*arguments, text_in=text_in).stdout
        tail = out[out.index('What we assumed'):]
        assert 'Llama 3.1 8B' in tail or 'llama-3.1-8b' in tail, tail
        assert '10,000' in tail and 'a usual instruction data set' in tail, tail
    out = run('recommend', plan(activity='serve', places={'on_premises': True})).stdout
    assert 'places.' not in out[out.index('What we assumed'):], out


@test
def full_runs_are_waited_for_like_the_answer():
    path = plan(activity='train', model={'parameters': 1000000000}, limits={'money': 20000, 'hours': 720})
    first, full, last = json.loads(run('recommend', '--json', path).stdout)['stages']
    assert full['hours'] / 3 < 10 * last['hours'], (full, last)


@test
def models_of_several_sizes_are_told_apart():
    lines = [line for line in run('catalog', 'list').stdout.splitlines() if line.split()[1:2] == ['resnet-50']]
    assert len(lines) == len(set(lines)) > 1, lines


@test
def diagnose_makes_a_plan_fit():
    path = plan(model={'id': 'llama-3.1-8b'}, training={'method': 'lora', 'sequence_length': 2048},
                configuration={'device': 'rtx-4060-ti-16gb', 'micro_batch': 4})
    out = json.loads(run('diagnose', '--json', '--oom', path).stdout)
    assert out['fits'] and out['need_bytes'] < out['usable_bytes'] < out['planned_bytes']
    taken = [rung for rung in out['ladder'] if rung['state'] == 'taken']
    assert taken[-1]['fits_after'] and not any(rung['fits_after'] for rung in taken[:-1])
    assert abs(out['planned_bytes'] - sum(rung['frees_bytes'] for rung in taken) - out['need_bytes']) < 16
    assert 'fits' in run('diagnose', '--oom', path).stdout
    mine = plan('mine.qmplan', task='image-generation', activity='fine-tune', model={'id': 'sdxl'}, training={'method': 'full', 'image_size': 1024},
                places={'this_computer': False, 'buy': False, 'on_premises': True, 'owned': [{'device': 'rtx-4090'}]})
    assert 'RTX 4090' in run('diagnose', '--oom', mine).stdout
    lines = run('recommend', mine).stdout.splitlines()
    assert 'RTX 4090' in lines[lines.index('Why not another') + 1], lines
    refused(run('diagnose'), '--oom')
    refused(run('diagnose', 'a.csv', '--oom', path), '--oom')
    refused(run('diagnose', '--oom', plan(configuration={'device': 'rtx-9999'})), 'configuration.device', 'rtx-9999')


@test
def leaves_out_what_cannot_be_had():
    path = plan(limits={'money': 60, 'hours': 12}, places={'this_computer': False, 'buy': False})
    best = json.loads(run('recommend', path, '--json').stdout)['matrix'][0]['offer']
    result = run('recommend', path, '--json', '--without', best, '-o', 'kept.qmplan')
    assert result.returncode == 0, result.stderr
    assert best not in {row['offer'] for row in json.loads(result.stdout)['matrix']}
    assert json.load(open('kept.qmplan'))['places']['excluded'] == [best]
    again = json.loads(run('recommend', 'kept.qmplan', '--json').stdout)
    assert again['matrix'][0]['offer'] == json.loads(result.stdout)['matrix'][0]['offer'] != best
    refused(run('recommend', path, '--without', 'no/such'), 'places.excluded', 'no/such')


@test
def elastic_follows_the_load():
    serving = {'requests_per_second': 20, 'peak_factor': 4, 'input_tokens': 512, 'output_tokens': 200}
    path = plan(activity='serve', model={'id': 'llama-3.1-8b'}, serving=serving, places={'buy': False, 'this_computer': False})
    out = json.loads(run('elastic', path, '--json').stdout)
    assert {'series', 'cost', 'p99_seconds', 'mean_replicas'} <= out.keys()
    assert out['span_seconds'] == 86400 and len(out['series']) == 1440
    assert max(step['requests_per_second'] for step in out['series']) > 79
    assert out['rule']['target_utilisation'] == 0.7 and out['rule']['fewest'] == 2
    # Paid replicas over the day, times the price of one.
    assert abs(out['cost'] - out['mean_replicas'] * 24 * out['replica']['per_hour']) < 1e-6 * out['cost']
    peak = out['fixed'][-1]
    assert peak['replicas'] * out['replica']['requests_per_second'] * 0.7 >= 80
    assert (peak['replicas'] - 1) * out['replica']['requests_per_second'] * 0.7 < 80

    load = write('load.csv', 'hours,requests_per_second\n0,1\n8,300\n10,1\n')
    own = json.loads(run('elastic', path, '--json', '--load', load, '--most', '3', '--fewest', '1').stdout)
    assert own['span_seconds'] == 36000 and own['most_replicas'] == 3 and own['late_share'] > 0.05
    text = run('elastic', path, '--load', load).stdout
    assert 'Following the load' in text and 'made up' not in text
    refused(run('elastic', path, '--load', write('bad.csv', '0,1\n1,x\n')), 'bad.csv:2:', '"x"')
    refused(run('elastic', path, '--target', '1.5'), '--target')
    refused(run('elastic', plan('train.qmplan')), 'train.qmplan', 'activity')
    refused(run('chart', plan('train.qmplan'), '--kind', 'elastic', '-o', 'a.svg'), 'service')
    assert run('chart', path, '--kind', 'elastic', '-o', 'a.svg', '--load', load).returncode == 0 and os.path.getsize('a.svg') > 2000


@test
def speaks_chinese():
    if 'zh_CN.utf8' not in subprocess.run(['locale', '-a'], capture_output=True, text=True).stdout:
        raise unittest.SkipTest('this system has no Chinese locale')
    chinese = {'LC_ALL': 'zh_CN.UTF-8', 'LANGUAGE': 'zh_CN'}
    assert '用法' in run('--help', **chinese).stdout
    result = run('recommend', plan(training={'method': 'lora'}), **chinese)
    for words in ('显存', '什么会改变结论', '个百分点'):
        assert words in result.stdout, (words, result.stdout)
    # Chinese letters are two cells of a terminal wide.
    rows = result.stdout.split('所有选项并列对比\n')[1].split('\n\n')[0].split('\n')
    assert len(rows) > 3 and len({cells(row[:re.search(r'[\d.,]\xa0USD', row).end()]) for row in rows}) == 1, rows
    values = [line for line in result.stdout.split('\n') if re.match('  (显存|时间|费用|质量) ', line)]
    assert len(values) > 3 and len({cells(line) - cells(line[3:].split(maxsplit=1)[1]) for line in values}) == 1, values
    numbers = [json.loads(run('recommend', '--json', 'plan.qmplan', **words).stdout) for words in ({}, chinese)]
    assert numbers[0]['choices'][0]['cost'] == numbers[1]['choices'][0]['cost']


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
