#!/bin/bash
{{>head}}
# What the machine does when it starts; launch-gcloud.sh sends it.
# Stop it: shutdown -h now, on the machine
export HOME=/root
mkdir -p /job/checkpoints && cd /job || exit 1
attribute() { curl -s -H 'Metadata-Flavor: Google' "http://metadata.google.internal/computeMetadata/v1/instance/attributes/$1"; }
bucket=$(attribute bucket)
{{#gated}}
HF_TOKEN=$(attribute hf-token)
export HF_TOKEN
{{/gated}}
{{#several_nodes}}
# The first machine is found by its name.
export NODE_RANK=$(($(attribute number) - 1)) MASTER_ADDR={{job|name}}-1
{{/several_nodes}}
gcloud storage cp -r "$bucket/job/*" .
{{>environment}}
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
