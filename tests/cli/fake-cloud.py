#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stands in the place of gcloud, aws and az: a store of objects in a folder, and machines that are only written down.

fake-cloud.py NAME ARGUMENT...: NAME is that of one of them. Everything that was asked stands in $FAKE/log.
"""
import glob
import os
import shutil
import sys

FAKE = os.environ["FAKE"]
STORE = os.path.join(FAKE, "store")
SCHEMES = ("gs://", "s3://")


def place(name):
    return os.path.join(STORE, name[5:].rstrip("/") + ("/" if name.endswith("/") else "")) if name.startswith(SCHEMES) else name


def put(source, target):
    os.makedirs(os.path.dirname(target) or ".", exist_ok=True)
    shutil.copy(source, target + ".part")
    os.replace(target + ".part", target)


def files_below(folder):
    return [os.path.relpath(os.path.join(where, name), folder) for where, _, names in os.walk(folder) for name in names]


def mirror(source, target, delete=False):
    if not os.path.isdir(source):
        return 1
    here = files_below(source)
    for name in here:
        put(os.path.join(source, name), os.path.join(target, name))
    for name in files_below(target) if delete else []:
        if name not in here:
            os.unlink(os.path.join(target, name))
    return 0


def copy(source, target, recursive):
    """As "gcloud storage cp", and "aws s3 cp" but for the name of a folder that is copied."""
    if source == "-":
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8") as file:
            file.write(sys.stdin.read())
        return 0
    found = glob.glob(source)
    if not found:
        return 1
    for name in found:
        if target == "-":
            with open(name, encoding="utf-8") as file:
                print(file.read(), end="")
        elif os.path.isdir(name) and recursive:
            mirror(name, os.path.join(target, os.path.basename(name)) if "*" in source else target)
        else:
            put(name, os.path.join(target, os.path.basename(name)) if target.endswith("/") or os.path.isdir(target) else target)
    return 0


def remove(target):
    shutil.rmtree(target, ignore_errors=True)
    if os.path.isfile(target):
        os.unlink(target)
    return 0


def option(words, name):
    for index, word in enumerate(words):
        if word == name:
            return words[index + 1]
        if word.startswith(name + "="):
            return word[len(name) + 1:]
    return None


def stored(words):
    """gcloud storage, and aws s3."""
    kind, rest = words[0], words[1:]
    named = [place(word) for word in rest if not word.startswith("--")]
    if kind == "cp":
        return copy(named[0], named[1], "--recursive" in rest)
    if kind in ("rsync", "sync"):
        return mirror(named[0], named[1], "--delete" in rest or "--delete-unmatched-destination-objects" in rest)
    if kind == "ls":
        return 0 if os.path.isdir(named[0]) else 1
    if kind == "mb" or kind == "buckets" and rest[0] == "create":
        os.makedirs(named[-1])
        return 0
    if kind == "buckets" and rest[0] == "describe":
        return 0 if os.path.isdir(named[-1]) else 1
    return remove(named[0]) if kind == "rm" else 0


def gcloud(words):
    if words[0] == "storage":
        return stored(words[1:])
    if words[:2] == ["projects", "describe"]:
        print(1)
    if words[:3] == ["compute", "resource-policies", "describe"] or words[:2] == ["secrets", "describe"]:
        return 1
    return 0


def aws(words):
    if words[0] == "s3":
        return stored(words[1:])
    if words[:2] == ["s3api", "head-bucket"]:
        return 0 if os.path.isdir(os.path.join(STORE, option(words, "--bucket"))) else 1
    if words[:2] == ["iam", "get-instance-profile"]:
        return 1
    if words[:2] == ["ec2", "run-instances"]:
        put(option(words, "--user-data")[7:], os.path.join(FAKE, "startup"))
    if words[:2] == ["ec2", "describe-instance-types"]:
        print("4\t4")
    elif "--query" in words and not {"describe-instances", "describe-addresses", "describe-security-groups"} & set(words):
        print("one")
    return 0


def az(words):
    if words[:2] == ["group", "exists"]:
        print("false")
    elif words[:2] == ["vm", "create"]:
        put(option(words, "--custom-data"), os.path.join(FAKE, "startup"))
    elif words[:2] == ["storage", "blob"]:
        container = option(words, "-c") or option(words, "-d") if words[2] != "download-batch" else None
        container = container or option(words, "-s") or option(words, "--source")
        folder = os.path.join(STORE, container)
        pattern = (option(words, "--pattern") or "*").rstrip("*")
        if words[2] == "upload":
            put(option(words, "-f"), os.path.join(folder, option(words, "-n")))
        elif words[2] == "upload-batch":
            return mirror(option(words, "-s"), os.path.join(folder, option(words, "--destination-path")))
        elif words[2] == "download-batch":
            mirror(os.path.join(folder, pattern), os.path.join(option(words, "-d"), pattern))
        elif words[2] == "delete-batch":
            return remove(os.path.join(folder, pattern))
    elif "--query" in words:
        print("one")
    return 0


def main():
    name, words = sys.argv[1], sys.argv[2:]
    with open(os.path.join(FAKE, "log"), "a", encoding="utf-8") as log:
        log.write(f"{name} {' '.join(words)}\n")
    sys.exit({"gcloud": gcloud, "aws": aws, "az": az}[name](words))


main()
