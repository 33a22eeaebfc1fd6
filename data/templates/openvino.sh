#!/usr/bin/env bash
# {{title|comment}}
# Quartermaster, {{date|comment}}: {{label|comment}}
# Costs about {{cost_per_hour|comment}} {{currency|comment}} an hour while it runs.
# Stop it: press Ctrl+C.
set -euo pipefail
ovc model.onnx --output_model model.xml
exec benchmark_app -m model.xml -d CPU -hint latency -b {{concurrency|word}}
