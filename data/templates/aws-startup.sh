#!/bin/bash
# {{title|comment}}
# Quartermaster, {{date|comment}}: {{label|comment}}
# Costs about {{cost_per_hour|comment}} {{currency|comment}} an hour while it runs.
# What the machine does when it starts; launch-aws.sh sends it.
# Stop it: shutdown -h now, on the machine
export HOME=/root
mkdir -p /job/checkpoints && cd /job || exit 1
{{^serving}}
# It ends after {{run_hours|word}} hours, whatever happens.
shutdown -h +$(({{run_seconds|word}} / 60))
{{/serving}}
{{#several_nodes}}
# The first of the machines that were started together leads.
token=$(curl -s -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 600' http://169.254.169.254/latest/api/token)
export NODE_RANK
NODE_RANK=$(curl -s -H "X-aws-ec2-metadata-token: $token" http://169.254.169.254/latest/meta-data/ami-launch-index)
[ "$NODE_RANK" != 0 ] || hostname -i | aws s3 cp - "@BUCKET@/leader"
until MASTER_ADDR=$(aws s3 cp "@BUCKET@/leader" -); do sleep 5; done
export MASTER_ADDR
{{/several_nodes}}
aws s3 cp --recursive "@BUCKET@/job" .
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
aws s3 sync "@BUCKET@/checkpoints" checkpoints
(while sleep {{checkpoint_minutes|word}}m; do aws s3 sync checkpoints "@BUCKET@/checkpoints"; done) &
{{/training}}
bash run.sh >log.txt 2>&1
aws s3 cp log.txt "@BUCKET@/"
{{#training}}
aws s3 sync checkpoints "@BUCKET@/checkpoints"
{{/training}}
{{^serving}}
# The machine ends when the job does.
shutdown -h now
{{/serving}}
