# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs that are ended without warning, and started again."""
import glob
import os
import re
import signal
import subprocess
import time

from exported import QUIET, run


def kill_all_in(folder):
    """torchrun's processes have groups of their own: they are known by where they run."""
    for entry in glob.glob("/proc/[0-9]*/cwd"):
        try:
            if os.path.realpath(entry) == os.path.realpath(folder):
                os.kill(int(entry.split("/")[2]), signal.SIGKILL)
        except OSError:
            pass


def start_and_kill(command, folder, checkpoint, endless=("--epochs", "100000")):
    """Started, and stopped without warning once there is a checkpoint."""
    log = os.path.join(folder, "log.txt")
    with open(log, "w", encoding="utf-8") as output:
        process = subprocess.Popen([*command, *endless], cwd=folder, env=QUIET, stdout=output, stderr=output, start_new_session=True)
    deadline = time.monotonic() + 200
    while not os.path.exists(os.path.join(folder, checkpoint)):
        assert process.poll() is None and time.monotonic() < deadline, open(log, encoding="utf-8").read()[-800:]
        time.sleep(0.2)
    kill_all_in(folder)
    process.wait()


def kill_and_resume(command, folder, checkpoint):
    """Started again after it was killed, it goes on."""
    start_and_kill(command, folder, checkpoint)
    again = run(*command, "--steps", "1000000", "--epochs", "0", cwd=folder, timeout=200)
    assert again.returncode == 0, again.stderr[-800:]
    assert re.search(r"goes on from step [1-9]", again.stdout), again.stdout
