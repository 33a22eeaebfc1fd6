#!/bin/bash
# {{title|comment}}
# Quartermaster, {{date|comment}}: {{label|comment}}
# Costs about {{cost_per_hour|comment}} {{currency|comment}} an hour while it runs.
# What the machine does when it starts; launch-azure.sh sends it.
# Stop it: shutdown -h now, on the machine
export HOME=/root
mkdir -p /job/checkpoints && cd /job || exit 1
{{^serving}}
# It ends after {{run_hours|word}} hours, whatever happens.
shutdown -h +$(({{run_seconds|word}} / 60))
{{/serving}}
az login --identity
blobs() { az storage blob "$@" --account-name "@STORAGE_ACCOUNT@" --auth-mode login; }
{{#several_nodes}}
# The machines are numbered by their names.
name=$(hostname)
export NODE_RANK=$((${name##*-} - 1)) MASTER_ADDR=${name%-*}-1
{{/several_nodes}}
blobs download-batch -s job -d .
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
: # what lay in the container is here already
(while sleep {{checkpoint_minutes|word}}m; do blobs upload-batch -d job -s checkpoints --destination-path checkpoints --overwrite; done) &
{{/training}}
bash run.sh >log.txt 2>&1
blobs upload -c job -f log.txt -n log.txt --overwrite
{{#training}}
blobs upload-batch -d job -s checkpoints --destination-path checkpoints --overwrite
{{/training}}
{{^serving}}
# The machine ends when the job does.
shutdown -h now
{{/serving}}
