#!/usr/bin/env bash
{{>head}}
# Stop it: press Ctrl+C. {{replicas|comment}} of these share the load.
set -euo pipefail
{{#gated}}
: "${HF_TOKEN:?the weights are gated: accept the licence on the hub, then make a token}"
{{/gated}}
exec vllm serve {{model|shell}} --port {{port|word}} --tensor-parallel-size {{tensor_parallel|word}}{{#several_stages}} --pipeline-parallel-size {{pipeline_parallel|word}}{{/several_stages}} \
  --max-model-len {{context|word}} --max-num-seqs {{concurrency|word}}{{#quantization}} --quantization {{quantization|word}}{{/quantization}}{{#kv_fp8}} --kv-cache-dtype fp8{{/kv_fp8}} "$@"
