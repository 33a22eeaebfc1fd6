#!/bin/bash
{{>head}}
# What the machine does when it starts; launch-aws.sh sends it.
# Stop it: shutdown -h now, on the machine
export HOME=/root{{#gated}} HF_TOKEN=@HF_TOKEN@{{/gated}}
mkdir -p /job/checkpoints && cd /job || exit 1
command -v aws >/dev/null || snap install aws-cli --classic
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
{{>environment}}
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
