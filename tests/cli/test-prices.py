#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of quartermaster-cli catalog import and update: lists with the mistakes that real ones have, and a server that is
slow, broken, huge or lying. Speaks TAP."""
import glob
import http.server
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

CLI = os.path.abspath(sys.argv[1])
tests = []

# Rows as skypilot-catalog v8 and gpuhunt have them, prices made up; columns in another order for each cloud.
AWS = '''InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,AvailabilityZone
g6e.xlarge,L40S,1.0,4.0,32.0,"{'Gpus': [{'Name': 'L40S', 'MemoryInfo': {'SizeInMiB': 45776}}]}",1.90,0.80,us-east-1,us-east-1a
g6e.xlarge,L40S,1.0,4.0,32.0,"{'Gpus': [{'Name': 'L40S', 'MemoryInfo': {'SizeInMiB': 45776}}]}",1.90,0.70,us-east-1,us-east-1b
g6e.xlarge,L40S,1.0,4.0,32.0,"{'Gpus': []}",1.50,0.50,eu-north-1,eu-north-1a
p4d.24xlarge,A100,8.0,96.0,1152.0,"{'Gpus': [{'MemoryInfo': {'SizeInMiB': 40960}}]}",22.0,22.0,us-east-1,us-east-1a
p5e.48xlarge,H200,8.0,192.0,2048.0,,,20.5,us-east-2,us-east-2a
zz.large,Wonderchip,1,4,32,,9.0,,us-east-1,us-east-1a
'''
AZURE = '''InstanceType,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,GpuInfo,Region,Price,SpotPrice
Standard_ND96isr_H100_v5,96,1900,H100,12,H100,eastus,90.0,90.0
'''
GCP = '''AcceleratorName,AcceleratorCount,GpuInfo,InstanceType,vCPUs,MemoryGiB,Region,Price,SpotPrice
,,,n1-standard-8,8.0,30.0,us-central1,0.38,0.08
T4,1.0,T4,,,,us-central1,0.35,0.14
tpu-v6e-8,1.0,tpu-v6e-8,,,,us-central1,700.0,700.0
'''
VAST = '''InstanceType,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,GpuInfo,Region,Price,SpotPrice
2x-RTX4060,32,64,RTX4060,2,"{""Gpus"": [{""MemoryInfo"": {""SizeInMiB"": 32760}}]}",FR,0.30,0.00
1x-RTX3060,32,64,RTX3060,1,"{""Gpus"": [{""MemoryInfo"": {""SizeInMiB"": 8192}}]}",FR,0.10,0.00
'''
RUNPOD = '''InstanceType,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,GpuInfo,Region,Price,SpotPrice
1x_A100-80GB_SECURE,8,117,A100-80GB,1,"{'Gpus': [{'MemoryInfo': {'SizeInMiB': 80}}]}",US,1.30,1.30
'''
GPUHUNT = '''instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,disk_size,gpu_vendor,flags
1A100.22V,FIN-01,1.50,22,120,1,A100,80,False,,nvidia,
1A100.22V,FIN-01,0.70,22,120,1,A100,80,True,,nvidia,
1A100.40S.22V,FIN-01,0.90,22,120,1,A100,40,False,,,
'''


def test(function):
    tests.append(function)
    return function


def run(*arguments, timeout=60):
    return subprocess.run([CLI, 'catalog', *arguments], capture_output=True, encoding='utf-8', timeout=timeout,
                          env={**os.environ, 'QM_USER_DIR': os.path.join(os.getcwd(), 'own')})


def write(name, text):
    os.makedirs(os.path.dirname(name) or '.', exist_ok=True)
    with open(name, 'w') as file:
        file.write(text)
    return name


def show(offer):
    result = run('show', offer)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def refused(result, *words, status=2):
    assert result.returncode == status and all(word in result.stderr for word in words), result


def kept():
    return {name: open(name).read() for name in glob.glob('own/catalog/*')}


@test
def reads_what_aws_lists():
    """Zones are one region; spot as dear as on demand is none; a price may be of spot alone; what is unknown is named."""
    result = run('import', write('aws/vms.csv', AWS), '--as-of', '2026-11-01', '--json')
    assert result.returncode == 0, result.stderr
    out = json.loads(result.stdout)['lists'][0]
    assert out['unknown_rows'] == 1 and out['unknown_accelerators'] == ['Wonderchip']
    offer = show('aws/g6e.xlarge/us-east-1')
    assert offer['device'] == 'l40s' and offer['on_demand_usd_per_hour'] == 1.9 and offer['spot_usd_per_hour'] == 0.7, offer
    assert offer['as_of'] == '2026-11-01' and 'vms.csv' in offer['source'], offer
    offer = show('aws/p4d.24xlarge/us-east-1')
    assert offer['device'] == 'a100-sxm4-40gb' and offer['devices'] == 8 and offer['on_demand_usd_per_hour'] == 22
    assert offer.get('spot_usd_per_hour') is None, offer
    offer = show('aws/p5e.48xlarge/us-east-2')
    assert offer.get('on_demand_usd_per_hour') is None and offer['spot_usd_per_hour'] == 20.5, offer
    # A region that the catalog does not have is left out where another has the machine, unless it is asked for.
    assert run('show', 'aws/g6e.xlarge/eu-north-1').returncode != 0
    assert run('import', 'aws/vms.csv', '--regions', 'all').returncode == 0
    assert show('aws/g6e.xlarge/eu-north-1')['on_demand_usd_per_hour'] == 1.5
    # Only this provider's other offers are still there.
    assert show('azure/Standard_NC4as_T4_v3/eastus')['device'] == 't4'


@test
def mends_what_other_lists_get_wrong():
    lists = {'azure.csv': AZURE, 'gcp.csv': GCP, 'vast.csv': VAST, 'runpod.csv': RUNPOD}
    result = run('import', *(write(name, text) for name, text in lists.items()))
    assert result.returncode == 0, result.stderr
    offer = show('azure/Standard_ND96isr_H100_v5/eastus')
    assert offer['devices'] == 8 and offer.get('spot_usd_per_hour') is None and offer['on_demand_usd_per_hour'] == 90
    offer = show('gcp/n1-standard-8+1xT4/us-central1')
    assert abs(offer['on_demand_usd_per_hour'] - 0.73) < 1e-9 and abs(offer['spot_usd_per_hour'] - 0.22) < 1e-9, offer
    with open('own/catalog/offers-gcp.json') as file:
        assert '700' not in file.read()
    offer = show('vast/2x-RTX4060/FR')
    assert offer['device'] == 'rtx-4060-ti-16gb' and offer.get('spot_usd_per_hour') is None, offer
    assert show('vast/1x-RTX3060/FR')['device'] == 'rtx-3060-ti'
    offer = show('runpod/1x_A100-80GB_SECURE/US')
    assert offer['device'] == 'a100-pcie-80gb' and offer['on_demand_usd_per_hour'] == 1.3 and offer.get('spot_usd_per_hour') is None


@test
def reads_gpuhunt():
    """The name of the file is the feed's; memory tells cards apart; spot prices are rows of their own."""
    result = run('import', write('datacrunch.csv', GPUHUNT), '--regions', 'all')
    assert result.returncode == 0, result.stderr
    offer = show('verda/1A100.22V/FIN-01')
    assert offer['device'] == 'a100-pcie-80gb' or offer['device'] == 'a100-sxm4-80gb', offer
    assert offer['on_demand_usd_per_hour'] == 1.5 and offer['spot_usd_per_hour'] == 0.7
    assert '40gb' in show('verda/1A100.40S.22V/FIN-01')['device']


@test
def refuses_what_is_no_list():
    write('own/catalog/offers-aws.json', json.dumps({'format': 'quartermaster-offers', 'version': 1, 'offers': []}))
    before = kept()
    refused(run('import'), 'missing')
    refused(run('import', write('a/prices.csv', AWS)), '--provider')
    refused(run('import', '--provider', '../x', 'a/prices.csv'), '--provider')
    refused(run('import', '--provider', 'aws', write('b.csv', 'a,b\n1,2\n')), 'b.csv', 'InstanceType')
    refused(run('import', '--provider', 'aws', write('c.csv', '')), 'c.csv')
    refused(run('import', '--provider', 'aws', write('d.csv', AWS.split('\n')[0] + '\n')), 'd.csv')
    refused(run('import', '--provider', 'aws', write('e.csv', AWS + 'g6.xlarge,"L4')), 'e.csv:8')
    refused(run('import', '--provider', 'aws', '--as-of', 'May', write('aws.csv', AWS)), '--as-of')
    refused(run('import', 'none.csv'), 'none.csv', status=1)
    assert kept() == before
    # The sound one of two is taken.
    refused(run('import', 'b.csv', 'aws.csv', '--provider', 'aws'), 'b.csv', 'some of the lists')
    assert kept() != before


class Server(http.server.ThreadingHTTPServer):
    """Serves AWS at /NAME/aws.csv, in the manner of NAME; notes what ranges were asked for."""
    daemon_threads = True

    def __init__(self):
        super().__init__(('127.0.0.1', 0), Handler)
        self.ranges = []
        self.cut = True
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def address(self, manner):
        return f'http://127.0.0.1:{self.server_address[1]}/{manner}/aws.csv'


class Handler(http.server.BaseHTTPRequestHandler):
    body = AWS.encode()

    def log_message(self, *arguments):
        pass

    def head(self, status, length, **more):
        self.send_response(status)
        self.send_header('Content-Length', str(length))
        for name, value in more.items():
            self.send_header(name.replace('_', '-'), value)
        self.end_headers()

    def do_GET(self):
        asked = self.headers.get('Range')
        self.server.ranges.append(asked)
        try:
            getattr(self, self.path.split('/')[1])(asked)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def good(self, asked):
        self.head(200, len(self.body), Last_Modified='Mon, 02 Nov 2026 10:00:00 GMT')
        self.wfile.write(self.body)

    def missing(self, asked):
        self.head(404, 0)

    def page(self, asked):
        self.head(200, 32)
        self.wfile.write(b'<html><body>Log in</body></html>')

    def huge(self, asked):
        self.head(200, 1 << 40)
        self.wfile.write(self.body)

    def endless(self, asked):
        self.send_response(200)
        self.end_headers()
        for _ in range(3000):
            self.wfile.write(b'x' * 65536)

    def short(self, asked):
        self.head(200, len(self.body) + 1000)
        self.wfile.write(self.body)
        self.wfile.flush()
        self.connection.close()

    def breaks(self, asked):
        """Breaks off in the middle the first time, and goes on when asked to."""
        half = len(self.body) // 2
        if self.server.cut:
            self.server.cut = False
            self.head(200, len(self.body), ETag='"1"')
            self.wfile.write(self.body[:half])
            self.wfile.flush()
            self.connection.close()
        elif asked is not None and self.headers.get('If-Range') == '"1"':
            start = int(asked.split('=')[1].rstrip('-'))
            self.head(206, len(self.body) - start, Content_Range=f'bytes {start}-{len(self.body) - 1}/{len(self.body)}', ETag='"1"')
            self.wfile.write(self.body[start:])
        else:
            self.good(asked)

    def lies(self, asked):
        """Breaks off, and then sends another part than was asked for."""
        if self.server.cut:
            self.breaks(asked)
        else:
            self.head(206, 10, Content_Range=f'bytes 0-9/{len(self.body)}', ETag='"1"')
            self.wfile.write(self.body[:10])

    def away(self, asked):
        self.head(302, 0, Location='http://example.invalid/aws.csv')

    def round(self, asked):
        self.head(302, 0, Location=self.path)

    def slow(self, asked):
        self.head(200, len(self.body))
        for byte in self.body:
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
            time.sleep(0.2)


@test
def fetches_a_list():
    server = Server()
    result = run('update', server.address('good'))
    assert result.returncode == 0, result.stderr
    offer = show('aws/g6e.xlarge/us-east-1')
    assert offer['on_demand_usd_per_hour'] == 1.9 and offer['as_of'] == '2026-11-02', offer
    assert not os.listdir('own/cache')
    assert glob.glob('own/catalog/.*') == []


@test
def keeps_the_list_before_whatever_the_server_does():
    server = Server()
    assert run('update', server.address('good')).returncode == 0
    before = kept()
    refused(run('update', server.address('missing')), '404')
    refused(run('update', server.address('page')), 'InstanceType')
    refused(run('update', server.address('huge')), 'larger')
    refused(run('update', server.address('endless')), 'larger')
    refused(run('update', server.address('short')), 'aws.csv')
    refused(run('update', server.address('away')), 'https')
    refused(run('update', server.address('round')), 'without end')
    refused(run('update', 'http://example.invalid/aws.csv'), 'https')
    refused(run('update', 'no address'), 'https')
    server.shutdown()
    server.server_close()
    refused(run('update', server.address('good')), 'offline')
    assert kept() == before


@test
def goes_on_where_it_broke_off():
    server = Server()
    refused(run('update', server.address('breaks')), 'next try')
    assert kept() == {}
    assert run('update', server.address('breaks')).returncode == 0
    assert server.ranges[0] is None and server.ranges[1].startswith('bytes='), server.ranges
    assert show('aws/g6e.xlarge/us-east-1')['on_demand_usd_per_hour'] == 1.9


@test
def believes_no_part_that_was_not_asked_for():
    server = Server()
    refused(run('update', server.address('lies')), 'next try')
    refused(run('update', server.address('lies')), 'another part')
    assert kept() == {} and not os.listdir('own/cache')


@test
def stops_when_told():
    server = Server()
    process = subprocess.Popen([CLI, 'catalog', 'update', server.address('slow')], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               encoding='utf-8', env={**os.environ, 'QM_USER_DIR': os.path.join(os.getcwd(), 'own')})
    while not server.ranges:
        time.sleep(0.05)
    time.sleep(0.5)
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=20)
    assert process.returncode == 1 and time.monotonic() - begin < 5 and kept() == {}, error


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
