#!/usr/bin/env python3
# A start to train with on TPUs.
{{>head}}
# Start it: python3 train_jax.py, on every host of the TPU
# Stop it: press Ctrl+C; started again, it goes on from its last checkpoint.
"""Trains on all cores at once with JAX: a start to build on. --tiny tries it out on a processor."""
import argparse
import math
import os
import pickle
import signal
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

LEARNING_RATE = {{learning_rate|word}}


def options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="your data: see load()")
    parser.add_argument("--batch", type=int, default={{global_batch|word}}, help="examples for one step, of all cores together")
    parser.add_argument("--epochs", type=float, default={{epochs|word}}, help="times through the data; 0.5 is half of it")
    parser.add_argument("--checkpoints", default="checkpoints", help="folder to save to and to go on from")
    parser.add_argument("--checkpoint-minutes", type=float, default={{checkpoint_minutes|word}})
    parser.add_argument("--tiny", action="store_true", help="a small network and made-up data")
    parser.add_argument("--steps", type=int, default=0, help="stop after so many steps")
    return parser.parse_args()


def tiny():
    random = np.random.default_rng(0)
    inputs = random.standard_normal((2048, 32), dtype=np.float32)
    sizes = [(32, 64), (64, 4)]
    parameters = [(random.standard_normal(size, dtype=np.float32) / size[0] ** 0.5, np.zeros(size[1], np.float32)) for size in sizes]

    def loss_of(parameters, inputs, labels):
        (first, first_bias), (second, second_bias) = parameters
        scores = jax.nn.gelu(inputs @ first + first_bias) @ second + second_bias
        return -jnp.take_along_axis(jax.nn.log_softmax(scores), labels[:, None], axis=1).mean()

    return parameters, (inputs, inputs[:, :4].argmax(axis=1)), loss_of


def load(args):
    raise SystemExit("Put your network here: return parameters, a tuple of arrays with the examples, and loss(parameters, *batch).")


def adam(parameters):
    return {"step": 0, "mean": jax.tree.map(jnp.zeros_like, parameters), "square": jax.tree.map(jnp.zeros_like, parameters)}


def update(parameters, state, gradients):
    step = state["step"] + 1
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["mean"], gradients)
    square = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, state["square"], gradients)
    rate = LEARNING_RATE * (1 - 0.999**step) ** 0.5 / (1 - 0.9**step)
    parameters = jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8), parameters, mean, square)
    return parameters, {"step": step, "mean": mean, "square": square}


class Checkpoints:
    """Saves whole or not at all, and goes on where the last one was."""

    def __init__(self, args):
        self.path, self.every, self.last = os.path.join(args.checkpoints, "last.pickle"), args.checkpoint_minutes * 60, time.monotonic()
        os.makedirs(args.checkpoints, exist_ok=True)

    def load(self, parameters):
        if not os.path.exists(self.path):
            return 0, 0, parameters, adam(parameters)
        with open(self.path, "rb") as file:
            state = pickle.load(file)
        print(f"goes on from step {state[1]}", flush=True)
        return state

    def due(self):
        return time.monotonic() - self.last >= self.every

    def save(self, *state):
        self.last = time.monotonic()
        if jax.process_index() == 0:
            with open(self.path + ".new", "wb") as file:
                pickle.dump(jax.tree.map(np.asarray, state), file)
            os.replace(self.path + ".new", self.path)


def main():
    args = options()
    if "TPU_WORKER_HOSTNAMES" in os.environ and "," in os.environ["TPU_WORKER_HOSTNAMES"]:
        jax.distributed.initialize()
    print(f"{jax.device_count()} x {jax.devices()[0].device_kind}; planned: {{devices|word}} x", {{device|python}})
    parameters, data, loss_of = tiny() if args.tiny else load(args)
    mesh = Mesh(np.array(jax.devices()), ("data",))
    split, whole = NamedSharding(mesh, PartitionSpec("data")), NamedSharding(mesh, PartitionSpec())
    checkpoints = Checkpoints(args)
    before, step, parameters, state = checkpoints.load(parameters)
    parameters, state = jax.device_put((parameters, state), whole)

    @jax.jit
    def train(parameters, state, *batch):
        loss, gradients = jax.value_and_grad(loss_of)(parameters, *batch)
        return *update(parameters, state, gradients), loss

    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
    batch = max(args.batch // jax.device_count(), 1) * jax.device_count()
    # Counted in batches: how many an epoch has, where it begins, and where it ends.
    batches = len(data[0]) // batch
    if not batches:
        raise SystemExit(f"{len(data[0])} examples are fewer than one batch of {batch}.")
    done, total = before // batch, math.ceil(args.epochs * batches)
    started, first = time.monotonic(), done
    while done < total:
        # An epoch has the same order each time, so that it goes on inside of it.
        epoch, index = divmod(done, batches)
        if index == 0 or done == first:
            order = np.random.default_rng(epoch).permutation(len(data[0]))
        chosen = order[index * batch:(index + 1) * batch]
        parameters, state, loss = train(parameters, state, *(jax.device_put(part[chosen], split) for part in data))
        step, done = step + 1, done + 1
        if step % 10 == 0:
            rate = (done - first) * batch / (time.monotonic() - started)
            print(f"epoch {epoch} step {step} loss {loss:.4f} {rate:.1f} samples/s", flush=True)
        if checkpoints.due() or stop or step == args.steps:
            checkpoints.save(done * batch, step, parameters, state)
        if stop or step == args.steps:
            return
    checkpoints.save(done * batch, step, parameters, state)


if __name__ == "__main__":
    main()
