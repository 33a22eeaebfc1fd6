#!/usr/bin/env bash
# {{title|comment}}
# Quartermaster, {{date|comment}}: {{label|comment}}
# Costs about {{cost_per_hour|comment}} {{currency|comment}} an hour while it runs.
# Stop it: press Ctrl+C.
set -euo pipefail
exec python3 serve_onnxruntime.py model.onnx
