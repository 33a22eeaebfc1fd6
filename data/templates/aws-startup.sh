#!/bin/bash
{{>head}}
# What the machine does when it starts; launch-aws.sh sends it.
# Stop it: shutdown -h now, on the machine
export HOME=/root AWS_DEFAULT_REGION=@REGION@
mkdir -p /job/checkpoints && cd /job || exit 1
{{^serving}}
# It ends after {{run_hours|word}} hours, whatever happens.
shutdown -h +$(({{run_seconds|word}} / 60))
{{/serving}}
# Its address, and its right to the bucket, may take a moment.
until command -v aws >/dev/null || snap install aws-cli --classic; do sleep 5; done
until aws s3 ls "@STORE@/job/" >/dev/null; do sleep 5; done
{{#gated}}
HF_TOKEN=$(aws ssm get-parameter --name "/@JOB@/hf-token" --with-decryption --query Parameter.Value --output text)
export HF_TOKEN
{{/gated}}
token=$(curl -s -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 600' http://169.254.169.254/latest/api/token)
number=$(curl -s -H "X-aws-ec2-metadata-token: $token" http://169.254.169.254/latest/meta-data/ami-launch-index)
{{#linked}}
# The first of the machines that were started together leads.
export NODE_RANK=$number
[ "$NODE_RANK" != 0 ] || hostname -i | aws s3 cp - "@STORE@/leader"
until MASTER_ADDR=$(aws s3 cp "@STORE@/leader" -); do sleep 5; done
export MASTER_ADDR
# Where there are Elastic Fabric Adapters, NCCL takes them by the libraries of the image.
if [ -e /dev/infiniband/uverbs0 ]; then
  export FI_PROVIDER=efa LD_LIBRARY_PATH=/opt/amazon/ofi-nccl/lib/x86_64-linux-gnu:/opt/amazon/ofi-nccl/lib:/opt/amazon/efa/lib
fi
{{/linked}}
aws s3 cp --recursive "@STORE@/job" .
{{>environment}}
{{#training}}
aws s3 sync "@STORE@/checkpoints" checkpoints
keep() { aws s3 sync kept "@STORE@/checkpoints" && aws s3 cp log.txt "@STORE@/"; }
{{/training}}
{{>run-here}}
aws s3 cp log.txt "@STORE@/log-$number.txt"
# The machine ends with the job.
shutdown -h now
