#!/usr/bin/env bash
{{>head}}
# Stop it: docker stop tensorrt-llm. {{replicas|comment}} of these share the load.
set -euo pipefail
{{#gated}}
: "${HF_TOKEN:?the weights are gated: accept the licence on the hub, then make a token}"
{{/gated}}
{{#tensorrt_llm_own_weights}}
# What is published as {{model|comment}} has weights of 16 bit; the plan counts on {{weights|comment}}.
: "${MODEL:?a repository or folder with the weights in {{weights|word}}: search the hub for them}"
{{/tensorrt_llm_own_weights}}
{{#kv_fp8}}
printf 'kv_cache_config:\n  dtype: fp8\n' >options.yaml
{{/kv_fp8}}
exec docker run --rm --name tensorrt-llm {{docker_devices|options}} --ipc host --ulimit memlock=-1 --ulimit stack=67108864 -p {{port|word}}:{{port|word}} \
  -v "${HF_HOME:-$HOME/.cache/huggingface}:/models" -e HF_HOME=/models -v "$PWD:/job" -w /job -e HF_TOKEN {{tensorrt_llm_image|word}} \
  trtllm-serve {{#tensorrt_llm_own_weights}}"$MODEL"{{/tensorrt_llm_own_weights}}{{^tensorrt_llm_own_weights}}{{model|shell}}{{/tensorrt_llm_own_weights}} --host 0.0.0.0 --port {{port|word}} --tp_size {{tensor_parallel|word}} \
  --max_batch_size {{concurrency|word}} --max_seq_len {{context|word}}{{#kv_fp8}} --extra_llm_api_options options.yaml{{/kv_fp8}} "$@"
