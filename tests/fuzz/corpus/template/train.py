#!/usr/bin/env python3
# A start to train with.
# {{title|comment}}
# Quartermaster, {{date|comment}}: {{label|comment}}
# Costs about {{cost_per_hour|comment}} {{currency|comment}} an hour while it runs.
# Start it: torchrun --standalone --nproc-per-node={{per_node|comment}} train.py
# Stop it: press Ctrl+C; started again, it goes on from its last checkpoint.
"""Trains a model: a start to build on. --tiny tries it out on a processor in a minute."""
import argparse
import contextlib
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
    parser.add_argument("--epochs", type=int, default={{epochs|word}})
    parser.add_argument("--workers", type=int, default={{workers|word}}, help="processes that load data")
    parser.add_argument("--checkpoints", default="checkpoints", help="folder to save to and to go on from")
    parser.add_argument("--checkpoint-minutes", type=float, default={{checkpoint_minutes|word}})
    parser.add_argument("--tiny", action="store_true", help="a small network and made-up data")
    parser.add_argument("--steps", type=int, default=0, help="stop after so many steps of the optimizer")
    return parser.parse_args()


def start_devices():
    """One process for each device; on a processor they talk through gloo."""
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
    if world > 1:
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    return device, rank, world


def agree(save, end, device):
    """What one process has seen, a signal or its clock, all processes do at the same step."""
    if not dist.is_initialized():
   