#!/usr/bin/env bash
{{>head}}
# Stop it: press Ctrl+C.
set -euo pipefail
# The weights as a GGUF file of type {{gguf_type|comment}}.
: "${MODEL:?the path of the GGUF file}"
exec llama-server --model "$MODEL" \
  {{>llama-options}} "$@"
