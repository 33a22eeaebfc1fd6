#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small language model learns random text on the processor: two layers, batches of 4 × 64 tokens. train.py [STEPS]"""
import sys
import time

import torch
from torch import nn

LAYERS, WIDTH, HEADS, VOCABULARY, LENGTH, BATCH = 2, 128, 4, 1024, 64, 4
STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 300


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.places = nn.Embedding(LENGTH, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, 0, 'gelu', batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, LAYERS, nn.LayerNorm(WIDTH), enable_nested_tensor=False)
        self.mask = nn.Transformer.generate_square_subsequent_mask(LENGTH)

    def forward(self, text):
        hidden = self.layers(self.tokens(text) + self.places.weight, mask=self.mask, is_causal=True)
        return hidden @ self.tokens.weight.T


torch.manual_seed(1)
torch.set_num_threads(1)
model = Model()
optimizer = torch.optim.AdamW(model.parameters())
last = time.monotonic()
for step in range(STEPS):
    text = torch.randint(VOCABULARY, (BATCH, LENGTH + 1))
    logits = model(text[:, :-1])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    now = time.monotonic()
    print(f'step {step + 1}, loss {loss.item():.3f}, {BATCH * LENGTH / (now - last):.0f} tokens/s')
    last = now
