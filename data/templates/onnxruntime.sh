#!/usr/bin/env bash
{{>head}}
# Stop it: press Ctrl+C.
set -euo pipefail
exec python3 serve_onnxruntime.py model.onnx
