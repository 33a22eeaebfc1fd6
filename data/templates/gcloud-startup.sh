#!/bin/bash
# {{title|comment}}
# Quartermaster, {{date|comment}}: {{label|comment}}
# Costs about {{cost_per_hour|comment}} {{currency|comment}} an hour while it runs.
# What the machine does when it starts; launch-gcloud.sh sends it.
# Stop it: shutdown -h now, on the machine
export HOME=/root
mkdir -p /job/checkpoints && cd /job || exit 1
attribute() { curl -s -H 'Metadata-Flavor: Google' "http://metadata.google.internal/computeMetadata/v1/instance/attributes/$1"; }
bucket=$(attribute bucket)
{{#several_nodes}}
# The first machine is found by its name.
export NODE_RANK=$(($(attribute number) - 1)) MASTER_ADDR={{job|name}}-1
{{/several_nodes}}
gcloud storage cp -r "$bucket/job/*" .
for place in /opt/conda /opt/pytorch; do
  [ ! -d "$place/bin" ] || PATH=$place/bin:$PATH
done
if ! command -v pip >/dev/null; then
  apt-get update && apt-get install -y python3-venv
  python3 -m venv /opt/job && PATH=/opt/job/bin:$PATH
fi
{{#training}}
pip install -r requirements.txt
{{/training}}
{{#serves_vllm}}
pip install vllm
{{/serves_vllm}}
{{#serves_onnx}}
pip install numpy {{#nvidia}}onnxruntime-gpu{{/nvidia}}{{^nvidia}}onnxruntime{{/nvidia}}
{{/serves_onnx}}
{{#serves_llama_cpp}}
# llama-server, from its own image.
apt-get update && apt-get install -y docker.io
printf '#!/bin/sh\nexec docker run --rm --network host -v /job:/job -w /job ghcr.io/ggml-org/llama.cpp:server "$@"\n' >/usr/local/bin/llama-server
chmod +x /usr/local/bin/llama-server
export MODEL=model.gguf
{{/serves_llama_cpp}}
{{#training}}
# Checkpoints go to the bucket every {{checkpoint_minutes|word}} minutes; a machine that starts again goes on from them.
gcloud storage rsync -r "$bucket/checkpoints" checkpoints || true
(while sleep {{checkpoint_minutes|word}}m; do gcloud storage rsync -r checkpoints "$bucket/checkpoints"; done) &
{{/training}}
bash run.sh >log.txt 2>&1
gcloud storage cp log.txt "$bucket/"
{{#training}}
gcloud storage rsync -r checkpoints "$bucket/checkpoints"
{{/training}}
{{^serving}}
# The machine ends when the job does.
shutdown -h now
{{/serving}}
