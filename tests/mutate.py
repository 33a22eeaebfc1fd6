#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Damaged files through the command line: mutate.py SOURCE PROGRAM [N [SEED]]. Each of N runs must end by itself within a
second of processor time, with status 0, 1 or 2, at most 200 MB of memory, and a message where it is not 0. Status 1 says that
the machine failed, which damaged files are no reason for: it is allowed to none but diagnose and ledger, whose answer it is.
The last line is "N passed, N failed"; what failed is kept in the folder that is named."""
import glob
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile

MOST_SECONDS = 1.0
MOST_BYTES = 200 * 2**20
SEEDS = {
    "plan": (["docs/example.qmplan", "tests/fuzz/corpus/plan/*", "tests/data/golden/*.json"],
             [["estimate", "F"], ["recommend", "F", "--json"], ["diagnose", "--oom", "F"], ["export", "F", "--format", "script", "-o", "OUT"]], ".qmplan"),
    "config": (["tests/fuzz/corpus/config/*"], [["model", "F"], ["model", "F", "--json"]], ".json"),
    "gguf": (["tests/fuzz/corpus/gguf/*"], [["model", "F", "--json"]], ".gguf"),
    "safetensors": (["tests/fuzz/corpus/safetensors/*"], [["model", "F"]], ".safetensors"),
    "prices": (["tests/fuzz/corpus/prices/*"], [["catalog", "import", "F", "--provider", "aws"]], ".csv"),
    "log": (["tests/fuzz/corpus/import/*"], [["ledger", "import", "F", "--ledger", "OUT.db"], ["diagnose", "F"]], ".json"),
    "load": (["tests/fuzz/corpus/load/*"], [["elastic", "SERVICE", "--load", "F"]], ".csv"),
}
SERVICE = ('{"format":"quartermaster-plan","version":1,"task":"language-model","activity":"serve",'
           '"model":{"id":"llama-3.1-8b"},"serving":{"requests_per_second":2}}')
TOKENS = [b"0", b"-1", b"1e308", b"1e-320", b"NaN", b"null", b"true", b"{}", b"[]", b'""', b'"', b"\\u0000", b"\xff\xfe", b"\xf0\x9f\x98\x80",
          b"9999999999999999999", b",", b"}", b"]", b"[[[[[[[[", b"\r\n", b"\0"]


def damage(data, chance):
    """One to six random changes."""
    data = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(data) + 1)
        end = min(len(data), at + chance.randint(1, 40))
        kind = chance.randrange(7)
        if kind == 0 and data:
            data[min(at, len(data) - 1)] ^= 1 << chance.randrange(8)
        elif kind == 1:
            data[at:at] = chance.choice(TOKENS)
        elif kind == 2:
            data[at:end] = chance.choice(TOKENS)
        elif kind == 3:
            del data[at:end]
        elif kind == 4:
            data[at:at] = data[at:end] * chance.randint(1, 50)
        elif kind == 5:
            del data[at:]
        else:
            other = chance.randrange(len(data) + 1)
            data[at:end] = data[other:other + chance.randint(1, 40)]
    return bytes(data)


def limit():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(command, environment, folder):
    """(what is wrong or None): of one run."""
    with open(os.path.join(folder, "said"), "w+b") as said:
        process = subprocess.Popen(command, env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said,
                                   preexec_fn=limit)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        said.seek(0)
        text = said.read()
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, 1, 2):
        return f"status {code}: {text[-300:]!r}"
    if code == 1 and command[1] not in ("diagnose", "ledger"):
        return f"status 1: {text[-300:]!r}"
    if code != 0 and not text.strip():
        return f"status {code} without a word"
    if b"CRITICAL" in text or b"WARNING **" in text or b"assertion" in text:
        return f"warned: {text[-300:]!r}"
    if usage.ru_utime + usage.ru_stime > MOST_SECONDS:
        return f"{usage.ru_utime + usage.ru_stime:.1f} s of processor time"
    if usage.ru_maxrss * 1024 > MOST_BYTES:
        return f"{usage.ru_maxrss / 1024:.0f} MiB of memory"
    return None


def main(source, program, number="10000", seed="1"):
    chance = random.Random(int(seed))
    kept = tempfile.mkdtemp(prefix="mutate-")
    seeds = {kind: sorted(path for pattern in patterns for path in glob.glob(os.path.join(source, pattern))) for kind, (patterns, _, _) in SEEDS.items()}
    failed = 0
    for n in range(int(number)):
        folder = tempfile.mkdtemp(prefix="mutate-run-")
        kind = chance.choice(sorted(SEEDS))
        _, commands, ending = SEEDS[kind]
        original = chance.choice(seeds[kind])
        path = os.path.join(folder, "given" + ending)
        with open(original, "rb") as file:
            content = damage(file.read(), chance)
        with open(path, "wb") as file:
            file.write(content)
        with open(os.path.join(folder, "service.qmplan"), "w", encoding="utf-8") as file:
            file.write(SERVICE)
        places = {"F": path, "OUT": os.path.join(folder, "out"), "OUT.db": os.path.join(folder, "out.db"), "SERVICE": "service.qmplan"}
        command = [program] + [places.get(word, word) for word in chance.choice(commands)]
        wrong = run(command, {**os.environ, "LC_ALL": "C.UTF-8", "QM_USER_DIR": os.path.join(folder, "own")}, folder)
        if wrong:
            failed += 1
            shutil.copy(path, os.path.join(kept, f"{n}{ending}"))
            print(f"{n} ({kind}, from {os.path.basename(original)}): {' '.join(command[1:3])}: {wrong}", flush=True)
        shutil.rmtree(folder)
    if failed:
        print(f"what failed is in {kept}")
    else:
        os.rmdir(kept)
    print(f"{int(number) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
