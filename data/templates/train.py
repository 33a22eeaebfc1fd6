#!/usr/bin/env python3
# A start to train with.
{{>head}}
# Start it: torchrun --standalone --nproc-per-node={{per_node|comment}} train.py
# Stop it: press Ctrl+C; started again, it goes on from its last checkpoint.
"""Trains a model: a start to build on. --tiny tries it out on a processor in a minute."""
import argparse
import contextlib
import datetime
{{#language}}
import glob
import hashlib
{{/language}}
import itertools
import json
import math
import os
import signal
import time
from types import SimpleNamespace

{{#language}}
import numpy
{{/language}}
import torch
import torch.distributed as dist
{{#sharded}}
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict, get_optimizer_state_dict, set_model_state_dict, set_optimizer_state_dict
from torch.distributed.tensor import DTensor, distribute_tensor
{{/sharded}}
{{^sharded}}
from torch.nn.parallel import DistributedDataParallel
{{/sharded}}
from torch.utils.data import DataLoader, {{#language}}Dataset, {{/language}}DistributedSampler, TensorDataset

MODEL = {{model|python}}
LEARNING_RATE = {{learning_rate|word}}
WARM_UP = 0.03  # the part of all steps in which the rate rises; then it falls along a cosine (Loshchilov and Hutter 2017)
{{^sgd}}
LONGEST_GRADIENT = 1.0
{{/sgd}}


def options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default=MODEL, help="its name on the hub, or a folder")
    parser.add_argument("--data", help="your data: see load()")
    parser.add_argument("--batch", type=int, default={{micro_batch|word}}, help="examples at once on each device")
    parser.add_argument("--accumulation", type=int, default={{accumulation|word}}, help="batches for one step of the optimizer")
    parser.add_argument("--epochs", type=float, default={{epochs|word}}, help="times through the data; 0.5 is half of it")
    parser.add_argument("--workers", type=int, default={{workers|word}}, help="processes that load data")
    parser.add_argument("--checkpoints", default="checkpoints", help="folder to save to and to go on from")
    parser.add_argument("--result", default="result", help="folder for what has been learnt, once all is done")
{{#language}}
    parser.add_argument("--tokens", default="tokens", help="folder for the texts as numbers, made once on each machine")
{{/language}}
    parser.add_argument("--checkpoint-minutes", type=float, default={{checkpoint_minutes|word}})
    parser.add_argument("--tiny", action="store_true", help="a small network and made-up data")
    parser.add_argument("--steps", type=int, default=0, help="stop after so many steps of the optimizer")
    return parser.parse_args()


def start_devices():
    """One process for each device; on a processor they talk through gloo."""
    torch.manual_seed(0)
{{#tf32}}
    torch.set_float32_matmul_precision("high")
{{/tf32}}
    rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    if torch.cuda.is_available():
        device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))
        torch.cuda.set_device(device)
        if rank == 0:
            memory = torch.cuda.get_device_properties(device).total_memory / 2**30
            print(f"{world} x {torch.cuda.get_device_name(device)}, {memory:.0f} GiB each; planned: {{devices|word}} x", {{device|python}})
    else:
        device = torch.device("cpu")
        if rank == 0:
            print("no GPU found: this will be slow")
    # One may read data for long while others wait.
    patience = datetime.timedelta(hours=2)
{{#offload_optimizer}}
    # What waits in system memory is added up there{{#offload_parameters}}; one device alone is a group as well{{/offload_parameters}}.
    if world > 1{{#offload_parameters}} or dist.is_torchelastic_launched(){{/offload_parameters}}:
        dist.init_process_group("cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo", timeout=patience)
{{/offload_optimizer}}
{{^offload_optimizer}}
    if world > 1:
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo", timeout=patience)
{{/offload_optimizer}}
    return device, rank, world


def agree(save, end, device):
    """What one process has seen, a signal or its clock, all processes do at the same step."""
    if not dist.is_initialized():
        return save, end
    seen = torch.tensor([save, end], dtype=torch.int32, device=device)
    dist.all_reduce(seen, op=dist.ReduceOp.MAX)
    return seen.bool().tolist()


def save_weights(folder, model, weights):
    torch.save(weights, os.path.join(folder, "model.pt"))


def tiny():
    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.GELU(), torch.nn.Linear(64, 4))
    inputs = torch.randn(2048, 32, generator=torch.Generator().manual_seed(0))
    return SimpleNamespace(model=model, data=TensorDataset(inputs, inputs[:, :4].argmax(dim=1)), loss=classify, save=save_weights)


def classify(model, batch):
    return torch.nn.functional.cross_entropy(model(batch[0]), batch[1])


{{#language}}
{{>train-language}}
{{/language}}
{{#adapters}}
{{>train-adapters}}
{{/adapters}}
{{#images}}
def load(args):
    import timm
    from torchvision import datasets, transforms

    # Your data: a folder for each class, with its pictures.
    prepare = transforms.Compose([transforms.RandomResizedCrop({{image_size|word}}), transforms.RandomHorizontalFlip(), transforms.ToTensor(),
                                  transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])
    data = datasets.ImageFolder(args.data, prepare)
    plain = str.maketrans("", "", "-_.")
    name = next(name for name in timm.list_models() if name.translate(plain) == args.model.translate(plain))
    model = timm.create_model(name, pretrained={{#fine_tune}}True{{/fine_tune}}{{^fine_tune}}False{{/fine_tune}}, num_classes=len(data.classes))
{{#adapters}}
    adapt(model, model.get_classifier())
{{/adapters}}

    def save(folder, model, weights):
        """timm.create_model(..., checkpoint_path="result/model.pt") reads it."""
        save_weights(folder, model, {{#adapters}}merge(weights){{/adapters}}{{^adapters}}weights{{/adapters}})
        with open(os.path.join(folder, "classes.json"), "w", encoding="utf-8") as file:
            json.dump({"model": name, "classes": data.classes}, file, ensure_ascii=False)

    return SimpleNamespace(model=model, data=data, loss=classify, save=save)
{{/images}}
{{^language}}
{{^images}}
def load(args):
    raise SystemExit("Put your model, your data and your loss here: return SimpleNamespace(model={{#adapters}}adapt(model, its head){{/adapters}}{{^adapters}}model{{/adapters}}, data=dataset, "
                     "loss=function of (model, batch), save=save_weights).")
{{/images}}
{{/language}}


{{#sharded}}
{{>train-sharded}}
{{/sharded}}
{{#offload_states}}
{{>train-aside}}
{{/offload_states}}
def optimizer_of(values):
{{#eight_bit}}
    if values[0].is_cuda:
        import bitsandbytes

        return bitsandbytes.optim.AdamW8bit(values, lr=LEARNING_RATE)
{{/eight_bit}}
{{#sgd}}
    return torch.optim.SGD(values, lr=LEARNING_RATE, momentum=0.9)
{{/sgd}}
{{#adafactor}}
    return torch.optim.Adafactor(values, lr=LEARNING_RATE)
{{/adafactor}}
{{#adamw}}
    return torch.optim.AdamW(values, lr=LEARNING_RATE)  # planned: {{optimizer|comment}}
{{/adamw}}
{{#eight_bit}}
    return torch.optim.AdamW(values, lr=LEARNING_RATE)
{{/eight_bit}}


def make_optimizer(model):
    values = [value for value in model.parameters() if value.requires_grad]
    return {{#offload_states}}Aside(values, optimizer_of){{/offload_states}}{{^offload_states}}optimizer_of(values){{/offload_states}}


def rate_at(step, steps):
    """How fast it learns in a step, counted from 0: by the step alone, so that it goes on where it was."""
    warm = max(1, round(WARM_UP * steps))
    if step < warm:
        return LEARNING_RATE * (step + 1) / warm
    return LEARNING_RATE * (1 + math.cos(math.pi * min(1, (step - warm) / max(1, steps - warm)))) / 2


class Order(DistributedSampler):
    """An epoch has the same order each time, so that it goes on inside of it: after so many examples."""

    first = 0

    def __iter__(self):
        return itertools.islice(super().__iter__(), self.first, None)


class Checkpoints:
    """Saves whole or not at all, and goes on where the last one was."""

    def __init__(self, args, rank):
        self.path, self.every, self.rank = os.path.join(args.checkpoints, "last.pt"), args.checkpoint_minutes * 60, rank
        self.last = time.monotonic()
        os.makedirs(args.checkpoints, exist_ok=True)

    def load(self, model, optimizer, device):
        if not os.path.exists(self.path):
            return 0, 0
        # Left on the disk until it is used: not every process needs all of it.
        state = torch.load(self.path, map_location="cpu", weights_only=True, mmap=True)
        if self.rank == 0:
            print(f"goes on from step {state['step']}", flush=True)
{{#sharded}}
        if dist.is_initialized():
            set_model_state_dict(model, state["model"], options=StateDictOptions(full_state_dict=True, strict=False))
{{^offload_states}}
            set_optimizer_state_dict(model, optimizer, state["optimizer"], options=StateDictOptions(full_state_dict=True, strict=False))
            return state["seen"], state["step"]
{{/offload_states}}
        else:
            model.load_state_dict(state["model"], strict=False)
{{/sharded}}
{{^sharded}}
        model.load_state_dict(state["model"], strict=False)
{{/sharded}}
        optimizer.load_state_dict(state["optimizer"])
        return state["seen"], state["step"]

    def due(self):
        return time.monotonic() - self.last >= self.every

    def save(self, model, optimizer, seen, step):
        self.last = time.monotonic()
{{#sharded}}
        if dist.is_initialized():
            options = StateDictOptions(full_state_dict=True, cpu_offload=True, ignore_frozen_params=True)
            return self.write({"model": get_model_state_dict(model, options=options),
                               "optimizer": {{#offload_states}}optimizer.state_dict(){{/offload_states}}{{^offload_states}}get_optimizer_state_dict(model, optimizer, options=options){{/offload_states}},
                               "seen": seen, "step": step})
{{/sharded}}
        if self.rank != 0:
            return
        trained = {name for name, value in model.named_parameters() if value.requires_grad} | {name for name, _ in model.named_buffers()}
        state = {name: value for name, value in model.state_dict().items() if name in trained}
        self.write({"model": state, "optimizer": optimizer.state_dict(), "seen": seen, "step": step})

    def write(self, state):
        if self.rank == 0:
            torch.save(state, self.path + ".new")
            os.replace(self.path + ".new", self.path)


def save_result(job, folder, rank):
    """What has been learnt, for use; the checkpoint is for going on."""
{{#sharded}}
    if dist.is_initialized():
        options = StateDictOptions(full_state_dict=True, cpu_offload=True{{#language}}{{#lora}}, ignore_frozen_params=True{{/lora}}{{/language}})
        weights = get_model_state_dict(job.model, options=options)
    else:
        weights = job.model.state_dict()
{{/sharded}}
{{^sharded}}
    weights = job.model.state_dict()
{{/sharded}}
    if rank == 0:
        os.makedirs(folder, exist_ok=True)
        job.save(folder, job.model, weights)
        print(f"done: the result is in {folder}", flush=True)


def main():
    args = options()
    device, rank, world = start_devices()
    job = tiny() if args.tiny else load(args)
    model, data = job.model, job.data
    model.train()
{{#sharded}}
    if dist.is_initialized():
        shard(model, device, getattr(job, "whole", None))
        job.whole = None
    else:
{{#offload_parameters}}
        # The weights stay in system memory: no device ever holds all of them.
        raise SystemExit("Start it with torchrun, on one device too: what waits in system memory needs it.")
{{/offload_parameters}}
{{^offload_parameters}}
        model.to(device)
{{/offload_parameters}}
{{/sharded}}
{{^sharded}}
    model.to(device)
{{/sharded}}
    optimizer = make_optimizer(model)
    checkpoints = Checkpoints(args, rank)
    before, step = checkpoints.load(model, optimizer, device)
{{#sharded}}
    whole = model
{{/sharded}}
{{^sharded}}
    whole = DistributedDataParallel(model, device_ids=[device.index] if device.type == "cuda" else None) if world > 1 else model
{{/sharded}}
    order = Order(data, num_replicas=world, rank=rank)
    loader = DataLoader(data, batch_size=args.batch, sampler=order, num_workers=0 if args.tiny else args.workers,
                        pin_memory=device.type == "cuda", drop_last=True)
    if not len(loader):
        raise SystemExit(f"{len(data)} examples are fewer than one batch of {args.batch} on each of {world} devices.")
    # Counted in batches of one device: where it begins, and where it ends.
    together, total = args.batch * world, math.ceil(args.epochs * len(loader))
    done = before // together
    steps = math.ceil(total / args.accumulation)
{{#fp16}}
    scaler = torch.amp.GradScaler(enabled=device.type == "cuda")
{{/fp16}}
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(True))

    started, first, loss = time.monotonic(), done, torch.zeros(())
    while done < total:
        epoch, skipped = divmod(done, len(loader))
        order.set_epoch(epoch)
        order.first = skipped * args.batch
        for batch in itertools.islice(loader, min(total - done, len(loader) - skipped)):
            batch = [part.to(device, non_blocking=True) for part in batch]
            done += 1
            last = done % args.accumulation == 0 or done == total
{{#sharded}}
            waits = contextlib.nullcontext()
            if world > 1:
                whole.set_requires_gradient_sync(last)
{{/sharded}}
{{^sharded}}
            waits = contextlib.nullcontext() if last or world == 1 else whole.no_sync()
{{/sharded}}
            with waits, torch.autocast(device.type, dtype=torch.{{#fp16}}float16{{/fp16}}{{^fp16}}bfloat16{{/fp16}}, enabled={{#mixed}}device.type == "cuda"{{#sharded}}{{#bf16}} and world == 1{{/bf16}}{{/sharded}}{{/mixed}}{{^mixed}}False{{/mixed}}):
                loss = job.loss(whole, batch) / args.accumulation
{{#fp16}}
                scaler.scale(loss).backward()
{{/fp16}}
{{^fp16}}
                loss.backward()
{{/fp16}}
            if not last:
                continue
            for group in optimizer.param_groups:
                group["lr"] = rate_at(step, steps)
{{^sgd}}
{{#fp16}}
            scaler.unscale_(optimizer)
{{/fp16}}
            torch.nn.utils.clip_grad_norm_([value for value in model.parameters() if value.grad is not None], LONGEST_GRADIENT)
{{/sgd}}
{{#fp16}}
            scaler.step(optimizer)
            scaler.update()
{{/fp16}}
{{^fp16}}
            optimizer.step()
{{/fp16}}
            optimizer.zero_grad(set_to_none=True)
            step += 1
            if rank == 0 and step % 10 == 0:
                rate = (done - first) * together / (time.monotonic() - started)
                print(f"epoch {epoch} step {step} loss {loss.item() * args.accumulation:.4f} {rate:.1f} samples/s", flush=True)
            save, end = agree(checkpoints.due(), bool(stop) or step == args.steps, device)
            if save or end:
                checkpoints.save(model, optimizer, done * together, step)
            if end:
                return
    checkpoints.save(model, optimizer, done * together, step)
    save_result(job, args.result, rank)


if __name__ == "__main__":
    try:
        main()
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()
