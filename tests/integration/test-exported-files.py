#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Exported files are read by the tools that they are for: test-exported-files.py PROGRAM [--quick] [NAME...].

Run by ./dev test --integration, which installs those tools; --quick leaves out
what takes PyTorch, Slurm or the Azure CLI. The last line is "N passed, N failed".
"""
import glob
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

from exported import (
    CHAT, DATA, LARGE, LIGHT, PICTURES, PROGRAM, QUICK, QUIET, RANDOM_PLANS, SERVE, SEVERAL, TOOLS, answer, export,
    read_accelerate, read_all, read_deepspeed, read_skypilot, run, write_plan)
from killed import kill_all_in, kill_and_resume, start_and_kill
from trees import trees_are_boosted, trees_go_on

# ------------------------------------------------------------------------ tests

def accelerate_agrees():
    config = read_accelerate(os.path.join(export("chat", CHAT, "accelerate"), "accelerate.yaml"))
    configuration = answer("chat", CHAT)["configuration"]
    assert config.num_processes == configuration["devices"] and config.num_machines == configuration["nodes"], vars(config)
    large = read_accelerate(os.path.join(export("large", LARGE, "accelerate"), "accelerate.yaml"))
    assert large.distributed_type in ("DEEPSPEED", "FSDP"), vars(large)


def deepspeed_agrees():
    config = read_deepspeed(os.path.join(export("large", LARGE, "deepspeed"), "deepspeed.json"))
    configuration = answer("large", LARGE)["configuration"]
    assert config.train_micro_batch_size_per_gpu == configuration["micro_batch"]
    assert config.gradient_accumulation_steps == configuration["gradient_accumulation"]
    assert config.zero_config.stage >= 1


def skypilot_agrees():
    known = {"places": {"cloud": ["aws", "gcp"], "buy": False, "this_computer": False}}
    for name, plan in {"sky-chat": {**CHAT, **known}, "sky-serve": {**SERVE, **known}}.items():
        choice = answer(name, plan)
        task = read_skypilot(os.path.join(export(name, plan, "skypilot"), "task.yaml"))
        if choice.get("offer"):
            nodes = choice["configuration"]["nodes"]
            assert task.num_nodes * (task.service.min_replicas if task.service else 1) == nodes, task
        assert (task.service is not None) == (name == "sky-serve"), task
        if task.service:
            assert task.service.readiness_path == "/health" and task.service.initial_delay_seconds >= 600, vars(task.service)
            assert all(machine.ports == ["8000"] for machine in task.resources), task.resources
        else:
            assert [store.name for store in task.storage_mounts.values()] == ["mine-of-all-people"], task.storage_mounts


def worked_example():
    """A LoRA run on one A100 of Google Cloud: the machine, image and batch of the plan."""
    plan = {**CHAT, "model": {"id": "llama-2-7b"}, "training": {"method": "lora", "sequence_length": 512},
            "places": {"cloud": ["gcp"], "buy": False, "this_computer": False},
            "configuration": {"device": "a100-sxm4-40gb", "devices": 1, "micro_batch": 8, "gradient_accumulation": 4}}
    with open(os.path.join(export("a9", plan, "gcloud"), "launch-gcloud.sh"), encoding="utf-8") as file:
        script = file.read()
    assert "--machine-type=a2-highgpu-1g" in script, script
    with open("a9-gcloud/run.sh", encoding="utf-8") as file:
        assert "--batch 8 --accumulation 4" in file.read()
    with open(os.path.join(DATA, "catalog", "offers.json"), encoding="utf-8") as file:
        regions = {offer["region"] for offer in json.load(file)["offers"] if offer["instance"] == "a2-highgpu-1g"}
    assert re.search(r"REGION:-([a-z0-9-]+)\}", script).group(1) in regions, script
    with open(os.path.join(DATA, "catalog", "software.json"), encoding="utf-8") as file:
        software = json.load(file)
    assert f"--image-family={software['gcp_image']['family']}" in script, script
    build = software["pytorch"][0]
    # The driver of the image, in its name, runs the CUDA that PyTorch was built with.
    assert int(software["gcp_image"]["family"].rsplit("-", 1)[1]) >= float(build["min_driver"].split(".")[0]), (software["gcp_image"], build)
    with open(os.path.join(export("a9", plan, "dockerfile"), "Dockerfile"), encoding="utf-8") as file:
        assert f"FROM pytorch/pytorch:{build['version']}-cuda{build['cuda']}-" in file.read()
    folder = export("a9", plan, "accelerate")
    with open(os.path.join(folder, "accelerate.yaml"), encoding="utf-8") as file:
        assert "accelerate launch --config_file accelerate.yaml train.py --data data --batch 8 --accumulation 4\n" in file.read()
    with open(os.path.join(folder, "train.py"), encoding="utf-8") as file:
        starter = file.read()
    assert '"--batch", type=int, default=8' in starter and '"--accumulation", type=int, default=4' in starter, starter
    with open(os.path.join(folder, "requirements.txt"), encoding="utf-8") as file:
        needed = file.read()
    assert f"whl/{software['pytorch'][0]['index']}" in needed and f"torch=={software['pytorch'][0]['version']}" in needed, needed
    estimate = answer("a9", plan)
    assert estimate["configuration"]["micro_batch"] == 8 and estimate["memory"]["verdict"] == "fits", estimate["memory"]


# Stands in the place of a cloud's program: it sends nothing, notes each line, and answers as where there is nothing yet,
# or, with THERE, all of it.
CLOUD_PROGRAM = """#!/bin/bash
printf '%s\\0' "$@" >"$LOG/$(printf '%05d' "$(ls "$LOG" | wc -l)")"
case "$*" in
  *describe-instance-types*) echo 4 4 ;;
  *describe-instances*|*describe-addresses*|*describe-security-groups*) echo $THERE ;;
  *get-instance-profile*|*head-bucket*) [ -n "$THERE" ] || exit 1 ;;
  "group exists"*) echo ${THERE:-false} ;;
  *--query*) echo 123456789012 ;;
esac
exit 0
"""


def read_aws(words):
    """By the aws command itself: it checks arguments before it sends anything, and nothing answers where it would be sent to."""
    from awscli.clidriver import create_clidriver

    return create_clidriver().main(words)


def read_az(words):
    return subprocess.run([os.path.join(os.path.dirname(TOOLS), "azure", "bin", "az"), *words], stdin=subprocess.DEVNULL, check=False).returncode


def say(read, words, environment):
    """What the cloud's program says, and its status; in a process of its own, which need not be started from nothing."""
    with tempfile.TemporaryFile() as output:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.environ.update(environment)
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                os.dup2(output.fileno(), 1)
                os.dup2(output.fileno(), 2)
                status = read(words)
                sys.stderr.flush()
            finally:
                os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        output.seek(0)
        return output.read().decode(), status


def cloud_reads(name, plan, form, program, read, unanswered, variables, *, actions=("start",)):
    """Runs the exported launch script with a program that sends nothing, and has the real one read its lines."""
    folder = os.path.abspath(export(name, plan, form))
    tools, log = os.path.abspath(f"{name}-tools"), os.path.abspath(f"{name}-log")
    os.makedirs(tools)
    os.makedirs(log)
    # What the script removes again must be there when its lines are read.
    for tool, text in {program: CLOUD_PROGRAM, "rm": "#!/bin/bash\n"}.items():
        with open(os.path.join(tools, tool), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(os.path.join(tools, tool), 0o755)
    os.makedirs(os.path.join(folder, "data"))
    for needed in ("model.onnx", "model.gguf"):
        with open(os.path.join(folder, needed), "w", encoding="utf-8") as file:
            file.write("none")
    nowhere = {"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none", "AWS_MAX_ATTEMPTS": "1",
               "AWS_DEFAULT_REGION": "us-east-1", "AZURE_CONFIG_DIR": os.path.abspath("azure"), "AZURE_CORE_COLLECT_TELEMETRY": "no"}
    for action in actions:
        result = subprocess.run(["bash", f"launch-{form}.sh", action], cwd=folder, capture_output=True, text=True, timeout=600,
                                env={**QUIET, **nowhere, **variables, "EMAIL": "a@example.org", "HF_TOKEN": "hf_none", "MODEL": "some/weights",
                                     "LOG": log, "TMPDIR": log[:-4] + "-tools", "THERE": "" if action == "start" else "i-1", "PATIENCE": "0",
                                     "PATH": tools + ":" + QUIET["PATH"]})
        assert result.returncode == 0, (action, result.stderr)
    lines = []
    for path in sorted(glob.glob(f"{log}/*")):
        with open(path, encoding="utf-8") as file:
            words = file.read().split("\0")[:-1]
        here = os.getcwd()
        os.chdir(folder)
        said, status = say(read, words, nowhere)
        os.chdir(here)
        assert status == 0 or unanswered in said, (words, said)
        lines.append(" ".join(words))
    return "\n".join(lines)


def aws_reads():
    only_aws = {"places": {"cloud": ["aws"], "buy": False, "this_computer": False}}
    spot = {**CHAT, "places": {**only_aws["places"], "spot": "preferred"}}
    more = {} if QUICK else {"aws-chat": CHAT, "aws-large": LARGE, "aws-light": LIGHT, "aws-spot": spot}
    for name, plan in {"aws-serve": SERVE, "aws-several": SEVERAL, **more}.items():
        lines = cloud_reads(name, {**only_aws, **plan}, "aws", "aws", read_aws, "Could not connect to the endpoint",
                            {"BUCKET": "s3://bucket", **({"PROFILE_NAME": "profile"} if name == "aws-spot" else {})},
                            actions=("start", "clean") if name == "aws-several" else ("start",))
        for line in ("ec2 run-instances", "budgets create-budget", "s3 cp run.sh"):
            assert line in lines, (line, lines)
        assert ("ec2 terminate-instances" in lines and "s3 rm --recursive" in lines) == (name == "aws-several"), lines
        assert ("iam create-role" in lines) == (name != "aws-spot"), lines
        assert lines.count("InterfaceType=efa") == (4 if name == "aws-several" else 0), lines


def azure_reads():
    only_azure = {"places": {"cloud": ["azure"], "buy": False, "this_computer": False}}
    spot = {"places": {**only_azure["places"], "spot": "preferred"}}
    for name, plan in {"azure-chat": CHAT, "azure-serve": SERVE, "azure-several": SEVERAL, "azure-spot": {**SEVERAL, **spot}}.items():
        lines = cloud_reads(name, {**only_azure, **plan}, "azure", "az", read_az, "az login",
                            {"STORAGE_ACCOUNT": "account"}, actions=("start", "clean") if name == "azure-chat" else ("start",))
        assert "vm create" in lines and "consumption budget create" in lines and ("group delete" in lines) == (name == "azure-chat"), lines
        assert lines.index("role assignment create") < lines.index("vm create") and "role assignment" not in lines[lines.index("vm create"):], lines


def slurm_accepts():
    if shutil.which("slurmctld") is None:
        raise Skip("slurmctld is not installed")
    state = os.path.abspath("slurm")
    os.makedirs(state)
    host = os.uname().nodename.split(".")[0]
    with open("slurm.conf", "w", encoding="utf-8") as file:
        file.write(f"ClusterName=test\nSlurmctldHost={host}(127.0.0.1)\nAuthType=auth/munge\nSlurmUser=root\nStateSaveLocation={state}\n"
                   f"SlurmctldPidFile={state}/pid\nSlurmctldPort=16817\nGresTypes=gpu\nSelectType=select/cons_tres\nProctrackType=proctrack/pgid\n"
                   f"SlurmctldParameters=enable_configless\nReturnToService=2\nMpiDefault=none\nTaskPlugin=task/none\n"
                   f"NodeName=node[1-64] NodeAddr=127.0.0.1 CPUs=256 RealMemory=4000000 Gres=gpu:16 State=FUTURE\n"
                   f"PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n".replace("State=FUTURE", "State=CLOUD"))
    environment = {**QUIET, "SLURM_CONF": os.path.abspath("slurm.conf")}
    os.makedirs("/run/munge", exist_ok=True)
    with open("munge.key", "wb") as file:
        file.write(os.urandom(1024))
    os.chmod("munge.key", 0o400)
    munge = subprocess.Popen(["munged", "-F", "--force", "--key-file", os.path.abspath("munge.key"), "--socket", os.path.abspath("munge.socket"),
                              "--pid-file", os.path.abspath("munge.pid"), "--log-file", os.path.abspath("munge.log"),
                              "--seed-file", os.path.abspath("munge.seed")])
    with open("slurm.conf", "a", encoding="utf-8") as file:
        file.write(f"AuthInfo=socket={os.path.abspath('munge.socket')}\n")
    with open("slurmctld.log", "w", encoding="utf-8") as log:
        control = subprocess.Popen(["slurmctld", "-D"], env=environment, stdout=log, stderr=log)
    try:
        for name, plan in {"chat": CHAT, "large": LARGE, "serve": SERVE}.items():
            script = os.path.join(export(name, plan, "slurm"), "job.sbatch")
            for _ in range(20):
                result = subprocess.run(["sbatch", "--test-only", script], env=environment, capture_output=True, text=True, timeout=60)
                if "Unable to contact" not in result.stderr:
                    break
                time.sleep(0.5)
            assert result.returncode == 0 and "to start at" in result.stderr, (result.stderr, open("slurmctld.log", encoding="utf-8").read()[-500:])
    finally:
        control.terminate()
        munge.terminate()
        control.wait()
        munge.wait()


# Debian's PyTorch is built without libuv, which torchrun and its processes would take.
WITHOUT_LIBUV = """
import sys
import torch.distributed

real = torch.distributed.TCPStore
for name, module in list(sys.modules.items()):
    if name.startswith("torch") and getattr(module, "TCPStore", None) is real:
        module.TCPStore = lambda *options, **named: real(*options, **{**named, "use_libuv": False})
"""


def starter_resumes():
    """The exported command, with two processes of this computer in place of its devices."""
    os.makedirs("patch")
    with open("patch/sitecustomize.py", "w", encoding="utf-8") as file:
        file.write(WITHOUT_LIBUV)
    import torch

    # PyTorch shards on processors from 2.7 on.
    shards = tuple(map(int, torch.__version__.split("+")[0].split(".")[:2])) >= (2, 7)
    for name, plan in {"chat": CHAT, **({"large": LARGE} if shards else {})}.items():
        folder = os.path.abspath(export(name, plan, "torchrun"))
        with open(os.path.join(folder, "run.sh"), encoding="utf-8") as file:
            script = file.read().replace("exec torchrun", f"export PYTHONPATH={os.path.abspath('patch')}\nexec torchrun")
        script = re.sub(r"--nnodes=\d+ --node-rank=\S+ --master-addr=\S+ --master-port=\d+", "--standalone", script)
        script = re.sub(r"(?m)^: .*\n", "", script)
        script = re.sub(r"--nproc-per-node=\d+", "--nproc-per-node=2", script)
        with open(os.path.join(folder, "here.sh"), "w", encoding="utf-8") as file:
            file.write(script)
        kill_and_resume(["bash", "here.sh", "--tiny", "--checkpoint-minutes", "0.02"], folder, "checkpoints/last.pt")


def starter_is_recorded():
    """Resumed under quartermaster-cli record, the run stands in the ledger with the rate that the script reports."""
    folder, ledger = os.path.abspath("recorded"), os.path.abspath("runs.db")
    shutil.copytree("chat-torchrun", folder)
    command = ["bash", "here.sh", "--tiny", "--checkpoint-minutes", "0.02"]
    start_and_kill(command, folder, "checkpoints/last.pt")
    recorded = run(PROGRAM, "record", "--label", "tiny", "--ledger", ledger, "--timeout", "30", "--", *command, "--epochs", "100000", cwd=folder,
                   timeout=200)
    kill_all_in(folder)
    assert re.search(r"goes on from step [1-9]", recorded.stdout + recorded.stderr), (recorded.stdout[-800:], recorded.stderr[-800:])
    listed = run(PROGRAM, "ledger", "list", "--ledger", ledger, "--json")
    runs = json.loads(listed.stdout)["runs"]
    assert len(runs) == 1 and runs[0]["label"] == "tiny", listed
    rates = [figure for key, figure in runs[0]["figures"].items() if key.startswith("throughput") and "measured" in figure]
    assert rates and all(figure["measured"] > 0 for figure in rates), runs[0]["figures"]


def accelerate_launches():
    """The starter script under accelerate launch, with the exported settings but for the number of devices."""
    folder = os.path.abspath(export("chat", CHAT, "accelerate"))
    result = run(os.path.join(TOOLS, "accelerate"), "launch", "--config_file", "accelerate.yaml", "--cpu", "--num_processes", "2",
                 "train.py", "--tiny", "--epochs", "1", "--steps", "20", cwd=folder)
    assert result.returncode == 0 and "step 20" in result.stdout, (result.stdout, result.stderr[-800:])


def starter_goes_on_inside():
    """Stopped inside an epoch and started again, it sees what an unbroken run sees, to the last bit; half epochs are half."""
    import torch

    plan = {**CHAT, "training": {"method": "lora", "epochs": 1.5}, "configuration": {"devices": 1, "micro_batch": 8, "gradient_accumulation": 3}}
    folder = os.path.abspath(export("half", plan, "script"))
    with open(os.path.join(folder, "train.py"), encoding="utf-8") as file:
        assert '"--epochs", type=float, default=1.5' in file.read()
    weights = {}
    for name, parts in {"whole": [120], "broken": [17, 93, 120]}.items():
        for steps in parts:
            result = run(sys.executable, "train.py", "--tiny", "--checkpoints", name, "--steps", str(steps), cwd=folder)
            assert result.returncode == 0, result.stderr[-800:]
        weights[name] = torch.load(os.path.join(folder, name, "last.pt"), weights_only=True)
    whole, broken = weights["whole"], weights["broken"]
    assert whole["seen"] == broken["seen"] == 120 * 3 * 8 and whole["step"] == broken["step"] == 120
    assert all(torch.equal(value, broken["model"][key]) for key, value in whole["model"].items())
    # 2048 examples are 256 batches of 8; one and a half times through them are 384, 128 steps of 3.
    run(sys.executable, "train.py", "--tiny", "--checkpoints", "end", cwd=folder)
    ended = torch.load(os.path.join(folder, "end", "last.pt"), weights_only=True)
    assert (ended["step"], ended["seen"]) == (128, 384 * 8), (ended["step"], ended["seen"])


def starter_of(name, plan):
    """The exported script as a module."""
    import importlib.util

    spec = importlib.util.spec_from_file_location("starter", os.path.join(os.path.abspath(export(name, plan, "script")), "train.py"))
    starter = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(starter)
    return starter


def rate_rises_and_falls():
    """By hand: 3 of 100 steps up in a line, then half a cosine down to nothing."""
    import math

    starter = starter_of("rate", CHAT)
    most = starter.LEARNING_RATE
    rates = [starter.rate_at(step, 100) for step in range(101)]
    assert all(math.isclose(rates[step], most * (step + 1) / 3) for step in range(3)), rates[:4]
    assert math.isclose(rates[3], most) and math.isclose(rates[51], most * (1 + math.cos(math.pi * 48 / 97)) / 2) and abs(rates[100]) < 1e-12, rates
    assert rates[3:] == sorted(rates[3:], reverse=True) and starter.rate_at(0, 1) == most


def optimizer_alone_waits():
    """With the optimizer in system memory and nothing else, it learns the same, and goes on the same, as where it is on the device."""
    import copy

    import torch

    plan = {**CHAT, "training": {"method": "full", "precision": "amp-bf16"}, "configuration": {"devices": 1, "offload": "optimizer-cpu"}}
    starter = starter_of("aside", plan)
    with open("aside-script/train.py", encoding="utf-8") as file:
        text = file.read()
    # On the device 16 bit are enough: the copy in 32 bit is with the optimizer. No weights are sent away.
    assert "args.model, dtype=torch.bfloat16" in text and "CPUOffloadPolicy" not in text, text
    torch.manual_seed(2)
    one = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 4))
    other, inputs = copy.deepcopy(one), torch.randn(64, 8)
    usual = torch.optim.AdamW(other.parameters(), lr=0.01)
    aside = starter.make_optimizer(one)
    for step in range(30):
        for optimizer, model in ((aside, one), (usual, other)):
            for group in optimizer.param_groups:
                group["lr"] = 0.01 / (step + 1)
            torch.nn.functional.cross_entropy(model(inputs), inputs[:, :4].argmax(dim=1)).backward()
            optimizer.step()
            optimizer.zero_grad()
        if step == 10:
            kept, aside = copy.deepcopy(aside.state_dict()), starter.make_optimizer(one)
            aside.load_state_dict(kept)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters()))
    everything = starter_of("away", {**plan, "configuration": {"devices": 4, "offload": "cpu"}})
    assert hasattr(starter, "Aside") and not hasattr(everything, "Aside")


def adapters_alone_learn():
    """LoRA of pictures: at first nothing is changed by the adapters, and nothing but they and the head learns."""
    import copy

    import torch

    plan = {**PICTURES, "activity": "fine-tune", "training": {"method": "lora", "lora_rank": 4}}
    starter = starter_of("adapters", plan)
    torch.manual_seed(1)
    body = [torch.nn.Conv2d(3, 8, 3, stride=2, padding=1), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.Conv2d(8, 8, 3, groups=8),
            torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(8, 16)]
    head = torch.nn.Linear(16, 4)
    model = torch.nn.Sequential(torch.nn.Sequential(*body), head).eval()
    pictures, labels = torch.randn(64, 3, 16, 16), torch.randint(0, 4, (64,))
    before = model(pictures)
    frozen = {name: value.clone() for name, value in model[0].named_parameters()}
    plain = copy.deepcopy(model)
    starter.adapt(model, head)
    assert torch.allclose(model(pictures), before, atol=1e-6)
    learn = {name for name, value in model.named_parameters() if value.requires_grad}
    assert learn == {"0.0.down.weight", "0.0.up.weight", "0.6.down.weight", "0.6.up.weight", "1.weight", "1.bias"}, learn
    # By hand: rank 4 beside 3 -> 8 of 3 x 3 and 8 -> 16, and the head.
    assert sum(value.numel() for value in model.parameters() if value.requires_grad) == 4 * 3 * 9 + 8 * 4 + 4 * 8 + 16 * 4 + 16 * 4 + 4
    optimizer = starter.make_optimizer(model)
    losses = []
    for _ in range(60):
        loss = starter.classify(model, (pictures, labels))
        losses.append(loss.item())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    assert losses[-1] < losses[0], losses
    kept = {name.replace(".inner", ""): value for name, value in model[0].named_parameters() if not value.requires_grad}
    assert kept and all(torch.equal(value, frozen[name]) for name, value in kept.items())
    # What is saved is for the network as it was, without adapters, and does the same.
    plain.load_state_dict(starter.merge(model.state_dict()))
    model.eval()
    assert torch.allclose(plain.eval()(pictures), model(pictures), atol=1e-4) and not torch.allclose(plain(pictures), before, atol=1e-2)


def jax_resumes():
    plan = {"task": "language-model", "activity": "train", "model": {"id": "llama-3.2-1b"}, "places": {"cloud": ["gcp"]},
            "configuration": {"device": "tpu-v5e"}}
    folder = os.path.abspath(export("tpu", plan, "gcloud"))
    kill_and_resume([sys.executable, "train_jax.py", "--tiny", "--batch", "64", "--checkpoint-minutes", "0.02"], folder,
                    "checkpoints/last.pickle")


def language_model_trains():
    """The part of the starter that loads a model and text, with a tiny one made here."""
    import torch
    from peft import PeftModel
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = Tokenizer(models.WordLevel({"[UNK]": 0, **{word: index + 1 for index, word in enumerate("abcdefgh")}}, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=words, unk_token="[UNK]").save_pretrained("tiny-llama")
    LlamaForCausalLM(LlamaConfig(vocab_size=9, hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2,
                                 num_key_value_heads=2)).save_pretrained("tiny-llama")
    with open("text.jsonl", "w", encoding="utf-8") as file:
        for _ in range(400):
            file.write(json.dumps({"text": " ".join(random.choices("abcdefgh", k=400))}) + "\n")
    adapters = {**CHAT, "training": {"method": "lora", "sequence_length": 128}}
    scratch = {**CHAT, "activity": "train", "training": {"method": "full", "sequence_length": 128}}
    for name, plan in {"words": adapters, "scratch": scratch}.items():
        folder = os.path.abspath(export(name, plan, "script"))
        with open(os.path.join(folder, "train.py"), encoding="utf-8") as file:
            assert ("from_config" in file.read()) == (name == "scratch"), name
        command = [sys.executable, "train.py", "--model", os.path.abspath("tiny-llama"), "--data", os.path.abspath("text.jsonl"), "--batch", "4",
                   "--workers", "0"]
        result = run(*command, "--steps", "10", cwd=folder, timeout=400)
        assert result.returncode == 0 and "step 10" in result.stdout, (name, result.stdout, result.stderr[-1500:])
        # 400 texts of 400 words, without an end in this vocabulary: each start after the first reads what the first has made.
        assert "400 texts are 160000 tokens" in result.stdout, result.stdout
        again = run(*command, "--epochs", "0.05", cwd=folder, timeout=400)
        assert again.returncode == 0 and "goes on from step 10" in again.stdout and "texts are" not in again.stdout, (name, again.stdout, again.stderr[-1500:])
        kept = torch.load(os.path.join(folder, "checkpoints", "last.pt"), weights_only=True)["model"]
        learnt = AutoModelForCausalLM.from_pretrained("tiny-llama" if name == "words" else os.path.join(folder, "result"))
        if name == "words":
            learnt = PeftModel.from_pretrained(learnt, os.path.join(folder, "result"))
        state = learnt.state_dict()
        assert kept and all(torch.equal(state[key].float(), value.float()) for key, value in kept.items()), name
        assert len(AutoTokenizer.from_pretrained(os.path.join(folder, "result"))) == 9


def random_plan(generator):
    task = generator.choice(["language-model", "text-encoder", "image-classification", "object-detection", "image-generation", "speech",
                             "recommender", "tabular"])
    plan = {"task": task, "activity": generator.choice(["train", "fine-tune", "serve", "batch-inference"]),
            "stage": generator.choice(["prototype", "development", "production"])}
    if generator.random() < 0.5:
        plan["limits"] = {"money": generator.choice([50, 1000, 50000])}
    if generator.random() < 0.4:
        plan["places"] = {"cloud": [generator.choice(["gcp", "aws", "azure"])], "buy": False, "this_computer": False}
    if task == "language-model" and plan["activity"] in ("serve", "batch-inference") and generator.random() < 0.5:
        plan["serving"] = {"weights": generator.choice(["bf16", "fp8", "awq-int4", "gptq-int4", "nf4", "gguf-q4_k_m"])}
    elif generator.random() < 0.3:
        plan["configuration"] = {"device": generator.choice(["mi300x", "arc-b580", "epyc-9654", "l4", "h100-sxm5-80gb", "tpu-v5e"])}
    return plan


def everything():
    """Whatever the plan, each format is read by its tool or says why it makes no sense."""
    generator = random.Random(7)
    seen, reasons, contradictions = {}, 0, 0
    for number in range(RANDOM_PLANS):
        path = write_plan(f"random-{number}.qmplan", random_plan(generator))
        result = run(PROGRAM, "export", path, "--format", "all", "-o", f"random-{number}")
        if result.returncode == 2 and "contradict" in result.stderr:
            contradictions += 1
            continue
        assert result.returncode == 0, (open(path, encoding="utf-8").read(), result.stderr)
        reasons += result.stderr.count("\n")
        different = []
        for file in glob.glob(f"random-{number}/*/*"):
            with open(file, encoding="utf-8") as source:
                text = re.sub(r"(?m)^# .*$", "", source.read())
            key = (os.path.basename(file), text)
            if key in seen:
                continue
            seen[key] = True
            different.append(file)
        try:
            read_all(different)
        except Exception as error:
            raise AssertionError(f"{open(path, encoding='utf-8').read()}: {error}") from error
    assert contradictions < RANDOM_PLANS / 10, contradictions
    print(f"# {len(seen)} different files of {RANDOM_PLANS} plans were read; {reasons} times a format made no sense; {contradictions} plans contradict themselves")


# What ends strings, comments and lines in some language, is none of its letters, turns the direction of a line, or is an
# instruction to some reader.
FRAGMENTS = ['"', "'", "`", "\\", "\\n", "\n", "\r", "\t", "$(touch owned)", "`touch owned`", "; touch owned #", "{{title}}", "{{>head}}", "${HOME}",
             "%YAML 1.2", "---", "...", ": ", " #", "- ", "&a", "*a", "!!python/object:os.system", "|", ">", "[", "{", "? ", "@", "\u0085", "\u00a0",
             "\u2028", "\u2029", "\ufffe", "\uffff", "\ufeff", "\ufdd0", "\u202e", "\u2066", "\u200f", "\u200d", "\x1b[31m", "\x7f", "\x01",
             "coding: rot13", "syntax=docker/evil", "escape=`", "#SBATCH --nodes=9", '"""', "'''", "</script>", "\U0001f680", "\U0001ffff", "微调", "Ж",
             "تدريب", "e\u0301", "--", "-o", "yes", "null", "1e3", "0x10", "\\u0000", "\\x00", "%s", "EOF", "$$", "!", "~"]


def hostile_titles():
    """Whatever is in a title, every file is read by its tool, and says the title."""
    import yaml

    generator = random.Random(11)
    titles = FRAGMENTS[::6] if QUICK else FRAGMENTS[::2]
    titles = titles + ["".join(generator.sample(FRAGMENTS, generator.randint(2, 9))) for _ in range(8 if QUICK else 24)]
    cloud = {"places": {"cloud": ["gcp"], "buy": False, "this_computer": False}}
    read = 0
    for number, title in enumerate(titles):
        kind = (CHAT, SERVE, PICTURES, LIGHT)[number % 4]
        path = write_plan(f"title-{number}", {**kind, **(cloud if number % 3 == 0 else {}), "title": title})
        result = run(PROGRAM, "export", path, "--format", "all", "-o", f"titled-{number}")
        assert result.returncode == 0, (title, result.stderr)
        files = [file for file in glob.glob(f"titled-{number}/*/*") if os.path.isfile(file)]
        try:
            read_all(files)
        except Exception as error:
            raise AssertionError(f"with the title {title!r}: {error}") from error
        read += len(files)
        for file in glob.glob(f"titled-{number}/kubernetes/*.yaml"):
            with open(file, encoding="utf-8") as source:
                notes = [item["metadata"].get("annotations", {}) for item in yaml.safe_load_all(source)]
            said = "".join(note.get("quartermaster/plan", "") for note in notes)
            plain = re.compile(r"[^\w]+")
            assert plain.sub("", said) == plain.sub("", title), (title, said)
    assert not glob.glob("**/owned", recursive=True)
    print(f"# {read} files of {len(titles)} titles were read")


class Skip(Exception):
    pass


TESTS = [skypilot_agrees, worked_example, aws_reads, hostile_titles, everything]
if not QUICK:
    TESTS += [accelerate_agrees, deepspeed_agrees, azure_reads, slurm_accepts, starter_resumes, starter_is_recorded, accelerate_launches,
              starter_goes_on_inside, rate_rises_and_falls, optimizer_alone_waits, adapters_alone_learn, trees_are_boosted, trees_go_on, jax_resumes, language_model_trains]


def main():
    wanted = set(sys.argv[2:]) - {"--quick"}
    unknown = wanted - {test.__name__ for test in TESTS}
    if unknown:
        sys.exit(f"no such test: {', '.join(sorted(unknown))}")
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for test in TESTS:
            if wanted and test.__name__ not in wanted:
                continue
            start = time.monotonic()
            try:
                test()
                passed += 1
                print(f"ok - {test.__name__} # {time.monotonic() - start:.0f} s", flush=True)
            except Skip as reason:
                print(f"ok - {test.__name__} # SKIP {reason}", flush=True)
            except Exception:
                failed += 1
                print(f"not ok - {test.__name__}\n# " + traceback.format_exc()[-2500:].replace("\n", "\n# "), flush=True)
        os.chdir("/")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
