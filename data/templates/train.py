#!/usr/bin/env python3
# A start to train with.
{{>head}}
# Start it: torchrun --standalone --nproc-per-node={{per_node|comment}} train.py
# Stop it: press Ctrl+C; started again, it goes on from its last checkpoint.
"""Trains a model: a start to build on. --tiny tries it out on a processor in a minute."""
import argparse
import contextlib
{{#language}}
import glob
{{/language}}
import itertools
import math
import os
import signal
import time

import torch
import torch.distributed as dist
{{#sharded}}
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_state_dict, set_state_dict
{{/sharded}}
{{^sharded}}
from torch.nn.parallel import DistributedDataParallel
{{/sharded}}
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

MODEL = {{model|python}}
LEARNING_RATE = {{learning_rate|word}}


def options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default=MODEL, help="its name on the hub, or a folder")
    parser.add_argument("--data", help="your data: see load()")
    parser.add_argument("--batch", type=int, default={{micro_batch|word}}, help="examples at once on each device")
    parser.add_argument("--accumulation", type=int, default={{accumulation|word}}, help="batches for one step of the optimizer")
    parser.add_argument("--epochs", type=float, default={{epochs|word}}, help="times through the data; 0.5 is half of it")
    parser.add_argument("--workers", type=int, default={{workers|word}}, help="processes that load data")
    parser.add_argument("--checkpoints", default="checkpoints", help="folder to save to and to go on from")
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
{{#offload_optimizer}}
    # What waits in system memory is added up there; one device alone is a group as well.
    if world > 1 or dist.is_torchelastic_launched():
        dist.init_process_group("cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo")
{{/offload_optimizer}}
{{^offload_optimizer}}
    if world > 1:
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
{{/offload_optimizer}}
    return device, rank, world


def agree(save, end, device):
    """What one process has seen, a signal or its clock, all processes do at the same step."""
    if not dist.is_initialized():
        return save, end
    seen = torch.tensor([save, end], dtype=torch.int32, device=device)
    dist.all_reduce(seen, op=dist.ReduceOp.MAX)
    return seen.bool().tolist()


def tiny():
    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.GELU(), torch.nn.Linear(64, 4))
    inputs = torch.randn(2048, 32, generator=torch.Generator().manual_seed(0))
    return model, TensorDataset(inputs, inputs[:, :4].argmax(dim=1)), classify


def classify(model, batch):
    return torch.nn.functional.cross_entropy(model(batch[0]), batch[1])


{{#language}}
def predict_words(model, batch):
    return model(input_ids=batch[0], labels=batch[0]).loss


def load(args):
    from transformers import AutoModelForCausalLM, AutoTokenizer{{#qlora}}, BitsAndBytesConfig{{/qlora}}
    from datasets import load_dataset

    tokenizer = AutoTokenizer.from_pretrained(args.model)
{{#scratch}}
    from transformers import AutoConfig

    model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(args.model), dtype=torch.{{weights_type|word}})
{{/scratch}}
{{^scratch}}
    model = AutoModelForCausalLM.from_pretrained(
        args.model, dtype=torch.{{weights_type|word}}{{#qlora}},
        quantization_config=BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.bfloat16){{/qlora}})
{{/scratch}}
{{#checkpointing}}
    model.gradient_checkpointing_enable()
    model.enable_input_require_grads()
{{/checkpointing}}
{{#lora}}
    from peft import LoraConfig, get_peft_model

    model = get_peft_model(model, LoraConfig(r={{lora_rank|word}}, lora_alpha=2 * {{lora_rank|word}}, target_modules="all-linear", task_type="CAUSAL_LM"))
{{/lora}}
    # Your data: one JSON object a line, the text under "text".
    files = glob.glob(os.path.join(args.data, "**", "*.json*"), recursive=True) if os.path.isdir(args.data) else args.data
    lines = load_dataset("json", data_files=files, split="train")["text"]
    # Each text ends, so that the model learns to end.
    end = [] if tokenizer.eos_token_id is None else [tokenizer.eos_token_id]
    pieces = []
    for first in range(0, len(lines), 1000):
        for ids in tokenizer(lines[first:first + 1000]).input_ids:
            pieces.append(torch.tensor(ids + end, dtype=torch.int32))
    pieces = torch.cat(pieces).long()
    length = {{sequence_length|word}}
    whole = len(pieces) // length * length
    return model, TensorDataset(pieces[:whole].view(-1, length)), predict_words
{{/language}}
{{#adapters}}
class Adapter(torch.nn.Module):
    """A layer as it was, and beside it a narrow pair of layers that learns (Hu et al. 2021)."""

    def __init__(self, inner, rank):
        super().__init__()
        self.inner = inner
        if isinstance(inner, torch.nn.Linear):
            self.down = torch.nn.Linear(inner.in_features, rank, bias=False)
            self.up = torch.nn.Linear(rank, inner.out_features, bias=False)
        else:
            self.down = torch.nn.Conv2d(inner.in_channels, rank, inner.kernel_size, inner.stride, inner.padding, inner.dilation, bias=False)
            self.up = torch.nn.Conv2d(rank, inner.out_channels, 1, bias=False)
        torch.nn.init.zeros_(self.up.weight)

    def forward(self, inputs):
        return self.inner(inputs) + 2 * self.up(self.down(inputs))


def adapt(model, head, rank={{lora_rank|word}}):
    """Nothing learns but the adapters and the head; what is frozen is kept in 16 bit on a GPU."""
    model.requires_grad_(False)
    head.requires_grad_(True)
    kept = set(head.modules())
    for parent in [part for part in model.modules() if part not in kept]:
        for name, part in list(parent.named_children()):
            whole = isinstance(part, torch.nn.Linear) or isinstance(part, torch.nn.Conv2d) and part.groups == 1
            if whole and part not in kept and not isinstance(parent, Adapter):
                setattr(parent, name, Adapter(part.to(torch.{{weights_type|word}}) if torch.cuda.is_available() else part, rank))
    return model


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
    return model, data, classify
{{/images}}
{{^language}}
{{^images}}
def load(args):
    raise SystemExit("Put your model, your data and your loss here: return {{#adapters}}adapt(model, its head){{/adapters}}{{^adapters}}model{{/adapters}}, dataset, loss(model, batch).")
{{/images}}
{{/language}}


{{#sharded}}
def shard(model, device):
    """Weights, gradients and states of the optimizer lie in parts on all devices."""
    from torch.distributed.fsdp import {{#offload_optimizer}}CPUOffloadPolicy, {{/offload_optimizer}}fully_shard

    kind = {"mesh": dist.init_device_mesh(device.type, (dist.get_world_size(),))}
{{#offload_optimizer}}
    kind["offload_policy"] = CPUOffloadPolicy()
{{/offload_optimizer}}
    blocks = [block for parts in model.modules() if isinstance(parts, torch.nn.ModuleList) for block in parts]
    inner = {part for block in blocks for part in block.modules() if part is not block}
    for block in blocks:
        if block not in inner:
            fully_shard(block, **kind)
    return fully_shard(model, **kind)


{{/sharded}}
def make_optimizer(model):
    values = [value for value in model.parameters() if value.requires_grad]
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
        state = torch.load(self.path, map_location="cpu", weights_only=True)
        if self.rank == 0:
            print(f"goes on from step {state['step']}", flush=True)
{{#sharded}}
        if dist.is_initialized():
            options = StateDictOptions(full_state_dict=True, strict=False)
            set_state_dict(model, optimizer, model_state_dict=state["model"], optim_state_dict=state["optimizer"], options=options)
            return state["seen"], state["step"]
{{/sharded}}
        model.load_state_dict(state["model"], strict=False)
        optimizer.load_state_dict(state["optimizer"])
        return state["seen"], state["step"]

    def due(self):
        return time.monotonic() - self.last >= self.every

    def save(self, model, optimizer, seen, step):
        self.last = time.monotonic()
{{#sharded}}
        if dist.is_initialized():
            weights, states = get_state_dict(model, optimizer, options=StateDictOptions(full_state_dict=True, cpu_offload=True, ignore_frozen_params=True))
            return self.write({"model": weights, "optimizer": states, "seen": seen, "step": step})
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


def main():
    args = options()
    device, rank, world = start_devices()
    model, data, loss_of = tiny() if args.tiny else load(args)
    model.train()
{{#sharded}}
{{#offload_optimizer}}
    # The weights stay in system memory: no device ever holds all of them.
    if dist.is_initialized():
        shard(model, device)
    else:
        raise SystemExit("Start it with torchrun, on one device too: what waits in system memory needs it.")
{{/offload_optimizer}}
{{^offload_optimizer}}
    model.to(device)
    if world > 1:
        shard(model, device)
{{/offload_optimizer}}
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
            with waits, torch.autocast(device.type, dtype=torch.{{#fp16}}float16{{/fp16}}{{^fp16}}bfloat16{{/fp16}}, enabled={{#mixed}}device.type == "cuda"{{/mixed}}{{^mixed}}False{{/mixed}}):
                loss = loss_of(whole, batch) / args.accumulation
{{#fp16}}
                scaler.scale(loss).backward()
{{/fp16}}
{{^fp16}}
                loss.backward()
{{/fp16}}
            if not last:
                continue
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


if __name__ == "__main__":
    try:
        main()
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()
