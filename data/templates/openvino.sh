#!/usr/bin/env bash
{{>head}}
# Stop it: press Ctrl+C.
set -euo pipefail
ovc model.onnx --output_model model.xml
exec benchmark_app -m model.xml -d CPU -hint latency -b {{concurrency|word}}
