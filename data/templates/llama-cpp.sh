#!/usr/bin/env bash
{{>head}}
# Stop it: press Ctrl+C.
set -euo pipefail
# The weights as a GGUF file of type {{gguf_type|comment}}.
: "${MODEL:?the path of the GGUF file}"
exec llama-server --model "$MODEL" --port {{port|word}} --n-gpu-layers {{gpu_layers|word}}{{#experts_outside}} --n-cpu-moe {{cpu_expert_layers|word}}{{/experts_outside}} \
  --ctx-size {{total_context|word}} --parallel {{concurrency|word}}{{#kv_q8}} --cache-type-k q8_0 --cache-type-v q8_0{{/kv_q8}} "$@"
