#!/usr/bin/env bash
{{>head}}
# Stop it: docker stop triton
set -euo pipefail
mkdir -p models/model/1
cp model.onnx models/model/1/model.onnx
cp config.pbtxt models/model/config.pbtxt
exec docker run --rm --name triton {{docker_devices|options}} -p {{port|word}}:8000 -v "$PWD/models:/models" \
  nvcr.io/nvidia/tritonserver:25.04-py3 tritonserver --model-repository=/models
