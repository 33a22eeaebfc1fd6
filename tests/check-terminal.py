#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manual and completions against what the program says of itself:
check-terminal.py SOURCE PROGRAM. Shells that are not there are skipped."""
import os
import re
import shutil
import subprocess
import sys

source, program = sys.argv[1], os.path.realpath(sys.argv[2])
environment = {**os.environ, "LC_ALL": "C.UTF-8", "PATH": f"{os.path.dirname(program)}:{os.environ['PATH']}"}
tests = []


def test(function):
    tests.append(function)
    return function


def output(*command):
    return subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, timeout=60).stdout


def read(name):
    with open(os.path.join(source, "data", name), encoding="utf-8") as file:
        return file.read()


def commands():
    return re.findall(r"^  ([a-z]+) ", output(program, "--help"), re.M)


def options(command):
    return set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", output(program, command, "--help"), re.M))


def skip_without(shell):
    return None if shutil.which(shell) else f"{shell} is not there"


@test
def manual_has_every_command():
    text = read("quartermaster-cli.1")
    described = text[text.index(".SH COMMANDS"):text.index(".SH OPTIONS\n")].replace("\\-", "-")
    named = re.findall(r"^\.(?:BR|B) \"?([a-z]+)", described, re.M)
    assert set(commands()) <= set(named), set(commands()) - set(named)


@test
def manual_has_every_option():
    text = read("quartermaster-cli.1").replace("\\-", "-")
    text = text[text.index(".SH OPTIONS OF THE COMMANDS"):text.index(".SH EXIT STATUS")]
    sections = {name: set(re.findall(r"--[a-z-]+", body)) for name, body in re.findall(r"^\.SS (\w+)\n(.*?)(?=^\.SS|\Z)", text, re.M | re.S)}
    for command in commands():
        wanted = options(command) - {"--help", "--json"}
        assert sections.get(command, set()) == wanted, (command, sections.get(command, set()) ^ wanted)


@test
def manuals_are_well_formed():
    if not shutil.which("mandoc"):
        return "mandoc is not there"
    for name in ("quartermaster.1", "quartermaster-cli.1"):
        run = subprocess.run(["mandoc", "-Tlint", "-Wstyle", os.path.join(source, "data", name)], env=environment, capture_output=True, text=True)
        # What only this installation lacks is no fault of the page.
        faults = [line for line in run.stdout.splitlines() if "referenced manual not found" not in line]
        assert not faults, faults
    return None


def bash_completes(*words):
    script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _quartermaster_cli; printf "%s\\n" "${COMPREPLY[@]}"'
    return output("bash", "-c", script, "bash", os.path.join(source, "data", "quartermaster-cli.bash"), "quartermaster-cli", *words).split()


@test
def bash_completes_commands_and_options():
    assert set(bash_completes("")) >= set(commands()), set(commands()) - set(bash_completes(""))
    assert bash_completes("recom") == ["recommend"]
    for command in commands():
        offered = set(bash_completes(command, "--"))
        assert offered <= options(command), (command, offered - options(command))
        assert offered >= options(command) - {"--json"}, (command, options(command) - offered)


@test
def bash_completes_values():
    kinds = set(bash_completes("chart", "x.qmplan", "--kind", ""))
    refused = subprocess.run([program, "chart", os.path.join(source, "docs", "example.qmplan"), "--kind", "?", "-o", "x.png"], capture_output=True,
                             text=True, env={**environment, "QM_DATA_DIR": os.path.join(source, "data")}).stderr
    assert kinds and all(kind in refused for kind in kinds), (kinds, refused)
    assert bash_completes("ledger", "sug") == ["suggest"]


@test
def fish_completes():
    if skip_without("fish"):
        return skip_without("fish")
    script = f"source {source}/data/quartermaster-cli.fish; complete -C 'quartermaster-cli '; echo; complete -C 'quartermaster-cli record --'"
    first, second = output("fish", "--no-config", "-c", script).split("\n\n", 1)
    assert {line.split("\t")[0] for line in first.splitlines()} == set(commands()), first
    assert {line.split("\t")[0] for line in second.splitlines() if line} == options("record"), second
    assert "run a command under observation" in first
    return None


@test
def zsh_completes():
    if skip_without("zsh"):
        return skip_without("zsh")
    # What the completion system would be given.
    script = ('_describe() { local name=$@[-1]; print -l -- ${(P)name}; }; _files() { print FILES; }\n'
              'completes() { words=("$@") CURRENT=$#; source "$file"; }\n'
              'completes quartermaster-cli ""; print; completes quartermaster-cli record --; print; completes quartermaster-cli estimate ""')
    text = output("zsh", "-f", "-c", f"file={source}/data/quartermaster-cli.zsh\n{script}")
    first, second, third = text.split("\n\n")
    assert {line.split(":")[0] for line in first.splitlines()} == set(commands()), first
    assert {line.split(":")[0] for line in second.splitlines()} == options("record"), second
    assert third.strip() == "FILES", third
    return None


failed = 0
print(f"1..{len(tests)}")
for number, function in enumerate(tests, 1):
    name = function.__name__.replace("_", "-")
    try:
        skipped = function()
        print(f"ok {number} {name}" + (f" # SKIP {skipped}" if skipped else ""))
    except Exception as problem:  # pylint: disable=broad-except
        failed += 1
        print(f"not ok {number} {name}")
        print(f"# {problem!r}".replace("\n", "\n# "))
sys.exit(1 if failed else 0)
