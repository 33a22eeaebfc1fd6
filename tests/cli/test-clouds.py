#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The scripts of clouds, run from the launch to the end of the job: test-clouds.py PROGRAM.

In the place of each cloud's program stands one that keeps objects in a folder; machines are folders, and what they run
is short. Nothing is sent.
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = os.path.abspath(sys.argv[1])
FAKE_CLOUD = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'fake-cloud.py')
DEVICE = {'device': 'a100-sxm4-80gb', 'devices': 16, 'nodes': 2}
PLAN = {'format': 'quartermaster-plan', 'version': 1, 'title': 'two machines', 'task': 'language-model', 'activity': 'fine-tune',
        'model': {'id': 'llama-3.1-8b'}, 'training': {'method': 'full'}, 'configuration': DEVICE}
CLOUDS = {'gcloud': ('gcp', 'gcloud', {'PROJECT': 'p', 'BUCKET': 'gs://bucket'}, 'bucket/'),
          'aws': ('aws', 'aws', {'BUCKET': 's3://bucket', 'PATIENCE': '0'}, 'bucket/'),
          'azure': ('azure', 'az', {'STORAGE_ACCOUNT': 'account'}, '')}

# What the job does in place of training: it notes from what it goes on, and saves; the first machine waits until what it
# saved is in the store, the second saves last.
JOB = '''#!/bin/bash
cat checkpoints/last.pt >>"$FAKE/seen-$NODE_RANK" 2>/dev/null || echo nothing >>"$FAKE/seen-$NODE_RANK"
ls data >"$FAKE/data-$NODE_RANK"
echo "run $RUN of rank $NODE_RANK" >checkpoints/last.pt.new
cp checkpoints/last.pt.new checkpoints/last.pt.whole && mv checkpoints/last.pt.whole checkpoints/last.pt
if [ "$NODE_RANK" = 0 ]; then
  mkdir -p "$2" && echo "learnt $RUN" >"$2/weights"
  for _ in $(seq 200); do grep -qs "run $RUN of" "$KEPT" && echo "kept $RUN" >>"$FAKE/kept" && break; /bin/sleep 0.05; done
else
  for _ in $(seq 400); do [ "$(grep -cs "off 1" "$FAKE/ended")" -ge "$RUN" ] && break; /bin/sleep 0.05; done
fi
'''

# Programs of a machine that are not its business here.
STUBS = {
    'sleep': 'case $1 in *m) exec /bin/sleep 0.2 ;; ???*) exit 1 ;; *) exec /bin/sleep 0.02 ;; esac',
    'curl': 'case "${!#}" in *ami-launch-index) echo $((NUMBER - 1)) ;; *attributes/store) cat "$FAKE/to" ;; *attributes/job) basename "$(cat "$FAKE/to")" ;; '
            '*instance/name) echo "$(basename "$(cat "$FAKE/to")")-$NUMBER" ;; *zone) echo projects/1/zones/here-a ;; esac',
    'hostname': 'if [ "$1" = -i ]; then echo 10.0.0.$NUMBER; else echo "$(cat "$FAKE/to")-$NUMBER"; fi',
    'shutdown': '[ "$2" != now ] || echo "off $NUMBER" >>"$FAKE/ended"',
    'apt-get': '', 'pip': '', 'python3': '', 'snap': '',
}


def prepare(cloud):
    provider, program, variables, _ = CLOUDS[cloud]
    fake = os.path.abspath(f'fake-{cloud}')
    tools = os.path.join(fake, 'tools')
    os.makedirs(tools)
    real = f'exec {sys.executable} {FAKE_CLOUD} {program} "$@"'
    for name, text in {**STUBS, program: real}.items():
        with open(os.path.join(tools, name), 'w', encoding='utf-8') as file:
            file.write(f'#!/bin/bash\n{text}\n')
        os.chmod(os.path.join(tools, name), 0o755)
    with open(f'{cloud}.qmplan', 'w', encoding='utf-8') as file:
        json.dump({**PLAN, 'places': {'cloud': [provider], 'buy': False, 'this_computer': False}}, file)
    result = subprocess.run([PROGRAM, 'export', f'{cloud}.qmplan', '--format', cloud, '-o', cloud], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    with open(os.path.join(cloud, 'run.sh'), 'w', encoding='utf-8') as file:
        file.write(JOB)
    os.makedirs(os.path.join(cloud, 'data'))
    environment = {**os.environ, **variables, 'FAKE': fake, 'HF_TOKEN': 'hf_none', 'PATH': f'{tools}:{os.environ["PATH"]}'}
    return fake, environment


def launch(cloud, environment):
    result = subprocess.run(['bash', f'launch-{cloud}.sh'], cwd=cloud, env=environment, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr


def startup_of(cloud, fake, root):
    """What a machine runs, with a folder as its disk."""
    path = f'{cloud}/startup-gcloud.sh' if cloud == 'gcloud' else os.path.join(fake, 'startup')
    with open(path, encoding='utf-8') as file:
        text = file.read()
    return re.sub(r'-d / ', f'-d {root} ', text.replace('/job/checkpoints && cd /job', f'{root}/job/checkpoints && cd {root}/job'))


def run_machines(cloud, fake, environment, job, run):
    """Both at once, to their ends."""
    store = f'{CLOUDS[cloud][3]}{job}'
    with open(os.path.join(fake, 'to'), 'w', encoding='utf-8') as file:
        file.write(f'gs://{store}' if cloud == 'gcloud' else job)
    kept = os.path.join(fake, 'store', store, 'checkpoints', 'last.pt')
    processes = []
    for number in (1, 2):
        root = os.path.join(fake, f'machine-{run}-{number}')
        os.makedirs(root)
        script = os.path.join(root, 'startup')
        with open(script, 'w', encoding='utf-8') as file:
            file.write(startup_of(cloud, fake, root))
        with open(os.path.join(root, 'output'), 'w', encoding='utf-8') as output:
            processes.append(subprocess.Popen(['bash', script], stdout=output, stderr=output, start_new_session=True,
                                              env={**environment, 'NUMBER': str(number), 'RUN': str(run), 'KEPT': kept}))
    try:
        for process in processes:
            process.wait(timeout=60)
    finally:
        for process in processes:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
    time.sleep(0.1)
    with open(kept, encoding='utf-8') as file:
        return file.read()


def lines_of(*names):
    with open(os.path.join(*names), encoding='utf-8') as file:
        return file.read().split('\n')[:-1]


def goes_on(cloud):
    """A job goes on from what its first machine saved, and no other does; data that were taken out are gone."""
    fake, environment = prepare(cloud)
    with open(f'{cloud}/data/old', 'w', encoding='utf-8') as file:
        file.write('old')
    launch(cloud, environment)
    log = '\n'.join(lines_of(fake, 'log'))
    job = re.search(r'two-machines-[0-9a-f]{6}', log).group()
    assert run_machines(cloud, fake, environment, job, 1) == 'run 1 of rank 0\n'
    assert lines_of(fake, 'seen-0') == lines_of(fake, 'seen-1') == ['nothing']
    assert lines_of(fake, 'kept') == ['kept 1'], 'it is kept while the job runs'
    assert {'off 1', 'off 2'} <= set(lines_of(fake, 'ended'))
    store = os.path.join(fake, 'store', CLOUDS[cloud][3], job)
    assert sorted(os.listdir(os.path.join(store, 'checkpoints'))) == ['last.pt', 'result'], 'what is half written stays behind'
    assert lines_of(store, 'checkpoints', 'result', 'weights') == ['learnt 1']
    assert len([name for name in os.listdir(store) if name.startswith('log-')]) == 2, os.listdir(store)

    os.rename(f'{cloud}/data/old', f'{cloud}/data/new')
    launch(cloud, environment)
    assert run_machines(cloud, fake, environment, job, 2) == 'run 2 of rank 0\n'
    assert lines_of(fake, 'seen-0') == lines_of(fake, 'seen-1') == ['nothing', 'run 1 of rank 0']
    assert lines_of(fake, 'data-0') == lines_of(fake, 'data-1') == ['new']

    launch(cloud, {**environment, 'JOB': 'another'})
    assert run_machines(cloud, fake, environment, 'another', 3) == 'run 3 of rank 0\n'
    assert lines_of(fake, 'seen-0')[-1] == lines_of(fake, 'seen-1')[-1] == 'nothing'


def rights_come_first():
    """What machines may do is said before one of them is started."""
    for cloud, right, machine in (('gcloud', 'add-iam-policy-binding', 'bulk create'), ('aws', 'put-role-policy', 'run-instances'),
                                  ('azure', 'role assignment create', 'vm create')):
        text = '\n'.join(lines_of(f'fake-{cloud}', 'log'))
        assert 0 <= text.find(right) < text.index(machine), (cloud, text)
        # Until the next launch.
        after = re.split(r'\ngcloud compute instances list|\naws iam get-instance-profile|\naz group exists', text[text.index(machine):])[0]
        assert right not in after, (cloud, after)


TESTS = [(f'goes_on_{cloud}', lambda cloud=cloud: goes_on(cloud)) for cloud in CLOUDS] + [('rights_come_first', rights_come_first)]


def main():
    failed = 0
    print(f'1..{len(TESTS)}')
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for number, (name, test) in enumerate(TESTS, 1):
            try:
                test()
                print(f'ok {number} {name}', flush=True)
            except Exception as error:  # a test that breaks is a test that fails
                failed += 1
                print(f'not ok {number} {name}\n# {type(error).__name__}: {error}'.replace('\n', '\n# ')[:3000].replace('\n# # ', '\n# '), flush=True)
        os.chdir('/')
    return 1 if failed else 0


sys.exit(main())
