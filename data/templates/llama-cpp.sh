#!/usr/bin/env bash
{{>head}}
# Stop it: press Ctrl+C.
set -euo pipefail
# The weights as a GGUF file of type {{gguf_type|comment}}.
: "${MODEL:?the path of the GGUF file}"
{{#copies_apart}}
{{>llama-copies}}
{{/copies_apart}}
{{^copies_apart}}
exec llama-server --model "$MODEL" \
  {{>llama-options}} "$@"
{{/copies_apart}}
