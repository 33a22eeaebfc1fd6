#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What export writes is read by the languages themselves: a title stays text in each."""
import json
import os
import py_compile
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
FORMATS = {entry['id']: entry for entry in
           json.load(open(os.path.join(os.environ['QM_DATA_DIR'], 'templates', 'formats.json')))['formats']}
HOSTILE = 'a"; rm -rf ~ #\n$(touch owned) `id` \'x\' {{title}} \\ """ --flag %YAML syntax=evil'
PLANS = {
    'chat': {'task': 'language-model', 'activity': 'fine-tune', 'model': {'id': 'llama-3.1-8b'}},
    'all-weights': {'task': 'language-model', 'activity': 'fine-tune', 'model': {'id': 'llama-2-7b'}, 'training': {'method': 'full'}},
    'serve': {'task': 'language-model', 'activity': 'serve', 'stage': 'production', 'model': {'id': 'llama-3.1-70b'}},
    'pictures': {'task': 'image-classification', 'activity': 'train', 'model': {'id': 'resnet-50'}},
    'light': {'task': 'image-classification', 'activity': 'serve', 'model': {'id': 'mobilenetv3-large-100'}},
    'text': {'task': 'text-encoder', 'activity': 'fine-tune', 'model': {'id': 'bert-base-uncased'}},
    'speech': {'task': 'speech', 'activity': 'batch-inference'},
    'table': {'task': 'tabular', 'activity': 'train'},
}

# Of these each format is exported by itself.
ALONE = ('chat', 'light')


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=120)


def read(path):
    """By the reader of its language; fails where it is not of it."""
    text = open(path, encoding='utf-8').read()
    name = os.path.basename(path)
    if name.endswith('.json'):
        json.loads(text)
    elif name.endswith('.py'):
        py_compile.compile(path, doraise=True)
    elif name.endswith(('.sh', '.sbatch')):
        checked = subprocess.run(['bash', '-n', path], capture_output=True, text=True)
        assert checked.returncode == 0, (path, checked.stderr)
    assert not re.search(r'\{\{[#^/]?[a-z_]+(\|[a-z]+)?\}\}', text.replace('{{title}}', '')), path
    if not name.endswith(('.json', '.csv')):
        head = '\n'.join(text.split('\n')[:9])
        assert 'Quartermaster, ' in head and 'an hour' in head and 'Stop it' in head, (path, head)
        assert all(line.startswith('#') for line in text.split('\n') if 'rm -rf' in line and not re.search('["\']', line)), path
    return text


def export(plan, form, folder):
    result = run('export', plan, '--format', form, '-o', folder)
    if result.returncode == 2:
        assert result.stdout == '' and result.stderr.count('\n') == 1 and f'{form}: ' in result.stderr, result.stderr
        assert not os.path.exists(folder), 'nothing is half-written'
        return None
    assert result.returncode == 0, (form, result.stderr)
    written = result.stdout.split('\n')[:-1]
    assert [os.path.basename(path) for path in written] == os.listdir(folder) or len(written) == len(os.listdir(folder))
    return {os.path.basename(path): read(path) for path in written}


def everything():
    """Each format for each kind of plan is written and read, or says why it makes no sense."""
    made = set()
    for name, plan in PLANS.items():
        path = f'{name}.qmplan'
        json.dump({'format': 'quartermaster-plan', 'version': 1, 'title': HOSTILE, **plan}, open(path, 'w'))
        if name in ALONE:
            made |= {form for form in [*FORMATS, 'csv', 'json'] if export(path, form, os.path.join(name, form)) is not None}
            continue
        result = run('export', path, '--format', 'all', '-o', name)
        assert result.returncode == 0, result.stderr
        for file in result.stdout.split('\n')[:-1]:
            read(file)
            made.add(os.path.basename(os.path.dirname(file)))
    assert made == {*FORMATS, 'csv', 'json'}, {*FORMATS} - made
    assert not os.path.exists('owned')


def numbers_agree():
    """The files hold the numbers of the answer."""
    path = 'chat.qmplan'
    answer = json.loads(run('recommend', '--json', path).stdout)['choices'][0]
    configuration = answer['configuration']
    script = read('chat/torchrun/run.sh')
    assert f"--batch {configuration['micro_batch']:.0f} --accumulation {configuration['gradient_accumulation']:.0f}" in script
    assert f"--nproc-per-node={configuration['devices'] // configuration['nodes']}" in script
    assert f"{answer['cost']['per_hour']:.2f} USD an hour" in script
    zero = json.loads(read('all-weights/deepspeed/deepspeed.json'))
    assert zero['train_micro_batch_size_per_gpu'] >= 1 and zero['zero_optimization']['stage'] in (0, 1, 2, 3)


def money_is_guarded():
    """On each cloud an alarm before the budget is spent, a machine that ends by itself and, sooner, once the job is done,
    and checkpoints in a store that outlives it, while the job runs."""
    guards = {'gcloud': ('--budget-amount=123USD', '--max-run-duration=', 'gcloud storage'),
              'aws': ('"Amount": "123", "Unit": "USD"', 'shutdown-behavior terminate', 'aws s3 sync'),
              'azure': ('--amount 123 ', 'sleep 1 && az vm deallocate', 'blobs upload-batch')}
    json.dump({'format': 'quartermaster-plan', 'version': 1, **PLANS['chat'], 'limits': {'money': 123}}, open('guard.qmplan', 'w'))
    for cloud, (alarm, clock, store) in guards.items():
        files = export('guard.qmplan', cloud, f'guard-{cloud}')
        launch, inside = files[f'launch-{cloud}.sh'], files[f'startup-{cloud}.sh']
        assert '! grep -qs "PATH/TO/YOUR/MODEL" run.sh train.py' in launch, launch
        assert alarm in launch and clock in launch + re.sub(r'sleep \d+ ', 'sleep 1 ', inside), (cloud, launch, inside)
        assert inside.rstrip().split('\n')[-1].startswith('shutdown -h'), (cloud, inside)
        assert re.search(rf'keep\(\) \{{\s+{store}.*kept', inside) and re.search(r'while sleep .*snapshot && keep', inside), (cloud, inside)


def one(name, form, **plan):
    json.dump({'format': 'quartermaster-plan', 'version': 1, **plan}, open(f'{name}.qmplan', 'w'))
    return export(f'{name}.qmplan', form, f'{name}-{form}')


CHOSEN = {
    'amd': {**PLANS['serve'], 'model': {'id': 'llama-3.1-8b'}, 'configuration': {'device': 'mi300x'}},
    'amd-train': {**PLANS['chat'], 'configuration': {'device': 'mi300x'}},
    'arc': {**PLANS['serve'], 'model': {'id': 'llama-3.1-8b'}, 'configuration': {'device': 'arc-b580'}},
    'slice': {**PLANS['serve'], 'model': {'id': 'llama-3.2-1b'},
              'places': {'owned': [{'device': 'h100-sxm5-80gb-1g.10gb'}], 'cloud': [], 'buy': False, 'this_computer': False}},
}


def devices_of_each_maker():
    """A cluster and a container are told the device by the names of its maker."""
    for name, resource in (('amd', 'amd.com/gpu'), ('arc', 'gpu.intel.com/xe'), ('slice', 'nvidia.com/mig-1g.10gb')):
        assert re.search(rf'limits:\n +{resource}: \d', one(name, 'kubernetes', **CHOSEN[name])['service.yaml']), name
    assert 'amd.com/gpu: 1' in one('amd-train', 'kubernetes', **CHOSEN['amd-train'])['job.yaml']
    assert '"amd.com/gpu"' in one('amd-train', 'kueue', **CHOSEN['amd-train'])['queue.yaml']
    assert 'FROM rocm/pytorch' in one('amd-train', 'dockerfile', **CHOSEN['amd-train'])['Dockerfile']
    assert 'rocm' in one('amd', 'dockerfile', **CHOSEN['amd'])['Dockerfile']
    assert 'FROM ghcr.io/ggml-org/llama.cpp:server-intel' in one('arc', 'dockerfile', **CHOSEN['arc'])['Dockerfile']
    assert '#SBATCH --gres=gpu:1g.10gb:1' in one('slice', 'slurm', **CHOSEN['slice'])['job.sbatch']


def services_grow_by_requests():
    """Autoscalers count what a server answers and what waits for it, by its own metrics, up to seven tenths of what the plan lets one hold."""
    light = {**PLANS['light'], 'configuration': {'device': 'epyc-9654'}, 'places': {'cloud': ['aws'], 'buy': False, 'this_computer': False}}
    for name, plan, running, waiting in (('amd', CHOSEN['amd'], 'vllm:num_requests_running', 'vllm:num_requests_waiting'),
                                         ('arc', CHOSEN['arc'], 'llamacpp:requests_processing', 'llamacpp:requests_deferred'),
                                         ('light-requests', light, 'requests_in_flight', None)):
        served = one(name, 'kubernetes', **plan)['service.yaml']
        keda, hpa = one(name, 'keda', **plan)['autoscaler.yaml'], one(name, 'hpa', **plan)
        most = re.search(r'--(?:max-num-seqs|parallel) (\d+)', served)
        target = re.search(r'threshold: "(\d+)"', keda).group(1)
        assert most is None or int(target) == max(1, int(most.group(1)) * 7 // 10), (most, target)
        assert f'averageValue: "{target}"' in hpa['autoscaler.yaml'] and 'name: requests_in_flight' in hpa['autoscaler.yaml']
        for text in (keda, hpa['prometheus-adapter.yaml']):
            assert f'sum({running}{{' in text and (waiting is None or f'sum({waiting}{{' in text), text
        assert 'GPU_UTIL' not in keda and 'path: /metrics' in served and ('--metrics' in served) == (name == 'arc'), served
    assert '"/metrics"' in one('light-requests', 'slurm', **light)['serve_onnxruntime.py']


def jobs_are_kept_apart():
    """What is learnt has a name of its own, in every store; the same plan under other limits goes on where it was."""
    aws = {'cloud': ['aws', 'gcp', 'azure'], 'buy': False, 'this_computer': False}
    names = {}
    for name, plan in {'first': {}, 'same': {'limits': {'money': 5000}}, 'other': {'training': {'epochs': 2}}, 'more': {'model': {'id': 'llama-3.2-1b'}}}.items():
        plan = {**PLANS['chat'], 'title': 'Support bot', 'places': aws, **plan}
        for cloud in ('gcloud', 'aws', 'azure', 'skypilot', 'kubernetes', 'slurm'):
            files = one(f'apart-{name}', cloud, **plan)
            names.setdefault(name, set()).update(re.findall(r'support-bot-[0-9a-f]{6}', '\n'.join(files.values())))
            if cloud == 'skypilot':
                assert 'BUCKET: null' in files['task.yaml'] and re.search(r'name: \$BUCKET\n', files['task.yaml']), files['task.yaml']
    assert all(len(found) == 1 for found in names.values()), names
    assert names['first'] == names['same'] and len({*names['first'], *names['other'], *names['more']}) == 3, names


def machines_have_room():
    """Slurm, Kubernetes and Kueue are asked for the memory that the estimate counts outside of devices, and for what loads the data."""
    plan = {**PLANS['chat'], 'model': {'id': 'llama-3.2-1b'}, 'training': {'method': 'full'}, 'data': {'loader_workers': 6},
            'places': {'owned': [{'device': 'rtx-4090'}], 'cloud': [], 'buy': False, 'this_computer': False},
            'configuration': {'device': 'rtx-4090', 'devices': 1, 'offload': 'optimizer-cpu', 'sharding': 'zero2'}}
    asked = one('room', 'slurm', **plan)['job.sbatch']
    choice = json.loads(run('recommend', '--json', 'room.qmplan').stdout)['choices'][0]
    host = choice['memory']['host_bytes'] / 2**30
    memory = int(re.search(r'#SBATCH --mem=(\d+)G', asked).group(1))
    # Weights of 1.24 billion parameters are read before they are anywhere else.
    assert host > 15 and host + 2 * 1.24 < memory < 3 * host, (host, memory)
    assert '--cpus-per-task=7\n' in asked and 'export SRUN_CPUS_PER_TASK="${SLURM_CPUS_PER_TASK:-7}"\n' in asked, asked
    job = one('room', 'kubernetes', **plan)['job.yaml']
    assert job.count(f'memory: {memory}Gi') == 2 and 'cpu: 7\n' in job and 'ephemeral-storage: ' in job and 'sizeLimit: ' in job, job
    queue = one('room', 'kueue', **plan)['queue.yaml']
    assert f'nominalQuota: {memory}Gi' in queue and 'nominalQuota: 7\n' in queue, queue
    assert '--time' not in one('serve-room', 'slurm', **PLANS['serve'])['job.sbatch']


def loaders_are_as_counted():
    """Each device has as many loaders as the rate counts on, which a plan states of a machine; disks and shared memory hold what they bring."""
    places = {'cloud': ['aws', 'gcp'], 'buy': False, 'this_computer': False}
    for devices in (1, 4):
        plan = {**PLANS['pictures'], 'training': {'samples': 20000000, 'image_size': 224}, 'places': places, 'data': {'bytes_per_sample': 1000000},
                'configuration': {'device': 'l4', 'devices': devices, 'micro_batch': 64}}
        files = one(f'loaders-{devices}', 'torchrun', **plan)
        choice = json.loads(run('recommend', '--json', f'loaders-{devices}.qmplan').stdout)['choices'][0]
        # 16.5 MB of pictures a second and core: input.json.
        cores = choice['throughput']['input_samples_per_second'] * 1e6 / 16.5e6
        workers = int(re.search(r'--workers (\d+)', files['run.sh']).group(1))
        assert workers == -(-round(cores) // devices) > 4 / devices, (workers, cores)
        assert int(re.search(r'disk_size: (\d+)', one(f'loaders-{devices}', 'skypilot', **plan)['task.yaml']).group(1)) > 20000
        held = int(re.search(r'sizeLimit: (\d+)Gi', one(f'loaders-{devices}', 'kubernetes', **plan)['job.yaml']).group(1))
        assert held * 2**30 > devices * workers * 2 * 64 * 3 * 224**2 * 4, held
    stated = {**PLANS['pictures'], 'places': places, 'data': {'loader_workers': 8}, 'configuration': {'device': 'l4', 'devices': 4}}
    script = one('stated', 'torchrun', **stated)['run.sh']
    together = int(re.search(r'--nproc-per-node=(\d+)', script).group(1))
    assert together > 1 and f'--workers {8 // together} ' in script, script


def queues_hold_the_job():
    """The queue of Kueue has room for the very job that Kubernetes is given, on processors too."""
    plan = {**PLANS['table'], 'places': {'cloud': ['aws']}, 'training': {'samples': 2000000}}
    job, queue = one('queued', 'kubernetes', **plan)['job.yaml'], one('queued', 'kueue', **plan)['queue.yaml']
    assert job.split('\n')[1] == queue.split('\n')[1], (job, queue)
    for name in ('cpu', 'memory', 'ephemeral-storage'):
        wanted, room = re.search(rf' {name}: (\S+)', job).group(1), re.search(rf'name: {name}\n +nominalQuota: (\S+)', queue).group(1)
        assert wanted == room, (name, wanted, room)
    assert ('nvidia.com/gpu' in job) == ('nvidia.com/gpu' in queue)


def copies_are_apart():
    """A card for each copy is one program of llama.cpp for each; a file with the weights asks for no token of a hub."""
    plan = {**PLANS['serve'], 'model': {'id': 'llama-3.1-8b'}, 'serving': {'engine': 'llama.cpp', 'weights': 'gguf-q4_k_m', 'requests_per_second': 3,
                                                                          'input_tokens': 1000, 'output_tokens': 300},
            'places': {'owned': [{'device': 'rtx-4090', 'devices': 4}], 'cloud': [], 'buy': False, 'this_computer': False},
            'configuration': {'device': 'rtx-4090', 'devices': 4, 'tensor_parallel': 1, 'pipeline_parallel': 1}}
    for form, name in (('llama-cpp', 'serve-llama-cpp.sh'), ('slurm', 'job.sbatch')):
        text = one('copies', form, **plan)[name]
        assert 'for ((copy = 0; copy < 4; copy++))' in text and 'CUDA%.0f' in text and 'HF_TOKEN' not in text, text
    # One start of vLLM runs all copies of a machine.
    plan['serving'] = {**plan['serving'], 'engine': 'vllm', 'weights': 'fp8'}
    text = one('copies-vllm', 'vllm', **plan)['serve-vllm.sh']
    assert '--data-parallel-size 4' in text and '1 of these share' in text, text


def tpus_get_the_data():
    """A TPU is given the data, and ends by itself where the computer that started it is gone."""
    plan = {**PLANS['pictures'], 'places': {'cloud': ['gcp'], 'buy': False, 'this_computer': False}, 'configuration': {'device': 'tpu-v5e', 'devices': 8}}
    text = one('tpu', 'gcloud', **plan)['launch-gcloud.sh']
    assert 'rsync --recursive --delete-unmatched-destination-objects data' in text and 'job/data . &&' in text and '--data data' in text, text
    assert 'startup-script="$alarm"' in text and '[ -e data ] ||' in text, text
    checked = subprocess.run(['bash', '-n', 'tpu-gcloud/launch-gcloud.sh'], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


def weights_that_are_published():
    """vLLM makes fp8 and nf4 while it loads; for AWQ another repository is asked for, in every format, and never the wrong one served."""
    places = {'cloud': ['aws'], 'buy': False, 'this_computer': False}
    for weights, option in (('nf4', ' --quantization bitsandbytes'), ('fp8', ' --quantization fp8'), ('bf16', None)):
        plan = {**PLANS['serve'], 'model': {'id': 'llama-3.1-8b'}, 'serving': {'weights': weights}}
        script = one(f'as-{weights}', 'vllm', **plan)['serve-vllm.sh']
        assert "serve 'meta-llama/Llama-3.1-8B'" in script and (option in script if option else '--quantization' not in script), script
    guesses = {**PLANS['serve'], 'serving': {'engine': 'vllm', 'speculation': 'prompt-lookup'}}
    for form in ('vllm', 'slurm', 'kubernetes'):
        texts = ''.join(one(f'guesses-{form}', form, **guesses).values())
        assert '--speculative-config.method ngram --speculative-config.num_speculative_tokens 10' in texts, texts
    assert 'speculative' not in ''.join(one('no-guesses', 'vllm', **PLANS['serve']).values())
    for weights, name in (('awq-int4', 'AWQ'), ('gptq-int4', 'GPTQ')):
        plan = {**PLANS['serve'], 'serving': {'weights': weights}, 'places': places}
        files = [one(f'as-{weights}', form, **plan) for form in ('vllm', 'slurm', 'tensorrt-llm', 'aws', 'kubernetes', 'skypilot', 'dockerfile')]
        for text in (text for group in files for text in group.values() if ' serve ' in text or 'trtllm-serve' in text):
            assert '$MODEL' in text or '${MODEL' in text, text
            assert f'in {name}' in text or f'on {name}' in text or f'in {weights}' in text, text
            assert 'quantization' not in text and "serve 'meta" not in text and 'MODEL: "meta' not in text and 'MODEL="meta' not in text, text
        assert 'model.sh' in files[3]['launch-aws.sh'] and '. ./model.sh' in files[3]['startup-aws.sh']


def processors_serve():
    """A processor is never given vLLM: llama.cpp for language, ONNX Runtime or OpenVINO for the rest."""
    places = {'cloud': ['aws'], 'buy': False, 'this_computer': False}
    language = {**PLANS['serve'], 'stage': 'prototype', 'model': {'id': 'llama-3.2-1b'}, 'places': places, 'configuration': {'device': 'epyc-9654'}}
    for form in ('slurm', 'skypilot', 'dockerfile', 'kubernetes', 'aws'):
        text = '\n'.join(one('processor', form, **language).values())
        assert 'llama' in text and 'vllm' not in text and '--ctx-size' in text, (form, text)
    pictures = {**PLANS['light'], 'configuration': {'device': 'epyc-9654'}, 'places': places}
    for form in ('slurm', 'skypilot', 'dockerfile', 'aws'):
        files = one('light-processor', form, **pictures)
        text = '\n'.join(files.values())
        assert 'serve_onnxruntime.py' in text and 'vllm' not in text and 'CUDA' not in text and 'OpenVINOExecutionProvider' in text, (form, text)


def weights_are_kept_as_planned():
    """Mixed precision keeps weights in 32 bit to learn them, and in 16 bit where they are frozen (Micikevicius et al. 2018)."""
    for precision, method, kept in (('amp-bf16', 'full', 'float32'), ('bf16', 'full', 'bfloat16'), ('amp-bf16', 'lora', 'bfloat16'),
                                    ('amp-fp16', 'full', 'float32'), ('amp-fp16', 'lora', 'float16'), ('fp32', 'lora', 'float32')):
        plan = {**PLANS['chat'], 'model': {'id': 'llama-3.2-1b'}, 'training': {'precision': precision, 'method': method}}
        assert re.search(rf'args.model, dtype=torch.{kept}[,)]', one('kept', 'script', **plan)['train.py']), (precision, method)
        shutil.rmtree('kept-script')


def tables_get_trees():
    """A table is learnt by boosted trees, in every format, and nothing of PyTorch is among their files."""
    json.dump({'format': 'quartermaster-plan', 'version': 1, **PLANS['table'], 'tabular': {'trees': 123, 'depth': 7}}, open('trees.qmplan', 'w'))
    result = run('export', 'trees.qmplan', '--format', 'all', '-o', 'trees')
    assert result.returncode == 0, result.stderr
    for form in ('script', 'slurm', 'kubernetes', 'dockerfile', 'aws'):
        files = {name: open(os.path.join('trees', form, name)).read() for name in os.listdir(os.path.join('trees', form))}
        assert 'torch' not in ''.join(files.values()).lower(), form
        assert 'xgboost' in files['requirements.txt'] and 'default=123' in files['train.py'] and '"max_depth": 7' in files['train.py'], form
    for form in ('torchrun', 'accelerate', 'deepspeed'):
        assert form not in os.listdir('trees') and re.search(f'{form}: .*see script', result.stderr), (form, result.stderr)
    for model, gpu, package, said in (('lightgbm', False, 'lightgbm', 'import lightgbm'), ('lightgbm', True, 'xgboost', 'in place of that'),
                                      ('catboost', False, 'xgboost', 'in place of that'), ('random-forest', False, 'xgboost', '"num_parallel_tree"')):
        plan = {**PLANS['table'], 'model': {'id': model}, 'configuration': {'device': 'l4' if gpu else 'epyc-9654', 'devices': 1}}
        files = one('engine', 'script', **plan)
        assert package in files['requirements.txt'] and said in files['train.py'] and f'GPU = {gpu}' in files['train.py'], (model, files)
        shutil.rmtree('engine-script')


def epochs_are_kept():
    """Half an epoch is no whole one."""
    plan = {**PLANS['pictures'], 'training': {'epochs': 2.5}}
    assert '--epochs 2.5 ' in one('half', 'torchrun', **plan)['run.sh']
    assert 'type=float, default=2.5' in one('half', 'script', **plan)['train.py']


def all_is_each():
    """What all writes is what each format writes by itself, the two tables of the answer too, and the reasons of the others."""
    for name in ALONE:
        result = run('export', f'{name}.qmplan', '--format', 'all', '-o', f'{name}-all')
        assert result.returncode == 0, result.stderr
        assert 'csv' in os.listdir(f'{name}-all') and 'json' in os.listdir(f'{name}-all')
        for form in [*FORMATS, 'csv', 'json']:
            single, together = (os.path.join(folder, form) for folder in (name, f'{name}-all'))
            assert os.path.isdir(single) == os.path.isdir(together), form
            assert os.path.isdir(single) or f'{form}: ' in result.stderr, form
            for file in os.listdir(together) if os.path.isdir(together) else []:
                # How long the search took is another figure each time.
                texts = [re.sub(r'"seconds" : [0-9.e-]+\n}', '', open(os.path.join(folder, file)).read()) for folder in (single, together)]
                assert texts[0] == texts[1], (form, file)


def one_bad_offer():
    """A machine whose name could run something is named with its format, and the other formats are written."""
    os.makedirs('own/catalog')
    offer = {'id': 'gcp/bad', 'provider': 'gcp', 'instance': 'a2;reboot', 'region': 'us-central1', 'kind': 'vm', 'vcpus': 12, 'ram_gib': 85,
             'device': 'a100-sxm4-40gb', 'device_count': 1, 'on_demand_usd_per_hour': 0.001, 'price_status': 'listed', 'as_of': '2026-11-01',
             'source': 'own'}
    json.dump({'format': 'quartermaster-offers', 'version': 1, 'sources': {'own': {'text': 'own'}}, 'offers': [offer]}, open('own/catalog/mine.json', 'w'))
    plan = {**PLANS['chat'], 'places': {'cloud': ['gcp', 'aws'], 'buy': False, 'this_computer': False}}
    json.dump({'format': 'quartermaster-plan', 'version': 1, **plan}, open('bad.qmplan', 'w'))
    result = subprocess.run([PROGRAM, 'export', 'bad.qmplan', '--format', 'all', '-o', 'bad'], capture_output=True, text=True, timeout=120,
                            env={**os.environ, 'QM_USER_DIR': os.path.abspath('own')})
    assert result.returncode == 2 and 'gcloud: gcp/bad: gcloud.sh:' in result.stderr and 'a2;reboot' in result.stderr, result.stderr
    assert 'could not be written: gcloud; the others are' in result.stderr.strip().split('\n')[-1], result.stderr
    written = os.listdir('bad')
    assert 'gcloud' not in written and {'aws', 'accelerate', 'torchrun', 'kubernetes', 'csv', 'json'} <= set(written), written


def broken_descriptions():
    """Descriptions of formats that are not as they must be are named with their file and place."""
    os.makedirs('data/templates')
    for name in os.listdir(os.environ['QM_DATA_DIR']):
        if name != 'templates':
            os.symlink(os.path.join(os.environ['QM_DATA_DIR'], name), os.path.join('data', name))
    for text, place in (('{"formats": [', ':1: not JSON'), ('{"formats":\n[{"id": "a"}]}', ':2: formats[0].name: '), ('{}', ': an object')):
        open('data/templates/formats.json', 'w').write(text)
        for form in ('gcloud', 'all'):
            result = subprocess.run([PROGRAM, 'export', 'chat.qmplan', '--format', form, '-o', 'broken'], capture_output=True, text=True,
                                    timeout=120, env={**os.environ, 'QM_DATA_DIR': os.path.abspath('data')})
            assert result.returncode == 2 and 'formats.json' + place in result.stderr, (text, result.returncode, result.stderr)


def nothing_is_written_over():
    """What is no file of the same text stays without --force; the same export twice is no fault."""
    os.makedirs('mine')
    for make in (lambda path: os.symlink('elsewhere', path), os.mkfifo, os.mkdir, lambda path: open(path, 'w').write('mine')):
        make('mine/deepspeed.json')
        before = os.lstat('mine/deepspeed.json')
        result = run('export', 'chat.qmplan', '--format', 'deepspeed', '-o', 'mine')
        assert result.returncode != 0 and 'deepspeed.json' in result.stderr, result
        after = os.lstat('mine/deepspeed.json')
        assert (before.st_ino, before.st_mode) == (after.st_ino, after.st_mode) and os.listdir('mine') == ['deepspeed.json'], os.listdir('mine')
        (os.rmdir if os.path.isdir('mine/deepspeed.json') else os.unlink)('mine/deepspeed.json')
    for form in ('json', 'deepspeed'):
        for _ in range(2):
            result = run('export', 'chat.qmplan', '--format', form, '-o', 'twice')
            assert result.returncode == 0, result
    with open('twice/deepspeed.json', 'a') as file:
        file.write('\0notes')
    assert run('export', 'chat.qmplan', '--format', 'deepspeed', '-o', 'twice').returncode != 0


def forced():
    """--force follows a link, and writes into no pipe, device or folder; of files that belong together all are written, or none."""
    os.makedirs('forced')
    os.makedirs('elsewhere')
    with open('elsewhere/kept.json', 'w') as file:
        file.write('old')
    os.symlink('../elsewhere/kept.json', 'forced/deepspeed.json')
    result = run('export', 'chat.qmplan', '--format', 'deepspeed', '-o', 'forced', '--force')
    assert result.returncode == 0 and os.path.islink('forced/deepspeed.json'), result
    assert json.load(open('elsewhere/kept.json'))['_plan'] and os.listdir('forced') == ['deepspeed.json'] and os.listdir('elsewhere') == ['kept.json']
    os.unlink('elsewhere/kept.json')
    assert run('export', 'chat.qmplan', '--format', 'deepspeed', '-o', 'forced', '--force').returncode == 0
    assert os.listdir('elsewhere') == ['kept.json'] and os.path.islink('forced/deepspeed.json')
    os.symlink('circle', 'elsewhere/circle')
    for make, said in ((lambda path: os.mkfifo(path), 'a pipe or a device'), (os.mkdir, 'it is a folder'), (lambda path: os.symlink('/dev/null', path), 'a pipe or a device'),
                       (lambda path: os.symlink(os.path.abspath('elsewhere/circle'), path), 'in a circle')):
        os.makedirs('none/script/')
        make('none/script/requirements.txt')
        before = os.lstat('none/script/requirements.txt')
        result = run('export', 'chat.qmplan', '--format', 'script', '-o', 'none/script', '--force')
        assert result.returncode == 1 and 'none/script/requirements.txt: cannot be written: it' in result.stderr and said in result.stderr, result
        after = os.lstat('none/script/requirements.txt')
        assert (before.st_ino, before.st_mode) == (after.st_ino, after.st_mode) and result.stdout == '', result
        assert os.listdir('none/script') == ['requirements.txt'], os.listdir('none/script')
        shutil.rmtree('none')
    os.makedirs('closed', 0o555)
    if os.geteuid() != 0:
        result = run('export', 'chat.qmplan', '--format', 'script', '-o', 'closed')
        assert result.returncode == 1 and 'you may not write there' in result.stderr, result


def templates_of_ones_own():
    """A template that is a pipe, missing or wrong is named, with its line, and nothing waits for it."""
    own = os.path.abspath('own-data')
    os.makedirs(own)
    for name in os.listdir(os.environ['QM_DATA_DIR']):
        if name != 'templates':
            os.symlink(os.path.join(os.environ['QM_DATA_DIR'], name), os.path.join(own, name))
    shutil.copytree(os.path.join(os.environ['QM_DATA_DIR'], 'templates'), os.path.join(own, 'templates'))
    path = os.path.join(own, 'templates', 'deepspeed.json')
    for make, said in ((os.mkfifo, 'deepspeed.json: cannot be read: it is a pipe or a device; an ordinary file is wanted'),
                       (lambda path: None, 'deepspeed.json: cannot be read: there is no such file'),
                       (lambda path: open(path, 'w').write('{\n"a": {{nothing|json}}}'), 'deepspeed.json:2: there is no value "nothing"'),
                       (lambda path: open(path, 'w').write('{\n\n"a": {{title}}}'), 'deepspeed.json:3: "title" does not say in which language'),
                       (lambda path: open(path, 'w').write('{{#gpu}}'), 'deepspeed.json:1: the section "gpu" is not closed')):
        os.unlink(path)
        make(path)
        result = subprocess.run([PROGRAM, 'export', 'chat.qmplan', '--format', 'deepspeed', '-o', 'of-own'], capture_output=True, text=True, timeout=60,
                                env={**os.environ, 'QM_DATA_DIR': own})
        assert result.returncode == 2 and said in result.stderr and 'deepspeed: ' in result.stderr and not os.path.exists('of-own'), (said, result)
        if not os.path.exists(path):
            open(path, 'w').close()
    os.unlink(os.path.join(own, 'templates', 'formats.json'))
    os.mkfifo(os.path.join(own, 'templates', 'formats.json'))
    result = subprocess.run([PROGRAM, 'export', 'chat.qmplan', '--format', 'deepspeed', '-o', 'of-own'], capture_output=True, text=True, timeout=60,
                            env={**os.environ, 'QM_DATA_DIR': own})
    assert result.returncode == 1 and 'formats.json: cannot be read: it is a pipe' in result.stderr, result


def long_numbers():
    """No exponent stands where a language wants a number of digits."""
    plan = json.load(open('chat.qmplan'))
    plan['training'] = {**plan.get('training', {}), 'epochs': 1000000}
    json.dump(plan, open('long.qmplan', 'w'))
    result = run('export', 'long.qmplan', '--format', 'script', '-o', 'long')
    assert result.returncode == 0, result.stderr
    assert 'default=1000000' in open('long/train.py').read()


def mistakes():
    result = run('export', 'chat.qmplan', '--format', 'gclod', '-o', 'x')
    assert result.returncode == 2 and 'gclod' in result.stderr and 'gcloud' in result.stderr, result.stderr
    assert run('export', 'chat.qmplan', '-o', 'x').returncode == 2
    assert run('export', 'chat.qmplan', '--format', 'gcloud').returncode == 2


def main():
    tests = [everything, numbers_agree, money_is_guarded, devices_of_each_maker, services_grow_by_requests, jobs_are_kept_apart, machines_have_room, loaders_are_as_counted, queues_hold_the_job, copies_are_apart, tpus_get_the_data, weights_that_are_published, processors_serve, weights_are_kept_as_planned, tables_get_trees, epochs_are_kept, all_is_each, one_bad_offer, broken_descriptions, nothing_is_written_over, forced, templates_of_ones_own, long_numbers, mistakes]
    failed = 0
    print(f'1..{len(tests)}')
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for number, test in enumerate(tests, 1):
            try:
                test()
                print(f'ok {number} {test.__name__}', flush=True)
            except Exception as error:  # a test that breaks is a test that fails
                failed += 1
                print(f'not ok {number} {test.__name__}\n# {type(error).__name__}: {error}'.replace('\n# ', '\n# ')[:1500], flush=True)
        os.chdir('/')
    return 1 if failed else 0


sys.exit(main())
