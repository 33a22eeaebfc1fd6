#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The equations of docs/estimation, worked by hand on a few plans with the constants of the catalog, give the figures of the
program. Written after the pages and not after the code, so that neither changes alone. Speaks TAP: test-equations.py CLI"""
import json
import math
import os
import subprocess
import sys
import tempfile

CLI = os.path.abspath(sys.argv[1])
GIB = 2**30
tests = []


def catalog(name):
    with open(os.path.join(os.environ["QM_DATA_DIR"], "catalog", f"{name}.json"), encoding="utf-8") as file:
        return json.load(file)


def values_of(table):
    return {name: line["value"] if isinstance(line, dict) else line for name, line in table.items() if name != "about"}


TRAINING, INFERENCE, OTHERS = (catalog(f"constants-{name}") for name in ("llm-training", "llm-inference", "other-domains"))
DEVICES = {device["id"]: device for device in catalog("devices")["devices"]}
ECONOMICS = values_of(catalog("economics")["figures"])

# Llama 3.1 8B
N, L, h, f, A, K, V = 8030261248, 32, 4096, 14336, 4096, 1024, 128256
E_V = 2 * V * h


def test(function):
    tests.append(function)
    return function


def estimate(task, activity, model, **sections):
    plan = {"format": "quartermaster-plan", "version": 1, "task": task, "activity": activity, "model": {"id": model}, **sections}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "plan.qmplan")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(plan, file)
        result = subprocess.run([CLI, "estimate", path, "--json"], capture_output=True, text=True, check=True, timeout=60)
    return json.loads(result.stdout)


def same(found, expected):
    assert abs(found["p50"] / expected - 1) < 1e-9, (found["p50"], expected)


def soft(x, y):
    return (x**4 + y**4)**0.25


def exposed(seconds, beside, overlap):
    return max(0, seconds - overlap * beside) + 0.5 * (1 - overlap) * min(seconds, beside)


@test
def sharded_training():
    """All weights on two machines of eight, ZeRO-3, everything computed again: memory and step"""
    n, b, m, s = 16, 2, 4, 4096
    k, tokens = values_of(TRAINING["constants"]), b * s
    found = estimate("language-model", "fine-tune", "llama-3.1-8b",
                     training={"method": "full", "precision": "amp-bf16", "optimizer": "adamw", "sequence_length": s, "framework": "fsdp",
                               "packed": True, "activation_checkpointing": "full", "attention": "flash", "global_batch": n * b * m},
                     configuration={"device": "h100-sxm5-80gb", "devices": n, "nodes": 2, "data_parallel": n, "tensor_parallel": 1,
                                    "pipeline_parallel": 1, "sharding": "zero3", "micro_batch": b, "gradient_accumulation": m})
    device = DEVICES["h100-sxm5-80gb"]
    bandwidth, peak = device["bandwidth_gb_per_second"] * 1e9, device["tflops"]["bf16"] * 1e12

    states = (4 + 4 + 8) * N / n + 4 * (2 * h * (A + K) + 3 * h * f) + 2 * E_V
    u = (2 * (4 * h + 2 * A + 2 * K + 4 * f) + 8 * h) * k["mem.act"]
    logits = k["mem.logits"] * V
    allocated = states + (2 * h * L + max(0, u - logits) + logits) * tokens
    same(found["memory"]["need_bytes"], k["mem.phi.sharded"] * allocated + (k["mem.context"] + k["mem.context_comm"]) * GIB)

    mamf = next(line["mamf"] for line in TRAINING["devices"] if device["id"].startswith(line["prefix"]))
    products = 2 * (N - V * h) * tokens * 4 / (peak * mamf * math.exp(k["rate.eta.hopper"]))
    attention = 2 * A * L * s * tokens * 4.5 / (peak * k["rate.attn.hopper"])
    elements = k["rate.el.fsdp"] * 2 * h * L * tokens * 4 / 3 / bandwidth
    loss = k["rate.logits"] * 4 * V * tokens / bandwidth
    gpu = ((products + attention + elements + loss)**3 + (k["rate.tau.fsdp"] * L * 4)**3)**(1 / 3)
    inside = k["link.fast"] * device["link"]["gb_per_second"] * 1e9 / 2
    between = k["link.slow"] * next(line["nic_gb_per_second"] for line in TRAINING["families"] if line["word"] == "hopper") * 1e9
    collective = max(7 / 8 * 2 * N / inside, 1 / 2 * 2 * N / 8 / between)
    step = m * gpu + exposed(3 * m * collective, m * gpu, k["rate.overlap"]) + k["rate.opt"] * 28 * N / n / bandwidth
    same(found["throughput"]["step_seconds"],
         step * (1 + k["rate.straggle"]) * math.exp(-k.get("rate.stack.fsdp", 0) - k["rate.framework.fsdp"]))


@test
def four_bit_adapters():
    """QLoRA on one card, nothing computed again, dropout: memory"""
    k, tokens, modules = values_of(TRAINING["constants"]), 2 * 2048, ((h, A), (h, K), (h, K), (A, h), (h, f), (f, h), (h, f))
    found = estimate("language-model", "fine-tune", "llama-3.1-8b",
                     training={"method": "qlora", "lora_rank": 16, "lora_dropout": 0.05, "precision": "amp-bf16", "optimizer": "adamw",
                               "sequence_length": 2048, "framework": "peft", "packed": True, "activation_checkpointing": "none"},
                     configuration={"device": "rtx-4090", "devices": 1, "micro_batch": 2, "gradient_accumulation": 1})
    bits = next(line["bits"] for line in TRAINING["frozen-weights"] if line["word"] == "nf4-double")
    trained = 16 * L * sum(map(sum, modules))
    states = (bits / 8 + k["mem.quant_extra"]) * (N - E_V) + 2 * E_V + (4 + 12) * trained
    u = 2 * (4 * h + 2 * A + 2 * K + 4 * f) + 8 * h - 2 * (2 * h + f) + k["mem.lora_input"] * sum(into for into, _ in modules)
    allocated = states + (u * k["mem.act"] * L + k["mem.logits"] * V) * tokens
    same(found["memory"]["need_bytes"], k["mem.phi.single"] * allocated + k["mem.context"] * GIB)


@test
def serving():
    """32 people at once under vLLM: decoding, first token, rate and memory"""
    B, T, O, heads, d, kv = 32, 1024, 256, 32, 128, 8
    found = estimate("language-model", "serve", "llama-3.1-8b", configuration={"device": "h100-sxm5-80gb", "devices": 1},
                     serving={"engine": "vllm", "weights": "bf16", "input_tokens": T, "output_tokens": O, "concurrency": B})
    keys = {"family": "server", "engine": "vllm", "cls": "nvidia-hbm", "arch": "Hopper", "cell": "vllm|nvidia-hbm", "kernel": "w16",
            "ek": "vllm|w16", "fk": "server|w16", "moe": "dense", "link": "fast"}
    k = {name: table["base"] * math.prod(table.get("factors", {}).get(level, {}).get(key, 1) for level, key in keys.items())
         for name, table in INFERENCE["tables"].items()}
    limits = values_of(INFERENCE["limits"])
    device = DEVICES["h100-sxm5-80gb"]
    bandwidth, peak = device["bandwidth_gb_per_second"] * 1e9 * min(1, k["e"]), device["tflops"]["bf16"] * 1e12
    body, context, tau = N - E_V, T + O / 2, L * k["tau"] * 1e-6

    def cache(tokens):
        return 2 * kv * d * 2 * L * tokens

    read = 2 * (body + V * h)
    memory = (read + B * (cache(context) + k["kappa"] * 4 * heads * d * L * context)) / bandwidth
    step = soft(memory, 2 * (body + V * h) * B / (k["mu"] * peak)) + tau + B * k["seq"] * 1e-6
    prompts = (2 * body * T * B + 2 * V * h * B + k["alpha"] * 2 * heads * d * B * T * L * T) / (k["mu"] * k["mup"] * peak)
    trial = limits["profile_chunk_tokens"] * 2 * (2 * h + 3 * f + (heads + 2 * kv) * d) + 256 * V * limits["sampler_bytes"]

    same(found["serving"]["decode_tokens_per_second"], 1 / step)
    same(found["serving"]["first_token_seconds"], prompts + read / bandwidth + tau + k["t0"] * 1e-3)
    same(found["throughput"]["per_second"], B * O / (prompts + k["t0"] * 1e-3 + O * step))
    same(found["memory"]["need_bytes"], 2 * N * (1 + k["ws"]) + B * cache(T + O) + trial * (1 + limits["fragmentation"]) + k["context"] * GIB)


def a100():
    """Constants, sustained peak of 16 bits, bandwidth, and what a ring reaches of its fabric"""
    k, device = values_of(OTHERS["constants"]), DEVICES["a100-sxm4-40gb"]
    return (k, 1 / soft(1 / (device["tflops"]["fp16"] * 1e12), 1 / (k["device.flop_per_joule.ampere_hbm"] * 1e12 * device["power_watts"])),
            device["bandwidth_gb_per_second"] * 1e9 * k["device.bw_hbm"], k["link.nvlink"] * device["link"]["gb_per_second"] * 1e9 / 2)


def network(name, size=None):
    return next(line for line in catalog("models-vision")["models"] if line["id"] == name and size in (None, line.get("image_size")))


def optimizer_step(k, micro, parameters, update, bandwidth, link):
    """One micro-step, the update, and what is seen of the exchange of 32-bit gradients between eight devices"""
    exchange = 2 * 7 / 8 * 4 * parameters / link
    return (micro + update * parameters / bandwidth + exposed(exchange, k["train.backward"] * micro, k["link.overlap"]) +
            3 * (k["link.sync_seconds"] + k["link.sync_fraction"] * micro))


@test
def pictures():
    """ResNet-50 on eight A100: step and memory"""
    b, n = 128, 8
    k, peak, bandwidth, link = a100()
    model = network("resnet-50", 224)
    found = estimate("image-classification", "train", "resnet-50",
                     training={"precision": "amp-fp16", "framework": "pytorch", "memory_format": "channels-last", "optimizer": "sgd-momentum",
                               "global_batch": b * n},
                     configuration={"device": "a100-sxm4-40gb", "devices": n, "nodes": 1, "micro_batch": b})
    written = model["activations_per_sample"] * 2

    gpu = b * (3 * model["flops_per_sample"] / (k["vision.e"] * peak) + k["vision.train_kappa.conv"] * written / bandwidth)
    host = soft(3 * model["ops"] * k["host.tau_eager"], b / k["input.process_rate"])
    micro = soft(gpu * k["stack.vision.pytorch"], host)
    same(found["throughput"]["step_seconds"], optimizer_step(k, micro, model["parameters"], 20, bandwidth, link))
    same(found["memory"]["need_bytes"], 16 * model["parameters"] + b * written * k["memory.norm"] * (1 + k["memory.fragmentation"]) +
         k["memory.workspace"] + k["memory.context"])


@test
def encoder():
    """BERT from the beginning on eight A100: step and memory"""
    b, s, n = 32, 512, 8
    k, peak, bandwidth, link = a100()
    model = next(line for line in catalog("models")["models"] if line["id"] == "bert-base-uncased")
    shape, parameters = model["config"], model["parameters"]
    width, layers, words, heads = (shape[key] for key in ("hidden_size", "num_hidden_layers", "vocab_size", "num_attention_heads"))
    found = estimate("text-encoder", "train", model["id"],
                     training={"precision": "amp-fp16", "framework": "pytorch", "optimizer": "adamw", "sequence_length": s, "global_batch": b * n},
                     configuration={"device": "a100-sxm4-40gb", "devices": n, "nodes": 1, "micro_batch": b})
    body = layers * (4 * width**2 + 2 * width * shape["intermediate_size"])
    flops = 6 * body + 12 * layers * width * s + 6 * words * width * k["encoder.pretrain_head"]
    traffic = layers * 2 * (k["encoder.passes"] * width + k["encoder.score_passes"] * heads * s) / bandwidth
    gpu = b * s * (flops / (k["encoder.e"] * peak) + traffic) * k["stack.encoder.pytorch"]
    micro = soft(gpu, layers * k["encoder.ops_train"] * k["host.tau_eager"])
    kept = b * s * layers * 2 * (k["memory.encoder_states"] * width + k["memory.encoder_scores"] * heads * s)
    logits = b * s * k["encoder.pretrain_head"] * words * k["memory.encoder_logits"]
    same(found["throughput"]["step_seconds"], optimizer_step(k, micro, parameters, 28, bandwidth, link))
    same(found["memory"]["need_bytes"], 20 * parameters + kept * (1 + k["memory.fragmentation"]) + logits + k["memory.workspace"] +
         k["memory.context"])


@test
def denoiser():
    """Stable Diffusion on eight A100, latents stored: step and memory"""
    b, n = 16, 8
    k, peak, bandwidth, link = a100()
    model = network("stable-diffusion-1.5", 512)
    found = estimate("image-generation", "fine-tune", model["id"],
                     training={"precision": "amp-fp16", "framework": "composer", "optimizer": "adamw", "global_batch": b * n, "image_size": 512},
                     configuration={"device": "a100-sxm4-40gb", "devices": n, "nodes": 1, "micro_batch": b})
    trained, written = model["denoiser_parameters"], model["activations_per_sample"] * 2
    gpu = b * (3 * model["flops_per_sample"] / (k["diffusion.e"] * peak) + k["diffusion.train_kappa"] * written / bandwidth)
    micro = soft(gpu * k["stack.diffusion.composer"], 3 * model["ops"] * k["host.tau_eager"] * k["diffusion.launches"])
    same(found["throughput"]["step_seconds"], optimizer_step(k, micro, trained, 28, bandwidth, link))
    # What made the latents is not loaded: neither text encoder nor decoder.
    same(found["memory"]["need_bytes"], 16 * trained +
         b * written * k["memory.generation"] * (1 + k["memory.fragmentation"]) + k["memory.generation_workspace"] + k["memory.context"])


@test
def speech():
    """Whisper, eight windows with two beams: step and memory"""
    b, beams = 8, 2
    k, peak, bandwidth, _link = a100()
    model, reached = network("whisper-large-v2"), k["speech.e"] * peak
    layers, width, decoder = (model[key] for key in ("decoder_layers", "hidden", "decoder_parameters"))
    found = estimate("speech", "batch-inference", model["id"], serving={"engine": "transformers", "weights": "fp16", "beam": beams},
                     configuration={"device": "a100-sxm4-40gb", "devices": 1, "micro_batch": b})
    cross = 2 * layers * width * 1500 * 2
    token = (decoder * 2 + b * beams * cross) / bandwidth + layers * k["speech.tau.transformers"] + 2 * b * beams * decoder / reached
    kept = b * 1500 * width * 2 * k["memory.speech_states"] + 1500**2 * k["memory.speech_scores"] * 2 * 2
    same(found["throughput"]["step_seconds"],
         b * model["flops_per_sample"] / reached + k["speech.tokens_window"] * token + b * 30 * k["speech.mel"])
    same(found["memory"]["need_bytes"], 2 * model["parameters"] + b * 2 * layers * width * 2 * (1500 + beams * k["memory.speech_text"]) +
         kept * (1 + k["memory.fragmentation"]) + k["memory.speech_workspace"] + k["memory.context"])


@test
def boosting():
    """500 trees of 8 levels over ten million rows on 32 cores: seconds and system memory"""
    k, rows, features = values_of(OTHERS["constants"]), 1e7, 28
    found = estimate("tabular", "train", "xgboost", training={"samples": rows}, tabular={"features": features, "trees": 500, "depth": 8},
                     configuration={"device": "epyc-9654", "devices": 1, "cpu_cores": 32})
    generation = max(line.get("generation", 1) for line in OTHERS["architectures"] if line["text"] in DEVICES["epyc-9654"]["arch"])
    speed = (32 / k["tabular.cores"])**k["tabular.core_scaling"] * generation**k["tabular.cpu_generation"]
    cell = (features + k["tabular.partition"]) * k["tabular.ns.cpu.xgboost"] * 1e-9 / speed * (1 + k["tabular.cache_miss"])
    same(found["time"]["seconds"], 500 * (rows * 8 * cell + k["tabular.fixed.cpu.xgboost"] * math.sqrt(256 / 1024) / math.sqrt(generation)))
    same(found["memory"]["need_bytes"],
         (k["tabular.bytes_row.xgboost"] + features * k["tabular.bytes_value.xgboost"]) * rows + k["tabular.host_bytes"])


@test
def interruptions():
    """A job of weeks on eight cards of one's own: checkpoints, expected time"""
    found = estimate("language-model", "fine-tune", "llama-3.1-8b", training={"method": "lora", "samples": 2e7, "epochs": 1},
                     configuration={"device": "a100-sxm4-40gb", "devices": 8, "nodes": 1})
    seconds, write, restart = found["time"]["seconds"]["p50"], ECONOMICS["checkpoint_seconds"], ECONOMICS["restart_seconds"]
    rate = 8 / ECONOMICS["mean_hours_between_failures"] / 3600
    interval = math.sqrt(2 * write / rate)
    expected = seconds * math.exp(rate * restart) * math.expm1(rate * (interval + write)) / (rate * interval)
    assert seconds > interval, "nothing interrupts it"
    same({"p50": found["time"]["checkpoint_every_seconds"]}, interval)
    same(found["time"]["with_interruptions_seconds"], expected)


print(f"1..{len(tests)}")
failed = False
for number, function in enumerate(tests, 1):
    try:
        function()
        print(f"ok {number} {function.__doc__}")
    except Exception as error:  # pylint: disable=broad-except
        failed = True
        print(f"not ok {number} {function.__doc__}\n# {type(error).__name__}: {error}")
sys.exit(1 if failed else 0)
