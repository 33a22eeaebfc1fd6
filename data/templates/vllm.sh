#!/usr/bin/env bash
{{>head}}
# Stop it: press Ctrl+C. {{service_replicas|comment}} of these share the load.
set -euo pipefail
{{#gated}}
: "${HF_TOKEN:?the weights are gated: accept the licence on the hub, then make a token}"
{{/gated}}
{{>own-weights}}
exec vllm serve {{>vllm-model}} --port {{port|word}} {{>vllm-options}}{{>vllm-copies}} "$@"
