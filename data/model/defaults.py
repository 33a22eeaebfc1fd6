#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write defaults.jsonl: what the transformers library takes for keys that a config.json leaves out.

Run it where transformers is installed: python3 defaults.py > defaults.jsonl
Only facts that can bear on a model's sizes are kept, a line for each model type.
"""

import dataclasses
import json
import re

from transformers.models.auto.configuration_auto import CONFIG_MAPPING, CONFIG_MAPPING_NAMES

OTHER = re.compile(
    r"_ids?$|_idx$|dropout|initiali[sz]er|_coef$|_eps$|epsilon|theta|^use_cache$|^output_|^return_dict$|^dtype$|_loss"
    r"|^problem_type$|^transformers_version$|^architectures$|^chunk_size_feed_forward$|^is_encoder_decoder$|pretraining_tp"
    r"|temperature|_cost$|mask_time|mask_feature|_weight$|_alpha$|^id2label$|^label2id$|^rope_|_token$|drop_path|layerdrop"
    r"|_std$|jitter|softcap|_scaling|^apply_spec|_rate$|_prob$|^gradient_check|^init_|_ratio_(min|max)$|time_step_(min|max|floor|limit)"
)


def plain(value, depth=0):
    if isinstance(value, bool) or value is None:
        return value is not None
    if isinstance(value, (int, float)):
        return abs(value) <= 1e9
    if isinstance(value, str):
        return len(value) < 40
    if isinstance(value, (list, tuple)) and depth < 2:
        return 0 < len(value) <= 128 and all(plain(item, depth + 1) for item in value)
    return False


def defaults(config):
    row = {}
    for field in dataclasses.fields(config):
        value = field.default
        if value is dataclasses.MISSING:
            value = field.default_factory() if field.default_factory is not dataclasses.MISSING else None
        if plain(value) and not OTHER.search(field.name):
            row[field.name] = value
    return row


for name in sorted(CONFIG_MAPPING_NAMES):
    try:
        row = defaults(CONFIG_MAPPING[name])
    except (ImportError, TypeError, AttributeError, ValueError):
        continue
    print(json.dumps({"type": name, **row}, separators=(",", ":")))
