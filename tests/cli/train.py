#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small training job: train.py BATCH WORKERS ACCUMULATION [MODE]. Its loaders, its arithmetic and its optimizer take time
by a law that the tuner does not know; a batch of 64 does not fit. MODE: "silent" prints no rate, "broken" fails at once, "hangs"
never ends and leaves a child behind. Counts its runs in the file runs.log."""
import subprocess
import sys
import threading
import time

batch, workers, accumulation = (int(word) for word in sys.argv[1:4])
mode = sys.argv[4] if len(sys.argv) > 4 else ''

SAMPLES = 256
SAMPLE, LAUNCH, LOAD, STEP, TOLL = 0.0004, 0.004, 0.0008, 0.020, 0.08


def load(ready, count):
    for _ in range(count):
        time.sleep(batch * LOAD)
        ready.release()


def train():
    micro_steps = SAMPLES // batch
    ready = threading.Semaphore(0)
    for worker in range(workers):
        share = micro_steps // workers + (worker < micro_steps % workers)
        threading.Thread(target=load, args=(ready, share), daemon=True).start()
    start = time.monotonic()
    for step in range(micro_steps):
        if workers:
            ready.acquire()
        else:
            time.sleep(batch * LOAD)
        time.sleep((LAUNCH + batch * SAMPLE) * (1 + TOLL * workers))
        if (step + 1) % accumulation == 0:
            time.sleep(STEP)
    return SAMPLES / (time.monotonic() - start)


with open('runs.log', 'a') as log:
    print(*sys.argv[1:], file=log)
if mode == 'broken':
    sys.exit('no such data set')
if mode == 'hangs':
    subprocess.run(['sleep', '600'])
if batch >= 64:
    raise MemoryError('out of memory')
rate = train()
if mode != 'silent':
    print(f'step 3: loss 0.5\nsamples_per_second={rate:.2f}')
