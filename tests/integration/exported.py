# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans, what is exported of them, and the reader of each kind of file: the tool that it is for."""
import csv
import json
import os
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
QUICK = "--quick" in sys.argv
DATA = os.environ["QM_DATA_DIR"]
HERE = os.path.dirname(os.path.abspath(__file__))
TOOLS = os.path.dirname(sys.executable)
RANDOM_PLANS = 40 if QUICK else 200
CHAT = {"task": "language-model", "activity": "fine-tune", "model": {"id": "llama-3.1-8b"}}
LARGE = {"task": "language-model", "activity": "fine-tune", "model": {"id": "llama-3.1-70b"}, "training": {"method": "full"}}
SEVERAL = {**LARGE, "configuration": {"device": "a100-sxm4-80gb", "devices": 32, "nodes": 4}}
SERVE = {"task": "language-model", "activity": "serve", "stage": "production", "model": {"id": "llama-3.1-8b"}}
PICTURES = {"task": "image-classification", "activity": "train", "model": {"id": "resnet-50"}}
LIGHT = {"task": "image-classification", "activity": "serve", "model": {"id": "mobilenetv3-large-100"}}
QUIET = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "DS_ACCELERATOR": "cpu", "JAX_PLATFORMS": "cpu",
         "HF_HUB_OFFLINE": "1", "PATH": TOOLS + ":" + os.environ["PATH"], "TOKENIZERS_PARALLELISM": "false"}


def run(*command, timeout=300, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=QUIET, **options)


def write_plan(name, plan):
    with open(name, "w", encoding="utf-8") as file:
        json.dump({"format": "quartermaster-plan", "version": 1, "title": name, **plan}, file)
    return name


def export(name, plan, form):
    """The folder with the files, or None and the reason."""
    result = run(PROGRAM, "export", write_plan(f"{name}.qmplan", plan), "--format", form, "-o", f"{name}-{form}")
    assert result.returncode == 0, (form, result.stderr)
    return f"{name}-{form}"


def answer(name, plan):
    return json.loads(run(PROGRAM, "recommend", "--json", write_plan(f"{name}.qmplan", plan)).stdout)["choices"][0]


# ------------------------------------------------------------------ each reader

def read_accelerate(path):
    from accelerate.commands.config.config_args import load_config_from_file

    return load_config_from_file(path)


def read_deepspeed(path):
    os.environ["DS_ACCELERATOR"] = "cpu"
    from deepspeed.runtime.config import DeepSpeedConfig

    return DeepSpeedConfig(path)


def write_sky_lists():
    """SkyPilot looks machines up in lists that it fetches from a network; here they are made of the shipped offers."""
    with open(os.path.join(DATA, "catalog", "devices.json"), encoding="utf-8") as file:
        names = {entry["id"]: entry.get("catalog_names", {}).get("skypilot", [""])[0] for entry in json.load(file)["devices"]}
    with open(os.path.join(DATA, "catalog", "offers.json"), encoding="utf-8") as file:
        offers = json.load(file)["offers"]
    os.environ["HOME"] = os.path.abspath("home")
    from sky.catalog import common

    for cloud in {offer["provider"] for offer in offers}:
        path = common.get_catalog_path(f"{cloud}/vms.csv")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(["InstanceType", "AcceleratorName", "AcceleratorCount", "vCPUs", "MemoryGiB", "GpuInfo", "Price", "SpotPrice", "Region",
                           "AvailabilityZone"])
            for offer in (offer for offer in offers if offer["provider"] == cloud):
                # A name without a count, or a count without a name, is no row of theirs.
                name = names.get(offer.get("device"), "")
                rows.writerow([offer["instance"], name, offer.get("device_count", "") if name else "", offer.get("vcpus", ""),
                               offer.get("ram_gib", ""), "", offer.get("usd_per_hour", 1), "", offer.get("region", ""), ""])


def read_skypilot(path):
    if not os.path.exists("home"):
        write_sky_lists()
    import sky
    import yaml

    with open(path, encoding="utf-8") as file:
        config = yaml.safe_load(file)
    # What a person fills in, as --env does.
    filled = [(name, "some/weights" if name == "MODEL" else "mine-of-all-people") for name, value in config.get("envs", {}).items() if value is None]
    return sky.Task.from_yaml_config(config, env_overrides=filled)


def read_triton(path):
    from google.protobuf import text_format
    from tritonclient.grpc.model_config_pb2 import ModelConfig

    with open(path, encoding="utf-8") as file:
        return text_format.Parse(file.read(), ModelConfig())


def read_dockerfile(path):
    from dockerfile_parse import DockerfileParser

    with open(path, "rb") as file:
        parsed = DockerfileParser(fileobj=tempfile.TemporaryFile())
        parsed.content = file.read().decode()
    instructions = [step["instruction"] for step in parsed.structure if step["instruction"] != "COMMENT"]
    known = {"FROM", "LABEL", "ENV", "WORKDIR", "COPY", "RUN", "CMD", "EXPOSE", "ENTRYPOINT"}
    assert instructions[0] == "FROM" and set(instructions) <= known, instructions
    for step in parsed.structure:
        if step["instruction"] == "CMD":
            assert all(isinstance(part, str) for part in json.loads(step["value"])), step
    return parsed


def read_kubernetes(path):
    """Kubernetes' own kinds by its published schemas, others by those of their projects."""
    import jsonschema
    import kubernetes_validate
    import yaml

    with open(os.path.join(HERE, "schemas", "custom-resources.json"), encoding="utf-8") as file:
        custom = json.load(file)["kinds"]
    with open(path, encoding="utf-8") as file:
        objects = list(yaml.safe_load_all(file))
    for item in objects:
        key = f"{item['apiVersion']}/{item['kind']}"
        if key in custom:
            jsonschema.validate(item, custom[key]["schema"])
        else:
            kubernetes_validate.validate(item, kubernetes_validate.latest_version(), strict=True)
    return objects


def read_values(path):
    """Values of a chart: its rules have the members that prometheus-adapter reads."""
    import yaml

    with open(path, encoding="utf-8") as file:
        values = yaml.safe_load(file)
    for rule in values["rules"]["custom"]:
        assert {"seriesQuery", "resources", "name", "metricsQuery"} == set(rule) and rule["metricsQuery"].count("<<.LabelMatchers>>") >= 1, rule


def read_requirements(path):
    """By pip's own reader, which looks for an encoding in the first lines; nothing is fetched."""
    from pip._internal.network.session import PipSession
    from pip._internal.req.req_file import parse_requirements

    found = [line.requirement for line in parse_requirements(path, session=PipSession())]
    assert any(name.startswith(("torch==", "xgboost==", "lightgbm==")) for name in found), found


def read_shell(*paths):
    checked = run("shellcheck", "-s", "bash", *paths)
    assert checked.returncode == 0, checked.stdout


def read_python(*paths):
    checked = run(sys.executable, "-m", "py_compile", *paths)
    assert checked.returncode == 0, checked.stderr


READERS = {
    "requirements.txt": read_requirements,
    "task.yaml": read_skypilot, "Dockerfile": read_dockerfile, "config.pbtxt": read_triton,
    "job.yaml": read_kubernetes, "service.yaml": read_kubernetes, "autoscaler.yaml": read_kubernetes, "queue.yaml": read_kubernetes, "prometheus-adapter.yaml": read_values,
}
if not QUICK:
    READERS |= {"accelerate.yaml": read_accelerate, "deepspeed.json": read_deepspeed}


def reader_of(path):
    name = os.path.basename(path)
    if name.endswith((".sh", ".sbatch")):
        return read_shell
    if name.endswith(".py"):
        return read_python
    return READERS.get(name, lambda path: None)


def read_all(paths):
    """Each by its tool; those that take many at once are started once."""
    many = {reader: [path for path in paths if reader_of(path) is reader] for reader in (read_shell, read_python)}
    for reader, files in many.items():
        if files:
            reader(*files)
    for path in paths:
        if reader_of(path) not in many:
            try:
                reader_of(path)(path)
            except Exception as error:
                raise AssertionError(f"{path}: {error}") from error
